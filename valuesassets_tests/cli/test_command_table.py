"""The table of commands says what their docstrings say, and a command is imported when it is called."""

import inspect

import pytest
from typer.main import get_command

from valuesassets.cli.app import app
from valuesassets.cli.command_table import GONE, GROUPS, INSTRUMENTS, PROGRAM
from valuesassets.cli.groups import Entry, Group, function_at
from valuesassets.cli.instruments import names
from valuesassets_tests.cli.commands import run, succeed

GROUPED = {name: group for name, group in PROGRAM.items() if isinstance(group, Group) and not group.hidden}
ENTRIES = {name: entry for name, entry in PROGRAM.items() if isinstance(entry, Entry)}
ENTRIES |= {f"{name} {each}": entry for name, group in GROUPED.items() for each, entry in group.entries.items()}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_commands_line_is_the_first_paragraph_of_its_docstring(name):
    first = (inspect.getdoc(function_at(ENTRIES[name].place)) or "").partition("\n\n")[0]
    assert ENTRIES[name].line == " ".join(first.split())


def test_the_table_has_every_instrument_and_a_group_for_each():
    assert tuple(INSTRUMENTS) == names()
    assert [group.entries for group in GROUPS.values()] == [*INSTRUMENTS.values()]


def test_help_lists_all_commands_but_those_by_earlier_names_and_those_that_are_gone():
    printed = succeed("--help").partition("Commands:\n")[2].splitlines()
    listed = [line.split()[0] for line in printed if line.startswith("  ") and line[2] != " "]
    assert listed == [name for name, entry in PROGRAM.items() if not entry.hidden]


def test_a_command_is_built_once_and_when_it_is_looked_up():
    commands = get_command(app).commands
    assert isinstance(commands.data["extract"], Entry)
    assert commands["extract"] is commands["extract"]
    assert isinstance(commands.data["align"], Entry)
    assert commands.get("extracted") is None


@pytest.mark.parametrize("words", [(), ("psych-tasks",)], ids=["program", "group"])
def test_without_a_command_the_help_is_printed_as_it_is(words):
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == succeed(*words, "--help")


def test_a_misspelt_command_gets_the_name_that_was_meant():
    (line,) = run("calibrat", "--readouts").stderr.splitlines()
    assert "Did you mean 'calibrate'?" in line


@pytest.mark.parametrize("name", GONE)
def test_a_command_that_is_gone_says_what_to_give_instead(name):
    done = run(name, "--anything", "7")
    assert (done.returncode, done.stdout) == (1, "")
    assert "make simulations" in done.stderr
