"""`ls` lists what is bundled and what is stored, for people and as JSON."""

import json

import pytest

from valuesassets.cli.instruments import names
from valuesassets.cli.listing import LISTS
from valuesassets.records import extras
from valuesassets.records.lexicon import bundled_lexicons
from valuesassets.records.places import bundled_names
from valuesassets.records.study import load_study
from valuesassets.records.tables import TABLES
from valuesassets_tests.cli.commands import refuse, run, succeed
from valuesassets_tests.reporting.made_storage import add_the_rest, write_storage
from valuesassets_tests.test_architecture import HEAVY, loaded_by


def listed(*words):
    return json.loads(succeed("ls", *words, "--json"))


def test_bundled_studies_are_listed_with_their_titles():
    studies = {study["name"]: study for study in listed("studies")}
    assert [*studies] == bundled_names(".", ".toml")
    for name in ("demo_survey", "evs2017"):
        study = load_study(name)
        assert (studies[name]["title"], studies[name]["takes"]) == (study.title, study.takes)


def test_each_instrument_is_listed_with_a_study_that_runs_it():
    instruments = listed("instruments")
    assert [each["name"] for each in instruments] == [*names()]
    for each in instruments:
        assert each["table"] in load_study(each["demo"]).instrument_tables()
        assert succeed(each["commands"], "--help")


def test_every_bundled_language_and_task_is_listed():
    assert [each["name"] for each in listed("languages")] == bundled_lexicons()
    assert {"name": "deu", "english_name": "German", "has_questionnaire": True} in listed("languages")
    tasks = listed("tasks")
    assert [each["name"] for each in tasks] == bundled_names("psych_tasks", ".toml")
    assert {"name": "care", "about": "CARE, the Cognitive Appraisal of Risky Events"} in tasks
    assert all(10 < len(each["about"]) < 120 for each in tasks)


def test_models_of_the_index_are_listed_by_the_names_that_commands_take(tmp_path):
    done = run("ls", "models", "--json", HF_HOME=tmp_path)
    names = [each["name"] for each in json.loads(done.stdout)]
    assert "index:smollm2-135m-instruct" in names


def test_stored_tables_are_listed_with_their_files(tmp_path):
    folder = write_storage(tmp_path)
    add_the_rest(folder)
    done = run("ls", "tables", "--json", VALUESASSETS_STORAGE=folder.parent)
    tables = {table["name"].removeprefix(f"{folder.name}/survey/"): table for table in json.loads(done.stdout)}
    probed = tables["probe_distributions"]
    files = [*(folder / "survey" / "probe_distributions").rglob("*.parquet")]
    assert probed["files"] == len(files) > 1
    assert probed["bytes"] == sum(file.stat().st_size for file in files)
    assert tables["distances/pairs"] | {"bytes": 0} == {
        "name": f"{folder.name}/survey/distances/pairs",
        "row": TABLES["distances/pairs"].row,
        "files": 1,
        "bytes": 0,
    }
    printed = run("ls", "tables", VALUESASSETS_STORAGE=folder.parent).stdout
    assert f"{folder.name}/survey/distances/pairs" in printed
    assert f"a row is {TABLES['distances/pairs'].row}" in printed


def test_where_nothing_is_stored_a_line_says_how_tables_come_about(tmp_path):
    done = run("ls", "tables", VALUESASSETS_STORAGE=tmp_path / "none")
    assert (
        done.stdout == f"no table is stored in {tmp_path / 'none'}; run a study first: valuesassets run demo_survey\n"
    )
    assert run("ls", "tables", "--json", VALUESASSETS_STORAGE=tmp_path / "none").stdout == "[]\n"


@pytest.mark.parametrize("kind", [each for each in LISTS if each != "tables"])
def test_a_line_for_people_begins_with_the_name_that_json_has(kind):
    lines, entries = succeed("ls", kind).splitlines(), listed(kind)
    assert [line.split()[0] for line in lines] == [each["name"] for each in entries]


def test_without_a_kind_everything_that_is_bundled_is_listed():
    assert [*listed()] == [kind for kind in LISTS if kind != "tables"]
    printed = succeed("ls").splitlines()
    assert [line for line in printed if not line.startswith(" ")] == [f"{kind}:" for kind in listed()]


def test_a_kind_that_is_none_is_refused():
    assert "studies" in refuse("ls", "study", code=2)


def test_listing_what_is_bundled_imports_no_frames():
    loaded = loaded_by("from valuesassets.cli.app import app; app(['ls', 'studies'], standalone_mode=False)")
    assert not HEAVY & {*loaded}


def test_small_models_are_listed_without_the_packages_that_ask_them(monkeypatch):
    with_packages = succeed("models").splitlines()
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    first, *models, last = succeed("models").splitlines()
    assert first == with_packages[0]
    assert [line.split()[0] for line in models] == [line.split()[0] for line in with_packages[1 : len(models) + 1]]
    assert last == 'Models on this machine are listed and asked with more packages: pip install "valuesassets[models]"'
    assert refuse("models", "get", "smollm2-135m-instruct").endswith('pip install "valuesassets[models]"')
