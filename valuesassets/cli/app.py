"""The program `valuesassets`: its commands by name, and how each one ends: exit code and the one line of an error."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from valuesassets.cli import survey
from valuesassets.cli.homes import HomeOption, init
from valuesassets.cli.instruments import EARLIER_COMMANDS, NAMES, commands_of
from valuesassets.cli.model_list import get, list_models
from valuesassets.cli.options import spread
from valuesassets.cli.probe import read
from valuesassets.cli.shift import shift
from valuesassets.cli.stored_studies import bundle, compare, export
from valuesassets.cli.studies import demo, run, study
from valuesassets.cli.web_ui import ui
from valuesassets.records.errors import NO_MEMORY, InputError, ValuesAssetsError
from valuesassets.records.terminal import is_utf8, terminal_text

INTERRUPTED = 130
"""What typer gives back after Ctrl-C."""
EXAMPLES = [block.splitlines() for block in Path(__file__).with_name("examples.txt").read_text("utf-8").split("\n\n")]
"""Two examples of each command, without the program's name; the first begins with the command's own words."""


class PlainGroup(TyperGroup):
    """Commands that are listed with the whole first paragraph of their help.

    Help is shown as it is written: rich would take words in brackets for markup, and cut long ones off.
    """

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, (each.help or "").partition("\n\n")[0]) for name, each in commands if each and not each.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def plain_typer(**settings: Any) -> typer.Typer:
    """A group of commands whose help is shown as it is written."""
    return typer.Typer(cls=PlainGroup, rich_markup_mode=None, **settings)


def epilog(command: str) -> str:
    """The end of a command's help: its examples, a line each."""
    words = command.split()
    examples = next(lines for lines in EXAMPLES if lines[0].split()[: len(words)] == words)
    return "\n".join(["\b", "Examples:", *(f"  valuesassets {example}" for example in examples)])


app = plain_typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


def add(group: typer.Typer, commands: dict[str, Callable[..., None]], path: str = "") -> None:
    """Add commands to a group by their names, each with its examples; `path` holds the words before a command's own,
    with a blank behind them."""
    for name, command in commands.items():
        group.command(name, epilog=epilog(f"{path}{name}"))(spread(command))


def add_instrument(name: str, earlier: str | None = None) -> None:
    """Add the group of an instrument's commands; under an earlier name it is a hidden one, which says the new name."""
    group = plain_typer(no_args_is_help=True, help=f"Commands of {name.replace('_', ' ')} that need no study.")
    if commands := commands_of(name):
        add(group, commands.COMMANDS, "" if commands is survey else f"{name} ")
        app.add_typer(group, name=earlier or name, hidden=earlier is not None)
    if earlier is not None:

        @group.callback()
        def say_new_name() -> None:
            print(f"valuesassets {earlier} is now called valuesassets {name}; use the new name", file=sys.stderr)


add(app, survey.COMMANDS)
add(app, {"read": read, "study": study, "run": run, "bundle": bundle, "compare": compare, "export": export})
add(app, {"shift": shift, "demo": demo, "ui": ui, "init": init})
models = plain_typer(invoke_without_command=True, help="Small models of the package index, and those on this machine.")
models.callback(epilog=epilog("models"))(list_models)
add(models, {"get": get}, "models ")
app.add_typer(models, name="models")
for instrument in NAMES:
    add_instrument(instrument)
for earlier_name, instrument in EARLIER_COMMANDS.items():
    add_instrument(instrument, earlier_name)


@app.command("worlds", hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@app.command("simulations", hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def _say_where_simulations_are() -> None:
    raise InputError("simulations are no command of valuesassets any more; give `make simulations` in a checkout")


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    home: HomeOption = None,
) -> None:
    """Measure which values a language model carries."""
    if debug:
        os.environ["VALUESASSETS_DEBUG"] = "1"


def main(program: typer.Typer | None = None, name: str = "valuesassets") -> None:
    """Run a command: exit 0; 2 for wrong usage; 130 when interrupted; 1 for anything else; one line on stderr."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files go as they do on Ctrl-C
    try:
        for each in sys.argv:
            each.encode()  # an argument that is not UTF-8 is an error before anything is made
        status = (program or app)(prog_name=name, standalone_mode=False) or 0
        if status == INTERRUPTED:
            print("interrupted: nothing half-written is left; give the command again to start anew", file=sys.stderr)
        sys.exit(status)
    except typer.TyperException as error:  # wrong usage; without a message it was help that was asked for
        if error.format_message():
            context = getattr(error, "ctx", None)
            command = context.command_path if context else name
            message = one_line(error.format_message()).replace("Value error, ", "")
            print(f"{message}; see `{command} --help`", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has gone: nothing more to say
        sys.exit(1)
    except Exception as error:
        if os.environ.get("VALUESASSETS_DEBUG"):
            raise
        print(_message(error), file=sys.stderr)
        sys.exit(1)


def _message(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return NO_MEMORY
    if isinstance(error, UnicodeEncodeError) and not is_utf8(error.object):
        near = error.object[max(0, error.start - 60) : error.end + 20]
        return one_line(f"{near}: is a name in another encoding than UTF-8; give the file or folder another name")
    return ("" if isinstance(error, ValuesAssetsError) else f"{type(error).__name__}: ") + one_line(str(error))


def one_line(message: str) -> str:
    r"""A message without line breaks and without characters that command a terminal.

    >>> one_line("cannot be read:\n  no such file.")
    'cannot be read: no such file'
    """
    return terminal_text(" ".join(message.split())).removesuffix(".")
