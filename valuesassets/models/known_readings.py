"""The store of readings and answers: what a model was once asked it is not asked again.

A folder holds one subfolder per model as it is run, and in it one file per batch of records, each a line of JSON, and
one per finished list of trials that tells how its records were made (`known_files.py`).
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from valuesassets.models.known_files import HASH, intact_files, keep_file
from valuesassets.records.files import unbroken
from valuesassets.records.trials import Answer, Reading, answer_of, reading_of

DESCRIBED = ".json"
DAMAGED = "what was known is damaged; it is removed and read again from the model"
AnyRecord = TypeVar("AnyRecord", Reading, Answer)


class Known(Generic[AnyRecord]):
    """Records of one model by their keys, in memory and on disk.

    A record is known by what it depends on (`key`), never by its trial's id: two trials that ask the same share one.
    Once known it stays what it is: where trials are added, the rest is read in other batches, and what was there keeps
    its last bits. One that failed is not kept, but tried again, if another try may end otherwise.
    """

    suffix: str
    """Of the files that hold records of this kind."""
    of_row: Callable[[Mapping[str, Any]], AnyRecord]

    def __init__(self, folder: Path, warn: Callable[[str], None] | None = None) -> None:
        """Open a model's folder, which need not be there yet; a damaged file is named to `warn` and removed."""
        self._folder = folder
        self._records: dict[str, AnyRecord] = {}
        self._files: dict[str, Path] = {}
        self._descriptions: dict[str, dict[str, Any]] = {}
        kept = re.compile(f"{HASH}{re.escape(self.suffix)}|{HASH}-{HASH}{re.escape(DESCRIBED)}")
        for name, content in intact_files(folder, kept, DAMAGED, warn):
            if name.endswith(self.suffix):
                records = map(type(self).of_row, map(json.loads, content.splitlines()))
                self._note(folder / name, {record.key: record for record in records} | self._records)
            else:
                self._descriptions.setdefault(name.partition("-")[0], json.loads(content))

    def get(self, key: str) -> AnyRecord | None:
        """The record of a key, under the trial id that it was first made for; None where it is unknown."""
        return self._records.get(key)

    def add(self, records: Iterable[AnyRecord]) -> None:
        """Keep the records of a batch; those known keep what they were.

        Raises:
            StorageError: the file cannot be written.
        """
        new = {record.key: record for record in records if record.is_final}
        new = {key: record for key, record in new.items() if key not in self._records}
        if not new:
            return
        with unbroken():  # who counts what is kept finds it in memory and on disk, or in neither
            self._note(self._write("", self.suffix, map(vars, new.values())), self._records | new)

    def forget(self, keys: Iterable[str]) -> None:
        """Remove these records, and those in the same files: nobody may go on from what was read wrongly."""
        files = {self._files[key] for key in keys if key in self._files}
        for path in files:
            path.unlink(missing_ok=True)
        self._files = {key: path for key, path in self._files.items() if path not in files}
        self._records = {key: record for key, record in self._records.items() if key in self._files}

    def _note(self, path: Path, records: dict[str, AnyRecord]) -> None:
        """Have these records in memory, the new ones as those of a file."""
        self._files |= dict.fromkeys(records.keys() - self._files.keys(), path)
        self._records = records

    def description(self, key: str) -> dict[str, Any] | None:
        """How the records of a list of trials were made (`describe`); None where that is unknown."""
        return self._descriptions.get(key)

    def describe(self, key: str, description: dict[str, Any]) -> None:
        """Keep how the records of a list of trials were made; `key` is a hash of their keys. Raises as `add`."""
        self._write(f"{key}-", DESCRIBED, [description])
        self._descriptions[key] = description

    def _write(self, prefix: str, suffix: str, rows: Iterable[dict[str, Any]]) -> Path:
        content = "".join(json.dumps(row, sort_keys=True, ensure_ascii=False) + "\n" for row in rows).encode()
        return keep_file(self._folder, prefix, content, suffix)


class KnownReadings(Known[Reading]):
    """What was read of a model; readings with probabilities and unresolved ones are kept."""

    suffix, of_row = ".jsonl", staticmethod(reading_of)


class KnownAnswers(Known[Answer]):
    """What a model has written; what it would not answer is kept too."""

    suffix, of_row = ".answers.jsonl", staticmethod(answer_of)
