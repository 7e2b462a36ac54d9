"""Files of stored results, named by the hash of their bytes (or ending in it), so that damage shows.

Files are written whole or not at all: any number of processes may write, read and be killed at the same time.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from valuesassets.records.errors import StorageError
from valuesassets.records.files import whole_file

HASH = "[0-9a-f]{64}"


def intact_files(
    folder: Path, name: re.Pattern[str], damaged: str, warn: Callable[[str], None] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Name and content of each undamaged file that `keep_file` wrote to a folder, which may not exist yet.

    Args:
        name: pattern of the names to read; other files are left alone.
        damaged: the message to `warn` about a damaged file, after its path; the file is removed.
    """
    for path in sorted(path for path in folder.glob("*") if name.fullmatch(path.name)):
        try:
            content = path.read_bytes()
        except FileNotFoundError:  # another process has removed it as damaged
            continue
        except OSError as error:
            raise StorageError(f"{path}: cannot be read: {error.strerror}; remove it") from None
        if path.name.split(".")[0].endswith(hashlib.sha256(content).hexdigest()):
            yield path.name, content
            continue
        if warn:
            warn(f"{path}: {damaged}")
        path.unlink(missing_ok=True)


def keep_file(folder: Path, prefix: str, content: bytes, suffix: str) -> Path:
    """Write a file named by the hash of its content, and return its path; a StorageError if that fails."""
    path = folder / f"{prefix}{hashlib.sha256(content).hexdigest()}{suffix}"
    with whole_file(path) as temporary:
        temporary.write_bytes(content)
    return path
