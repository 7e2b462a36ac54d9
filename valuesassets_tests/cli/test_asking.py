"""One bundle of options and one way to ask, for models on this machine and behind APIs."""

from typing import Annotated

import pandas as pd
import pytest
import typer
from typer.main import get_command

from valuesassets.cli.options import LoadedModelOptions, ModelOptions, spread
from valuesassets.models import loading
from valuesassets.models.loading import load_model
from valuesassets.models.serving import MODEL, ServedModel
from valuesassets_tests.cli.asking_commands import COMMANDS, of_choose, of_probe, of_psych
from valuesassets_tests.cli.commands import refuse, run, succeed
from valuesassets_tests.cli.test_plain_help import ALL
from valuesassets_tests.tiny_models import byte_level, write_model

ASKING = {
    **dict.fromkeys((("probe",), ("read",), ("worldvaluesbench", "ask")), ModelOptions),
    **dict.fromkeys((("worldwise", "choose"), ("worldwise", "reason")), ModelOptions),
    ("psych-tasks", "read"): LoadedModelOptions,
}
PROBABILITIES = {"probe": ("prob_averaged", "p_valid"), "choose": ("p_high", "p_valid")}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model") / "tiny", byte_level(), spread=0.1)


@pytest.mark.parametrize("path", ASKING, ids=" ".join)
def test_every_command_that_asks_a_model_has_the_whole_bundle(path):
    has = {parameter.name: parameter.help for parameter in ALL[path].params}
    bundle = {parameter.name: parameter.help for parameter in _command_of(ASKING[path]).params}
    assert bundle.items() <= has.items()


def _command_of(bundle):
    def command(options: bundle) -> None:
        """A command."""

    return _only(command)


def _only(command):
    alone = typer.Typer(add_completion=False)
    alone.command()(spread(command))
    return get_command(alone)


def test_a_bundle_comes_to_the_command_as_one_and_other_options_beside_it():
    given = []

    def command(*, times: Annotated[int, typer.Option(help="Times.")] = 2, options: LoadedModelOptions) -> None:
        """A command."""
        given.append((times, options))

    _only(command).main(["--model", "m", "--dtype", "float32", "--times", "3"], standalone_mode=False)
    assert given == [(3, LoadedModelOptions("m", dtype="float32"))]


@pytest.mark.parametrize("command", [of_probe, of_choose])
def test_a_model_behind_an_api_gives_what_the_same_model_gives_here(command, model, tmp_path):
    words, file = command(tmp_path)
    here, there = tmp_path / file, tmp_path / f"there_{file}"
    succeed(*words, "--model", model, "--dtype", "float32", "--device", "cpu", "--output", here)
    with ServedModel(load_model(str(model), None, "float32", "cpu")).serving() as server:
        endpoint = tmp_path / "endpoint.toml"
        keys = f'provider = "openai"\nbase_url = "{server.base_url}"\napi = "completions"\nroute = "token_ids"\n'
        endpoint.write_text(f'{keys}tokenizer = "{model}"\nmax_width = 1.0\n', encoding="utf-8")
        succeed(*words, "--model", MODEL, "--endpoint", endpoint, "--output", there)
    wanted, found = pd.read_parquet(here), pd.read_parquet(there)
    for column in PROBABILITIES[words[1] if words[0] == "worldwise" else words[0]]:
        assert found[column].to_numpy(float) == pytest.approx(wanted[column].to_numpy(float), abs=1e-5)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_dry_run_says_how_much_would_be_asked_and_loads_and_writes_nothing(command, model, tmp_path, monkeypatch):
    words, file = command(tmp_path)
    output = tmp_path / "out" if file == "run.json" else tmp_path / file
    monkeypatch.setattr(loading, "load_weights", lambda _: pytest.fail("the weights were read"))
    printed = succeed(*words, "--model", model, "--output", output, "--device", "cpu", "--dry-run")
    assert ", of them 0 known and 0 that cannot be made" in printed.splitlines()[-1]
    assert not output.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_known_is_not_asked_again_and_no_weights_are_read_for_it(command, model, tmp_path, monkeypatch):
    words, file = command(tmp_path)
    output = tmp_path / "out" if file == "run.json" else tmp_path / file
    given = [*words, "--model", model, "--output", output, "--dtype", "float32", "--device", "cpu"]
    printed = succeed(*given)
    path = output / "marks.parquet" if file == "run.json" else output
    before = path.read_bytes()
    monkeypatch.setattr(loading, "load_weights", lambda _: pytest.fail("the weights were read"))
    assert succeed(*given) == printed
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--chat", "--prompting", "p.toml"), "--chat and --prompting: both say how trials are shown"),
        (("--base-url", "http://127.0.0.1:9/v1", "--dtype", "float32"), "for a model that is loaded here"),
        (("--endpoint", "e.toml", "--provider", "gemini"), "stand in the file of --endpoint; leave them out"),
        (("--budget-requests", "3"), "for a model behind an API; name its --base-url, or leave them out"),
    ],
)
def test_options_that_do_not_fit_together_are_refused_in_a_line(more, message, tmp_path):
    words, file = of_choose(tmp_path)
    assert message in refuse(*words, "--model", "m", "--output", tmp_path / file, *more, code=2)


def test_transcripts_are_read_of_models_on_this_machine_alone(tmp_path):
    words, _ = of_psych(tmp_path)
    done = run(*words, "--model", "m", "--output", tmp_path / "out", "--endpoint", "e.toml")
    assert (done.returncode, "--endpoint" in done.stderr) == (2, True)
