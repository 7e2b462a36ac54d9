"""Marks without an item between the mark before and themselves, because blocks begin at the wrong places.

Such a mark can be read, but its reading is of another item: where item 1 stands in the instructions, or all items in
one block, a model that is asked an item alone reads it behind item 1.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from valuesassets.instruments.psych_tasks.material.marks import Person, TaskMark
from valuesassets.instruments.psych_tasks.material.task_files import Task

LEAST_DIFFERENT = 0.5
"""Where at least this share of a person's marks has a text of its own before it, marks of that kind have items."""


def marks_without_item(people: Sequence[Person], task: Task) -> list[dict[str, Any]]:
    """Marks of kinds with items which have no item before them in their block, or which share it with other items.

    The words that all marks of a kind have right before them are their cue. The text before the cue is an item, if it
    differs from mark to mark. Kinds whose marks have nothing but a cue (pumps of a balloon) have no items.

    Returns:
        `experiment`, `participant`, `mark`, `kind`, and a `reason` that says what stands there and what to do.
    """
    rows: list[dict[str, Any]] = []
    for kind in task.kinds:
        words = [
            {
                mark: _words_before(person, mark, task)
                for mark in person.marks
                if mark.kind == kind.name and mark.is_answer
            }
            for person in people
        ]
        n_cue = _common_ending([each for of_person in words for each in of_person.values()])
        for person, of_person in zip(people, words, strict=True):
            items = {mark: each[: len(each) - n_cue] for mark, each in of_person.items()}
            for mark, reason in _faults(person, items, task):
                who = {"experiment": person.experiment, "participant": person.participant}
                rows.append(who | {"mark": mark.number, "kind": mark.kind, "reason": reason})
    return rows


def _faults(person: Person, items: dict[TaskMark, tuple[str, ...]], task: Task) -> Iterator[tuple[TaskMark, str]]:
    """The marks of one kind of one person that lack their item, and the reason.

    Args:
        items: the words before the cue of each mark.
    """
    if len(items) < 2 or len({words for words in items.values() if words}) < max(2, LEAST_DIFFERENT * len(items)):
        return
    mend = f"name what items begin with (`block` is {task.block!r})"
    first = next(iter(items)).number
    for mark, words in items.items():
        if not words:
            where = "the instructions" if mark.block == 1 else f"block {mark.block - 1}"
            yield mark, f"mark {mark.number}: no item stands before it in its block, it may stand in {where}; {mend}"
        elif len(person.starts) == 1 and mark.number != first:
            why = f"all items are one block, in which it stands behind that of mark {first}"
            yield mark, f"mark {mark.number}: {why}; {mend}"


def _words_before(person: Person, mark: TaskMark, task: Task) -> tuple[str, ...]:
    """Words between the mark before, or the block's beginning, and a mark; without numbers, which differ anyway."""
    opening, closing = task.delimiters
    start = person.bounds(mark.block)[0]
    for earlier in person.marks_of(mark.block):
        if earlier.number < mark.number:
            start = max(start, earlier.end + len(closing))
    text = person.transcript.text[start : mark.start - len(opening)]
    return tuple(word for word in text.split() if any(map(str.isalpha, word)))


def _common_ending(words: Sequence[Sequence[str]]) -> int:
    """Number of last words that all have in common."""
    n = min(map(len, words), default=0)
    return next((k for k in range(n) if len({each[-1 - k] for each in words}) > 1), n)
