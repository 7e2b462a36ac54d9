"""The job that trains reference models: what is planted in, model folders out."""

import contextlib
import multiprocessing
import os
import signal
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
from valuesassets.records.seals import write_record

WORKERS = 2
"""One thread each: a second thread gains nothing on matrices this small, and half a gigabyte each is all they need."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
KEPT_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(256 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
"""Bytes that the C library (glibc) keeps for the next array, else given back to the system and asked for again in every
step: that took a quarter of the time."""
PASSES_BETWEEN_LINES = 50


def do(job: TrainReferenceJob, progress: Progress) -> None:
    """Train every reference model of a job that is not there yet, two at a time, and write the summary last.

    Raises:
        JobError: planted texts that do not make a distribution, or a training process that was killed.
        StorageError: what could not be read or written.
    """
    wanted = read_planted(job.phantoms)
    hashes = {folder: planted.hash(job.steps, job.seed) for folder, planted in wanted.items()}
    phantoms = {folder: found for folder in wanted if (found := find_reference_model(folder, hashes[folder]))}
    for folder in phantoms:
        progress.say(f"{name_of(folder)}: known, nothing to train")

    def stand() -> str:
        trained = sum(find_reference_model(folder, hashes[folder]) is not None for folder in hashes)
        return f"with {trained} of {len(hashes)} reference models trained; a new attempt trains the others"

    progress.stand = stand
    # The longest first: the others fill the second worker's time beside it.
    missing = (folder for folder in wanted if folder not in phantoms)
    unknown = sorted(missing, key=lambda folder: wanted[folder].size, reverse=True)
    for phantom in _train_all({folder: wanted[folder] for folder in unknown}, job.steps, job.seed):
        phantoms[phantom.folder] = phantom
        planted = wanted[phantom.folder]
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


def _train_all(wanted: Mapping[Path, Planted], steps: int, seed: int) -> Iterable[ReferenceModel]:
    """Reference models as they are done."""
    if not wanted:
        return
    workers = min(WORKERS, len(os.sched_getaffinity(0)), len(wanted))
    spawn = multiprocessing.get_context("spawn")
    # Not ended before the semaphores that the workers share are given back.
    with unbroken(), _settings_of_workers(), ProcessPoolExecutor(workers, mp_context=spawn) as pool:
        try:
            asked = [
                pool.submit(_train_one, planted, folder, steps, seed, os.getpid()) for folder, planted in wanted.items()
            ]
            for future in as_completed(asked):
                yield future.result()
        except BrokenProcessPool:
            raise JobError(
                "a training process was killed; was there too little memory? half a GiB each is needed"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _settings_of_workers() -> Iterator[None]:
    """Processes that start in this block keep memory, and multiply matrices with one thread: others would wait busily
    for small ones."""
    own = ONE_THREAD | KEPT_MEMORY
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _train_one(planted: Planted, folder: Path, steps: int, seed: int, parent: int) -> ReferenceModel:
    """Train a model in a worker process."""

    def note(done: int, mean_kl: float) -> None:
        if os.getppid() != parent:
            os._exit(1)  # nobody waits for the result any more
        if done % PASSES_BETWEEN_LINES == 0:
            print_line(f"{name_of(folder)}: {planted.unit[0]} {done}/{steps}, KL {mean_kl:.4f}")

    def stop_parent() -> None:
        if os.getppid() == parent:
            os.kill(parent, signal.SIGTERM)  # a job is stopped as a whole, whichever of its processes is told

    with stops_at_term(stop_parent):
        return planted.train(folder, steps, seed, note)
