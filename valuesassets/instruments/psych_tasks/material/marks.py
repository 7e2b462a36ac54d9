"""`psych_tasks/marks`: every opening delimiter of the transcripts, its candidates and its status."""

import hashlib
import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

import pandas as pd

from valuesassets.instruments.psych_tasks.material.statuses import ASKED, MarkStatus
from valuesassets.instruments.psych_tasks.material.task_files import (
    BY_LINE,
    PLACEHOLDER,
    Candidates,
    Kind,
    Task,
    compiled,
    stands_before,
)
from valuesassets.instruments.psych_tasks.material.transcripts import TaskTranscript
from valuesassets.records.frames import records
from valuesassets.records.marks import Mark, find_marks

BEFORE = 200
"""Number of characters before a mark in which the `before` of its kind is looked for."""
ORDINAL = re.compile(r"^\s*(?:[^\W\d]+\s+)?\(?\d{1,4}\s*(?:[.):\n]|$)\s*")
"""The number of an item, a trial or a balloon, which differs between people who saw the same in another order."""


@dataclass(frozen=True)
class TaskMark:
    """One opening delimiter of a transcript.

    Attributes:
        number: its place among the opening delimiters, from 1.
        block: the block that it stands in, from 1.
        start, end: places of the answer's first character, and of the one behind the answer.
        candidates: the possible answers; only the given one where anything may be answered; none where it cannot be
            asked.
        reason: why it cannot be asked, or why its answer is no candidate.
    """

    number: int
    block: int
    kind: str | None
    start: int
    end: int
    answer: str | None
    candidates: tuple[str, ...]
    status: MarkStatus
    reason: str | None

    @property
    def is_asked(self) -> bool:
        """Whether a model can be asked at the mark."""
        return self.status in ASKED

    @property
    def is_answer(self) -> bool:
        """Whether an answer stands between its delimiters, asked or not."""
        return self.status not in (MarkStatus.EMPTY, MarkStatus.BROKEN)


@dataclass(frozen=True)
class Person:
    """A participant's transcript, cut into blocks.

    Attributes:
        starts: place of the first character of each block; the instructions stand before the first.
    """

    transcript: TaskTranscript
    marks: tuple[TaskMark, ...]
    starts: tuple[int, ...]

    @property
    def experiment(self) -> str:
        """The experiment's name in the transcript."""
        return self.transcript.experiment

    @property
    def participant(self) -> str:
        """The participant's name in the transcript."""
        return self.transcript.participant

    @property
    def key(self) -> tuple[str, str]:
        """Experiment and participant."""
        return self.experiment, self.participant

    @cached_property
    def instructions(self) -> str:
        """The text before the first block."""
        return self.transcript.text[: self.starts[0] if self.starts else None]

    def bounds(self, block: int) -> tuple[int, int]:
        """Places of a block's first character, and of the one behind the block."""
        ends = (*self.starts[1:], len(self.transcript.text))
        return self.starts[block - 1], ends[block - 1]

    def marks_of(self, block: int) -> tuple[TaskMark, ...]:
        """The marks of a block."""
        return self._by_block.get(block, ())

    @cached_property
    def _by_block(self) -> Mapping[int, tuple[TaskMark, ...]]:
        return {block: tuple(marks) for block, marks in groupby(self.marks, key=lambda mark: mark.block)}


def mark_person(transcript: TaskTranscript, task: Task) -> Person:
    """A transcript with its marks: their kinds, candidates and blocks by the task file."""
    marks = find_marks(transcript.text, task.delimiters)[0]
    starts = block_starts(transcript.text, marks, task)
    task_marks = tuple(_task_mark(mark, transcript.text, task, starts) for mark in marks)
    return Person(transcript, task_marks, tuple(starts))


def block_starts(text: str, marks: Sequence[Mark], task: Task) -> list[int]:
    """Place of the first character of each block; every mark stands in a block."""
    if not marks:
        return []
    opening = task.delimiters[0]
    first = marks[0].start - len(opening)
    first_line = text.rfind("\n", 0, first) + 1
    if task.block != BY_LINE:
        starts = [match.start() for match in compiled(task.block).finditer(text)]
        return starts if starts and starts[0] <= first else sorted({first_line, *starts})
    starts = [first_line]
    for mark, following in pairwise(marks):
        behind = text.find("\n", mark.end) + 1
        if behind and following.start - len(opening) >= behind:
            starts.append(behind)
    return starts


def _task_mark(mark: Mark, text: str, task: Task, starts: Sequence[int]) -> TaskMark:
    opened = mark.start - len(task.delimiters[0])
    block, before = bisect_right(starts, opened), text[max(0, opened - BEFORE) : opened]
    kind = next((each for each in task.kinds if stands_before(each.before, before)), None)
    scopes = {"block": text[starts[block - 1] : opened], "instructions": text[: starts[0]], "transcript": text[:opened]}
    answer: str | None = text[mark.start : mark.end]
    status, reason, candidates = _status(mark, answer, text, task, kind, scopes)
    if status in (MarkStatus.EMPTY, MarkStatus.BROKEN):
        answer = None
    name = kind.name if kind else None
    return TaskMark(mark.number, block, name, mark.start, mark.end, answer, candidates, status, reason)


def _status(
    mark: Mark, answer: str, text: str, task: Task, kind: Kind | None, scopes: Mapping[str, str]
) -> tuple[MarkStatus, str | None, tuple[str, ...]]:
    """The status of a mark, its reason and the candidates."""
    if mark.fault is not None:
        is_closed = text.startswith(task.delimiters[1], mark.end) and not answer.strip()
        return MarkStatus.EMPTY if is_closed else MarkStatus.BROKEN, mark.fault, ()
    if "\n" in answer:
        why = f"mark {mark.number}: the answer {answer[:40]!r} goes over a line; close it on its own line"
        return MarkStatus.BROKEN, why, ()
    if kind is None:
        why = f"mark {mark.number}: no kind of the task {task.name} is found before it; mend `before` in the task file"
        return MarkStatus.NO_CANDIDATES, why, ()
    if kind.candidates == "open":
        return MarkStatus.OPEN, None, (answer,)
    candidates = find_candidates(kind.candidates, scopes[kind.candidates.where])
    if len(candidates) < 2:
        why = (
            f"mark {mark.number}: {len(candidates)} candidates of kind {kind.name} in its {kind.candidates.where}, at "
            "least 2 were expected; mend the regular expression in the task file"
        )
        return MarkStatus.NO_CANDIDATES, why, ()
    if answer.strip() not in candidates:
        why = f"mark {mark.number}: the answer {answer[:40]!r} is none of the {len(candidates)} candidates"
        return MarkStatus.UNLISTED, why, candidates
    return MarkStatus.READ, None, candidates


def item_of(person: Person, mark: TaskMark, task: Task) -> str:
    """A hash of what is asked at a mark, which is the same for all people, in any order and with any keys.

    It is of the block's text up to the mark, without the block's number and the answers; roles take the place of keys.
    """
    start = person.bounds(mark.block)[0]
    opening, closing = task.delimiters
    pieces, behind = [], start
    for earlier in person.marks_of(mark.block):
        if earlier.number > mark.number:
            break
        pieces.append(person.transcript.text[behind : earlier.start - len(opening)])
        behind = earlier.end + len(closing)
    question = ORDINAL.sub("", "\0".join(pieces))
    kind = task.kind_named.get(mark.kind or "")
    roles = kind.candidates.stand_ins if kind is not None and kind.candidates != "open" else ()
    if len(roles) == len(mark.candidates):
        by_key = dict(zip(mark.candidates, roles, strict=True))
        keys = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(by_key, key=len, reverse=True)))})(?!\w)")
        question = keys.sub(lambda key: f"\1{by_key[key[0]]}\1", question)
    return hashlib.sha256(" ".join(question.split()).encode()).hexdigest()[:16]


def find_candidates(rule: Candidates, scope: str) -> tuple[str, ...]:
    """The candidates of a mark by the rule of its kind, each text once.

    Args:
        scope: the text before the mark in which the rule looks.
    """
    if rule.fixed is not None:
        return rule.fixed
    if rule.options is not None:
        return tuple(dict.fromkeys(match[1] for match in compiled(rule.options).finditer(scope) if match[1]))
    regex = rule.keys or rule.words
    match = compiled(regex).search(scope) if regex else None
    if match is None:
        return ()
    groups = [group or "" for group in match.groups()]
    if rule.keys is not None:
        return tuple(groups) if all(groups) and len(set(groups)) == len(groups) else ()
    filled = [PLACEHOLDER.sub(lambda place: groups[int(place[1]) - 1], text) for text in rule.fill]
    return tuple(dict.fromkeys(filled))


def no_marks_reason(text: str, task: Task) -> str:
    """Why a transcript has no marks, and what to do."""
    opening, closing = task.delimiters
    if html.escape(opening) != opening and html.escape(opening) in text:
        return f"{html.escape(opening)} stands there for {opening}: the text was escaped for HTML; unescape it"
    but = f", though {closing} does" if closing in text else ""
    return (
        f"no {opening} stands in it{but}; name the delimiters that it has in the task file, or leave the transcript out"
    )


def mark_rows(people: Iterable[Person], task: Task) -> list[dict[str, Any]]:
    """Rows of the table: one for each mark, and one without a number for each transcript without marks."""
    rows: list[dict[str, Any]] = []
    for person in people:
        who = {"experiment": person.experiment, "participant": person.participant}
        who |= {"presentation": person.transcript.presentation}
        if not person.marks:
            status, reason = MarkStatus.NO_MARKS, no_marks_reason(person.transcript.text, task)
            rows.append({**who, "status": str(status), "reason": reason, "candidates": []})
        rows += [
            {
                **who,
                "mark": mark.number,
                "block": mark.block,
                "kind": mark.kind,
                "start": mark.start,
                "end": mark.end,
                "human_answer": mark.answer,
                "candidates": list(mark.candidates),
                "status": str(mark.status),
                "reason": mark.reason,
            }
            for mark in person.marks
        ]
    return rows


def derive_ledger(rows: pd.DataFrame) -> pd.DataFrame:
    """Counts of marks and transcripts by experiment, kind and status."""
    frame = rows.assign(kind=rows["kind"].fillna(""), marks=rows["status"] != MarkStatus.NO_MARKS)
    groups = frame.groupby(["experiment", "kind", "status"])
    return groups.agg(marks=("marks", "sum"), transcripts=("participant", "nunique")).reset_index()


def people_of(transcripts: Iterable[TaskTranscript], task: Task) -> list[Person]:
    """The people of transcripts, with their marks."""
    return [mark_person(transcript, task) for transcript in transcripts]


def unread_rows(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The marks that no model can be asked at, with the reason."""
    unread = ~rows["status"].isin([str(status) for status in ASKED])
    return records(rows.loc[unread, ["experiment", "participant", "mark", "kind", "status", "reason"]])
