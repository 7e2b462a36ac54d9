"""WorldValuesBench as a graph: a very small study from made-up people to its page, and what a change makes stale."""

import subprocess
import sys
import tomllib

import dagster as dg
import pandas as pd
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.desk.staleness import ENTRIES
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import Design, plant_people
from valuesassets.orchestration.commands.run_study import run_study
from valuesassets.orchestration.instruments import WORLDVALUESBENCH
from valuesassets.records.parquet import read_trials
from valuesassets.records.study import parse_study
from valuesassets_tests.instruments.worldvaluesbench.made_files import planted_file
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import RATINGS, study_environment

ASSETS = {
    *("value_questions", "participants", "value_answers", "splits", "dataset_statistics"),
    *("probe_samples", "personas", "trials", "reference_models", "sampled_answers", "calibration", "preflight"),
    *("readings", "rating_distributions", "decoded_ratings", "human_groups", "benchmark_scores", "group_distances"),
    *("awareness", "readout_comparison", "report"),
}
WHOLE = Design(tuple(load_value_questions()), (156, 276, 484), (1, 2), (2, 7))
SET = {"language": "eng", "questions": ["Q7", "Q94"], "attributes": ["Q275", "B_COUNTRY", "H_URBRURAL"], "probe": "all"}


def small_study(**table):
    content = parse_study(tomllib.loads(RATINGS), "small.toml").model_dump(mode="json", exclude_none=True)
    return parse_study(content | {"worldvaluesbench": content["worldvaluesbench"] | table}, "small.toml")


@pytest.fixture(scope="module")
def made(small_ratings):
    """The folder of a small study that was run."""
    return small_ratings / "storage" / "small" / "worldvaluesbench"


@pytest.mark.slow
def test_what_is_made_is_fresh_and_not_made_again(small_ratings, monkeypatch):
    again = list[str]()

    def note(name, number, of, is_made):
        if is_made:
            again.append(name)

    for name, value in study_environment(small_ratings, small_ratings / "small.toml").items():
        monkeypatch.setenv(name, value)
    definitions = build_definitions(small_study(), small_ratings / "storage")
    with dg.DagsterInstance.get() as instance:
        assert list(run_study(definitions, instance, note, small_study())) == []
    assert again == []


@pytest.mark.slow
@pytest.mark.first_look
def test_a_small_study_is_made_from_people_to_its_page(made):
    assert (made / "report" / "two.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    factors = pd.read_parquet(made / "awareness" / "factors.parquet")
    whole = factors[factors.factor == "all"].set_index("model")
    assert whole.loc["contrary", "slope"] == pytest.approx(-0.4, abs=0.15)
    assert whole.loc["contrary", "planted_slope"] == -0.4
    assert whole.loc["aware", "planted_slope"] == 0.8
    assert whole.loc["contrary", "slope_low"] <= -0.4 <= whole.loc["contrary", "slope_high"]


@pytest.mark.slow
@pytest.mark.first_look
def test_each_distinct_pair_of_profile_and_question_is_asked_once_with_and_without_attributes(made):
    trials = read_trials(made / "trials" / "two.parquet")
    assert len(trials) == 2 * 2 * (16 + 1)
    assert len({(trial.condition, trial.question_id, trial.order) for trial in trials}) == len(trials)
    first = next(trial for trial in trials if trial.condition)
    assert [line.partition(":")[0] for line in first.prompt.split("\n")[1:4]] == ["Education", "Country", "Settlement"]


@pytest.mark.slow
@pytest.mark.first_look
def test_what_was_sampled_agrees_with_what_was_read_and_the_mode_does_not(made):
    rows = pd.read_parquet(made / "readout_comparison" / "readouts.parquet").set_index("readout")
    assert rows.loc["sampled", "w1_unit"] <= rows.loc["sampled", "w1_allowed_unit"]
    assert rows.loc["greedy", "w1_unit"] > 3 * rows.loc["sampled", "w1_unit"]
    assert rows.loc["exact", "n_prompts"] == 0


@pytest.mark.slow
def test_the_data_set_of_a_study_is_one_that_commands_take(made):
    from valuesassets.instruments.worldvaluesbench.material.stored_dataset import read_dataset

    found = read_dataset(made / "dataset")
    assert len(found.participants) == 800
    assert found.participants.participant_id.is_unique


def graph_of(study, folder):
    return build_definitions(study, folder).get_repository_def().asset_graph


def versions(study, folder):
    """What each asset goes stale with."""
    graph = graph_of(study, folder)
    return {
        key.path[-1]: (graph.get(key).code_version, str(graph.get(key).metadata)) for key in graph.get_all_asset_keys()
    }


def changed(before, after):
    return {name for name in before if before[name] != after[name]}


def test_the_graph_has_every_asset_of_the_instrument_and_readings_of_nothing_else(tmp_path):
    keys = graph_of(small_study(), tmp_path).get_all_asset_keys()
    assert {key.path[-1] for key in keys if key.path[0] == WORLDVALUESBENCH.name} == ASSETS
    assert {key.path[0] for key in keys} == {WORLDVALUESBENCH.name, "models"}


def test_more_ratings_or_larger_groups_make_scores_stale_and_no_prompt_or_model(tmp_path):
    before = versions(small_study(), tmp_path)
    found = changed(before, versions(small_study(min_group=9), tmp_path))
    assert found == {"human_groups", "benchmark_scores", "group_distances", "awareness", "readout_comparison"}


def test_another_slope_is_another_model(tmp_path):
    slopes = {"aware": 0.7, "contrary": -0.4}
    found = changed(versions(small_study(), tmp_path), versions(small_study(slopes=slopes), tmp_path))
    assert {"reference_models", "calibration", "awareness"} <= found
    assert not found & {"participants", "trials", "probe_samples", "readings"}


def test_more_people_make_people_stale_and_what_follows_by_their_data(tmp_path):
    assert changed(versions(small_study(), tmp_path), versions(small_study(people=900), tmp_path)) == {"participants"}


@pytest.fixture(scope="module")
def wvs(tmp_path_factory):
    people = plant_people(64, 1, WHOLE).drop(columns=["D_INTERVIEW", "Q290"])
    return planted_file(tmp_path_factory.mktemp("wvs"), people)


def survey_study(path, *, seed=1, **table):
    """A study of people who were asked, in a file of the user's."""
    content = small_study(slopes={"aware": 0.8}, ratings=[]).model_dump(mode="json", exclude_none=True)
    sets = {"one": SET, "two": SET | {"questions": ["Q1"]}}
    settings = content["worldvaluesbench"] | {"answers": str(path), "slopes": {}, "sets": sets}
    model = {"kind": "huggingface", "model_type": "mono", "model_id": "owner/model_{lang}"}
    changes = {"seed": seed, "families": {"asked": model}, "worldvaluesbench": settings | table}
    return parse_study(content | changes, "survey.toml")


@pytest.mark.slow
def test_another_question_of_one_set_makes_nothing_stale_that_all_sets_share(tmp_path, wvs):
    sets = {"one": SET, "two": SET | {"questions": ["Q1", "Q2"]}}
    before, after = survey_study(wvs), survey_study(wvs, sets=sets)
    assert changed(versions(before, tmp_path), versions(after, tmp_path)) == {
        *("value_questions", "probe_samples", "trials"),
    }
    entries = [
        {key.path[-1]: graph.get(key).metadata.get(ENTRIES) for key in graph.get_all_asset_keys()}
        for graph in (graph_of(before, tmp_path), graph_of(after, tmp_path))
    ]
    for name in ("probe_samples", "trials"):
        one, other = (each[name]["files"] for each in entries)
        assert {each for each in one if one[each] != other[each]} == {"two"}


@pytest.mark.slow
def test_another_seed_makes_stale_what_is_drawn_and_no_person_prompt_or_page(tmp_path, wvs):
    found = changed(versions(survey_study(wvs), tmp_path), versions(survey_study(wvs, seed=2), tmp_path))
    assert {"probe_samples", "benchmark_scores", "awareness"} <= found
    assert not found & {"participants", "trials", "readings", "decoded_ratings", "human_groups", "report"}
    other = parse_study(small_study().model_dump(mode="json", exclude_none=True) | {"seed": 2}, "small.toml")
    made_up = changed(versions(small_study(), tmp_path), versions(other, tmp_path))
    assert {"participants", "reference_models"} <= made_up


def test_the_seeds_files_make_only_what_reads_them_stale(tmp_path, wvs):
    after = survey_study(wvs, seed_files=str(tmp_path))
    assert changed(versions(survey_study(wvs), tmp_path), versions(after, tmp_path)) == {"decoded_ratings"}


@pytest.mark.slow
def test_everything_that_a_survey_asked_is_read_once_for_all_sets_and_what_its_file_lacks_is_told(tmp_path, wvs):
    names = ("participants", "value_answers", "dataset_statistics")
    graph = build_definitions(survey_study(wvs), tmp_path).resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        done = graph.execute_in_process(instance=instance, asset_selection=[*map(WORLDVALUESBENCH.key, names)])
    assert done.success
    answers = done.output_for_node("worldvaluesbench__value_answers")
    assert len(answers.columns) == 1 + len(load_value_questions())
    (made,) = done.asset_materializations_for_node("worldvaluesbench__dataset_statistics")
    assert made.metadata["columns_the_file_lacks"].value == "D_INTERVIEW, Q290"


@pytest.mark.slow
def test_rows_of_a_file_of_samples_whose_questions_are_not_asked_are_told_in_its_line(tmp_path, wvs):
    samples = tmp_path / "samples.tsv"
    samples.write_text("nobody yet")
    sets = {"one": SET | {"probe": str(samples)}}
    graph = build_definitions(survey_study(wvs, sets=sets), tmp_path).resolve_implicit_global_asset_job_def()
    people = ("participants", "value_answers")
    with dg.DagsterInstance.ephemeral() as instance:
        done = graph.execute_in_process(instance=instance, asset_selection=[*map(WORLDVALUESBENCH.key, people)])
        person = done.output_for_node("worldvaluesbench__participants").iloc[0]
        group = [person[name] for name in ("continent", "settlement", "education", "participant_id")]
        header = ("question_id", "continent", "settlement", "education", "participant_id")
        lines = [header, *((name, *group) for name in ("Q1", "Q7", "Q94"))]
        samples.write_text("\n".join(map("\t".join, lines)))
        of_set = [WORLDVALUESBENCH.key("probe_samples")]
        done = graph.execute_in_process(instance=instance, partition_key="one", asset_selection=of_set)
    (made,) = done.asset_materializations_for_node("worldvaluesbench__probe_samples")
    assert made.metadata["summary"].value.endswith("; 1 of 3 rows of the file are of questions not asked")


@pytest.mark.slow
def test_loading_the_graph_imports_no_derivation_no_figure_and_no_model():
    code = (
        "import sys; from pathlib import Path; from valuesassets.definitions import build_definitions, load_study;"
        "build_definitions(load_study('demo_worldvaluesbench'), Path('x')).get_repository_def(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    own = "valuesassets.instruments.worldvaluesbench."
    unwanted = ("torch", "transformers", "matplotlib", "scipy", "valuesassets.figures.", "valuesassets.answers.", own)
    loaded = {name for name in done.stdout.split() if name.startswith(unwanted)}
    assert loaded == {f"{own}{name}" for name in ("analyses", "material", "material.parts", "report", "report.lines")}
