"""Every help is shown word by word, those in brackets and long ones among them."""

import re
from collections.abc import Iterator

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from valuesassets.cli.app import app


def commands(command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every command and group, by its words."""
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


ALL = dict(commands(get_command(app)))


def words(text):
    """A text's words, run together where a line may break within one."""
    return re.sub(r"[\s\b]+", "", text)


@pytest.mark.parametrize("path", ALL, ids=" ".join)
@pytest.mark.parametrize("width", ["80", "50"])
def test_every_word_of_a_commands_help_is_shown(path, width):
    command = ALL[path]
    shown = words(CliRunner().invoke(app, [*path, "--help"], terminal_width=int(width)).output)
    texts = [command.help, *(each.help for each in command.params if not getattr(each, "hidden", True))]
    listed = [each for each in getattr(command, "commands", {}).values() if not each.hidden]
    texts += [each.help.partition("\n\n")[0] for each in listed]
    assert [text for text in filter(None, texts) if words(text.partition("\f")[0]) not in shown] == []


def test_helps_that_name_a_key_of_a_study_have_its_brackets():
    shown = words(CliRunner().invoke(app, ["read", "--help"]).output)
    assert "keysof`[families.X.prompting]`" in shown
    assert "keysof`[families.X.endpoint]`" in shown
    assert words("<code>_{unspecific,specific}.jsonl[.gz]") in words(
        CliRunner().invoke(app, ["cultural-robustness", "score", "--help"]).output
    )
