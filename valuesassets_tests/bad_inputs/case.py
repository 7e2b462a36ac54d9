"""One bad input: how it is made, the command that a person gives, and the whole line that must come back."""

import contextlib
import hashlib
import io
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from valuesassets.cli import main

ANYTHING = "[...]"
"""Stands in an expected line for words that a library says and may say differently in its next version."""


@dataclass(frozen=True)
class Case:
    """One bad input.

    Attributes:
        name: what is wrong, for people.
        command: what follows `valuesassets`, as typed into a shell in the case's folder.
        message: the line that must come back, in full; `[...]` stands for a library's own words.
        make: puts the bad thing into the case's folder.
        code: exit code.
        environment: variables that are set.
        largest_file: bytes after which no file may grow, as on a full disk.
        in_own_process: as a person starts it; the others run in this process, by the same function.
    """

    name: str
    command: str
    message: str
    make: Callable[[Path], object] = lambda folder: None
    code: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    largest_file: int | None = None
    in_own_process: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    code: int
    stdout: str
    stderr: str
    before: dict[str, str]
    after: dict[str, str]


def run_case(case: Case, folder: Path) -> Outcome:
    """Make a bad thing inside `folder` and give the command."""
    case.make(folder)
    (folder / "tmp").mkdir()
    return run_command(case, folder)


def run_command(case: Case, folder: Path) -> Outcome:
    """Run a case's command inside `folder`, by the very function behind `valuesassets`; temporary files go to tmp/."""
    temporary = folder / "tmp"
    # No case is answered from what another has asked.
    environment = {"VALUESASSETS_STORAGE": f"{folder.absolute()}_storage"} | case.environment
    before = listing(folder)
    if case.in_own_process:
        command = [sys.executable, "-m", "valuesassets.cli", *shlex.split(case.command)]
        whole = os.environ | {"TMPDIR": str(temporary)} | environment
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=whole)
        return Outcome(done.returncode, done.stdout, done.stderr, before, listing(folder))
    standing = _standing_in(folder, temporary, environment, case.largest_file)
    with standing, _typed(case.command) as (stdout, stderr):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
    return Outcome(code, stdout.getvalue(), stderr.getvalue(), before, listing(folder))


def listing(folder: Path) -> dict[str, str]:
    """Everything below a folder, hidden files included, with a hash of each file's content."""
    return {
        path.relative_to(folder).as_posix(): _digest(path)
        for path in sorted(folder.rglob("*"))
        if not path.name.startswith("torchinductor")  # the empty folder of a library's cache
    }


def pattern(message: str) -> str:
    """An expected line as a regular expression."""
    return ".+".join(map(re.escape, message.split(ANYTHING)))


def _digest(path: Path) -> str:
    if path.is_dir():
        return "folder"
    return hashlib.sha256(path.read_bytes()).hexdigest() if os.access(path, os.R_OK) else "not for us to read"


@contextlib.contextmanager
def _typed(command: str):
    arguments = sys.argv
    sys.argv = ["valuesassets", *shlex.split(command)]
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            yield out, err
    finally:
        sys.argv = arguments


@contextlib.contextmanager
def _standing_in(folder: Path, temporary: Path, environment: Mapping[str, str], largest_file: int | None):
    kept, tempdir, place = dict(os.environ), tempfile.tempdir, Path.cwd()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    os.environ.update(environment)
    tempfile.tempdir = str(temporary)
    os.chdir(folder)
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        os.chdir(place)
        tempfile.tempdir = tempdir
        os.environ.clear()
        os.environ.update(kept)
