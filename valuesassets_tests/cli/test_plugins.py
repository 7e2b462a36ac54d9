"""Instruments of other packages on the command line: their commands, lists and faults."""

import json

import pytest

from valuesassets.cli import app
from valuesassets.cli.groups import table_typer
from valuesassets.cli.plugins import fault_lines, whole_program
from valuesassets_tests.cli.commands import refuse, run, run_in_own_process, succeed
from valuesassets_tests.plugin import on_the_path, register, write_plugin


@pytest.fixture
def tides(tmp_path):
    with on_the_path(folder := write_plugin(tmp_path)):
        yield folder


def plugin_program():
    """The program as a process has it that starts now."""
    program = table_typer(whole_program(), "", no_args_is_help=True, pretty_exceptions_enable=False)
    program.callback()(app._options)
    return lambda: app.main(program)


def test_its_commands_are_a_group_by_its_name_at_the_end_of_the_list(tides):
    done = run("--help", program=plugin_program())
    assert done.stdout.splitlines()[-1].endswith("  Commands of tides, an instrument of another package.")
    done = run("tides", "prompts", "habits", program=plugin_program())
    assert (done.returncode, done.stdout.count("Answer:"), done.stderr) == (0, 8, "")
    done = run("tides", "prompts", "nights", program=plugin_program())
    assert (done.returncode, done.stderr) == (1, "nights: no such task; there are dilemmas, habits\n")


def test_it_is_listed_with_its_package(tides):
    (entry,) = [each for each in json.loads(succeed("ls", "instruments", "--json")) if each["name"] == "tides"]
    assert entry == {
        "name": "tides",
        "about": "Tides: how probable models find yes in each task",
        "table": "tides",
        "commands": "tides",
        "demo": None,
        "package": "valuesassets-tides 0.1.0",
    }
    assert "(of valuesassets-tides 0.1.0)" in succeed("ls", "instruments").splitlines()[-1]


def test_its_example_is_checked_and_its_keys_are_explained(tides):
    assert "cells: 2;" in succeed("study", tides / "example.toml")
    assert "Names of the tasks; all if left out." in succeed("study", "--explain", "tides.tasks")
    schema = json.loads(succeed("study", "--schema"))
    assert schema["properties"]["tides"]["description"] == "The tasks in which models are asked yes-or-no questions."
    assert schema["properties"]["seed"]["description"].startswith("Random seed")


def test_a_fault_is_a_line_on_stderr_and_the_command_goes_on(tmp_path):
    register(tmp_path, "lab", waves="nothing_there:INSTRUMENT")
    done = run_in_own_process("ls", "studies", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, succeed("ls", "studies"))
    (line,) = done.stderr.splitlines()
    assert line.startswith("instrument waves: nothing_there:INSTRUMENT of lab 0.1.0 cannot be imported (")


def test_a_table_that_cannot_be_imported_is_left_out_of_the_schema_and_told(tides):
    settings = tides / "valuesassets_tides" / "settings.py"
    settings.write_text("import nothing_there\n" + settings.read_text())
    done = run("study", "--schema")
    assert "tides" not in json.loads(done.stdout)["properties"]
    (line,) = done.stderr.splitlines()
    assert line.startswith("instrument tides: valuesassets_tides.settings of valuesassets-tides 0.1.0 cannot be ")


def test_a_command_of_ours_keeps_its_name(tmp_path):
    folder = write_plugin(tmp_path)
    record = folder / "valuesassets_tides" / "instrument.py"
    record.write_text(record.read_text().replace('    "tides",', '    "run",'))
    register(folder, "valuesassets-tides", run="valuesassets_tides.instrument:INSTRUMENT")
    with on_the_path(folder):
        (line,) = fault_lines()
        assert line.startswith("instrument run of valuesassets-tides 0.1.0: valuesassets has a command of this name;")
        assert whole_program()["run"].line.startswith("Run a study")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Tides", "no name of an instrument"),
        ("survey", "an instrument or a command has this name"),
        ("psych_tasks", "an instrument or a command has this name"),
        ("run", "an instrument or a command has this name"),
        ("seed", "is a key of every study file"),
    ],
)
def test_a_template_needs_a_name_that_is_free(name, fault, tmp_path):
    assert fault in refuse("template", "instrument", tmp_path / name)
    assert not [*tmp_path.iterdir()]


def test_a_template_overwrites_nothing(tmp_path):
    (tmp_path / "tides").mkdir()
    assert "is there already" in refuse("template", "instrument", tmp_path / "tides")
    assert not [*(tmp_path / "tides").iterdir()]


def test_what_a_template_writes_is_in_the_style_of_this_project_and_has_no_name_left_out(tmp_path):
    folder = write_plugin(tmp_path)
    files = [path for path in folder.rglob("*") if path.is_file() and ".dist-info" not in str(path)]
    assert len(files) > 20
    for path in files:
        text = path.read_text()
        assert "$" not in text, path
        assert max(map(len, text.splitlines())) <= 120, path
