"""What commands do on Windows and macOS, as far as a machine with Linux can pretend to be one."""

import subprocess
import sys

import pytest

from valuesassets_tests.cli.commands import FORMS, QUESTIONS, write_json
from valuesassets_tests.needs import REPOSITORY

SYSTEMS = ("win32", "darwin")


def run_on(system, *arguments):
    command = [sys.executable, "-m", "valuesassets_tests.cli.pretended_system", system, *map(str, arguments)]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_what_needs_no_run_works_everywhere(system, tmp_path):
    questions = write_json(tmp_path / "eng.json", QUESTIONS)
    table = tmp_path / "table.csv"
    for command in (
        ("--help",),
        ("study", "demo_survey"),
        ("template", "questions", table),
        ("extract", table, "--language", "eng", "--output", tmp_path / "table.json"),
        ("extract", FORMS / "eng.pdf", "--language", "eng", "--output", tmp_path / "form.json"),
        ("trials", "--questions", questions, "--language", "eng", "--output", tmp_path / "trials.parquet"),
    ):
        done = run_on(system, *command)
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("command", [("demo",), ("run", "demo_survey"), ("ui",)])
def test_windows_is_told_of_wsl_before_anything_is_made(command, tmp_path):
    done = run_on("win32", "--home", tmp_path / "home", *command)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.endswith(": does not run on Windows itself; give it in WSL (Windows Subsystem for Linux)")
    assert not (tmp_path / "home").exists()
