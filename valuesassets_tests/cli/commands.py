"""Real commands in processes of their own, and small questions to give them."""

import json
import os
import subprocess
import sys

from valuesassets_tests.bad_inputs.making import QUESTIONS
from valuesassets_tests.needs import REPOSITORY

__all__ = ["FORMS", "QUESTIONS", "read_json", "refuse", "run", "succeed", "write_json"]

FORMS = REPOSITORY / "valuesassets" / "studies" / "questionnaires"


LOADING = ("calibrate", "choose", "probe", "read", "reason")
"""Commands that load models: a fork does them, which has imported torch before."""


def run(*arguments, **environment):
    """One command in a process of its own."""
    module = "valuesassets_tests.cli.forked" if set(LOADING) & {*map(str, arguments[:2])} else "valuesassets.cli"
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


def succeed(*arguments):
    """What a command prints that must succeed and say nothing on stderr."""
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
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
