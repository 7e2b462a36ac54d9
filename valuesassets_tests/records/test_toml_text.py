"""A study that is written as TOML comes back as it was."""

import datetime
import tomllib

import pytest

from valuesassets.records.places import bundled_names
from valuesassets.records.study import load_study
from valuesassets.records.toml_text import toml_text
from valuesassets.reporting.replication_bundle import study_text
from valuesassets_tests.orchestration.small_study import RATINGS

HOSTILE = ['"', "\\", "a\nb", "a\tb", "\u0000", "\u2028", "'''", "#", "é", "\U0001f600", ""]


@pytest.mark.parametrize("name", bundled_names("", ".toml"))
def test_a_bundled_study_is_written_and_read(name, tmp_path):
    study = load_study(name)
    text = study_text(study)
    written = tomllib.loads(text)
    assert written["name"] == study.name
    assert set(written["languages"] if study.languages else ()) == set(study.languages)
    again = toml_text(written)
    assert tomllib.loads(again) == written


def test_dates_numbers_and_lists_of_tables_come_back():
    content = {
        "day": datetime.date(2026, 1, 5),
        "moment": datetime.datetime(2026, 1, 5, 10, 30),
        "table": {"x y": [1, 2.5, float("inf"), True], "none": None},
        "several": ({"a": 1}, {"a": 2, "b": {"c": "d"}}),
        "mixed": [[1, 2], ["a"]],
        "empty": {},
    }
    assert tomllib.loads(toml_text(content)) == {
        **content,
        "table": {"x y": [1, 2.5, float("inf"), True]},
        "several": [{"a": 1}, {"a": 2, "b": {"c": "d"}}],
    }


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_comes_back_as_a_value_and_as_a_name(text):
    assert tomllib.loads(toml_text({"value": text, "table": {text: text}})) == {"value": text, "table": {text: text}}


DATED = RATINGS.replace(
    'kind = "reference"',
    'kind = "huggingface"\nmodel_id = "a/b"\nprompting = { style = "chat", template_date = 2026-01-05 }',
).replace("aware = 0.8, ", "")


def test_a_study_whose_prompts_need_a_date_is_written(tmp_path):
    given, written = tmp_path / "given.toml", tmp_path / "written.toml"
    given.write_text(DATED, encoding="utf-8")
    study = load_study(str(given))
    assert study.families["aware"].prompting.template_date == datetime.date(2026, 1, 5)
    written.write_text(study_text(study), encoding="utf-8")
    assert load_study(str(written)) == study
