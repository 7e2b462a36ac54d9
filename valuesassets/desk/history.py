"""Where Dagster keeps its history: in each study's folder, since studies have assets of the same names.

Older versions kept one history for all studies of a storage folder. A study from then gets a copy of it, once.
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
"""A folder in every history; it is copied last, so that an interrupted copy is repeated."""
NOT_COPIED = ("ui.json", "logs", "*.lock")
"""Files of the UI, which do not belong to the history of runs."""


def dagster_folder(study: str, storage: Path, setting: str | None) -> Path:
    """The folder of the history of a study by name; `setting` is the value of `VALUESASSETS_DAGSTER`, if it is set."""
    return Path(setting or storage / study / "dagster").absolute()


def copy_old_history(study: str, storage: Path, folder: Path, tell: Callable[[str], None]) -> None:
    """Copy the shared history of older versions, if this study has files but no history yet.

    Args:
        folder: the folder of the study's history, see `dagster_folder`.

    Raises:
        UiError: a running UI still writes to the old history.
        StorageError: the history cannot be copied.
    """
    old, study_folder = storage / OF_ALL_STUDIES, storage / study
    has_files = study_folder.is_dir() and any(entry.name != "dagster" for entry in study_folder.iterdir())
    is_own = folder == study_folder.absolute() / "dagster" and not (folder / MARK).exists()
    if not (is_own and has_files and (old / MARK).is_dir()):
        return
    lock, copy = FileLock(old / "ui.lock"), study_folder / f".dagster-{os.getpid()}"
    try:
        with lock.acquire(timeout=0):
            tell(f"study {study} gets its own history of runs: {old} is copied to {folder}")
            shutil.copytree(old, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
            folder.mkdir(exist_ok=True)
            for part in sorted(copy.iterdir(), key=lambda part: part.name == MARK):
                shutil.rmtree(folder / part.name, ignore_errors=True)
                part.replace(folder / part.name)
    except Timeout:
        raise UiError(f"{old}: a running UI uses it; stop that UI first, so that its history can be copied") from None
    except OSError as error:
        raise StorageError(
            f"{folder}: the history of {old} cannot be copied: {error.strerror or error}; free some space, or set "
            f"VALUESASSETS_DAGSTER={old}"
        ) from None
    finally:
        shutil.rmtree(copy, ignore_errors=True)
