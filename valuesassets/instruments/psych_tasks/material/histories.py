"""What stands before a mark: nothing, the person's answers, another's, answers on the wrong places, the model's own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

from valuesassets.instruments.psych_tasks.material.layouts import Piece, Slot, pieces_of
from valuesassets.instruments.psych_tasks.material.marks import Person, TaskMark
from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.material.task_files import Task

History = Literal["alone", "own", "human", "other", "permuted", "answers", "blank"]
HISTORIES: tuple[History, ...] = get_args(History)
NO_BLOCK = "N/A"
"""What stands in a block's place where nothing is asked."""
CUE = "Answer: "
"""What stands before each answer where only answers are shown."""


class Asked(NamedTuple):
    """A mark of a person, as it is asked in one history."""

    experiment: str
    participant: str
    mark: int


@dataclass(frozen=True)
class Passage:
    """Something to show to a model, and whose marks are asked there.

    Attributes:
        asked: for each asked mark of `pieces`, in order, the person's mark that it stands for; several where people
            were shown the same.
    """

    history: History
    draw: int
    name: str
    pieces: tuple[Piece, ...]
    asked: tuple[tuple[Asked, ...], ...]


@dataclass(frozen=True)
class NotAsked:
    """Marks that a history cannot be had at, and why."""

    history: History
    draw: int
    asked: tuple[Asked, ...]
    reason: str


def human_passages(people: Sequence[Person], task: Task) -> Iterator[Passage]:
    """Each transcript as it is."""
    for person in people:
        if asked := asked_marks(person):
            pieces = pieces_of(person.shown.text, person.marks, task)
            yield Passage("human", 0, _named(person), tuple(pieces), tuple((_key(person, mark),) for mark in asked))


def alone_passages(people: Sequence[Person], task: Task) -> Iterator[Passage]:
    """The instructions and one block; one passage for all people who were shown the same and answered alike in it."""
    found: dict[tuple[Piece, ...], Passage] = {}
    for person in people:
        for block in _asked_blocks(person):
            pieces = _last_unanswered((person.instructions, *_block(person, block, task)))
            _gather(found, "alone", f"{_named(person)}/{block}", pieces, person, person.marks_of(block))
    yield from found.values()


def own_passages(people: Sequence[Person], task: Task, draws: int) -> Iterator[Passage | NotAsked]:
    """Transcripts into which the model writes its own answers; one for all people who were shown the same."""
    if task.feedback:
        why = f"later text of task {task.name} shows what answers led to, so that no other answer can stand there"
        for draw in range(draws):
            yield NotAsked("own", draw, _all_asked(people), why)
        return
    for draw in range(draws):
        found: dict[tuple[Piece, ...], Passage] = {}
        for person in filter(asked_marks, people):
            pieces = tuple(pieces_of(person.shown.text, person.marks, task))
            unanswered = tuple(_filled(piece) for piece in pieces)
            _gather(found, "own", _named(person), unanswered, person, person.marks, draw)
        yield from found.values()


def permuted_passages(people: Sequence[Person], task: Task) -> Iterator[Passage | NotAsked]:
    """Each transcript with answers of neighbours exchanged before a mark, so that they stand at the wrong items.

    Before a mark, marks of earlier blocks that offer the same candidates are paired from its own block backwards: no
    answer of its own or a later block stands there. With one mark a block two passages do: one for each parity.
    """
    if task.feedback:
        why = f"later text of task {task.name} shows what answers led to, so that answers cannot change places"
        yield NotAsked("permuted", 0, _all_asked(people), why)
        return
    for person in people:
        by_passage: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for block in _asked_blocks(person):
            parities = tuple(len(marks) % 2 for marks in _alike_before(person, block))
            own = block if len(person.marks_of(block)) > 1 else 0
            by_passage.setdefault((own, parities), []).append(block)
        for blocks in by_passage.values():
            last = blocks[-1]
            asked = [mark for block in blocks for mark in person.marks_of(block) if mark.is_asked]
            numbers = {mark.number for mark in asked}
            text, marks = person.shown.text[: person.bounds(last)[1]], _up_to(person, last)
            pieces = _answered(pieces_of(text, marks, task), _swapped(person, last), numbers)
            keys = tuple((_key(person, mark),) for mark in asked)
            yield Passage("permuted", 0, f"{_named(person)}/{blocks[0]}", pieces, keys)


def _alike_before(person: Person, block: int) -> list[list[TaskMark]]:
    """The marks of blocks before one, a list for each set of candidates of the transcript: these may change places."""
    groups: dict[tuple[str, ...], list[TaskMark]] = {}
    for mark in person.marks:
        if mark.is_answer and len(mark.candidates) > 1:
            group = groups.setdefault(mark.candidates, [])
            group += [mark] if mark.block < block else []
    return list(groups.values())


def _swapped(person: Person, block: int) -> dict[int, str]:
    """By number the answers that stand before a block where neighbours are paired from there backwards."""
    swapped: dict[int, str] = {}
    for marks in _alike_before(person, block):
        for second, first in zip(marks[::-1][::2], marks[::-1][1::2], strict=False):
            swapped[first.number], swapped[second.number] = second.answer or "", first.answer or ""
    return swapped


def other_passages(people: Sequence[Person], task: Task, donors: Mapping[int, int]) -> Iterator[Passage | NotAsked]:
    """Each person's blocks behind another's, who had the same keys and presentation.

    Where both were shown the same text nothing new is asked: the donor's own reading at the mark is of this history too
    (see `free_of`).

    Args:
        donors: by a person's place among `people` that of the donor.
    """
    for place, person in enumerate(people):
        if place not in donors:
            why = "no other participant of the experiment had the same candidates, presentation and number of blocks"
            yield NotAsked("other", 0, tuple(_key(person, mark) for mark in asked_marks(person)), why)
            continue
        donor = people[donors[place]]
        if is_shown_alike(person, donor, task):
            continue
        for block in _asked_blocks(person):
            before = donor.shown.text[donor.starts[0] : donor.starts[block - 1]]
            theirs = pieces_of(before, _up_to(donor, block - 1), task, donor.starts[0])
            pieces = _answered([person.instructions, *theirs], {}, set())
            own = _block(person, block, task)
            marks = [mark for mark in person.marks_of(block) if mark.is_asked]
            asked = tuple((_key(person, mark),) for mark in marks)
            yield Passage("other", 0, f"{_named(person)}/{block}", (*pieces, *own), asked)


def find_donors(people: Sequence[Person], task: Task) -> dict[int, int]:
    """For each person's place among `people` that of the next one whose blocks may stand before theirs."""
    found = {}
    for place, person in enumerate(people):
        for step in range(1, len(people)):
            other = people[(place + step) % len(people)]
            if other.experiment == person.experiment and _may_stand_for(other, person):
                found[place] = (place + step) % len(people)
                break
    return found


def _may_stand_for(donor: Person, person: Person) -> bool:
    """Whether two people had the same presentation, keys and number of blocks."""
    return (
        donor.shown.presentation == person.shown.presentation
        and len(donor.starts) == len(person.starts)
        and {(mark.kind, mark.candidates) for mark in donor.marks if mark.is_asked}
        == {(mark.kind, mark.candidates) for mark in person.marks if mark.is_asked}
    )


def is_shown_alike(one: Person, other: Person, task: Task) -> bool:
    """Whether two people were shown the same text but for the answers, and may be asked at the same marks."""
    return shown_without_answers(one, task) == shown_without_answers(other, task)


def shown_without_answers(person: Person, task: Task) -> list[Piece]:
    """What a person was shown, and the marks in it, without what they answered."""
    return [
        replace(piece, answer="", mark=_bare(piece.mark)) if isinstance(piece, Slot) else piece
        for piece in pieces_of(person.shown.text, person.marks, task)
    ]


def _bare(mark: TaskMark) -> TaskMark:
    """What of a mark is the task's: without what was answered there, its place and number."""
    status = MarkStatus.READ if mark.is_asked else mark.status
    return replace(mark, number=0, block=0, start=0, end=0, answer=None, status=status, reason=None)


def answer_passages(people: Sequence[Person], task: Task) -> Iterator[Passage]:
    """The answers alone, each behind the same cue: no task."""
    for person in people:
        if asked := asked_marks(person):
            pieces: list[Piece] = []
            for mark in person.marks:
                if mark.is_answer:
                    pieces += [CUE, Slot(mark, mark.answer or "", mark.is_asked), "\n"]
            yield Passage("answers", 0, _named(person), tuple(pieces), tuple((_key(person, mark),) for mark in asked))


def blank_passages(people: Sequence[Person], task: Task) -> Iterator[Passage]:
    """The instructions and a block without content, for each set of candidates."""
    found: dict[tuple[Piece, ...], Passage] = {}
    for person in people:
        for mark in asked_marks(person):
            if len(mark.candidates) > 1:
                slot = Slot(mark, mark.candidates[0], is_asked=True)
                pieces = (person.instructions, f"{NO_BLOCK} ", slot, "\n")
                _gather(found, "blank", f"{_named(person)}/{mark.number}", pieces, person, [mark])
    yield from found.values()


def _last_unanswered(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """A passage up to its last asked mark, without what was answered there."""
    last = max(place for place, piece in enumerate(pieces) if isinstance(piece, Slot) and piece.is_asked)
    return (*pieces[:last], _filled(pieces[last]), "\n")


def _filled(piece: Piece) -> Piece:
    """A mark with its first candidate in place of what was answered: nobody is shown it."""
    return replace(piece, answer=piece.mark.candidates[0]) if isinstance(piece, Slot) and piece.is_asked else piece


def asked_marks(person: Person) -> list[TaskMark]:
    """The marks of a person that a model can be asked at."""
    return [mark for mark in person.marks if mark.is_asked]


def _all_asked(people: Sequence[Person]) -> tuple[Asked, ...]:
    return tuple(_key(person, mark) for person in people for mark in asked_marks(person))


def _asked_blocks(person: Person) -> list[int]:
    return list(dict.fromkeys(mark.block for mark in asked_marks(person)))


def _block(person: Person, block: int, task: Task) -> tuple[Piece, ...]:
    start, end = person.bounds(block)
    return tuple(pieces_of(person.shown.text[start:end], person.marks_of(block), task, start))


def _up_to(person: Person, block: int) -> list[TaskMark]:
    return [mark for mark in person.marks if mark.block <= block]


def _answered(pieces: Sequence[Piece], answers: Mapping[int, str], asked: set[int]) -> tuple[Piece, ...]:
    """Pieces with other answers at some marks, of which only some are asked."""
    return tuple(
        replace(piece, answer=answers.get(piece.mark.number, piece.answer), is_asked=piece.mark.number in asked)
        if isinstance(piece, Slot)
        else piece
        for piece in pieces
    )


def _gather(
    found: dict[tuple[Piece, ...], Passage],
    history: History,
    name: str,
    pieces: tuple[Piece, ...],
    person: Person,
    marks: Sequence[TaskMark],
    draw: int = 0,
) -> None:
    """Add a person's marks to the passage of these pieces, which several people may share."""
    shown = tuple(replace(piece, mark=_bare(piece.mark)) if isinstance(piece, Slot) else piece for piece in pieces)
    asked = [_key(person, mark) for mark in marks if mark.is_asked]
    known = found.get(shown)
    if known is None:
        found[shown] = Passage(history, draw, name, pieces, tuple((each,) for each in asked))
        return
    joined = tuple((*group, each) for group, each in zip(known.asked, asked, strict=True))
    found[shown] = replace(known, asked=joined)


def _named(person: Person) -> str:
    return f"{person.experiment}/{person.participant}"


def _key(person: Person, mark: TaskMark) -> Asked:
    return Asked(person.experiment, person.participant, mark.number)
