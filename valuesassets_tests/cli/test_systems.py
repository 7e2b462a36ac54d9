"""What commands do on Windows and macOS, as far as a machine with Linux can pretend to be one."""

import json
import os
import subprocess
import sys

import pytest

from valuesassets_tests.cli.commands import FORMS, QUESTIONS, write_json
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.reporting.made_storage import add_the_rest, write_storage
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

WITHOUT_RUNS = ("win32", "darwin")


def run_on(system, *commands, **environment):
    """How commands end on a system, with these variables: code, stdout and stderr of each."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    command = [sys.executable, "-m", "valuesassets_tests.cli.pretended_system", system, words]
    environment = os.environ | environment
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
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


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Two storages of one study, whose answers differ."""
    folder = tmp_path_factory.mktemp("stored")
    add_the_rest(write_storage(folder / "one", "demo_survey"))
    write_storage(folder / "two", "demo_survey", tilts={"reference-multi": 1.0})
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("system", WITHOUT_RUNS)
def test_questions_are_aligned_models_asked_and_stored_studies_compared_and_given_away_everywhere(
    system, stored, tmp_path
):
    files = [write_json(tmp_path / f"{language}.json", QUESTIONS) for language in ("eng", "deu")]
    model = write_model(tmp_path / "model", sentencepiece_like([question["text"] for question in QUESTIONS]))
    prompts, readings = tmp_path / "trials.parquet", tmp_path / "readings.parquet"
    asking = ("--questions", files[0], "--language", "eng")
    home = ("--home", tmp_path / "home")
    pair = [stored / name / "demo_survey" for name in ("one", "two")]
    in_format = ("export", "demo_survey", "--format")
    commands = (
        ("align", *files, "--master", "eng", "--output", tmp_path / "aligned"),
        ("trials", *asking, "--output", prompts),
        (*home, "probe", *asking, "--model", model, "--output", tmp_path / "answers.csv"),
        (*home, "read", "--trials", prompts, "--model", model, "--output", readings),
        ("compare", *pair, "--output", tmp_path / "compared.html"),
        (*in_format, "inspect", "--output", tmp_path / "inspect"),
        (*in_format, "lm-eval", "--output", tmp_path / "lm-eval"),
        ("ls",),
        ("models",),
    )
    ends = run_on(system, *commands, VALUESASSETS_STORAGE=str(stored / "one"))
    for command, end in zip(commands, ends, strict=True):
        assert end["code"] == 0, (command, end)
    for name in ("aligned", "answers.csv", "readings.parquet", "compared.html", "inspect", "lm-eval"):
        assert (tmp_path / name).exists()


@pytest.mark.slow
def test_windows_is_told_of_wsl_before_anything_is_made(tmp_path):
    names = ("demo", "run", "ui")
    home = ("--home", tmp_path / "home")
    ends = run_on("win32", (*home, "demo"), (*home, "run", "demo_survey"), (*home, "ui"))
    for name, end in zip(names, ends, strict=True):
        line = f"{name}: does not run on Windows itself; give it in WSL (Windows Subsystem for Linux)\n"
        assert end == {"code": 1, "stdout": "", "stderr": line}
    assert not (tmp_path / "home").exists()
