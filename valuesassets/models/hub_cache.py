"""The disk that this machine's cache of the hub is on: what is free, what interrupted downloads left, how it grows."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from huggingface_hub import constants
from huggingface_hub.file_download import repo_folder_name

from valuesassets.records.errors import StorageError

GIB = 2**30
SECONDS_BETWEEN = 1.0
SILENT_SECONDS = 600
"""A file that nobody has written to for so long is nobody's download: the library gives up on a silent hub earlier."""


def cache_folder() -> Path:
    """The cache of the hub on this machine, absolute: `hub` below HF_HOME, or HF_HUB_CACHE."""
    return Path(constants.HF_HUB_CACHE).absolute()


def own_cache() -> Path:
    """What this project keeps of models on this machine, beside the cache of the hub: `valuesassets` below HF_HOME."""
    return cache_folder().parent / "valuesassets"


def model_home(model: str) -> Path:
    """The folder of a hub model in the cache: `blobs`, `snapshots/<commit>`, `refs/<branch>`."""
    return cache_folder() / repo_folder_name(repo_id=model, repo_type="model")


def free_bytes() -> int:
    """Free bytes of the disk that the cache of the hub is on, or will be."""
    cache = cache_folder()
    there = next(folder for folder in (cache, *cache.parents) if folder.exists())
    return shutil.disk_usage(there).free


def hold_lock(path: Path, say_waiting: Callable[[], None]) -> AbstractContextManager[object]:
    """A lock that this process holds until the block ends; `say_waiting` is called where another one holds it now.

    Raises:
        OSError: its file cannot be written.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    with suppress(Timeout):
        return lock.acquire(timeout=0)
    say_waiting()
    return lock.acquire()


def remove_leftovers(model: str) -> int:
    """Remove what interrupted downloads of a model left in the cache, which no later one goes on with; gives bytes."""
    removed = 0
    for path in model_home(model).glob("blobs/*.incomplete"):
        with suppress(FileNotFoundError):  # renamed or removed since it was listed
            stat = path.stat()
            if time.time() - stat.st_mtime > SILENT_SECONDS:
                path.unlink()
                removed += stat.st_size
    return removed


def require_space(lacking: int, leave_free: int) -> None:
    """See that what is to be downloaded fits beside what is to stay free; in bytes.

    Raises:
        StorageError: it does not; says what is needed, free and missing, and what interrupted downloads left there.
    """
    missing = lacking + leave_free - (free := free_bytes())
    if lacking == 0 or missing <= 0:
        return
    left = sum(path.stat().st_size for path in cache_folder().glob("*/blobs/*.incomplete"))
    unfinished = f" ({_gib(left)} there are unfinished downloads, which `hf cache prune` removes)" if left else ""
    raise StorageError(
        f"{cache_folder()}: {_gib(lacking)} of weights are still to be downloaded and {_gib(leave_free)} are to stay "
        f"free, but the disk has {_gib(free)} free{unfinished}: {_gib(missing)} are missing; free them, or set HF_HOME "
        "to a folder on a larger disk"
    )


@contextmanager
def told_of_growth(folder: Path, tell: Callable[[int], None]) -> Iterator[None]:
    """Tells by how many bytes the files in a folder have grown since the block began."""
    before, ended = _bytes_in(folder), threading.Event()

    def watch() -> None:
        told = 0
        while not ended.wait(SECONDS_BETWEEN):
            if (grown := max(0, _bytes_in(folder) - before)) != told:
                tell(told := grown)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.glob("*"):
        with suppress(FileNotFoundError):  # renamed since it was listed
            total += path.stat().st_size
    return total


def _gib(size: int) -> str:
    return f"{size / GIB:.3g} GiB" if size < GIB else f"{size / GIB:.1f} GiB"
