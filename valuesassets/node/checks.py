"""Checks of the node before any work: folders that can be written, room on their disks, the device."""

import os
import shutil
import socket
import tempfile
from pathlib import Path

from valuesassets.records.errors import JobError, ModelError, StorageError
from valuesassets.records.files import unbroken
from valuesassets.records.jobs import AskingJob, EmbedJob, Job, SampleJob, TrainReferenceJob, promised_files

LEAST_FREE_MIB = 100


def require_ready(job: Job) -> None:
    """See that this node can do a job, at next to no cost; errors name the host.

    The memory is looked at where a model's weights are needed (`load_weights`), a cell's model before the first is.

    Raises:
        StorageError: a folder that cannot be written, or a disk with less than `LEAST_FREE_MIB` free.
        JobError: a GPU is asked for and none can be used.
        ModelError, TokenizerError: a model of a job that does all or nothing is not whole (see `require_whole_model`).
    """
    for folder in sorted(_written_folders(job)):
        _require_writable(folder)
        _require_room(folder)
    if isinstance(job, AskingJob) and job.device == "cuda" and any(cell.endpoint is None for cell in job.cells):
        _require_gpu()
    if isinstance(job, SampleJob):
        for model in {cell.model for cell in job.cells}:
            require_whole_model(model)


def require_whole_model(model: str, revision: str | None = None, offline: bool = False) -> None:
    """See that a model's files are there and whole, as far as they are on this machine; reads their headers only.

    Raises:
        ModelError, TokenizerError: names the host, and what is absent or cut short there.
    """
    from valuesassets.models.model_files import count_weights, find_model

    try:
        folder = find_model(model, revision, offline)
        if folder is not None:
            count_weights(folder)
    except ModelError as error:
        raise type(error)(f"{socket.gethostname()}: {error}") from None


def _written_folders(job: Job) -> set[Path]:
    """Where a job writes, or what is there of those paths: nothing is made before the work begins."""
    written = [path.parent for path in promised_files(job)]
    if isinstance(job, AskingJob):
        written += [job.failures.parent] if job.failures else []
        written += [job.known_readings] if job.known_readings else []
    elif isinstance(job, EmbedJob):
        written += [job.known] if job.known else []
    elif isinstance(job, TrainReferenceJob):
        written += [plan.folder.parent for plan in job.phantoms]
    return {next((place for place in (path, *path.parents) if os.path.exists(place)), path) for path in written}


def _require_writable(folder: Path) -> None:
    try:
        with unbroken(), tempfile.NamedTemporaryFile(dir=folder, prefix=".write-test.") as test:
            test.write(b"x")
            test.flush()
    except OSError as error:
        raise StorageError(
            f"{socket.gethostname()}: {folder}: cannot be written: {os.strerror(error.errno or 0)}; ask who may write "
            "there, or choose another folder"
        ) from None


def _require_room(folder: Path) -> None:
    free_mib = shutil.disk_usage(folder).free / 2**20
    if free_mib < LEAST_FREE_MIB:
        raise StorageError(
            f"{socket.gethostname()}: {folder}: {free_mib:.0f} MiB are free on its disk, {LEAST_FREE_MIB} at least "
            "were expected; free space or choose another folder"
        )


def _require_gpu() -> None:
    import torch  # a job that asks for a GPU needs it anyway

    if torch.cuda.is_available():
        return
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    said = "is not set" if visible is None else f"is {visible!r}"
    raise JobError(
        f"{socket.gethostname()}: device cuda asked for, no GPU can be used (CUDA_VISIBLE_DEVICES {said}); ask Slurm "
        "for a GPU (--gres=gpu:1), see whether nvidia-smi finds it there, or ask for device cpu"
    )
