"""Instruments of other packages: found by their entry points, and every fault is a line."""

import re

import pytest

from valuesassets.orchestration.instruments import INSTRUMENTS, instruments_of
from valuesassets.records.errors import StudyError
from valuesassets.records.plugins import installed
from valuesassets.records.study import Study, installed_kind, load_study, parse_study, study_of_json
from valuesassets.records.study_schema import study_keys, study_schema
from valuesassets_tests.plugin import ENTRY, on_the_path, register, write_plugin

EXAMPLE = {
    "name": "small",
    "title": "Small",
    "seed": 1,
    "families": {"reference": {"kind": "reference", "model_type": "multi"}},
}


@pytest.fixture
def tides(tmp_path):
    with on_the_path(folder := write_plugin(tmp_path)):
        yield folder


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_installed_instrument_has_a_table_in_studies_that_name_it_and_no_others(tides):
    study = load_study(str(tides / "example.toml"))
    assert [*study.instrument_tables()] == ["tides"]
    assert [each.name for each in instruments_of(study)] == ["tides"]
    assert type(load_study("demo_survey")) is Study
    assert installed().packages == {"tides": "valuesassets-tides 0.1.0"}


def test_a_study_is_the_same_after_its_way_to_another_process(tides):
    study = load_study(str(tides / "example.toml"))
    again = study_of_json(study.model_dump_json())
    assert (again, type(again)) == (study, type(study))


def test_a_fault_in_its_table_names_the_key_as_any_other(tides):
    with pytest.raises(StudyError, match=r"^s\.toml: unknown key 'tides\.tassks' \(did you mean 'tasks'\?\)$"):
        parse_study(EXAMPLE | {"tides": {"tassks": ["a"]}}, "s.toml")
    with pytest.raises(StudyError, match=r"^s\.toml: unknown key 'tide' \(did you mean 'tides'\?\)$"):
        parse_study(EXAMPLE | {"tides": {}, "tide": {}}, "s.toml")


def test_a_record_of_another_package_may_be_called_as_one_of_ours(tides):
    settings = tides / "valuesassets_tides" / "settings.py"
    own = '\n\nclass Family(Record):\n    """Tides."""\n\n    size: int = 1\n    """How large."""\n\n\nclass Tides'
    key = "    family: Family = Family()\n    tasks: tuple"
    replace(settings, "import InstrumentTable", "import InstrumentTable, Record")
    replace(settings, "\n\nclass Tides", own)
    replace(settings, "    tasks: tuple", key)
    keys = study_keys(installed_kind(print))
    assert keys["tides.family.size"].description == "How large."
    assert keys["families.<name>.dtype"].description.startswith("Number format of the weights")
    tables = study_schema(installed_kind(print))["$defs"]
    assert [name for name in tables if name.endswith("__Family")] == [
        "valuesassets__records__settings__cells__Family",
        "valuesassets_tides__settings__Family",
    ]


def test_a_study_without_its_package_says_that_no_instrument_has_the_table():
    advice = "no installed instrument has this table; install its package, or remove it"
    with pytest.raises(StudyError, match=rf"^s\.toml: \[tides\]: {advice}$"):
        parse_study(EXAMPLE | {"tides": {}}, "s.toml")


def test_a_misspelt_table_of_ours_is_still_told_by_its_name():
    with pytest.raises(StudyError, match=r"unknown key 'questionaires' \(did you mean 'questionnaires'\?\)"):
        parse_study(EXAMPLE | {"questionaires": {}}, "s.toml")


def test_a_name_in_two_packages_is_nobodys_and_both_are_named(tmp_path):
    write_plugin(tmp_path)
    register(tmp_path / "other", "lab-tides", tides="lab_tides:INSTRUMENT")
    with on_the_path(tmp_path / "tides", tmp_path / "other"):
        line = (
            "instrument tides: is in lab-tides 0.1.0 and in valuesassets-tides 0.1.0; a name stands for one: "
            "uninstall a package"
        )
        assert (dict(installed().instruments), dict(installed().faults)) == ({}, {"tides": line})
        with pytest.raises(StudyError, match=re.escape(f"s.toml: [tides]: its {line}")):
            parse_study(EXAMPLE | {"tides": {}}, "s.toml")


@pytest.mark.parametrize("name", [each.name for each in INSTRUMENTS])
def test_our_own_name_in_another_package_leaves_ours_as_it_is(name, tmp_path):
    register(tmp_path, "lab", **{name: ENTRY})
    with on_the_path(tmp_path):
        assert installed().faults[name].startswith(f"instrument {name}: is in valuesassets and in lab 0.1.0; ")
        assert not installed().instruments


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            '"""The record',
            'import nothing_there\n"""The record',
            r"cannot be imported \(ModuleNotFoundError: .*\)",
        ),
        ('"""The record', 'raise SystemExit("no")\n"""', r"cannot be imported \(SystemExit: no\); mend"),
        ("api=1", "api=2", "is written for api 2, and this valuesassets has api 1; install versions that fit"),
        ('    "tides",', '    "waves",', r"has the name 'waves' in its record; give its entry point the same name"),
        ("INSTRUMENT = Instrument(", "INSTRUMENT = dict(name=", r"is no Instrument of .* \(found dict\); mend"),
    ],
)
def test_a_record_that_cannot_be_used_is_a_line_and_nothing_else_changes(old, new, fault, tmp_path):
    replace(write_plugin(tmp_path) / "valuesassets_tides" / "instrument.py", old, new)
    with on_the_path(tmp_path / "tides"):
        assert re.match(f"instrument tides: {ENTRY} of valuesassets-tides 0.1.0 {fault}", installed().faults["tides"])
        assert not installed().instruments
        assert load_study("demo_survey").name == "demo_survey"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            '"""The table',
            'import nothing_there\n"""The table',
            r"valuesassets_tides\.settings of .* cannot be",
        ),
        ("class Tides(InstrumentTable)", "class Tides", r"valuesassets_tides\.settings:Tides is no InstrumentTable"),
    ],
)
def test_a_table_that_cannot_be_used_is_a_fault_of_studies_that_have_it(old, new, fault, tides):
    replace(tides / "valuesassets_tides" / "settings.py", old, new)
    with pytest.raises(StudyError, match=rf"^s\.toml: instrument tides: {fault}"):
        parse_study(EXAMPLE | {"tides": {}}, "s.toml")
    assert load_study("demo_survey").name == "demo_survey"
