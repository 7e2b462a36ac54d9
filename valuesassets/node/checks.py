"""Checks a node before any work: its folders, its disk space and its device."""

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
    """Check, at almost no cost, that this node can run a job; errors name the host.

    Memory is checked when weights are needed (`load_weights`), and the models of cells before the first is asked.

    Raises:
        StorageError: a folder cannot be written, or its disk has less than `LEAST_FREE_MIB` free.
        JobError: the job asks for a GPU and none can be used.
        ModelError, TokenizerError: a model is not whole (see `require_whole_model`), in a job that fails as a whole.
    """
    for folder in sorted(_written_folders(job)):
        _require_writable(folder)
        _require_room(folder)
    if isinstance(job, AskingJob) and job.device == "cuda" and any(cell.endpoint is None for cell in job.cells):
        _require_gpu()
    if isinstance(job, SampleJob):
        for model in {cell.model for cell in job.cells}:
            require_whole_model(model)


def require_whole_model(
    model: str,
    revision: str | None = None,
    adapter: str | None = None,
    adapter_revision: str | None = None,
    offline: bool = False,
) -> None:
    """Check by their headers that files of a model and its adapter on this machine are whole; ModelError or
    TokenizerError names the host and a file that is absent or cut short."""
    from valuesassets.models.adapter_files import find_adapter, require_whole
    from valuesassets.models.model_files import count_weights, find_model

    try:
        folder = find_model(model, revision, offline)
        if folder is not None:
            count_weights(folder)
        lora = find_adapter(adapter, adapter_revision, offline) if adapter else None
        if adapter and lora is not None:
            require_whole(adapter, lora)
    except ModelError as error:
        raise type(error)(f"{socket.gethostname()}: {error}") from None


def _written_folders(job: Job) -> set[Path]:
    """The folders that a job writes to, or their nearest existing parents: the checks create nothing."""
    folders = [path.parent for path in promised_files(job)]
    if isinstance(job, AskingJob):
        folders += [job.failures.parent] if job.failures else []
        folders += [job.known_readings] if job.known_readings else []
    elif isinstance(job, EmbedJob):
        folders += [job.known] if job.known else []
    elif isinstance(job, TrainReferenceJob):
        folders += [plan.folder.parent for plan in job.phantoms]
    return {next((place for place in (path, *path.parents) if os.path.exists(place)), path) for path in folders}


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
    state = "is not set" if visible is None else f"is {visible!r}"
    raise JobError(
        f"{socket.gethostname()}: device cuda asked for, no GPU can be used (CUDA_VISIBLE_DEVICES {state}); ask Slurm "
        "for a GPU (--gres=gpu:1), see whether nvidia-smi finds it there, or ask for device cpu"
    )
