"""Reads and checks files of planted transcripts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valuesassets.records.errors import StorageError
from valuesassets.records.parquet import read_table, table_metadata
from valuesassets.records.tables import PLANTED_TRANSCRIPTS

SLACK = 1e-6
"""Largest difference of a sum of probabilities from 1 that rounding explains."""


@dataclass(frozen=True)
class PlantedMark:
    """An answer in a transcript: where it begins, its set of candidates, and the planted probabilities of the set."""

    start: int
    answer: str
    candidates: int
    probs: tuple[float, ...]


@dataclass(frozen=True)
class PlantedTranscripts:
    """A file (`name`): texts and marks, sets of candidates, and the text that closes each set's answers."""

    name: str
    texts: tuple[str, ...]
    marks: tuple[tuple[PlantedMark, ...], ...]
    sets: tuple[tuple[str, ...], ...]
    closes: tuple[str, ...]

    def unsplit_texts(self) -> tuple[str, ...]:
        """The texts, besides digits, that a tokenizer must not merge with others: answers and their closing texts."""
        return tuple(
            dict.fromkeys([*self.closes, *(text for each in self.sets for text in each if not text.isdigit())])
        )


def read_planted_transcripts(path: Path, languages: Sequence[str]) -> PlantedTranscripts:
    """Read the transcripts in some languages from a file in `PLANTED_TRANSCRIPTS`.

    Raises:
        StorageError: the file cannot be read, has no transcript in a language, or holds probabilities that are no
            distribution; the message names file, row and mark.
    """
    table = read_table(path, PLANTED_TRANSCRIPTS)
    sets, closes = _read_sets(path)
    texts: list[str] = []
    marks: list[tuple[PlantedMark, ...]] = []
    unseen = set(languages)
    for number, row in enumerate(table.to_pylist(), 1):
        if row["language"] in languages:
            unseen.discard(row["language"])
            texts.append(row["text"])
            marks.append(_read_marks(f"{path}: row {number}", row, sets))
    if unseen:
        raise StorageError(f"{path}: no planted transcripts in {min(unseen)}; plant some, or leave the language out")
    return PlantedTranscripts(str(path), tuple(texts), tuple(marks), sets, closes)


def _read_sets(path: Path) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    metadata, expected = table_metadata(path), "an array of arrays of texts and one of texts, as long, were expected"
    sets, closes = [], []
    try:
        sets, closes = json.loads(metadata["candidate_sets"]), json.loads(metadata["closes"])
        is_fit = len(sets) == len(closes) and all(map(_are_texts, [closes, *sets]))
    except (KeyError, ValueError, TypeError):
        is_fit = False
    if not is_fit:
        raise StorageError(f"{path}: metadata candidate_sets and closes: {expected}; write the file again")
    for number, candidates in enumerate(sets):
        if len(set(candidates)) < len(candidates) or not candidates:
            raise StorageError(f"{path}: candidate set {number} is empty or names one twice; name each once")
    return tuple(map(tuple, sets)), tuple(closes)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each for each in value)


def _read_marks(where: str, row: dict[str, Any], sets: Sequence[Sequence[str]]) -> tuple[PlantedMark, ...]:
    parts = [row[name] for name in ("starts", "answers", "candidates", "probs")]
    if len({*map(len, parts)}) > 1:
        raise StorageError(
            f"{where}: {', '.join(map(str, map(len, parts)))} starts, answers, candidates and probs; "
            "as many of each were expected"
        )
    marks, end_of_last = [], 0
    for number, mark in enumerate(zip(*parts, strict=True), 1):
        start, answer, candidates, probs = mark
        if candidates >= len(sets) or len(probs) != len(sets[candidates]):
            raise StorageError(
                f"{where}: mark {number}: {len(probs)} probabilities for set {candidates}, which has not as "
                "many candidates; give one to each"
            )
        total = sum(probs)
        if not abs(total - 1) <= SLACK or min(probs) < 0:
            raise StorageError(f"{where}: mark {number}: probabilities sum to {total:g}, 1 was expected, none below 0")
        if start < end_of_last or not answer or not row["text"].startswith(answer, start):
            raise StorageError(
                f"{where}: mark {number}: {answer!r} does not stand at character {start}, behind the "
                "mark before; name where it begins"
            )
        end_of_last = start + len(answer)
        marks.append(PlantedMark(start, answer, candidates, tuple(probs)))
    return tuple(marks)
