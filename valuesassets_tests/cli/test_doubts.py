"""A certificate that fails is a line of every command that asks a model: nothing is lost by it."""

import json
import re

import pytest
from typer.testing import CliRunner

from valuesassets.cli.app import app
from valuesassets.instruments.worldvaluesbench.planted_people import Design, plant_people
from valuesassets.instruments.worldvaluesbench.value_questions import load_value_questions
from valuesassets.models import certificate, generating, loading
from valuesassets.models.generating import GenerationCertificate
from valuesassets.records.errors import ScoringError
from valuesassets.records.parquet import trial_rows, write_table
from valuesassets.records.tables import TRIALS
from valuesassets_tests.cli.commands import QUESTIONS, write_json
from valuesassets_tests.cli.test_psych_read import COUNTS, text
from valuesassets_tests.instruments.worldvaluesbench.made_files import planted_file
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS, JAPAN, write
from valuesassets_tests.models.batch_faults import branches_that_see_each_other
from valuesassets_tests.tiny_models import PROMPTS, byte_level, trial, write_model

WHOLE = Design(tuple(load_value_questions()), (156, 276), (1, 2), (2, 7))
MOVED = "shares of answers change with the batch by "
WRITTEN = "answers change with the batch where no two tokens were near a tie"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model") / "tiny", byte_level(), spread=0.1)


def of_probe(folder):
    return ["probe", "--questions", write_json(folder / "q.json", QUESTIONS), "--language", "eng"], "out.parquet"


def of_read(folder):
    write_table(folder / "t.parquet", trial_rows([trial(PROMPTS[0], 4)]), TRIALS)
    return ["read", "--trials", folder / "t.parquet"], "out.parquet"


def of_choose(folder):
    scenarios, cultures = write(folder / "d.json", DILEMMAS), write(folder / "c.json", {"JPN": JAPAN})
    return ["worldwise", "choose", "--scenarios", scenarios, "--cultures", cultures], "out.parquet"


def of_reason(folder):
    scenarios = write(folder / "d.json", DILEMMAS)
    asked = ["worldwise", "reason", "--scenarios", scenarios, "--draws", 1, "--max-tokens", 3, "--forms", "open"]
    return [*asked, "--answers", folder / "known"], "out.parquet"


def of_ask(folder):
    people, made = planted_file(folder, plant_people(64, 1, WHOLE)), folder / "made"
    CliRunner().invoke(app, ["worldvaluesbench", "dataset", "--answers", str(people), "--output", str(made)])
    asked = [
        "worldvaluesbench",
        "ask",
        "--dataset",
        made,
        "--questions",
        "Q1",
        "--probe",
        "all",
        "--attributes",
        "B_COUNTRY",
    ]
    return asked, "out.csv"


def of_psych(folder):
    (folder / "counts.toml").write_text(COUNTS, encoding="utf-8")
    line = json.dumps({"text": text([3, 12]), "experiment": "rain", "participant": "a"})
    (folder / "people.jsonl").write_text(line + "\n", encoding="utf-8")
    return ["psych", "read", "--transcripts", folder / "people.jsonl", "--task", folder / "counts.toml"], "run.json"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("command", [of_probe, of_read, of_choose, of_reason, of_ask, of_psych])
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
    with branches_that_see_each_other():
        done = CliRunner().invoke(app, list(map(str, given)))
    assert isinstance(done.exception, ScoringError)
    assert re.search(
        r"by up to \d+ percentage points, or .* nats, where rounding .*; none is kept", str(done.exception)
    )
    assert not (tmp_path / file).exists()
