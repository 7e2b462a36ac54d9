"""Time and memory of reading a large file of respondents: `python -m valuesassets_tests.benchmarks.respondents`."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat

from valuesassets.instruments.survey.material.human_distributions import derive_human_distributions
from valuesassets.instruments.survey.material.respondents import derive_respondents
from valuesassets.people.surveys import load_human_files
from valuesassets.people.variables import load_variables
from valuesassets.records.settings.human import HumanData, HumanFile
from valuesassets.records.study import load_study
from valuesassets_tests.instruments.survey.asked import ask

SIZES = ((60_000, 250), (150_000, 250))
COUNTRIES = (276, 826, 250, 616, 300, 100)
"""Of the demo's languages: every row is kept, the dearest case."""


def write(path: Path, rows: int, columns: int) -> None:
    """A file of EVS 2017 with so many rows and columns, one answer in twelve missing."""
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "id_cocas": np.arange(rows, dtype=float),
            "country": random.choice(COUNTRIES, rows).astype(float),
            "year": 2018.0,
            "gweight": random.gamma(8, 1 / 8, rows),
        }
    )
    answers = {}
    for question in list(load_human_files().surveys["evs2017"].column_of)[: columns - frame.shape[1]]:
        count = load_variables().option_count(question) or 0
        codes = random.integers(1, count + 1, rows)
        answers[question] = np.where(random.uniform(size=rows) < 1 / 12, -1, codes).astype(float)
    answers |= {
        f"x{k}": random.integers(1, 5, rows).astype(float) for k in range(columns - len(answers) - frame.shape[1])
    }
    pyreadstat.write_sav(pd.concat([frame, pd.DataFrame(answers)], axis=1), path)


def measure(path: Path) -> None:
    """Read a file as a study does, and print what it took; in a process of its own, as a peak is never forgotten."""
    demo = load_study("demo_survey")
    asked = [
        ask(question, load_variables().option_count(question) or 2)
        for question in load_variables().opinion_items
        if question.startswith("v")
    ]
    questions = dict.fromkeys(demo.languages, tuple(asked))
    study = demo.model_copy(
        update={"human": HumanData(source="files", files=(HumanFile(path=path, survey="evs2017"),))}
    )
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak of the imports
    before, started = memory_mib("VmRSS"), time.perf_counter()
    respondents = derive_respondents(study, questions)
    read, seconds = memory_mib("VmHWM"), time.perf_counter() - started
    started = time.perf_counter()
    rows = len(derive_human_distributions(respondents, study, questions))
    held = respondents.memory_usage(deep=True).sum() / 2**20
    print(
        f"{len(respondents):,} respondents x {len(asked)} questions of {path.stat().st_size / 2**20:.0f} MiB: read in "
        f"{seconds:.1f} s, {read - before:.0f} MiB more at the peak, {held:.0f} MiB held; "
        f"{rows:,} rows of distributions in {time.perf_counter() - started:.1f} s"
    )


def memory_mib(name: str) -> float:
    """What this process holds (`VmRSS`), or the most that it has held (`VmHWM`); Linux."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024


if __name__ == "__main__":
    if len(sys.argv) == 2:
        measure(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            for rows, columns in SIZES:
                path = Path(folder) / f"{rows}.sav"
                write(path, rows, columns)
                subprocess.run([sys.executable, "-m", "valuesassets_tests.benchmarks.respondents", path], check=True)
