"""Transcripts, and the answers that stand between delimiters in them: found, numbered, and asked as spans."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pydantic

from valuesassets.records.errors import QuestionError
from valuesassets.records.faults import validated
from valuesassets.records.files import parse_json, read_text
from valuesassets.records.readouts import ScoreSpans, Span

ANGLES = ("<<", ">>")
NAMED_OTHERWISE = {
    "participant": (
        *("participantid", "subject", "subjectid", "respondent", "respondentid"),
        *("person", "personid", "user", "userid", "pid"),
    ),
    "experiment": ("experimentid", "experimentname", "study", "studyid", "task"),
    "text": ("transcript", "prompt"),
}
"""What files of transcripts call these keys beside their own names, case and marks aside."""


class Transcript(pydantic.BaseModel):
    """What one participant was shown and answered; more keys than these are kept (`model_extra`)."""

    model_config = pydantic.ConfigDict(frozen=True, extra="allow")

    text: str = pydantic.Field(min_length=1)
    experiment: str
    participant: str = pydantic.Field(coerce_numbers_to_str=True)

    @pydantic.model_validator(mode="before")
    @classmethod
    def _with_usual_names(cls, given: Any) -> Any:
        """The keys by their own names where exactly one other key of a file stands for one that lacks."""
        if not isinstance(given, dict):
            return given
        plain = {name: re.sub(r"[\W_]", "", str(name)).casefold() for name in given}
        named = dict(given)
        for key, others in NAMED_OTHERWISE.items():
            found = [name for name, written in plain.items() if written == key or written in others]
            if key not in given and len(found) == 1:
                named[key] = given[found[0]]
        return named


class Mark(NamedTuple):
    """One opening delimiter of a text, and the answer behind it.

    Attributes:
        number: by opening delimiters, from 1.
        start, end: the answer's first character, and the one behind it.
        fault: why no answer stands there, with its line and what to do; None where one does.
    """

    number: int
    start: int
    end: int
    fault: str | None = None


def find_marks(text: str, delimiters: tuple[str, str] = ANGLES) -> tuple[list[Mark], list[str]]:
    """The marks of a text, one for each opening delimiter, and what is said of closing ones that close nothing.

    >>> find_marks("Sure? <<3>> Why? <<")[0]
    [Mark(number=1, start=8, end=9, fault=None), Mark(number=2, start=19, end=19, fault="mark 2 in line 1: '<<' is \
never closed; write '>>' behind the answer")]
    >>> find_marks("More >>")[1]
    ["line 1: '>>' closes no mark; write '<<' before the answer, or leave it where it belongs to the text"]
    """
    if not all(delimiters):
        raise QuestionError(f"delimiters {delimiters}: one is empty; give two texts")
    opening, closing = delimiters
    marks: list[Mark] = []
    strays: list[str] = []
    opened: re.Match[str] | None = None

    def line(found: re.Match[str]) -> int:
        return text.count("\n", 0, found.start()) + 1

    def add(begun: re.Match[str], end: int, fault: str | None) -> None:
        number = len(marks) + 1
        named = fault and f"mark {number} in line {line(begun)}: {fault}"
        marks.append(Mark(number, begun.end(), end, named))

    def add_open(begun: re.Match[str], when: str) -> None:
        add(begun, begun.end(), f"{opening!r} is {when}; write {closing!r} behind the answer")

    for found in re.finditer("|".join(map(re.escape, delimiters)), text):
        if found[0] == opening and not (opened and opening == closing):
            if opened:
                add_open(opened, "not closed before the next one opens")
            opened = found
        elif opened:
            is_empty = not text[opened.end() : found.start()].strip()
            why = f"it is empty; write the answer between {opening!r} and {closing!r}"
            add(opened, found.start(), why if is_empty else None)
            opened = None
        else:
            strays.append(
                f"line {line(found)}: {closing!r} closes no mark; write {opening!r} before the answer, or "
                "leave it where it belongs to the text"
            )
    if opened:
        add_open(opened, "never closed")
    return marks, strays


def ask_marks(
    marks: Sequence[Mark], candidates: Sequence[Sequence[str]], closing: str = ANGLES[1], **settings: Any
) -> ScoreSpans:
    """How candidates are read at marks, each set of them named once; `settings` are further ones of `ScoreSpans`."""
    sets: dict[tuple[str, ...], int] = {}
    spans = tuple(
        Span(mark.start, mark.end, sets.setdefault(tuple(texts), len(sets)))
        for mark, texts in zip(marks, candidates, strict=True)
    )
    return ScoreSpans(spans, tuple(sets), (closing,), **settings)


def read_transcripts(path: Path) -> list[Transcript]:
    """The transcripts of a file of JSON lines.

    Raises:
        QuestionError: names the line that is no JSON or no transcript, or has one that another has.
    """
    found: dict[tuple[str, str], int] = {}
    transcripts: list[Transcript] = []
    for number, line in enumerate(read_text(path, "a file of JSON lines", QuestionError).split("\n"), 1):
        if not line.strip():
            continue
        content = parse_json(line, str(path), QuestionError, number)
        where = f"{path}: line {number}"
        transcript = validated(Transcript, content, QuestionError, where)
        key = (transcript.experiment, transcript.participant)
        if key in found:
            raise QuestionError(
                f"{where}: participant {key[1]} of {key[0]} stands in line {found[key]} already; number them apart"
            )
        found[key] = number
        transcripts.append(transcript)
    return transcripts
