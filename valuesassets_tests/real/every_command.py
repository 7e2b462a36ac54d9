"""`python -m valuesassets_tests.real.every_command`: each command that asks a model, on small models that people use.

Prints a table: the exit status, the largest difference between readings alone and in a batch, what rounding explains of
it, what it moves of an answer's share, and whether the single tolerance of old, 1e-5 nats for every model and dtype,
would have refused it.
"""

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from unittest import mock

from rich.console import Console
from rich.progress import track
from rich.table import Table
from typer.testing import CliRunner

from valuesassets.cli.app import app
from valuesassets.models import generating, scoring
from valuesassets.models.index_registry import PREFIX, index_models
from valuesassets.models.spans import scoring as span_scoring
from valuesassets.records.parquet import trial_rows, write_table
from valuesassets.records.questions import write_questions
from valuesassets.records.readouts import Generate
from valuesassets.records.tables import TRIALS
from valuesassets_tests.benchmarks.evidence import evidence_folder
from valuesassets_tests.cli.asking_commands import of_ask, of_choose, of_psych, of_reason
from valuesassets_tests.real.prompts import LANGUAGES, prompts
from valuesassets_tests.studies.expected_questions import expected_questions

FIRST_TOLERANCE = 1e-5
"""Nats that were allowed of every model in every dtype before tolerances followed them."""
DTYPES = ("float32", "bfloat16")
QUESTIONS = 6
"""Questions asked of a model in each language."""
TOKENS = 24
"""Most tokens of a text."""


def probe(language, folder):
    """Arguments and output of `probe` in a language."""
    write_questions(folder / "questions.json", expected_questions(language)[:QUESTIONS])
    return ["probe", "--questions", folder / "questions.json", "--language", language], "out.parquet"


def read(language, writes, folder):
    """Arguments and output of `read` in a language: labels, or texts."""
    trials = [trial for trial in prompts(QUESTIONS, 2) if trial.language == language]
    if writes:
        trials = [replace(trial, readout=Generate(max_tokens=TOKENS)) for trial in trials]
    write_table(folder / "trials.parquet", trial_rows(trials), TRIALS)
    return ["read", "--trials", folder / "trials.parquet"], "out.parquet"


def commands():
    """Each command by its name and what it is given."""
    by_language = {
        f"{name}, {language}": partial(make, language)
        for name, make in (
            ("probe", probe),
            ("read labels", lambda language, folder: read(language, False, folder)),
            ("read texts", lambda language, folder: read(language, True, folder)),
        )
        for language in LANGUAGES
    }
    alone = {"worldvaluesbench ask": of_ask, "worldwise choose": of_choose, "worldwise reason": of_reason}
    return by_language | alone | {"psych-tasks read": of_psych}


@contextmanager
def certificates():
    """All certificates that are made in the meantime."""
    made = []

    def noting(function):
        def note(*arguments):
            made.append(function(*arguments))
            return made[-1]

        return note

    with ExitStack() as stack:
        for module, name in ((scoring, "certify"), (span_scoring, "certify"), (generating, "certify_answers")):
            stack.enter_context(mock.patch.object(module, name, noting(getattr(module, name))))
        yield made


def measure(model, dtype, name, make):
    """One command on a model: its row of the table."""
    with tempfile.TemporaryDirectory() as scratch, certificates() as made:
        arguments, file = make(Path(scratch))
        output = Path(scratch, "out" if file == "run.json" else file)
        given = [*arguments, "--model", model, "--output", output, "--dtype", dtype, "--device", "cpu"]
        given += ["--known", Path(scratch, "known")]
        done = CliRunner().invoke(app, list(map(str, given)))
        is_written = (output / file if output.is_dir() else output).exists()
    of_labels = [each for each in made if hasattr(each, "max_difference")]
    (difference, tolerance, moved) = (
        (
            max(each.max_difference for each in of_labels),
            max(each.tolerance for each in of_labels),
            max(each.share_moved for each in of_labels),
        )
        if of_labels
        else (None, None, None)
    )
    return {
        "model": model.removeprefix(PREFIX),
        "dtype": dtype,
        "command": name,
        "exit": done.exit_code,
        "is_written": is_written,
        "nats": difference,
        "allowed": tolerance,
        "points": None if moved is None else 100 * moved,
        "refused_at_1e-5": None if difference is None else difference > FIRST_TOLERANCE,
        "agrees": all(each.agrees for each in made) and bool(made),
        "warnings": [line for line in done.output.splitlines() if "warning" in line],
    }


def draw(rows):
    """One row for each model, dtype and command, languages summed up in their range."""
    table = Table()
    for heading in ("model", "dtype", "command", "exit 0", "written", "nats", "allowed", "points", "refused at 1e-5"):
        table.add_column(heading, justify="left" if heading in ("model", "dtype", "command") else "right")
    groups = {}
    for row in rows:
        groups.setdefault((row["model"], row["dtype"], row["command"].partition(",")[0]), []).append(row)
    for key, group in groups.items():
        measured = [row for row in group if row["nats"] is not None]
        numbers = [
            f"{min(row[name] for row in measured):.1e} to {max(row[name] for row in measured):.1e}" if measured else ""
            for name in ("nats", "allowed", "points")
        ]
        counts = [
            f"{sum(row[name] == wanted for row in group)} of {len(group)}"
            for name, wanted in (("exit", 0), ("is_written", True))
        ]
        table.add_row(
            *key,
            *counts,
            *numbers,
            f"{sum(row['refused_at_1e-5'] for row in measured)} of {len(measured)}" if measured else "",
        )
    return table


def main():
    """Measure, print, store; 1 where a command failed or wrote nothing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=[f"{PREFIX}{name}" for name in index_models()])
    parser.add_argument("--only", default="", help="commands that begin so")
    asked = parser.parse_args()
    todo = [(model, dtype, *each) for model, dtype, each in product(asked.models, DTYPES, commands().items())]
    rows = [measure(*each) for each in track([t for t in todo if t[2].startswith(asked.only)], "commands")]
    path = evidence_folder() / "real_commands.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    console = Console(width=160)
    console.print(draw(rows))
    failed = [row for row in rows if row["exit"] or not row["is_written"]]
    for row in failed:
        console.print(f"failed: {row}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
