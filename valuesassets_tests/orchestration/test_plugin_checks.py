"""`check_instrument` passes the instrument of the template, and names each fault that is put into it."""

import re
import sys

import pytest

from valuesassets.orchestration.plugin_checks import check_instrument
from valuesassets.records.errors import StudyError
from valuesassets.records.instruments import Instrument
from valuesassets_tests.plugin import on_the_path, write_plugin

FAULTS = {
    "no description": (
        "settings.py",
        '"""Names of the tasks; all if left out."""',
        "",
        "valuesassets_tides.settings:Tides: tasks: has no description",
    ),
    "no such place": (
        "instrument.py",
        ".parts:parts",
        ".parts:part",
        "parts of valuesassets-tides 0.1.0 has no part; mend it",
    ),
    "no such check": (
        "instrument.py",
        'part="task"',
        'part="task", checks=("all_is_well",)',
        "all_is_well: no such check",
    ),
    "no function of the page": (
        "report/report.py",
        "def claims(",
        "def claim(",
        "report: claims: no such function",
    ),
    "another's asset": (
        "wiring.py",
        "TIDES = wired(INSTRUMENT)",
        'TIDES = wired(INSTRUMENT)\nTIDES = type(TIDES)(**vars(TIDES) | {"name": "waves"})',
        "an asset of tides begins with tides/",
    ),
    "no commands": ("commands.py", '{"prompts": prompts}', "{}", "COMMANDS has no command"),
    "a module that is not there": ("wiring.py", "import pandas", "import nothing_there", "cannot be imported"),
    "a graph that fails": (
        "wiring.py",
        "GROUP, step=",
        "GROUP, stop=",
        "valuesassets_tides.wiring:tides_assets of valuesassets-tides 0.1.0 fails (",
    ),
    "parts that fail": (
        "material/parts.py",
        "read_questions()",
        "read_question()",
        "valuesassets_tides.material.parts",
    ),
    "no table": ("../example.toml", "[tides]", "[worldvaluesbench]\nanswers = 'planted'\n[human]", "tides"),
}


def checked(folder):
    from valuesassets_tides.instrument import INSTRUMENT  # type: ignore[import-not-found]

    check_instrument(INSTRUMENT, folder / "example.toml")


def test_the_instrument_of_the_template_fits(tmp_path):
    with on_the_path(folder := write_plugin(tmp_path)):
        checked(folder)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(name, tmp_path):
    file, old, new, fault = FAULTS[name]
    folder = write_plugin(tmp_path)
    path = folder / "valuesassets_tides" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with on_the_path(folder), pytest.raises(StudyError, match=re.escape(fault)):
        checked(folder)


def test_an_instrument_that_is_not_installed_is_told_to_be(tmp_path):
    record = Instrument("waves", settings="a:B", wiring="a:b", package="a")
    assert "a" not in sys.modules
    with pytest.raises(StudyError, match="waves: is not installed; pip install --editable its folder"):
        check_instrument(record, tmp_path / "example.toml")
