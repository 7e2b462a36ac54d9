"""Digests that our files carry in themselves: one that was damaged is refused, and never read as another.

A file without a digest, of an earlier version or from a person, is read as it is (docs/decisions/064).
"""

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from valuesassets.records.errors import StorageError, ValuesAssetsError
from valuesassets.records.files import read_json, sha256_json, whole_file, write_json
from valuesassets.records.places import made_again

SEAL = "seal"
"""The key that a digest has: in JSON, and in the metadata of a parquet file."""
BEFORE, AFTER = b"<valuesassets seal ", b" valuesassets seal>"
"""Around the digest in a parquet file: damage to one of them leaves its place known."""
BLANK = b"0" * 64
BEHIND = b"seal "
"""Before the digest behind an array: with it the digest has no length that numbers have."""


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as a parquet file, with the digest of all its bytes in its metadata; 64 zeros stand there for it."""
    written = io.BytesIO()
    with pq.ParquetWriter(written, table.schema, write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({SEAL: (BEFORE + BLANK + AFTER).decode()})
    content = written.getvalue()
    head, _, tail = content.rpartition(BEFORE + BLANK + AFTER)
    return b"".join([head, BEFORE, _digest(content).encode(), AFTER, tail])


def is_whole_parquet(content: bytes) -> bool:
    """Whether the bytes of a parquet file are as they were written, as far as it carries a digest."""
    before, after = content.rfind(BEFORE), content.rfind(AFTER)
    place = before + len(BEFORE) if before >= 0 else after - len(BLANK)
    if before < 0 and after < 0:
        return True
    found = hashlib.sha256(memoryview(content)[:place])
    found.update(BLANK)
    found.update(memoryview(content)[place + len(BLANK) :])
    return found.hexdigest().encode() == content[place : place + len(BLANK)]


def write_record(path: Path, value: Any) -> None:
    """Write JSON whole or not at all; an object with its digest, for which a list has no place."""
    write_json(path, sealed(value) if isinstance(value, dict) else value)


def sealed(value: dict[str, Any]) -> dict[str, Any]:
    """A JSON object with its digest."""
    return value | {SEAL: sha256_json(value)}


def read_record(path: Path, error: type[ValuesAssetsError] = StorageError) -> Any:
    """What was given to `write_record`.

    Raises:
        error: absent, not JSON, or not what was written.
    """
    value = read_json(path, error)
    if isinstance(value, dict) and (digest := value.pop(SEAL, None)) is not None and digest != sha256_json(value):
        raise error(str(damaged(path)))
    return value


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array as .npy, whole or not at all; its digest stands behind it, where numpy does not look."""
    written = io.BytesIO()
    np.save(written, array)
    with whole_file(path) as temporary:
        temporary.write_bytes(written.getvalue() + BEHIND + _digest(written.getvalue()).encode())


def read_array(path: Path) -> NDArray[Any]:
    """The array of a file.

    Raises:
        StorageError: absent, no array, or not what was written.
    """
    try:
        content = path.read_bytes()
        if (end := content.rfind(BEHIND, -len(BEHIND + BLANK))) >= 0:
            content, digest = content[:end], content[end + len(BEHIND) :]
            if digest != _digest(content).encode():
                raise damaged(path)
        read = io.BytesIO(content)
        array = np.load(read)
    except (OSError, ValueError, EOFError, SyntaxError):
        raise damaged(path) from None
    if read.tell() != len(content):
        raise damaged(path)
    return array


def damaged(path: Path) -> StorageError:
    """The error of a file that does not hold what was written into it."""
    return StorageError(f"{path}: does not hold what was written: it is damaged, or another file; {made_again(path)}")


def _digest(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()
