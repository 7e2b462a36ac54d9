"""Commands as people type them, and small questions to give them."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from unittest import mock

from valuesassets.cli import main
from valuesassets_tests.bad_inputs.making import QUESTIONS
from valuesassets_tests.needs import REPOSITORY

__all__ = ["FORMS", "QUESTIONS", "read_json", "refuse", "run", "run_in_own_process", "succeed", "write_json"]

FORMS = REPOSITORY / "valuesassets" / "studies" / "questionnaires"


def run(*arguments, program=main, **environment):
    """One command in this process, which has its imports already, by the very function behind the program."""
    typed = list(map(str, arguments))
    code = 0
    handler = signal.getsignal(signal.SIGTERM)
    with (
        mock.patch.dict(os.environ, {name: str(value) for name, value in environment.items()}),
        mock.patch.object(sys, "argv", ["valuesassets", *typed]),
        _heard("stdout") as stdout,
        _heard("stderr") as stderr,
    ):
        try:
            program()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        finally:
            signal.signal(signal.SIGTERM, handler)
    return subprocess.CompletedProcess(typed, code, "".join(stdout), "".join(stderr))


def run_in_own_process(*arguments, **environment):
    """One command as a shell starts it."""
    command = [sys.executable, "-m", "valuesassets.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


@contextlib.contextmanager
def _heard(name: str) -> Iterator[list[str]]:
    """What is written to a stream by this process, its libraries that are not Python and those that it starts."""
    stream, heard = getattr(sys, f"__{name}__"), list[str]()
    number, kept = stream.fileno(), os.dup(stream.fileno())
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        os.dup2(file.fileno(), number)
        try:
            with mock.patch.object(sys, name, file):
                yield heard
        finally:
            os.dup2(kept, number)
            os.close(kept)
            file.seek(0)
            heard.append(file.read())


def succeed(*arguments, program=main):
    """What a command prints that must succeed and say nothing on stderr."""
    done = run(*arguments, program=program)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def refuse(*arguments, code=1, **environment):
    """The one line that a command must end with."""
    done = run(*arguments, **environment)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))
