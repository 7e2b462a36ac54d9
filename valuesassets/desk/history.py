"""Dagster's history of a study lies in the study's folder: assets of two studies have the same names in it.

Versions before kept one for all studies of a storage folder. A study that was made then takes a copy of it along, once.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from valuesassets.records.errors import StorageError, UiError

OF_ALL_STUDIES = "dagster"
"""The folder below the storage that older versions used."""
MARK = "history"
"""The folder in it that a history always has; it comes last, so that what was cut off is begun again."""
NOT_TAKEN = ("ui.json", "logs", "*.lock")
"""Of the UI that was up, and not of its runs."""


def dagster_folder(study: str, storage: Path, named: str | None) -> Path:
    """Where Dagster keeps a study's history.

    Args:
        study: its name.
        named: what `VALUESASSETS_DAGSTER` says; empty or None where it is not set.
    """
    return Path(named or storage / study / "dagster").absolute()


def take_history_along(study: str, storage: Path, folder: Path, tell: Callable[[str], None]) -> None:
    """Copy the history that older versions kept for all studies, where this one has files and no history yet.

    Args:
        folder: where the study's history lies, see `dagster_folder`.

    Raises:
        UiError: a UI is up that writes to the old history.
        StorageError: it cannot be copied.
    """
    old, own = storage / OF_ALL_STUDIES, storage / study
    has_files = own.is_dir() and any(each.name != "dagster" for each in own.iterdir())
    is_own = folder == own.absolute() / "dagster" and not (folder / MARK).exists()
    if not (is_own and has_files and (old / MARK).is_dir()):
        return
    lock, beside = FileLock(old / "ui.lock"), own / f".dagster-{os.getpid()}"
    try:
        with lock.acquire(timeout=0):
            tell(f"study {study} has its own history of runs from now on: {old} is copied to {folder}")
            shutil.copytree(old, beside, ignore=shutil.ignore_patterns(*NOT_TAKEN))
            folder.mkdir(exist_ok=True)
            for part in sorted(beside.iterdir(), key=lambda part: part.name == MARK):
                shutil.rmtree(folder / part.name, ignore_errors=True)
                part.replace(folder / part.name)
    except Timeout:
        raise UiError(f"{old}: a UI is up over it; stop that one first, so that its history can be copied") from None
    except OSError as error:
        raise StorageError(
            f"{folder}: the history of {old} cannot be copied: {error.strerror or error}; free some space, or set "
            f"VALUESASSETS_DAGSTER={old}"
        ) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
