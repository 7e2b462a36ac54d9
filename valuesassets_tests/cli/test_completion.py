"""What a shell offers after Tab: commands, and values of their options and arguments."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest

from valuesassets.cli.instruments import names
from valuesassets.records.lexicon import bundled_lexicons
from valuesassets.records.places import bundled_names
from valuesassets_tests.cli.commands import run
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.test_architecture import HEAVY, loaded_by

TASKS = bundled_names("psych_tasks", ".toml")


def offered(line):
    """The values for the last word of a line, as bash is given them."""
    words = line.split(" ")
    settings = {"COMP_WORDS": line, "COMP_CWORD": len(words) - 1, "_VALUESASSETS_COMPLETE": "complete_bash"}
    done = run(**settings)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("valuesassets cal", ["calibrate"]),
        ("valuesassets psych-tasks re", ["read", "reliability"]),
        ("valuesassets psy", ["psych-tasks"]),
        ("valuesassets run demo_survey", ["demo_survey", "demo_survey_22"]),
        ("valuesassets study evs", ["evs2017"]),
        ("valuesassets compare demo_survey first", ["first_real"]),
        ("valuesassets extract form.pdf --language de", ["deu"]),
        ("valuesassets trials --language ", bundled_lexicons()),
        ("valuesassets calibrate --language bu", ["bul"]),
        ("valuesassets cultural-robustness trials --language ell", ["ell"]),
        ("valuesassets align eng.json --master en", ["eng"]),
        ("valuesassets trace demo_survey reference-mono p", ["pol", "por"]),
        ("valuesassets psych-tasks check people.jsonl --task ", TASKS),
        ("valuesassets psych-tasks read --task ca", ["care"]),
        ("valuesassets ls t", ["tasks", "tables"]),
        ("valuesassets run demo_survey --only ", [f"{name}/" for name in sorted({*names(), "models"})]),
        ("valuesassets run demo_survey --only survey/sig", ["survey/signal"]),
        ("valuesassets study --explain human.so", ["human.source"]),
    ],
)
def test_a_shell_is_offered_the_names_that_may_stand_there(line, values, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert offered(line) == values


def test_study_files_of_the_folder_are_offered_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").touch()
    assert offered("valuesassets run mi") == ["mine.toml"]
    assert {"mine.toml", "demo_survey"} <= {*offered("valuesassets run ")}


def test_bash_completes_by_the_script_that_the_program_prints(tmp_path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    program = tmp_path / "bin" / "valuesassets"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m valuesassets.cli "$@"\n')
    program.chmod(0o755)
    script = """
        source <(_VALUESASSETS_COMPLETE=source_bash valuesassets)
        COMP_WORDS=(valuesassets run demo_w) COMP_CWORD=2
        _valuesassets_completion valuesassets
        echo "${COMPREPLY[*]}"
    """
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    settings = os.environ | {"PATH": path, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path, env=settings)
    assert done.stdout.split() == ["demo_worldvaluesbench", "demo_worldwise"]


def test_help_says_how_completion_is_installed():
    assert "--install-completion" in run("--help").stdout


def test_offering_values_imports_neither_frames_nor_dagster():
    line = "valuesassets run demo_survey --only survey/sig"
    settings = {"COMP_WORDS": line, "COMP_CWORD": "4", "_VALUESASSETS_COMPLETE": "complete_bash"}
    program = f"""
import contextlib, os
os.environ.update({settings!r})
from valuesassets.cli import main
with contextlib.suppress(SystemExit):
    main()
print()"""
    loaded = loaded_by(program)
    assert "valuesassets.cli.completion" in loaded
    assert not HEAVY & {*loaded}
