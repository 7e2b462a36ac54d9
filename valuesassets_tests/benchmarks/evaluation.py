"""Time and memory of `valuesassets worldvaluesbench evaluate` on a whole survey: everybody, the probe, four models."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from valuesassets.instruments.worldvaluesbench.material.participants import Dataset, read_participants
from valuesassets.instruments.worldvaluesbench.material.stored_dataset import write_dataset
from valuesassets.instruments.worldvaluesbench.material.value_questions import probe_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import plant_people
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.benchmarks.value_answers import whole_design
from valuesassets_tests.needs import REPOSITORY

MODELS = {"follows": 0.8, "half": 0.5, "hardly": 0.2, "blind": 0.0}
"""Made-up models, and the share of their ratings that are the person's own answers; the others are other people's."""


def measure(scratch: Path, people: int, resamples: int, tell: Tell) -> Entries:
    """Seconds and the peak of the command, in a process of its own, with all that it reads and writes."""
    design = replace(whole_design(), questions=tuple(probe_questions()))
    tell(f"evaluate: making up {people} people and {len(MODELS)} models' ratings of {len(design.questions)} questions")
    answers, dataset = scratch / "wvs.parquet", scratch / "dataset"
    plant_people(people, 1, design, n_shared_ids=5).to_parquet(answers)
    made = write_dataset(read_participants(answers), dataset)
    command = [sys.executable, "-m", "valuesassets.cli", "worldvaluesbench", "evaluate", "--probe", "all"]
    command += ["--dataset", str(dataset), "--output", str(scratch / "tables"), "--resamples", str(resamples)]
    for number, (name, share) in enumerate(MODELS.items()):
        path = scratch / f"{name}.tsv"
        command += ["--ratings", f"{name}={path}"]
        write_ratings(path, made, share, number)
    tell(f"evaluate: {resamples} resamples, in a fresh process")
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    assert process.returncode == 0, f"evaluate ended with {process.returncode}"
    n_ratings = int((made.value_answers.drop(columns="participant_id") >= 0).sum().sum()) * len(MODELS)
    of = {"people": people, "resamples": resamples, "ratings": n_ratings, "cpu_seconds": used.ru_utime + used.ru_stime}
    return {
        "wvb_evaluate_seconds": entry([seconds], "s", wanted="<= 120", **of),
        "wvb_evaluate_peak_gib": entry([used.ru_maxrss / 2**20], "GiB", wanted="<= 4", **of),
    }


def write_ratings(path: Path, dataset: Dataset, share: float, seed: int) -> None:
    """A model's ratings of all who answered, in the benchmark's own format."""
    random, ids = np.random.default_rng(seed), dataset.value_answers["participant_id"].to_numpy()
    tables = []
    for name in dataset.value_answers.columns.drop("participant_id"):
        answers = dataset.value_answers[name].to_numpy()
        answered = answers >= 0
        own = answers[answered]
        rated = np.where(random.random(own.size) < share, own, random.permutation(own))
        tables.append(pd.DataFrame({"QUESTION_ID": name, "PARTICIPANT_ID": ids[answered], "SCORE": rated}))
    options = csv.WriteOptions(delimiter="\t", quoting_style="none")
    csv.write_csv(pa.Table.from_pandas(pd.concat(tables), preserve_index=False), path, options)
