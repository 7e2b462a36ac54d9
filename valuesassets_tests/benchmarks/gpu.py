"""Large random models in bfloat16 on a GPU: time per language, load time, achieved FLOP/s against the matmul rate."""

import shutil
import time
from pathlib import Path
from typing import Any

import torch

from valuesassets.models.loading import load_weights, open_model
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry, not_measured
from valuesassets_tests.benchmarks.paired import run_engine, warm_up
from valuesassets_tests.benchmarks.workload import SHAPES, VOCABULARY, Shape, choose_questions, write_model

VOCABULARIES = {"2b": VOCABULARY, "20b": 128_000}
NAMES = ("gpu_matmul", *(f"gpu_{name}" for name in VOCABULARIES), "gpu_copy")
MATMUL = 8192
REPETITIONS = 5


def measure_gpu(scratch: Path, questions: int, tell: Tell) -> Entries:
    """The entries of every model that fits, on a GPU that is there; each other says why it was not measured."""
    tell("gpu: matmul rate")
    rate = matmul_rate("cuda", MATMUL)
    entries = {"gpu_matmul": entry([rate / 1e12], "TFLOP/s", device=torch.cuda.get_device_name())}
    for name, vocabulary in VOCABULARIES.items():
        reason = _why_not(scratch, SHAPES[name], vocabulary)
        if reason is None:
            entries[f"gpu_{name}"] = measure_model(scratch, name, vocabulary, "cuda", questions, rate, tell)
        else:
            entries[f"gpu_{name}"] = not_measured(reason)
    return entries


def measure_model(
    scratch: Path, name: str, vocabulary: int, device: str, questions: int, rate: float, tell: Tell
) -> dict[str, Any]:
    """Seconds for the set of questions, as one language has them; what the model takes to load; FLOP/s of the reading.

    Multiplications with weights are counted (2 per parameter and token, head rows apart), attention's own are not.
    """
    shape, folder = SHAPES[name], scratch / name
    tell(f"gpu: writing {name}")
    write_model(folder, shape, vocabulary, "bfloat16")
    tell(f"gpu: loading {name}")
    start = time.perf_counter()
    opened = open_model(str(folder), dtype="bfloat16", device=device)
    opened_at = time.perf_counter()
    loaded = load_weights(opened)
    _wait(device)
    loaded_at = time.perf_counter()
    chosen = choose_questions(questions)
    warm_up(loaded, chosen)
    seconds, rates = [], []
    for repetition in range(REPETITIONS):
        tell(f"gpu: {name}, {questions} questions, {repetition + 1} of {REPETITIONS}")
        _wait(device)
        begin = time.perf_counter()
        run = run_engine(loaded, chosen)
        _wait(device)
        seconds.append(time.perf_counter() - begin)
        tokens = run.counts.tokens + run.certificate_counts.tokens
        rows = run.counts.head_rows + run.certificate_counts.head_rows
        rates.append(2 * (shape.body * tokens + vocabulary * shape.width * rows) / seconds[-1])
    del loaded
    shutil.rmtree(folder)
    return entry(
        seconds,
        "seconds per language",
        questions=questions,
        body_parameters=shape.body,
        vocabulary=vocabulary,
        hash_seconds=opened_at - start,
        load_seconds=loaded_at - opened_at,
        tokens=run.counts.tokens,
        certificate_tokens=run.certificate_counts.tokens,
        head_rows=run.counts.head_rows,
        achieved_tflops=[rate_ / 1e12 for rate_ in rates],
        share_of_matmul_rate=max(rates) / rate,
    )


def copy_rate(device: str, entries: int = 2**30) -> float:
    """Bytes a second, read and written, of copying bfloat16 numbers; the best of several."""
    one = torch.empty(entries, device=device, dtype=torch.bfloat16)
    other, best = torch.empty_like(one), 0.0
    for _ in range(REPETITIONS):
        _wait(device)
        start = time.perf_counter()
        other.copy_(one)
        _wait(device)
        best = max(best, 2 * one.nbytes / (time.perf_counter() - start))
    return best


def matmul_rate(device: str, size: int) -> float:
    """FLOP/s of a large product of bfloat16 matrices, the best of several."""
    one, other = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    best = 0.0
    for _ in range(REPETITIONS):
        _wait(device)
        start = time.perf_counter()
        for _ in range(10):
            one @ other
        _wait(device)
        best = max(best, 10 * 2 * size**3 / (time.perf_counter() - start))
    return best


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def _why_not(scratch: Path, shape: Shape, vocabulary: int) -> str | None:
    """Why a model cannot be measured here; None where it can."""
    needed = 2 * (shape.body + 2 * vocabulary * shape.width)
    free, _ = torch.cuda.mem_get_info()
    for place, room in (("GPU memory", free), ("disk", shutil.disk_usage(scratch).free)):
        if room < 1.1 * needed:
            return f"{needed / 2**30:.0f} GiB of weights, {room / 2**30:.0f} GiB of {place} free"
    return None
