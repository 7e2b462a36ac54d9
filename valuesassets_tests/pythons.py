"""`make pythons`: the package without its extras, installed for each Python there is, and what its commands do there.

An interpreter is looked for on the path and among pyenv's. Each gets an environment of its own with the wheel and the
pinned packages, in an empty folder. What needs no model has to work, and what needs one has to name its extra.
"""

import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.release import build_twice, install

VERSIONS = ("3.11", "3.12", "3.13")
"""The versions that the package names."""
FORM = REPOSITORY / "valuesassets" / "studies" / "questionnaires" / "eng.pdf"
WORKS = (
    "--help",
    "ls",
    "study demo_survey",
    "study --schema",
    "init home",
    "template questions questions.csv",
    "extract questions.csv --language eng --output eng.json",
    f"extract {FORM} --language eng --output forms/eng.json",
    "align forms/eng.json --output aligned",
    "trials --questions eng.json --language eng --output trials.parquet",
    "run demo_survey --only master_questions",
)
NEEDS_MODELS = ("demo", "probe --questions eng.json --language eng --model tiny --output eng.parquet")
EXTRA = re.compile(r'needs \w+; pip install "valuesassets\[models\]"')


def main() -> int:
    """Print a line for each command and Python; 1 where one does not do what it has to."""
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_twice(Path(folder, "dist"))[-1]
        for version in VERSIONS:
            if (python := interpreter(version)) is None:
                print(f"Python {version}: not on this machine", flush=True)
                continue
            own = Path(folder, version)
            environment = install(wheel, own, extras="", python=python)
            faults += list(commands_that_fail(environment, version, own / "empty"))
    print("\n".join(faults) or "every command does what it has to")
    return bool(faults)


def interpreter(version: str) -> str | None:
    """A Python of a version that starts; None where there is none."""
    name = f"python{version}"
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for candidate in (name, *sorted(map(str, root.glob(f"versions/{version}.*/bin/{name}")))):
        try:
            subprocess.run([candidate, "-c", "import venv"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return candidate
    return None


def commands_that_fail(python: Path, version: str, folder: Path) -> Iterator[str]:
    """Run the commands in a folder of their own and print each; a line for each that does not do what it has to."""
    folder.mkdir()
    for words in (*WORKS, *NEEDS_MODELS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = _run(python, words.split(), folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        command = words.replace(str(FORM), FORM.name)
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        is_right = EXTRA.search(done.stderr) is not None if words in NEEDS_MODELS else done.returncode == 0
        print(f"Python {version}: {command}: exit {done.returncode}, {seconds:.1f} CPU s", flush=True)
        if not is_right:
            yield f"Python {version}: {command}: exit {done.returncode}: {''.join(last)}"


def _run(python: Path, arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    own = ("VALUESASSETS", "DAGSTER", "PYTHON")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    command = [str(python), "-P", "-m", "valuesassets.cli", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
