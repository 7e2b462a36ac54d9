"""Job files over a tiny model, and the real process that does them."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq

from valuesassets.node.fork_server import ADDRESS
from valuesassets.records.jobs import (
    GenerateCell,
    GenerateJob,
    PhantomPlan,
    ScoreCell,
    ScoreJob,
    TrainReferenceJob,
    write_job,
)
from valuesassets.records.parquet import trial_rows, write_table
from valuesassets.records.tables import PLANTED_TEXTS, TRIALS
from valuesassets_tests.tiny_models import PROMPTS, trial

ASKED = [trial(prompt, 4, f"v{n}/0/forward") for n, prompt in enumerate(PROMPTS)]


def score_job(folder, *models, asked=ASKED, **settings):
    """The file of a job that asks each model the same; cells are called m/0, m/1, ...; `cell` says more of them."""
    return _job(ScoreJob, ScoreCell, "readings", folder, models, asked, settings)


def generate_job(folder, *models, asked, **settings):
    """As `score_job`, for models that write."""
    return _job(GenerateJob, GenerateCell, "answers", folder, models, asked, settings)


def _job(kind, cell, output, folder, models, asked, settings):
    trials, more = folder / "trials.parquet", settings.pop("cell", {})
    write_table(trials, trial_rows(asked), TRIALS)
    cells = tuple(
        cell(name=f"m/{n}", model=str(model), trials=trials, **{output: folder / f"{n}.parquet"}, **more)
        for n, model in enumerate(models)
    )
    settings = {"dtype": "float32", "device": "cpu", "known_readings": settings.pop("known", None)} | settings
    write_job(folder / "job.json", kind(cells=cells, **settings))
    return str(folder / "job.json")


def train_job(folder, rows, languages=("eng",), steps=3):
    """The file of a job that trains a model for each language."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, PLANTED_TEXTS.schema), folder / "texts.parquet")  # wrong rows too
    plans = tuple(
        PhantomPlan(planted_texts=folder / "texts.parquet", languages=(code,), folder=folder / "reference" / code)
        for code in languages
    )
    job = TrainReferenceJob(phantoms=plans, steps=steps, seed=1, summary=folder / "summary.json")
    write_job(folder / "job.json", job)
    return str(folder / "job.json")


def planted(language="eng", **changes):
    """Rows of planted texts, the first of them changed."""
    rows = [
        {
            "language": language,
            "trial_id": t.trial_id,
            "prompt": f"{language} {t.prompt}",
            "answer_text": text,
            "prob": p,
        }
        for t in ASKED
        for text, p in ((" 1\n", 0.5), ("2\n", 0.25), (" hm\n", 0.25))
    ]
    rows[0] |= changes
    return rows


def start(*arguments, program=("-m", "valuesassets.node"), env=None, is_forked=False, **options):
    """A real node process, which does the job itself where it is not `is_forked`; its output is read as text."""
    command = [sys.executable, "-W", "error", *program, *map(str, arguments)]
    env = {name: value for name, value in (env or os.environ).items() if is_forked or name != ADDRESS}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, **options)


def run(*arguments, **options):
    """Status, stdout and stderr of a node process that has come to its end."""
    with start(*arguments, is_forked=True, **options) as process:
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err
