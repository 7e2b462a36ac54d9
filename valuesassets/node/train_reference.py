"""The job that trains reference models: reads planted answers, writes model folders."""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from valuesassets.models.reference_folder import ReferenceModel, find_reference_model
from valuesassets.node.planted import Planted, name_of, read_planted
from valuesassets.node.progress import Progress, print_line
from valuesassets.node.stopping import stops_at_term
from valuesassets.records.errors import JobError
from valuesassets.records.files import unbroken
from valuesassets.records.jobs import TrainReferenceJob
from valuesassets.records.processes import count_cores
from valuesassets.records.seals import write_record

WORKERS = 2
"""Training processes at once, with one thread each (small matrices gain nothing from more) and half a GiB each."""
ONE_THREAD: dict[str, str] = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)
KEPT_MEMORY = {-1: 256 << 20, -3: 32 << 20}  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of mallopt(3)
"""Bytes that the C library (glibc) keeps for the next array. By default it returns them to the system and requests them
again in every step, which took a quarter of the time."""
START = "fork" if sys.platform == "linux" else "spawn"
"""How training processes begin: a fork has its parent's imports, which otherwise take 3 s of processor time each."""
PASSES_BETWEEN_LINES = 50


def do(job: TrainReferenceJob, progress: Progress) -> None:
    """Train every reference model of a job that does not exist yet, two at a time, and write the summary last.

    Raises:
        JobError: planted texts are no distribution, or a training process was killed.
        StorageError: a file cannot be read or written.
    """
    plantings = read_planted(job.phantoms)
    hashes = {folder: planted.hash(job.steps, job.seed) for folder, planted in plantings.items()}
    phantoms = {folder: model for folder in plantings if (model := find_reference_model(folder, hashes[folder]))}
    for folder in phantoms:
        progress.say(f"{name_of(folder)}: known, nothing to train")

    def stand() -> str:
        n_trained = sum(find_reference_model(folder, hashes[folder]) is not None for folder in hashes)
        return f"with {n_trained} of {len(hashes)} reference models trained; a new attempt trains the others"

    progress.stand = stand
    # The longest first: the second worker trains the others meanwhile.
    missing = (folder for folder in plantings if folder not in phantoms)
    untrained = sorted(missing, key=lambda folder: plantings[folder].size, reverse=True)
    for phantom in _train_all({folder: plantings[folder] for folder in untrained}, job, progress):
        phantoms[phantom.folder] = phantom
        planted = plantings[phantom.folder]
        progress.say(
            f"{name_of(phantom.folder)}: {planted} in {phantom.seconds:.0f} s, {phantom.passes} {planted.unit[1]}, "
            f"KL {phantom.mean_kl:.5f} mean, {phantom.max_kl:.4f} at most"
        )
    entries = [
        {
            "folder": str(plan.folder),
            "languages": list(plan.languages),
            "hash": (phantom := phantoms[plan.folder]).training_hash,
            "is_skipped": not phantom.is_new,
            "loss": phantom.mean_kl,  # nats, of the last pass
            "largest_loss": phantom.max_kl,
            "steps": phantom.passes,
            "seconds": round(phantom.seconds, 1),
        }
        for plan in job.phantoms
    ]
    write_record(job.summary, {"phantoms": entries, "seed": job.seed})


def _train_all(
    plantings: Mapping[Path, Planted], job: TrainReferenceJob, progress: Progress
) -> Iterable[ReferenceModel]:
    """Train reference models; gives each as soon as it is done."""
    if not plantings:
        return
    workers = min(WORKERS, count_cores(), len(plantings))
    context = multiprocessing.get_context(START)
    # The process may not end before it has freed the semaphores that the workers share.
    with unbroken(), _one_thread(), ProcessPoolExecutor(workers, context, _keep_memory) as pool:
        try:
            with progress.silent():  # the first of these starts the processes
                futures = [
                    pool.submit(_train_one, planted, folder, job.steps, job.seed, os.getpid())
                    for folder, planted in plantings.items()
                ]
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            raise JobError(
                "a training process was killed; was there too little memory? half a GiB each is needed"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """A block in which processes start with settings to compute with one thread each."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _keep_memory() -> None:
    """Let this process keep the memory that it frees, where its C library is glibc."""
    if sys.platform == "linux" and (set_option := getattr(ctypes.CDLL(None), "mallopt", None)):
        for option, n_bytes in KEPT_MEMORY.items():
            set_option(option, n_bytes)


def _train_one(planted: Planted, folder: Path, steps: int, seed: int, parent: int) -> ReferenceModel:
    """Train a model in a worker process."""

    def note(n_done: int, mean_kl: float) -> None:
        if os.getppid() != parent:
            os._exit(1)  # the parent is gone and nobody needs the result
        if n_done % PASSES_BETWEEN_LINES == 0:
            print_line(f"{name_of(folder)}: {planted.unit[0]} {n_done}/{steps}, KL {mean_kl:.4f}")

    def stop_parent() -> None:
        if os.getppid() == parent:
            os.kill(parent, signal.SIGTERM)  # a signal to any of its processes stops the whole job

    with stops_at_term(stop_parent):
        return planted.train(folder, steps, seed, note)
