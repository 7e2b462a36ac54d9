"""Marks whose item does not stand between the mark before and themselves: blocks that begin at the wrong places.

Nothing keeps such a mark from being read, and what is read is of another item: where item 1 stands in the instructions,
or all items in one block, a model that is asked an item alone reads it behind item 1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from valuesassets.instruments.psych_tasks.material.marks import Person, TaskMark
from valuesassets.instruments.psych_tasks.material.task_files import Task

MOST_ALIKE = 0.5
"""Where at least this share of a person's marks has a text of its own before it, marks of that kind have items."""


@dataclass(frozen=True)
class Misplaced:
    """A mark without its item.

    Attributes:
        reason: what stands there instead, and what to do.
    """

    person: Person
    mark: TaskMark
    reason: str

    def as_row(self) -> dict[str, Any]:
        """Whose mark it is, and why."""
        who = {"experiment": self.person.experiment, "participant": self.person.participant}
        return who | {"mark": self.mark.number, "kind": self.mark.kind, "reason": self.reason}


def marks_without_item(people: Sequence[Person], task: Task) -> list[Misplaced]:
    """The marks of kinds with items before which no item stands in their block, or which share their block with others.

    What all marks of a kind have right before them is their cue; what stands before the cue is an item, if it differs
    from mark to mark. Kinds whose marks have nothing but a cue (pumps of a balloon) have no items.
    """
    found = []
    for kind in task.kinds:
        words = {
            (place, mark.number): _words_before(person, mark, task)
            for place, person in enumerate(people)
            for mark in person.marks
            if mark.kind == kind.name and mark.is_answer
        }
        n_cue = _common_ending(list(words.values()))
        for place, person in enumerate(people):
            own = {
                mark.number: words[place, mark.number][: len(words[place, mark.number]) - n_cue]
                for mark in person.marks
                if (place, mark.number) in words
            }
            found += _of_person(person, own, task)
    return found


def _of_person(person: Person, own: dict[int, tuple[str, ...]], task: Task) -> Iterator[Misplaced]:
    """The marks of one kind of one person.

    Args:
        own: by number of the mark what stands before its cue.
    """
    texts = [text for text in own.values() if text]
    if len(own) < 2 or len(set(texts)) < max(2, MOST_ALIKE * len(own)):
        return
    mend = f"name what items begin with (`block` is {task.block!r})"
    first = next(iter(own))
    for mark in person.marks:
        if mark.number not in own:
            continue
        if not own[mark.number]:
            where = "the instructions" if mark.block == 1 else f"block {mark.block - 1}"
            why = f"no item stands before it in its block, it may stand in {where}; {mend}"
        elif len(person.starts) == 1 and mark.number != first:
            why = f"all items are one block, in which it stands behind that of mark {first}; {mend}"
        else:
            continue
        yield Misplaced(person, mark, f"mark {mark.number}: {why}")


def _words_before(person: Person, mark: TaskMark, task: Task) -> tuple[str, ...]:
    """Words between the mark before, or the block's beginning, and a mark; without numbers, which differ anyway."""
    opening, closing = task.delimiters
    begun = person.bounds(mark.block)[0]
    for earlier in person.marks_of(mark.block):
        if earlier.number < mark.number:
            begun = max(begun, earlier.end + len(closing))
    text = person.shown.text[begun : mark.start - len(opening)]
    return tuple(word for word in text.split() if any(map(str.isalpha, word)))


def _common_ending(words: Sequence[Sequence[str]]) -> int:
    """How many last words all have in common."""
    n = min(map(len, words), default=0)
    return next((k for k in range(n) if len({each[-1 - k] for each in words}) > 1), n)
