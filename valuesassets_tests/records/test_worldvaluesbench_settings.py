"""`[worldvaluesbench]` of a study file: what may stand there, and one line for what may not."""

import pytest

from valuesassets.records.errors import StudyError
from valuesassets.records.study import load_study, parse_study

SET = {"language": "eng"}
SLOPES = {"aware": 0.8}


def read(folder, kind="reference", **table):
    content = {
        "name": "small",
        "title": "Small",
        "seed": 1,
        "languages": {"eng": {"name": "English"}},
        "families": {
            "aware": {"kind": kind, "model_type": "multi"} | ({} if kind == "reference" else {"model_id": "m"})
        },
        "worldvaluesbench": {"answers": "planted", "sets": {"a": SET}, "slopes": SLOPES} | table,
    }
    return parse_study(content, "small.toml", folder)


def test_left_out_keys_ask_the_probe_of_three_attributes_five_people_a_group(tmp_path):
    settings = read(tmp_path).worldvaluesbench
    (asked,) = settings.sets.values()
    assert (asked.questions, asked.probe) == ("probe", 5)
    assert asked.attributes == ("B_COUNTRY", "H_URBRURAL", "Q275")
    assert (settings.repeated_ids, settings.splits, settings.min_group) == ("renumber", "seed", 5)
    assert settings.wordings == ("list",)


def test_files_count_from_the_study_file_and_have_to_be_there(tmp_path):
    for name in ("wvs7.csv", "mine.tsv", "samples.tsv"):
        (tmp_path / name).write_text("a")
    study = read(
        tmp_path,
        "huggingface",
        answers="wvs7.csv",
        slopes={},
        ratings=[{"name": "mine", "with": "mine.tsv"}],
        sets={"a": SET | {"probe": "samples.tsv"}},
    )
    settings = study.worldvaluesbench
    assert settings.answers == tmp_path / "wvs7.csv"
    assert settings.ratings[0].with_attributes == tmp_path / "mine.tsv"
    assert settings.sets["a"].probe == tmp_path / "samples.tsv"
    again = type(study).model_validate(study.model_dump(mode="json", exclude_none=True))
    assert again.worldvaluesbench == settings


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"answers": "plnted"}, r"worldvaluesbench.answers.*'planted' was expected.*plnted: no such file"),
        ({"sets": {}}, r"sets'?: at least one entry"),
        ({"sets": {"a": {"language": "deu"}}}, r"sets\.a\.language: deu is none of the study's languages \(eng\)"),
        ({"sets": {"a": SET | {"questions": "prob"}}}, r"'probe' or 'all', or an array was expected"),
        ({"sets": {"a": SET | {"questions": []}}}, "no question is named"),
        ({"sets": {"a": SET | {"questions": ["Q1", "Q1"]}}}, "Q1 stands there twice"),
        ({"sets": {"a": SET | {"questions": ["q1"]}}}, "the name of a variable, in capitals"),
        ({"sets": {"a": SET | {"attributes": []}}}, "attributes'?: at least one entry"),
        ({"sets": {"a": SET | {"probe": 0}}}, "more than 0, or 'all', or a path"),
        ({"sets": {"a": SET | {"probe": "x.tsv"}}}, "x.tsv: no such file"),
        ({"sets": {"a": SET | {"probe": 4}}}, "sets.a.probe: 4 of each group .* fewer than min_group = 5"),
        ({"min_group": 1}, "min_group'?: at least 2"),
        ({"repeated_ids": "keep"}, "'renumber' or 'drop'"),
        ({"splits": "random"}, "'seed' or 'stable'"),
        ({"slopes": {}}, "slopes: aware is planted and has no entry"),
        ({"slopes": SLOPES | {"other": 1.0}}, "slopes: nothing is planted into other"),
        ({"ratings": [{"name": "contrary"}]}, "slopes: contrary is planted and has no entry"),
        ({"ratings": [{"name": "aware"}]}, "two models are called aware"),
        ({"ratings": [{"name": "mine", "with": "x.tsv"}]}, "x.tsv: no such file"),
        ({"wordings": ["list", "sentence"]}, "reference models are trained on 'list' alone"),
        ({"sets": {"a": SET, "b": SET}}, "two sets of one language share the prompts"),
        ({"wordings": ["list", "list"]}, "wordings: list stands there twice"),
        ({"decode": {"seed_prompts": [5]}}, "seed_prompts needs seed_files"),
        ({"decode": {"seed_prompts": [4]}}, "5, 6, 7, 8, 9 or 10"),
        ({"decode": {"seed_prompts": [5, 9, 5]}, "seed_files": "."}, "seed_prompts: figure 5 stands there twice; name"),
        ({"decode": {"seed_prompts": [5]}, "seed_files": "."}, "has reference models alone, which are not asked them;"),
        ({"decode": {"samples": -1}}, "decode.samples'?: at least 0"),
        ({"min_groups": 5}, "unknown key 'worldvaluesbench.min_groups' .did you mean 'min_group'"),
    ],
)
def test_a_fault_is_one_line_that_names_the_key(tmp_path, table, said):
    with pytest.raises(StudyError, match=said) as found:
        read(tmp_path, **table)
    assert "\n" not in str(found.value)


def test_ratings_are_made_up_for_made_up_people_alone(tmp_path):
    (tmp_path / "wvs7.csv").write_text("a")
    with pytest.raises(StudyError, match="contrary has no file, and ratings are made up only with answers = 'planted'"):
        read(tmp_path, answers="wvs7.csv", slopes=SLOPES | {"contrary": 1.0}, ratings=[{"name": "contrary"}])


def test_the_demonstration_plants_four_slopes():
    study = load_study("demo_worldvaluesbench")
    assert study.worldvaluesbench.slopes == {"aware": 0.8, "blind": 0.0, "contrary": -0.4, "caricature": 1.6}
    assert study.is_planted
