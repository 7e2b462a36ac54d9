"""The program `valuesassets`: its commands by name, and how each one ends: exit code and the one line of an error."""

import os
import signal
import sys
from typing import Annotated

import typer

from valuesassets.cli.groups import table_typer
from valuesassets.cli.home_option import HomeOption
from valuesassets.cli.plugins import fault_lines, whole_program
from valuesassets.records.errors import NO_MEMORY, ValuesAssetsError
from valuesassets.records.terminal import is_utf8, terminal_text

TOO_MANY = "Got unexpected extra argument"
"""How typer's message begins on words that nothing takes; in a shell, a space begins another word."""
INTERRUPTED = 130
"""What typer gives back after Ctrl-C."""

app = table_typer(whole_program(), "", no_args_is_help=True, pretty_exceptions_enable=False)


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
    for line in fault_lines():  # all other commands go on
        print(one_line(line), file=sys.stderr)
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
            hint = "; a path with spaces is written in quotes" if message.startswith(TOO_MANY) else ""
            print(f"{message}{hint}; see `{command} --help`", file=sys.stderr)
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
