"""The schema of study files says what `valuesassets study` says, wherever a schema can know."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from valuesassets.records.places import bundled_names
from valuesassets.records.study import Study, study_path
from valuesassets.records.study_schema import (
    close_keys,
    find_key,
    key_descriptions,
    records_in,
    study_keys,
    study_schema,
)
from valuesassets_tests.cli.commands import run
from valuesassets_tests.records.test_study import StudyOfTasks

SCHEMA = study_schema()
BUNDLED = bundled_names(".", ".toml")
FAULTS = {
    "unknown key": ("demo_survey", 'title = "', 'titel = "'),
    "unknown table": ("demo_survey", "[human]", "[humans]"),
    "unknown key of a table": ("demo_survey", "[human]", "[human]\ncontry = 1"),
    "text for a number": ("demo_survey", "seed = ", 'seed = "one" # '),
    "number for a text": ("demo_survey", "title = ", "title = 3 # "),
    "table for a text": ("demo_survey", "title = ", "title = {} # "),
    "fraction for a whole number": ("demo_survey", "seed = ", "seed = 0.5 # "),
    "key that is needed": ("demo_survey", "seed = ", "# "),
    "name that is none": ("demo_survey", "name = ", 'name = "My Study" # '),
    "key that is no code": ("demo_survey", "[languages.deu]", "[languages.german]"),
    "value that is no choice": ("demo_survey", 'model_type = "mono"', 'model_type = "momo"'),
    "share above 1": ("demo_worldvaluesbench", "[families.", "[thresholds]\np_valid_cell = 1.5\n[families."),
    "none where one is needed": ("demo_survey", "[human]", "[elicitation]\nwordings = 0\n[human]"),
    "instrument's key": ("demo_worldwise", "[worldwise]", "[worldwise]\nscenaros = 1"),
    "array for a table": ("demo_survey", "[human]", "[[human]]"),
}
"""Faults by what they are: a bundled study, words of its file, and what stands there instead."""


def faulty(folder, name, words, instead):
    text = study_path(name).read_text("utf-8")
    assert words in text
    path = folder / "study.toml"
    path.write_text(text.replace(words, instead, 1), "utf-8")
    return path


def by_schema(path):
    content = tomllib.loads(Path(path).read_text("utf-8"))
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(content)


def by_command(path):
    return run("study", path).returncode == 0


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def keys_in(schema):
    if isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
        schema = list(schema.values())
    for each in schema if isinstance(schema, list) else []:
        yield from keys_in(each)


@pytest.mark.parametrize("schema", [SCHEMA, study_schema(StudyOfTasks)], ids=["study", "another instrument's"])
def test_every_key_has_a_description(schema):
    keys = list(keys_in(schema))
    assert len(keys) > 240
    assert [key for key, entry in keys if len(entry["description"]) < 10] == []


def test_no_key_of_the_schema_takes_null_which_toml_has_not():
    assert '"null"' not in json.dumps(SCHEMA)


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_study_is_sound_by_the_schema_and_by_the_command(name):
    assert (by_schema(study_path(name)), by_command(name)) == (True, True)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_file_is_refused_by_the_schema_and_by_the_command(fault, tmp_path):
    path = faulty(tmp_path, *FAULTS[fault])
    assert (by_schema(path), by_command(path)) == (False, False)


def test_what_the_schema_cannot_know_the_command_refuses_and_numbers_in_quotes_it_alone_takes(tmp_path):
    path = faulty(tmp_path, "demo_survey", 'master = "eng"', 'master = "swe"')
    assert (by_schema(path), by_command(path)) == (True, False)
    path = faulty(tmp_path, "demo_survey", "seed = ", 'seed = "7" # ')
    assert (by_schema(path), by_command(path)) == (False, True)


@pytest.fixture(scope="module")
def taplo(tmp_path_factory):
    """What Taplo says of a study file, which editors use: its exit status and its words."""
    program = shutil.which("taplo", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None:
        pytest.skip("needs taplo (PyPI)")
    schema = tmp_path_factory.mktemp("schema") / "study.schema.json"
    schema.write_text(json.dumps(SCHEMA), "utf-8")

    def lint(path):
        command = [program, "lint", "--no-auto-config", "--schema", schema.as_uri(), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=schema.parent)
        return done.returncode, done.stderr

    return lint


@pytest.mark.parametrize("name", BUNDLED)
def test_taplo_finds_no_fault_in_a_bundled_study(name, taplo):
    status, printed = taplo(study_path(name))
    assert status == 0, printed


@pytest.mark.parametrize("fault", FAULTS)
def test_taplo_marks_the_line_of_a_fault(fault, taplo, tmp_path):
    path = faulty(tmp_path, *FAULTS[fault])
    status, printed = taplo(path)
    assert status != 0
    assert "study.toml:" in printed


def test_every_record_describes_its_keys():
    records = {*records_in(Study).values()}
    assert len(records) > 25
    for record in records:
        assert {*key_descriptions(record)} >= {field.alias or key for key, field in record.model_fields.items()}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("seed", "seed"),
        ("[human]", "human"),
        ("families", "families"),
        ("families.reference-mono", "families.<name>"),
        ("families.<name>.dtype", "families.<name>.dtype"),
        ("families.a.b-7.5.prompting.style", "families.<name>.prompting.style"),
        ("human.files.path", "human.files.path"),
        ("human.sorce", None),
        ("", None),
    ],
)
def test_a_key_is_found_by_its_place_with_names_of_ones_own(name, place):
    key = find_key(name, study_keys())
    assert (key and key.place) == place


def test_a_key_that_is_none_gets_those_that_may_be_meant():
    keys = study_keys()
    assert close_keys("orders", keys) == ["elicitation.orders"]
    assert close_keys("human.sorce", keys)[0] == "human.source"
    assert close_keys("qqqqqq", keys) == []
