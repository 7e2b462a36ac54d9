"""A certificate that fails is a line of every command that asks a model: nothing is lost by it."""

import re

import pytest
from typer.testing import CliRunner

from valuesassets.cli.app import app
from valuesassets.models import certificate, generating, loading
from valuesassets.models.generating import GenerationCertificate
from valuesassets.records.errors import ScoringError
from valuesassets_tests.cli.asking_commands import COMMANDS, of_probe, of_reason
from valuesassets_tests.models.batch_faults import branches_that_see_each_other
from valuesassets_tests.tiny_models import byte_level, write_model

MOVED = "shares of answers change with the batch by "
WRITTEN = "answers change with the batch where no two tokens were near a tie"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model") / "tiny", byte_level(), spread=0.1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("command", COMMANDS)
def test_what_changes_with_the_batch_is_written_and_its_size_is_a_line(command, dtype, model, tmp_path, monkeypatch):
    monkeypatch.setattr(certificate, "rounding_tolerance", lambda *_: -1.0)
    monkeypatch.setattr(generating, "certify_answers", lambda *_: GenerationCertificate(1, 0.5, False))
    asked, file = command(tmp_path)
    output = tmp_path / "out" if file == "run.json" else tmp_path / file
    given = [*asked, "--model", model, "--output", output, "--dtype", dtype, "--device", "cpu"]
    done = CliRunner().invoke(app, list(map(str, given)))
    assert done.exit_code == 0, done.exception
    (said,) = [line for line in done.output.splitlines() if ": warning: " in line]
    assert (WRITTEN if command is of_reason else MOVED) in said
    assert said.endswith("; float32 moves less") == (dtype == "bfloat16")
    assert (output / file if output.is_dir() else output).exists()


def test_what_changes_visibly_beyond_rounding_is_refused_in_a_line_and_nothing_is_written(tmp_path, monkeypatch):
    """Branches that see each other, where the trial of the architecture has passed before."""
    monkeypatch.setattr(loading.LoadedModel, "tree_fault", None)
    model = write_model(tmp_path / "sure", byte_level(), spread=0.6)
    asked, file = of_probe(tmp_path)
    given = [*asked, "--model", model, "--output", tmp_path / file, "--dtype", "float32", "--device", "cpu"]
    given += ["--known", tmp_path / "known"]
    with branches_that_see_each_other():
        done = CliRunner().invoke(app, list(map(str, given)))
    assert isinstance(done.exception, ScoringError)
    assert re.search(
        r"by up to \d+ percentage points, or .* nats, where rounding .*; none is kept", str(done.exception)
    )
    assert not (tmp_path / file).exists()
    assert not [path for path in (tmp_path / "known").rglob("*") if path.is_file()]
