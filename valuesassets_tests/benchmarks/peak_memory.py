"""Extra peak memory of scoring over the weights: one fresh process per number of questions."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry, not_measured
from valuesassets_tests.benchmarks.workload import choose_questions
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.scored import score_trials

Result = TypeVar("Result")
MODULE = "valuesassets_tests.benchmarks.peak_memory"
FLAT_MIB = 16
"""Most by which the largest set may need more than the one before it: readings and prompts are kept, little else. Small
sets need less, as they do not fill a batch."""


def compare_sizes(folder: Path, sizes: Sequence[int], tell: Tell) -> Entries:
    """The `extra_peak_mib` entry, one value per number of questions."""
    if not Path("/proc/self/clear_refs").exists():
        return {"extra_peak_mib": not_measured("needs Linux's /proc")}
    rows = []
    for size in sizes:
        tell(f"memory: {size} questions in a fresh process")
        command = [sys.executable, "-m", MODULE, str(folder), str(size)]
        ran = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
        rows.append(json.loads(ran.stdout.splitlines()[-1]))
    extra = [row["extra_peak_mib"] for row in rows]
    return {
        "extra_peak_mib": entry(extra, "MiB over the weights", wanted="<= 400", rows=rows),
        "extra_peak_growth_mib": entry(
            [extra[-1] - extra[-2]], f"MiB from {sizes[-2]} to {sizes[-1]} questions", wanted=f"<= {FLAT_MIB}"
        ),
    }


def measure(folder: str, questions: int) -> dict[str, Any]:
    """In this process: weights in memory to the last byte, then the highest mark of scoring above them."""
    torch.set_num_threads(1)
    loaded = load_model(folder, dtype="float32", device="cpu")
    trials = [trial for asked in choose_questions(questions) for trial in asked]
    extra, before, scored = extra_peak_mib(loaded, lambda: score_trials(loaded, trials))
    return {
        "questions": questions,
        "weights_and_libraries_mib": round(before, 1),
        "extra_peak_mib": extra,
        "tokens": scored.tokens,
    }


def extra_peak_mib(loaded: LoadedModel, work: Callable[[], Result]) -> tuple[float, float, Result]:
    """The highest mark of some work above the memory that stood before it, that memory (MiB), and what came of it."""
    for parameter in loaded.model.parameters():
        parameter.sum()  # weights are mapped from their file and count only once they are touched
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak of loading
    before = _kib("VmRSS")
    found = work()
    return (_kib("VmHWM") - before) / 1024, before / 1024, found


def _kib(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
