"""The hub's cache on this machine: its folders, its free disk space, and remains of interrupted downloads."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from valuesassets.records.errors import StorageError

GIB = 2**30
SECONDS_BETWEEN = 1.0
SILENT_SECONDS = 600
"""Seconds without a write after which a partial file is abandoned; the library gives up on a silent hub earlier."""


def cache_folder() -> Path:
    """The cache of the hub on this machine, absolute: `hub` below HF_HOME, or HF_HUB_CACHE."""
    from huggingface_hub import constants  # the graph needs other parts of this module without that package

    return Path(constants.HF_HUB_CACHE).absolute()


def own_cache() -> Path:
    """This project's own cache on this machine, beside the hub's: `valuesassets` below HF_HOME."""
    return cache_folder().parent / "valuesassets"


def model_home(model: str) -> Path:
    """The folder of a hub model in the cache: `blobs`, `snapshots/<commit>`, `refs/<branch>`."""
    from huggingface_hub.file_download import repo_folder_name

    return cache_folder() / repo_folder_name(repo_id=model, repo_type="model")


def free_bytes() -> int:
    """Free bytes of the disk that the cache of the hub is on, or will be."""
    cache = cache_folder()
    existing = next(folder for folder in (cache, *cache.parents) if folder.exists())
    return shutil.disk_usage(existing).free


def hold_lock(path: Path, say_waiting: Callable[[], None]) -> AbstractContextManager[object]:
    """A lock for a block; `say_waiting` is called first if another process holds it. OSError: it cannot be written."""
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    with suppress(Timeout):
        return lock.acquire(timeout=0)
    say_waiting()
    return lock.acquire()


def remove_leftovers(model: str) -> int:
    """Remove partial files of interrupted downloads, which no later download resumes; returns their bytes."""
    removed = 0
    for path in model_home(model).glob("blobs/*.incomplete"):
        with suppress(FileNotFoundError):  # renamed or removed since it was listed
            stat = path.stat()
            if time.time() - stat.st_mtime > SILENT_SECONDS:
                path.unlink()
                removed += stat.st_size
    return removed


def require_space(lacking: int, leave_free: int) -> None:
    """Raise a StorageError, with what is missing, unless a download fits and leaves so many bytes free."""
    missing = lacking + leave_free - (free := free_bytes())
    if lacking == 0 or missing <= 0:
        return
    partial = sum(path.stat().st_size for path in cache_folder().glob("*/blobs/*.incomplete"))
    unfinished = f" ({_gib(partial)} there are unfinished downloads, which `hf cache prune` removes)" if partial else ""
    raise StorageError(
        f"{cache_folder()}: {_gib(lacking)} of weights are still to be downloaded and {_gib(leave_free)} are to stay "
        f"free, but the disk has {_gib(free)} free{unfinished}: {_gib(missing)} are missing; free them, or set HF_HOME "
        "to a folder on a larger disk"
    )


@contextmanager
def watched_growth(folder: Path, tell: Callable[[int], None]) -> Iterator[None]:
    """A block in which `tell` gets the bytes by which a folder's files have grown since it began."""
    before, ended = bytes_below(folder), threading.Event()

    def watch() -> None:
        reported = 0
        while not ended.wait(SECONDS_BETWEEN):
            if (grown := max(0, bytes_below(folder) - before)) != reported:
                tell(reported := grown)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def bytes_below(folder: Path) -> int:
    """Bytes of all files in a folder and its subfolders."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # renamed since it was listed
            total += path.stat().st_size
    return total


def gib(size: float) -> str:
    """A number of bytes in GiB, with three digits."""
    return f"{size / GIB:.3g} GiB"


def _gib(size: int) -> str:
    return gib(size) if size < GIB else f"{size / GIB:.1f} GiB"
