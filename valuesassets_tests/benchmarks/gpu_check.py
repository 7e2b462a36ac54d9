"""`make gpu-check`: what a GPU does with this engine, a table and storage/evidence/gpu.json; skipped without one."""

import sys
import tempfile
from pathlib import Path

import torch
from rich.console import Console

from valuesassets_tests.benchmarks import gpu
from valuesassets_tests.benchmarks.evidence import (
    Entries,
    add_entries,
    draw_table,
    entry,
    evidence_folder,
    not_measured,
)

QUESTIONS = 250
NO_GPU = "no GPU is visible"


def main() -> int:
    """Measure what can be measured here; 0 also where there is no GPU, which is said and written down."""
    path, console = evidence_folder() / "gpu.json", Console(width=120)
    if not torch.cuda.is_available():
        print(f"skipped: {NO_GPU}")
        add_entries(path, {name: not_measured(NO_GPU) for name in gpu.NAMES})
        print(f"written to {path}")
        return 0
    with tempfile.TemporaryDirectory(prefix="valuesassets-gpu-") as scratch:
        entries: Entries = gpu.measure_gpu(Path(scratch), QUESTIONS, lambda line: print(line, flush=True))
    entries["gpu_copy"] = entry([gpu.copy_rate("cuda") / 1e12], "TB/s, read and written")
    add_entries(path, entries)
    console.print(draw_table(entries))
    print(f"written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
