"""What commands do on Windows and macOS, as far as a machine with Linux can pretend to be one."""

import json
import subprocess
import sys

import pytest

from valuesassets_tests.cli.commands import FORMS, QUESTIONS, write_json
from valuesassets_tests.needs import REPOSITORY

WITHOUT_RUNS = ("win32", "darwin")


def run_on(system, *commands):
    """How commands end on a system: code, stdout and stderr of each."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    command = [sys.executable, "-m", "valuesassets_tests.cli.pretended_system", system, words]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("system", WITHOUT_RUNS)
def test_what_needs_no_run_works_everywhere(system, tmp_path):
    questions = write_json(tmp_path / "eng.json", QUESTIONS)
    table = tmp_path / "table.csv"
    commands = (
        ("--help",),
        ("study", "demo_survey"),
        ("init", tmp_path / "home"),
        ("template", "questions", table),
        ("extract", table, "--language", "eng", "--output", tmp_path / "table.json"),
        ("extract", FORMS / "eng.pdf", "--language", "eng", "--output", tmp_path / "form.json"),
        ("trials", "--questions", questions, "--language", "eng", "--output", tmp_path / "trials.parquet"),
    )
    for command, end in zip(commands, run_on(system, *commands), strict=True):
        assert end["code"] == 0, (command, end)


@pytest.mark.slow
def test_windows_is_told_of_wsl_before_anything_is_made(tmp_path):
    names = ("demo", "run", "ui")
    home = ("--home", tmp_path / "home")
    ends = run_on("win32", (*home, "demo"), (*home, "run", "demo_survey"), (*home, "ui"))
    for name, end in zip(names, ends, strict=True):
        line = f"{name}: does not run on Windows itself; give it in WSL (Windows Subsystem for Linux)\n"
        assert end == {"code": 1, "stdout": "", "stderr": line}
    assert not (tmp_path / "home").exists()
