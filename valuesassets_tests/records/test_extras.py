"""Commands without the packages that they need: one line, before any work."""

import importlib.util
import sys

import pytest

from valuesassets.records import extras, home
from valuesassets.records.errors import InputError
from valuesassets.records.study import load_study
from valuesassets_tests.cli.commands import QUESTIONS, refuse, succeed, write_json

LIGHT = (
    "torch",
    "transformers",
    "accelerate",
    "safetensors",
    "tokenizers",
    "huggingface_hub",
    "openai",
    "google.genai",
)


@pytest.fixture
def light(monkeypatch):
    """An environment that has no extra: its packages are not there, and importing them fails."""
    find = importlib.util.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in LIGHT else find(name))
    for name in LIGHT[1:]:  # scipy looks for torch among the imported modules
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("light")
@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("demo",), "demo"),
        (("run", "demo_psych_tasks"), "study demo_psych_tasks"),
        (("calibrate", "--readouts"), "calibrate"),
        (("models", "get", "smollm2-135m-instruct"), "models get"),
        (("worldwise", "calibrate", "--scenarios", "bundled"), "worldwise calibrate"),
    ],
)
def test_a_command_without_torch_says_so_at_once(command, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refuse(*command) == f'{what}: needs torch; pip install "valuesassets[models]"'
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("light")
@pytest.mark.parametrize(
    "command", [("ls",), ("ls", "models"), ("models",), ("study", "demo_survey"), ("study", "--schema")]
)
def test_what_asks_no_model_works_without_any_extra(command):
    assert succeed(*command)


@pytest.mark.usefixtures("light")
def test_a_model_behind_an_api_needs_the_package_of_its_provider_alone(tmp_path):
    questions = write_json(tmp_path / "eng.json", QUESTIONS)
    command = (
        "probe",
        "--questions",
        questions,
        "--language",
        "eng",
        "--output",
        tmp_path / "out.parquet",
        "--model",
        "m",
    )
    assert refuse(*command) == 'm: needs torch; pip install "valuesassets[models]"'
    line = refuse(*command, "--base-url", "http://127.0.0.1:9")
    assert line == 'm: needs openai; pip install "valuesassets[openai]"'
    line = refuse(*command, "--provider", "gemini")
    assert line == 'm: needs google.genai; pip install "valuesassets[gemini]"'


@pytest.mark.usefixtures("light")
def test_several_lacking_extras_are_one_command():
    with pytest.raises(InputError) as error:
        extras.require("study both", "models", "openai", "models")
    assert str(error.value) == 'study both: needs torch, openai; pip install "valuesassets[models,openai]"'


def test_nothing_is_said_where_all_is_installed():
    for name in extras.MODULES:
        extras.require("here", name)


def test_a_package_within_one_that_is_not_installed_is_not_installed(monkeypatch):
    monkeypatch.setitem(extras.MODULES, "odd", ("no_such_package.inner",))
    with pytest.raises(InputError, match=r"needs no_such_package\.inner"):
        extras.require("here", "odd")


def test_a_run_needs_what_its_families_are_and_a_whole_survey_a_model_of_its_own():
    study = load_study("demo_survey")
    remote = study.families["reference-mono"].model_copy(update={"kind": "openai"})
    behind_api = study.model_copy(update={"families": {"server": remote}})
    assert extras.extras_of(study) == ["models"]
    assert extras.extras_of(behind_api) == ["models", "openai"]
    assert extras.extras_of(behind_api.model_copy(update={"questionnaires": None})) == ["openai"]


@pytest.mark.usefixtures("light")
def test_no_home_is_made_for_a_command_that_cannot_work(tmp_path, monkeypatch):
    monkeypatch.setattr(home, "PACKAGES", tmp_path / "site-packages")
    monkeypatch.chdir(tmp_path)
    for name in ("VALUESASSETS_STORAGE", "VALUESASSETS_HOME", "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)
    questions = write_json(tmp_path / "eng.json", QUESTIONS)
    refuse("probe", "--questions", questions, "--language", "eng", "--output", "out.parquet", "--model", "m")
    assert list(tmp_path.iterdir()) == [questions]
