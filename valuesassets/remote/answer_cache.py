"""Stores answers on disk, one checked file each, so that nothing is asked and paid for twice."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from valuesassets.records.errors import StorageError
from valuesassets.records.files import read_json, sha256_json, write_json


def find_answer(path: Path, question: Sequence[Any]) -> dict[str, Any] | None:
    """The stored answer to a question (JSON); None where there is none, or where it is damaged."""
    try:
        record = read_json(path)
    except StorageError:
        return None
    is_whole = isinstance(record, dict) and record.pop("sha256", None) == sha256_json([*question, record])
    return record if is_whole else None


def keep_answer(path: Path, question: Sequence[Any], answer: dict[str, Any]) -> None:
    """Store an answer for `find_answer`, whole or not at all; a StorageError if the file cannot be written."""
    write_json(path, answer | {"sha256": sha256_json([*question, answer])})
