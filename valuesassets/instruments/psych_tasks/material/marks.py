"""`psych_tasks/marks`: every opening delimiter of the transcripts, what may be answered there, what became of it."""

import hashlib
import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
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
    found_before,
)
from valuesassets.instruments.psych_tasks.material.transcripts import Shown
from valuesassets.records.frames import records
from valuesassets.records.marks import Mark, find_marks

BEFORE = 200
"""Characters before a mark in which the `before` of its kind is looked for."""
ORDINAL = re.compile(r"^\s*(?:[^\W\d]+\s+)?\(?\d{1,4}\s*(?:[.):\n]|$)\s*")
"""The number of an item, a trial, a balloon, which differs between people who were shown the same in another order."""


@dataclass(frozen=True)
class TaskMark:
    """One opening delimiter of a transcript.

    Attributes:
        number: by opening delimiters, from 1.
        block: that it stands in, from 1.
        start, end: the answer's first character, and the one behind it.
        candidates: what may be answered; what was, where anything may be; none where it cannot be asked.
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
        """Whether a model can be asked at it."""
        return self.status in ASKED

    @property
    def is_answer(self) -> bool:
        """Whether an answer stands there between delimiters, asked or not."""
        return self.status not in (MarkStatus.EMPTY, MarkStatus.BROKEN)


@dataclass(frozen=True)
class Person:
    """A participant's transcript, cut into blocks.

    Attributes:
        starts: first character of each block; the instructions stand before the first.
    """

    shown: Shown
    marks: tuple[TaskMark, ...]
    starts: tuple[int, ...]

    @property
    def experiment(self) -> str:
        """As its transcript names it."""
        return self.shown.experiment

    @property
    def participant(self) -> str:
        """As its transcript names it."""
        return self.shown.participant

    @cached_property
    def instructions(self) -> str:
        """What stands before the first block."""
        return self.shown.text[: self.starts[0]] if self.starts else self.shown.text

    def bounds(self, block: int) -> tuple[int, int]:
        """First character of a block, and the one behind it."""
        ends = (*self.starts[1:], len(self.shown.text))
        return self.starts[block - 1], ends[block - 1]

    def marks_of(self, block: int) -> tuple[TaskMark, ...]:
        """The marks of a block."""
        return self._by_block.get(block, ())

    @cached_property
    def _by_block(self) -> Mapping[int, tuple[TaskMark, ...]]:
        found: dict[int, list[TaskMark]] = {}
        for mark in self.marks:
            found.setdefault(mark.block, []).append(mark)
        return {block: tuple(marks) for block, marks in found.items()}


def mark_person(shown: Shown, task: Task) -> Person:
    """A transcript with its marks: kinds, candidates and blocks, as the task says."""
    found = find_marks(shown.text, task.delimiters)[0]
    starts = block_starts(shown.text, found, task)
    instructions = shown.text[: starts[0]] if starts else shown.text
    marks = [
        _task_mark(
            mark, shown.text, task, bisect_right(starts, mark.start - len(task.delimiters[0])), starts, instructions
        )
        for mark in found
    ]
    return Person(shown, tuple(marks), tuple(starts))


def block_starts(text: str, marks: Sequence[Mark], task: Task) -> list[int]:
    """The first character of each block that there is; every mark stands in one of them."""
    if not marks:
        return []
    opening = task.delimiters[0]
    first_line = text.rfind("\n", 0, marks[0].start - len(opening)) + 1
    if task.block != BY_LINE:
        starts = [match.start() for match in compiled(task.block).finditer(text)]
        first = marks[0].start - len(opening)
        return starts if starts and starts[0] <= first else sorted({first_line, *starts})
    starts = [first_line]
    for mark, following in pairwise(marks):
        behind = text.find("\n", mark.end) + 1
        if behind and following.start - len(opening) >= behind:
            starts.append(behind)
    return starts


def _task_mark(mark: Mark, text: str, task: Task, block: int, starts: Sequence[int], instructions: str) -> TaskMark:
    answer = text[mark.start : mark.end]
    opened = mark.start - len(task.delimiters[0])

    def made(
        status: MarkStatus, reason: str | None = None, kind: Kind | None = None, candidates: tuple[str, ...] = ()
    ) -> TaskMark:
        said = None if status in (MarkStatus.EMPTY, MarkStatus.BROKEN) else answer
        name = kind.name if kind else None
        return TaskMark(mark.number, block, name, mark.start, mark.end, said, candidates, status, reason)

    kind = next(
        (each for each in task.kinds if found_before(each.before, text[max(0, opened - BEFORE) : opened])), None
    )
    if mark.fault is not None:
        is_closed = text.startswith(task.delimiters[1], mark.end) and not answer.strip()
        return made(MarkStatus.EMPTY if is_closed else MarkStatus.BROKEN, mark.fault, kind)
    if "\n" in answer:
        why = f"mark {mark.number}: the answer {answer[:40]!r} goes over a line; close it on its own line"
        return made(MarkStatus.BROKEN, why, kind)
    if kind is None:
        why = f"mark {mark.number}: no kind of the task {task.name} is found before it; mend `before` in the task file"
        return made(MarkStatus.NO_CANDIDATES, why)
    if kind.candidates == "open":
        return made(MarkStatus.OPEN, None, kind, (answer,))
    scopes = {"block": text[starts[block - 1] : opened], "instructions": instructions, "transcript": text[:opened]}
    candidates = find_candidates(kind.candidates, scopes[kind.candidates.where])
    if len(candidates) < 2:
        why = (
            f"mark {mark.number}: {len(candidates)} candidates of kind {kind.name} in its {kind.candidates.where}, at "
            "least 2 were expected; mend the regular expression in the task file"
        )
        return made(MarkStatus.NO_CANDIDATES, why, kind)
    if answer.strip() not in candidates:
        why = f"mark {mark.number}: the answer {answer[:40]!r} is none of the {len(candidates)} candidates"
        return made(MarkStatus.UNLISTED, why, kind, candidates)
    return made(MarkStatus.READ, None, kind, candidates)


def item_of(person: Person, mark: TaskMark, task: Task) -> str:
    """What is asked at a mark, as a hash: the same for all people, in whichever order and with whichever keys.

    Of the mark's block what stands before it, without its number and what was answered there; keys are named by roles.
    """
    start = person.bounds(mark.block)[0]
    opening, closing = task.delimiters
    pieces, behind = [], start
    for earlier in person.marks_of(mark.block):
        if earlier.number > mark.number:
            break
        pieces.append(person.shown.text[behind : earlier.start - len(opening)])
        behind = earlier.end + len(closing)
    asked = ORDINAL.sub("", "\0".join(pieces))
    kind = task.kind_named.get(mark.kind or "")
    roles = kind.candidates.roles_of if kind is not None and kind.candidates != "open" else ()
    if len(roles) == len(mark.candidates):
        named = dict(zip(mark.candidates, roles, strict=True))
        keys = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(named, key=len, reverse=True)))})(?!\w)")
        asked = keys.sub(lambda found: f"\1{named[found[0]]}\1", asked)
    return hashlib.sha256(" ".join(asked.split()).encode()).hexdigest()[:16]


def find_candidates(given: Candidates, scope: str) -> tuple[str, ...]:
    """What may be answered, of what stands before a mark; each text once."""
    if given.fixed is not None:
        return given.fixed
    if given.options is not None:
        return tuple(dict.fromkeys(match[1] for match in compiled(given.options).finditer(scope) if match[1]))
    regex = given.keys or given.words
    found = compiled(regex).search(scope) if regex else None
    if found is None:
        return ()
    groups = [group or "" for group in found.groups()]
    if given.keys is not None:
        return tuple(groups) if all(groups) and len(set(groups)) == len(groups) else ()
    filled = [PLACEHOLDER.sub(lambda place: groups[int(place[1]) - 1], text) for text in given.fill]
    return tuple(dict.fromkeys(filled))


def no_marks_reason(text: str, task: Task) -> str:
    """Why a transcript has no marks, and what to do."""
    opening, closing = task.delimiters
    if html.escape(opening) != opening and html.escape(opening) in text:
        return f"{html.escape(opening)} stands there for {opening}: the text was escaped for HTML; unescape it"
    said = f"no {opening} stands in it"
    if closing in text:
        said += f", though {closing} does"
    return f"{said}; name the delimiters that it has in the task file, or leave the transcript out"


def mark_rows(people: Iterable[Person], task: Task) -> list[dict[str, Any]]:
    """Rows of the table: one for each mark, and one without a number for each transcript without any."""
    rows: list[dict[str, Any]] = []
    for person in people:
        who = {"experiment": person.experiment, "participant": person.participant}
        who |= {"presentation": person.shown.presentation}
        if not person.marks:
            status, reason = MarkStatus.NO_MARKS, no_marks_reason(person.shown.text, task)
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
    """How many marks, in how many transcripts, there are of each experiment, kind and status."""
    found = []
    frame = rows.assign(kind=rows["kind"].fillna(""))
    for (experiment, kind, status), part in frame.groupby(["experiment", "kind", "status"], sort=True):  # type: ignore[misc]
        n_transcripts = len(part.drop_duplicates("participant"))
        marks = 0 if status == MarkStatus.NO_MARKS else len(part)
        found.append((experiment, kind, status, marks, n_transcripts))
    return pd.DataFrame(found, columns=pd.Index(["experiment", "kind", "status", "marks", "transcripts"]))


def people_of(transcripts: Iterable[Shown], task: Task) -> list[Person]:
    """Transcripts with their marks."""
    return [mark_person(shown, task) for shown in transcripts]


def unread_rows(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The marks that no model can be asked at, and why."""
    shown = ["experiment", "participant", "mark", "kind", "status", "reason"]
    unread = ~rows["status"].isin([str(status) for status in ASKED])
    return records(rows.loc[unread, [name for name in shown if name in rows]])
