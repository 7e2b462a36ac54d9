"""The store of readings and answers: a model is never asked the same question twice.

A model's folder holds a file for each batch of records, a line of JSON each, and one for each finished list of trials,
which describes how its records were made (`known_files.py`).
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from valuesassets.models.known_files import HASH, intact_files, keep_file
from valuesassets.records.files import unbroken
from valuesassets.records.trials import Answer, Reading, answer_of, fields_of, reading_of

DESCRIBED = ".json"
DAMAGED = "what was known is damaged; it is removed and read again from the model"
AnyRecord = TypeVar("AnyRecord", Reading, Answer)


class Known(Generic[AnyRecord]):
    """The stored records of one model by their keys, in memory and on disk.

    A record's key hashes all that it depends on, never its trial's id: two trials that ask the same share a record. A
    stored record never changes, to the last bit, even where added trials would put it into another batch. A failed
    record is not stored if another try may succeed.
    """

    suffix: str
    """Suffix of the files that hold records of this kind."""
    of_row: Callable[[Mapping[str, Any]], AnyRecord]

    def __init__(self, folder: Path, warn: Callable[[str], None] | None = None) -> None:
        """Open a model's folder, which may not exist yet; a damaged file is reported to `warn` and removed."""
        self._folder = folder
        self._records: dict[str, AnyRecord] = {}
        self._files: dict[str, Path] = {}
        self._descriptions: dict[str, dict[str, Any]] = {}
        file_name = re.compile(f"{HASH}{re.escape(self.suffix)}|{HASH}-{HASH}{re.escape(DESCRIBED)}")
        for name, content in intact_files(folder, file_name, DAMAGED, warn):
            if name.endswith(self.suffix):
                records = map(type(self).of_row, map(json.loads, content.splitlines()))
                self._note(folder / name, {record.key: record for record in records} | self._records)
            else:
                self._descriptions.setdefault(name.partition("-")[0], json.loads(content))

    def get(self, key: str) -> AnyRecord | None:
        """The record of a key, with the id of the trial that it was first made for; None where none is stored."""
        return self._records.get(key)

    def add(self, records: Iterable[AnyRecord]) -> None:
        """Store a batch's records, or raise a StorageError; records that are stored already stay unchanged."""
        new = {record.key: record for record in records if record.is_final}
        new = {key: record for key, record in new.items() if key not in self._records}
        if not new:
            return
        with unbroken():  # a count of stored records finds these in memory and on disk, or in neither
            self._note(self._write("", self.suffix, map(fields_of, new.values())), self._records | new)

    def forget(self, keys: Iterable[str]) -> None:
        """Remove these records and all others in the same files, so that no job continues from wrong readings."""
        files = {self._files[key] for key in keys if key in self._files}
        for path in files:
            path.unlink(missing_ok=True)
        self._files = {key: path for key, path in self._files.items() if path not in files}
        self._records = {key: record for key, record in self._records.items() if key in self._files}

    def _note(self, path: Path, records: dict[str, AnyRecord]) -> None:
        """Hold these records in memory, and remember which file the new ones are in."""
        self._files |= dict.fromkeys(records.keys() - self._files.keys(), path)
        self._records = records

    def description(self, key: str) -> dict[str, Any] | None:
        """How the records of a list of trials were made (`describe`); None where that is not stored."""
        return self._descriptions.get(key)

    def describe(self, key: str, description: dict[str, Any]) -> None:
        """Store how the records of a list of trials were made; `key` hashes their keys. Raises as `add`."""
        self._write(f"{key}-", DESCRIBED, [description])
        self._descriptions[key] = description

    def _write(self, prefix: str, suffix: str, rows: Iterable[dict[str, Any]]) -> Path:
        content = "".join(json.dumps(row, sort_keys=True, ensure_ascii=False) + "\n" for row in rows).encode()
        return keep_file(self._folder, prefix, content, suffix)


class KnownReadings(Known[Reading]):
    """The stored readings of a model: those with probabilities, and unresolved ones."""

    suffix, of_row = ".jsonl", staticmethod(reading_of)


class KnownAnswers(Known[Answer]):
    """The stored answers of a model, refusals included."""

    suffix, of_row = ".answers.jsonl", staticmethod(answer_of)
