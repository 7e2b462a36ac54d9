"""Digests inside stored files, so that a damaged file is refused and never read with other content.

A file without a digest, from an earlier version or from a user, is read as it is (docs/decisions/064).
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
"""The key of a digest in JSON and in the metadata of a parquet file."""
BEFORE, AFTER = b"<valuesassets seal ", b" valuesassets seal>"
"""Marks around the digest in a parquet file; if one is damaged, the other still shows where the digest is."""
BLANK = b"0" * 64
BEHIND = b"seal "
"""Mark before the digest after an array; with it, the digest's length is no multiple of a number's size."""


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as a parquet file whose metadata hold the digest of its bytes, computed with 64 zeros in its place."""
    stream = io.BytesIO()
    with pq.ParquetWriter(stream, table.schema, write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({SEAL: (BEFORE + BLANK + AFTER).decode()})
    content = stream.getvalue()
    head, _, tail = content.rpartition(BEFORE + BLANK + AFTER)
    return b"".join([head, BEFORE, _digest(content).encode(), AFTER, tail])


def is_whole_parquet(content: bytes) -> bool:
    """Whether a parquet file's bytes match its digest; true for a file without one."""
    begin, end = content.rfind(BEFORE), content.rfind(AFTER)
    place = begin + len(BEFORE) if begin >= 0 else end - len(BLANK)
    if begin < 0 and end < 0:
        return True
    digest = hashlib.sha256(memoryview(content)[:place])
    digest.update(BLANK)
    digest.update(memoryview(content)[place + len(BLANK) :])
    return digest.hexdigest().encode() == content[place : place + len(BLANK)]


def write_record(path: Path, value: Any) -> None:
    """Write JSON whole or not at all; an object with its digest, a list without one."""
    write_json(path, sealed(value) if isinstance(value, dict) else value)


def sealed(value: dict[str, Any]) -> dict[str, Any]:
    """A JSON object with its digest."""
    return value | {SEAL: sha256_json(value)}


def read_record(path: Path, error: type[ValuesAssetsError] = StorageError) -> Any:
    """The value that `write_record` wrote.

    Raises:
        error: the file is absent, not JSON, or damaged.
    """
    value = read_json(path, error)
    if isinstance(value, dict) and (digest := value.pop(SEAL, None)) is not None and digest != sha256_json(value):
        raise error(str(damaged(path)))
    return value


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array as .npy, whole or not at all; the digest follows the array, where numpy ignores it."""
    stream = io.BytesIO()
    np.save(stream, array)
    with whole_file(path) as temporary:
        temporary.write_bytes(stream.getvalue() + BEHIND + _digest(stream.getvalue()).encode())


def read_array(path: Path) -> NDArray[Any]:
    """The array of a file.

    Raises:
        StorageError: the file is absent, not an array, or damaged.
    """
    try:
        content = path.read_bytes()
        if (end := content.rfind(BEHIND, -len(BEHIND + BLANK))) >= 0:
            content, digest = content[:end], content[end + len(BEHIND) :]
            if digest != _digest(content).encode():
                raise damaged(path)
        stream = io.BytesIO(content)
        array = np.load(stream)
    except (OSError, ValueError, EOFError, SyntaxError):
        raise damaged(path) from None
    if stream.tell() != len(content):
        raise damaged(path)
    return array


def damaged(path: Path) -> StorageError:
    """The error for a damaged file."""
    return StorageError(f"{path}: does not hold what was written: it is damaged, or another file; {made_again(path)}")


def _digest(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()
