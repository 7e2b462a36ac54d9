import csv
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from valuesassets.records.errors import StudyError
from valuesassets.records.places import STUDIES
from valuesassets.records.settings.cells import Zone
from valuesassets.records.settings.cultural_robustness import PLANTED_LANGUAGES
from valuesassets.records.settings.kinds import InstrumentTable, Record
from valuesassets.records.settings.psych_tasks import PLANTED_TASKS
from valuesassets.records.settings.questionnaires import Questionnaires
from valuesassets.records.study import Study, load_study, parse_study, study_path


def demo(**changes):
    content = tomllib.loads(study_path("demo_survey").read_text())
    for path, value in changes.items():
        part = content
        *parents, last = path.split("__")
        for name in parents:
            part = part.setdefault(name.replace("_mono", "-mono"), {})
        part[last] = value
    return content


def test_the_demo_has_six_languages_and_two_families():
    study = load_study("demo_survey")
    assert list(study.languages) == ["eng", "deu", "fra", "pol", "ell", "bul"]
    assert len(study.cells()) == 12
    assert study.has_reference_models


def test_evs2017_has_44_cells_with_ids_documents_and_resources():
    study = load_study("evs2017")
    assert len(study.languages) == 22
    assert len(study.cells()) == 44
    assert study.languages["eng"].gesis_document == 66252
    hplt, euro = study.families["hplt2c"], study.families["eurollm-22b"]
    assert hplt.model_id == "HPLT/hplt2c_{lang}_checkpoints"
    assert euro.model_id == "utter-project/EuroLLM-22B-2512"
    assert (hplt.resources.gpus, hplt.resources.memory_gib, hplt.resources.hours) == (1, 24, 1)
    assert (euro.resources.gpus, euro.resources.memory_gib, euro.resources.hours) == (1, 96, 2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"thresholds__p_valid_cell": 1.5}, ["thresholds.p_valid_cell", "at most 1", "1.5"]),
        ({"thresholds__p_valid": 0.1}, ["unknown key 'thresholds.p_valid'"]),
        ({"languages__xx": {"name": "?"}}, ["languages.xx"]),
        ({"questionnaires__master": "swe"}, ["questionnaires.master", "swe", "eng, deu"]),
        ({"families__reference_mono__languages": ["swe"]}, ["families.reference-mono.languages", "swe"]),
        ({"families__reference_mono__model_id": "x/y"}, ["families.reference-mono", "takes no model_id"]),
        ({"questionnaires__source": "folder"}, ["pdf_dir"]),
        ({"questionnaires__source": "gesis"}, ["languages.eng", "gesis_document"]),
        ({"human__respondents": 0}, ["human.respondents"]),
        ({"name": "Demo Study"}, ["'name'"]),
    ],
)
def test_a_faulty_study_is_refused_with_file_key_and_reason(changes, words):
    with pytest.raises(StudyError) as error:
        parse_study(demo(**changes), "my.toml")
    message = str(error.value)
    assert message.startswith("my.toml: ")
    assert "\n" not in message
    for word in words:
        assert word in message


def test_what_is_no_study_file_is_refused_in_one_line(tmp_path):
    broken, binary = tmp_path / "broken.toml", tmp_path / "latin.toml"
    broken.write_text("name = ")
    binary.write_bytes(b'name = "\xff"')
    for path, word in [
        (broken, "not TOML"),
        (binary, "UTF-8"),
        (tmp_path / "absent.toml", "or name one of demo_cultural_robustness, "),
    ]:
        with pytest.raises(StudyError, match=word):
            load_study(str(path))


def test_a_folder_of_pdfs_is_relative_to_the_study_file(tmp_path):
    text = study_path("demo_survey").read_text().replace('source = "bundled"', 'source = "folder"\npdf_dir = "pdfs"')
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(StudyError, match="pdfs: no such folder"):
        load_study(str(tmp_path / "mine.toml"))
    (tmp_path / "pdfs").mkdir()
    assert load_study(str(tmp_path / "mine.toml")).questionnaires.pdf_dir == tmp_path / "pdfs"


def test_a_cell_that_a_family_does_not_serve_is_refused():
    content = demo(families__reference_mono__languages=["eng", "deu"])
    study = parse_study(content, "my.toml")
    assert study.require_cell("reference-mono", "eng").kind == "reference"
    with pytest.raises(StudyError, match="does not serve pol; it serves eng, deu"):
        study.require_cell("reference-mono", "pol")


class Tasks(InstrumentTable):
    """A second instrument's table, as a study that runs it would have it."""

    tasks: tuple[str, ...] = ()
    """Which tasks are put to the models."""

    def check(self, study):
        if not self.tasks:
            raise ValueError("tasks.tasks: name one")


class StudyOfTasks(Study):
    tasks: Tasks | None = None


def test_another_instruments_table_is_one_field_and_needs_neither_survey_nor_country():
    content = demo(tasks={"tasks": ["anchoring"]}, languages__eng={"name": "English"})
    del content["questionnaires"]
    study = parse_study(content, "my.toml", kind=StudyOfTasks)
    assert list(study.instrument_tables()) == ["tasks"]
    assert Tasks.of(study).tasks == ("anchoring",)
    with pytest.raises(StudyError, match="has no table of its Questionnaires"):
        Questionnaires.of(study)
    with pytest.raises(StudyError, match=r"languages\.eng: a country is compared with; add country"):
        study.countries  # noqa: B018
    with pytest.raises(StudyError, match=r"my\.toml: tasks\.tasks: name one$"):
        parse_study(content | {"tasks": {}}, "my.toml", kind=StudyOfTasks)
    with pytest.raises(StudyError, match=r"nothing to measure; add \[questionnaires\] or .* or \[tasks\]$"):
        parse_study({key: part for key, part in content.items() if key != "tasks"}, "my.toml", kind=StudyOfTasks)


def test_one_study_runs_two_instruments_and_is_the_same_when_read_again():
    study = parse_study(demo(tasks={"tasks": ["anchoring"]}), "my.toml", kind=StudyOfTasks)
    assert list(study.instrument_tables()) == ["questionnaires", "tasks"]
    assert StudyOfTasks.model_validate_json(study.model_dump_json()) == study
    with pytest.raises(StudyError, match="unknown key 'tasks'"):
        parse_study(demo(tasks={}), "my.toml")


def test_every_path_of_a_study_file_counts_from_its_folder(tmp_path):
    def types(annotation):
        return [annotation, *(each for part in get_args(annotation) for each in types(part))]

    def paths(record):
        for key, field in record.model_fields.items():
            for each in (each for each in types(field.annotation) if isinstance(each, type)):
                if issubclass(each, Path):
                    yield f"{record.__name__}.{key}"
                elif issubclass(each, Record):
                    yield from paths(each)

    assert set(paths(Study)) == {
        "CulturalRobustness.questions",
        "CulturalRobustness.countries",
        "Language.lexicon",
        "Questionnaires.pdf_dir",
        "Questionnaires.extractions",
        "Questionnaires.overrides",
        "HumanData.means",
        "HumanFile.path",
        "WorldValuesBench.answers",
        "WorldValuesBench.seed_files",
        "AskedSet.probe",
        "RatingsFile.with_attributes",
        "RatingsFile.without",
        "AskedTask.transcripts",
        "Worldwise.scenarios",
        "Worldwise.exemplars",
        "Worldwise.values",
        "Worldwise.countries",
        "Worldwise.targets",
    }
    (tmp_path / "json").mkdir()
    (tmp_path / "people.csv").write_text("v1\n1\n")
    text = (
        study_path("demo_survey")
        .read_text()
        .replace('"bundled"', '"bundled"\nextractions = "json"\npdf_dir = "~/pdfs"')
    )
    people = '[human]\nsource = "files"\nfiles = [{ path = "people.csv", survey = "evs2017" }]\n'
    (tmp_path / "mine.toml").write_text(text[: text.index("[human]")] + people)
    study = load_study(str(tmp_path / "mine.toml"))
    assert study.human.files[0].path == tmp_path / "people.csv"
    settings = Questionnaires.of(study)
    assert (settings.extractions, settings.pdf_dir) == (tmp_path / "json", Path.home() / "pdfs")
    assert settings.overrides == tmp_path / "mine.overrides"
    (tmp_path / "people.csv").unlink()
    with pytest.raises(StudyError, match=r"key 'path' in entry 1 of 'human\.files': .*people\.csv: no such file"):
        load_study(str(tmp_path / "mine.toml"))


def transcripts(**changes):
    return {"tasks": {"balloons": {"transcripts": "planted"}}, "laws": {"m": {"style": 0.5}}} | changes


def psych_study(**changes):
    family = {"kind": "reference", "model_type": "multi"}
    return {"name": "p", "title": "P", "seed": 1, "families": {"m": family}, "psych_tasks": transcripts(**changes)}


def test_a_study_of_transcripts_needs_no_languages():
    study = parse_study(psych_study(), "my.toml")
    assert list(study.languages) == ["eng"]
    assert study.cells() == [("m", "eng")]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tasks": {"cares": {"transcripts": "planted"}}}, "cares: no such bundled task; did you mean care?"),
        ({"histories": ["other"]}, "other takes the readings of human, which is not named; add human"),
        ({"histories": ["human", "human"]}, "human stands there twice; name it once"),
        ({"laws": {}}, "laws: m is trained here and has no entry; add its response model"),
        ({"laws": {"m": {"style": 0.5}, "n": {"style": 0.1}}}, "n is no reference family of the study; name one"),
        ({"laws": {"m": {"style": 0.5, "content": 0.5}}}, "style . content are 1: nothing is left for the item"),
        ({"tasks": {"care": {"transcripts": "planted", "language": "deu"}}}, "deu is none of the study's languages"),
        ({"tasks": {"care": {"transcripts": "no.jsonl"}}}, "no.jsonl"),
        ({"own_draws": 0}, "own_draws"),
        ({"tasks": {}}, "at least one entry"),
    ],
)
def test_a_table_of_transcripts_that_does_not_fit_is_one_line(changes, said, tmp_path):
    with pytest.raises(StudyError, match=said) as caught:
        parse_study(psych_study(**changes), "my.toml", tmp_path)
    assert "\n" not in str(caught.value)


def test_a_task_file_counts_from_the_study_file_and_is_looked_for(tmp_path):
    (tmp_path / "mine.toml").write_text("name = 'balloons'\n", encoding="utf-8")
    named = {"mine": {"transcripts": "planted", "task": "mine.toml"}}
    study = parse_study(psych_study(tasks=named), "my.toml", tmp_path)
    assert study.psych_tasks.task_file("mine") == tmp_path / "mine.toml"
    with pytest.raises(StudyError, match=r"no such task file; did you mean .*mine"):
        parse_study(psych_study(tasks={"mine": {"transcripts": "planted", "task": "min.toml"}}), "my.toml", tmp_path)


def test_the_zones_of_a_study_are_those_of_the_published_map_and_another_is_refused():
    with (STUDIES / "facts" / "iw_coordinates.csv").open(encoding="utf-8") as file:
        assert {*get_args(Zone)} == {row["zone"] for row in csv.DictReader(file)}
    with pytest.raises(StudyError, match=r"languages\.eng\.zone': .*'Latin America', .*found .Nordic"):
        parse_study(demo(languages__eng__zone="Nordic"), "here.toml")


@pytest.mark.parametrize(
    ("study", "changes", "line"),
    [
        ("demo_cultural_robustness", {"families.cultures": "families.mine"}, "families.mine: no answers are made up"),
        (
            "demo_cultural_robustness",
            {"languages.pol": "languages.ces"},
            "families.cultures: no answers .* in ces, only in",
        ),
        ("demo_cultural_robustness", {'embedder = "planted"': ""}, r"take the families out \(cultures, no-signal\)"),
        (
            "demo_psych_tasks",
            {"[psych_tasks.tasks.balloons]": "[psych_tasks.tasks.care]"},
            "who answers care, only ipip",
        ),
    ],
)
def test_reference_families_that_nothing_is_made_up_for_are_told_with_the_names_that_exist(study, changes, line):
    text = study_path(study).read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(StudyError, match=line):
        parse_study(tomllib.loads(text), "here.toml")


def test_the_names_that_nothing_else_is_made_up_for_are_those_of_the_plants():
    from valuesassets.instruments.cultural_robustness.plants.planted_answers import OWN_COUNTRIES
    from valuesassets.instruments.psych_tasks.plants.planted_tasks import PLANTED

    assert set(PLANTED_LANGUAGES) == OWN_COUNTRIES.keys()
    assert set(PLANTED_TASKS) == PLANTED.keys()
