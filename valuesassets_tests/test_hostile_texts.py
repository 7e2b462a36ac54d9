"""Words of others reach a terminal as words: no markup, no commands, no turned direction, and nothing is lost."""

import io

import pytest
from rich.console import Console

from valuesassets.cli.app import one_line
from valuesassets.cli.tracing import escape
from valuesassets.orchestration.commands import study_command
from valuesassets.orchestration.commands.run_study import LeftOut
from valuesassets.records.terminal import terminal_text

MARKUP = ["[/INST]", "[/]", "[bold]", "[red]x[/red]", "\\[/INST]", "x\\", "[link=file:///etc/passwd]x", "[[", "]"]
COMMANDS = ["\x1b[31m", "\x1b]0;title\x07", "\x9b31m", "\x07", "\x08", "\r", "\x00", "\x7f", "\x1bc"]
TURNING = ["\u202e", "\u202d", "\u2066", "\u2067", "\u2069", "\u200f", "\u061c", "\ufeff", "\u2028"]
HARMLESS = ["میان\u200cرشته", "👩\u200d🔬", "日本語", "naïve", "=HYPERLINK(1)", "<b>", "%s", "{0}"]
HOSTILE = [*MARKUP, *COMMANDS, *TURNING]


@pytest.mark.parametrize("text", [*COMMANDS, *TURNING])
def test_what_commands_a_terminal_is_written_as_an_escape(text):
    shown = terminal_text(f"before {text} after")
    assert shown.isprintable()
    assert shown.startswith("before \\")
    assert shown.endswith(" after")


@pytest.mark.parametrize("text", [*MARKUP, *HARMLESS])
def test_other_texts_stay_as_they_are(text):
    assert terminal_text(text) == text


@pytest.mark.parametrize("text", HOSTILE)
def test_the_line_of_an_error_holds_no_command(text):
    assert one_line(f"a form says {text} here").isprintable()


@pytest.mark.parametrize("kind", [str, LeftOut])
@pytest.mark.parametrize("text", [*HOSTILE, *HARMLESS])
def test_a_failure_is_told_in_full_on_a_terminal_and_in_lines(text, kind, monkeypatch, capsys):
    line, stream = kind(f"a model wrote {text} here"), io.StringIO()
    monkeypatch.setattr(study_command, "Console", lambda **_: Console(file=stream, width=200))
    assert study_command._show_bar(lambda tell: iter([line])) == (kind is str)
    assert terminal_text(line) in stream.getvalue()
    study_command._print_lines(lambda tell: iter([line]), is_json=False)
    assert terminal_text(line) in capsys.readouterr().err


@pytest.mark.parametrize("text", [*HOSTILE, *HARMLESS])
def test_markup_around_words_of_others_leaves_them_whole(text):
    stream = io.StringIO()
    Console(file=stream, width=200, highlight=False).print(f"[red]{escape(text)}[/]")
    assert terminal_text(text) in stream.getvalue()
