"""Transcripts and their marks: answers between delimiters, which are found, numbered and read as spans."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import pydantic

from valuesassets.records.errors import QuestionError
from valuesassets.records.faults import validated
from valuesassets.records.files import parse_json, read_text

ANGLES = ("<<", ">>")
NAMED_OTHERWISE = {
    "participant": (
        *("participantid", "subject", "subjectid", "respondent", "respondentid"),
        *("person", "personid", "user", "userid", "pid"),
    ),
    "experiment": ("experimentid", "experimentname", "study", "studyid", "task"),
    "text": ("transcript", "prompt"),
}
"""Other names of these keys in files of transcripts, ignoring case and punctuation."""


class Transcript(pydantic.BaseModel):
    """What one participant read and answered; further keys are kept in `model_extra`."""

    model_config = pydantic.ConfigDict(frozen=True, extra="allow")

    text: str = pydantic.Field(min_length=1)
    experiment: str
    participant: str = pydantic.Field(coerce_numbers_to_str=True)

    @pydantic.model_validator(mode="before")
    @classmethod
    def _with_usual_names(cls, content: Any) -> Any:
        """The content with a missing key filled from another name of it, if exactly one is present."""
        if not isinstance(content, dict):
            return content
        plain = {name: re.sub(r"[\W_]", "", str(name)).casefold() for name in content}
        renamed = dict(content)
        for key, others in NAMED_OTHERWISE.items():
            matches = [name for name, plain_name in plain.items() if plain_name == key or plain_name in others]
            if key not in content and len(matches) == 1:
                renamed[key] = content[matches[0]]
        return renamed


class Mark(NamedTuple):
    """One opening delimiter of a text, and the answer after it.

    Attributes:
        number: number of the opening delimiter, from 1.
        start, end: position of the answer's first character, and of the one after the answer.
        fault: why there is no answer, with the line and what to do; None where there is one.
    """

    number: int
    start: int
    end: int
    fault: str | None = None


def find_marks(text: str, delimiters: tuple[str, str] = ANGLES) -> tuple[list[Mark], list[str]]:
    """The marks of a text, one for each opening delimiter, and messages on closing delimiters that close nothing.

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
    open_mark: re.Match[str] | None = None

    def line(match: re.Match[str]) -> int:
        return text.count("\n", 0, match.start()) + 1

    def add(opening_match: re.Match[str], end: int, fault: str | None) -> None:
        number = len(marks) + 1
        message = fault and f"mark {number} in line {line(opening_match)}: {fault}"
        marks.append(Mark(number, opening_match.end(), end, message))

    def add_unclosed(opening_match: re.Match[str], when: str) -> None:
        add(opening_match, opening_match.end(), f"{opening!r} is {when}; write {closing!r} behind the answer")

    for match in re.finditer("|".join(map(re.escape, delimiters)), text):
        if match[0] == opening and not (open_mark and opening == closing):
            if open_mark:
                add_unclosed(open_mark, "not closed before the next one opens")
            open_mark = match
        elif open_mark:
            is_empty = not text[open_mark.end() : match.start()].strip()
            why = f"it is empty; write the answer between {opening!r} and {closing!r}"
            add(open_mark, match.start(), why if is_empty else None)
            open_mark = None
        else:
            strays.append(
                f"line {line(match)}: {closing!r} closes no mark; write {opening!r} before the answer, or "
                "leave it where it belongs to the text"
            )
    if open_mark:
        add_unclosed(open_mark, "never closed")
    return marks, strays


def read_transcripts(path: Path) -> list[Transcript]:
    """The transcripts of a file of JSON lines.

    Raises:
        QuestionError: a line is no JSON or no transcript, or repeats a participant; names the line.
    """
    lines: dict[tuple[str, str], int] = {}
    transcripts: list[Transcript] = []
    for number, line in enumerate(read_text(path, "a file of JSON lines", QuestionError).split("\n"), 1):
        if not line.strip():
            continue
        content = parse_json(line, str(path), QuestionError, number)
        where = f"{path}: line {number}"
        transcript = validated(Transcript, content, QuestionError, where)
        key = (transcript.experiment, transcript.participant)
        if key in lines:
            raise QuestionError(
                f"{where}: participant {key[1]} of {key[0]} stands in line {lines[key]} already; number them apart"
            )
        lines[key] = number
        transcripts.append(transcript)
    return transcripts
