"""The histories before a mark: no answers, the person's, another person's, exchanged ones, or the model's own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, get_args

from valuesassets.instruments.psych_tasks.material.layouts import Piece, Slot, pieces_of
from valuesassets.instruments.psych_tasks.material.marks import Person, TaskMark
from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.records.settings.psych_tasks import History

HISTORIES: tuple[History, ...] = get_args(History)
NO_BLOCK = "N/A"
"""Takes a block's place where nothing is asked."""
CUE = "Answer: "
"""Stands before each answer where only answers are shown."""


class AskedMark(NamedTuple):
    """A mark of a person that a model is asked at."""

    experiment: str
    participant: str
    mark: int


@dataclass(frozen=True)
class Passage:
    """A text to show to a model, and whose marks are asked in it.

    Attributes:
        marks: for each asked mark of `pieces`, in order, the people's marks that it stands for; several where people
            were shown the same.
    """

    history: History
    draw: int
    name: str
    pieces: tuple[Piece, ...]
    marks: tuple[tuple[AskedMark, ...], ...]


@dataclass(frozen=True)
class NotAsked:
    """Marks that have no such history, and why."""

    history: History
    draw: int
    marks: tuple[AskedMark, ...]
    reason: str


def human_passages(people: Sequence[Person], task: Task) -> Iterator[Passage]:
    """Each transcript as it is."""
    for person in filter(asked_marks, people):
        pieces = pieces_of(person.transcript.text, person.marks, task)
        yield Passage("human", 0, _name(person), tuple(pieces), _single_keys(person, person.marks))


def alone_passages(people: Sequence[Person], task: Task) -> Iterator[Passage]:
    """The instructions and one block; one passage for all people who were shown the same and answered alike in it."""
    passages: dict[tuple[Piece, ...], Passage] = {}
    for person in people:
        for block in _asked_blocks(person):
            pieces = _last_unanswered((person.instructions, *_block(person, block, task)))
            _gather(passages, "alone", f"{_name(person)}/{block}", pieces, person, person.marks_of(block))
    yield from passages.values()


def own_passages(people: Sequence[Person], task: Task, draws: int) -> Iterator[Passage | NotAsked]:
    """Transcripts into which the model writes its own answers; one for all people who were shown the same."""
    for draw in range(draws):
        if task.feedback:
            yield _refusal(people, task, "own", draw, "no other answer can stand there")
            continue
        passages: dict[tuple[Piece, ...], Passage] = {}
        for person in filter(asked_marks, people):
            pieces = tuple(map(_with_first_candidate, pieces_of(person.transcript.text, person.marks, task)))
            _gather(passages, "own", _name(person), pieces, person, person.marks, draw)
        yield from passages.values()


def permuted_passages(people: Sequence[Person], task: Task) -> Iterator[Passage | NotAsked]:
    """Each transcript with answers of neighbours exchanged before a mark, so that they stand at the wrong items.

    Before a mark, marks of earlier blocks that offer the same candidates are paired from its own block backwards: no
    answer of its own or a later block stands there. With one mark a block two passages do: one for each parity.
    """
    if task.feedback:
        yield _refusal(people, task, "permuted", 0, "answers cannot change places")
        return
    for person in people:
        by_passage: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for block in _asked_blocks(person):
            parities = tuple(len(marks) % 2 for marks in _alike_before(person, block))
            shared_block = block if len(person.marks_of(block)) > 1 else 0
            by_passage.setdefault((shared_block, parities), []).append(block)
        for blocks in by_passage.values():
            last = blocks[-1]
            marks = [mark for block in blocks for mark in person.marks_of(block) if mark.is_asked]
            text = person.transcript.text[: person.bounds(last)[1]]
            pieces = _with_answers(
                pieces_of(text, _up_to(person, last), task), _swapped(person, last), {mark.number for mark in marks}
            )
            yield Passage("permuted", 0, f"{_name(person)}/{blocks[0]}", pieces, _single_keys(person, marks))


def _alike_before(person: Person, block: int) -> list[list[TaskMark]]:
    """The marks of blocks before one, a list for each set of candidates of the transcript: these may change places."""
    groups: dict[tuple[str, ...], list[TaskMark]] = {}
    for mark in person.marks:
        if mark.is_answer and len(mark.candidates) > 1:
            group = groups.setdefault(mark.candidates, [])
            group += [mark] if mark.block < block else []
    return list(groups.values())


def _swapped(person: Person, block: int) -> dict[int, str]:
    """The exchanged answers before a block, by number of the mark; neighbours are paired from there backwards."""
    swapped: dict[int, str] = {}
    for marks in _alike_before(person, block):
        for second, first in zip(marks[::-1][::2], marks[::-1][1::2], strict=False):
            swapped[first.number], swapped[second.number] = second.answer or "", first.answer or ""
    return swapped


def other_passages(people: Sequence[Person], task: Task, donors: Mapping[int, int]) -> Iterator[Passage | NotAsked]:
    """Each person's blocks behind another's, who had the same keys and presentation.

    Where both were shown the same text nothing is asked: the donor's own reading at the mark has this history too.

    Args:
        donors: the donor's place among `people`, by the person's.
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
            before = donor.transcript.text[donor.starts[0] : donor.starts[block - 1]]
            donated = pieces_of(before, _up_to(donor, block - 1), task, donor.starts[0])
            pieces = (*_with_answers([person.instructions, *donated], {}, set()), *_block(person, block, task))
            yield Passage("other", 0, f"{_name(person)}/{block}", pieces, _single_keys(person, person.marks_of(block)))


def find_donors(people: Sequence[Person]) -> dict[int, int]:
    """The next person with the same presentation, keys and number of blocks, by the person's place; both are places."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for place, person in enumerate(people):
        candidates = frozenset((mark.kind, mark.candidates) for mark in asked_marks(person))
        key = (person.experiment, person.transcript.presentation, len(person.starts), candidates)
        alike.setdefault(key, []).append(place)
    groups = [group for group in alike.values() if len(group) > 1]
    return dict(sorted(pair for group in groups for pair in zip(group, [*group[1:], group[0]], strict=True)))


def is_shown_alike(one: Person, other: Person, task: Task) -> bool:
    """Whether two people were shown the same text but for the answers, and may be asked at the same marks."""
    return shown_without_answers(one, task) == shown_without_answers(other, task)


def shown_without_answers(person: Person, task: Task) -> list[Piece]:
    """What a person was shown, with the marks but without the answers."""
    return [
        replace(piece, answer="") if isinstance(piece, Slot) else piece
        for piece in map(_anonymous, pieces_of(person.transcript.text, person.marks, task))
    ]


def _anonymous(piece: Piece) -> Piece:
    """A piece without what its mark has of the person: answer, place and number."""
    if not isinstance(piece, Slot):
        return piece
    status = MarkStatus.READ if piece.mark.is_asked else piece.mark.status
    mark = replace(piece.mark, number=0, block=0, start=0, end=0, answer=None, status=status, reason=None)
    return replace(piece, mark=mark)


def answer_passages(people: Sequence[Person], task: Task) -> Iterator[Passage]:
    """The answers alone, each behind the same cue: no task."""
    for person in filter(asked_marks, people):
        pieces: list[Piece] = []
        for mark in person.marks:
            if mark.is_answer:
                pieces += [CUE, Slot(mark, mark.answer or "", mark.is_asked), "\n"]
        yield Passage("answers", 0, _name(person), tuple(pieces), _single_keys(person, person.marks))


def blank_passages(people: Sequence[Person], task: Task) -> Iterator[Passage]:
    """The instructions and a block without content, for each set of candidates."""
    passages: dict[tuple[Piece, ...], Passage] = {}
    for person in people:
        for mark in asked_marks(person):
            if len(mark.candidates) > 1:
                slot = Slot(mark, mark.candidates[0], is_asked=True)
                pieces = (person.instructions, f"{NO_BLOCK} ", slot, "\n")
                _gather(passages, "blank", f"{_name(person)}/{mark.number}", pieces, person, [mark])
    yield from passages.values()


def _last_unanswered(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """A passage up to its last asked mark, without the answer there."""
    last = max(place for place, piece in enumerate(pieces) if isinstance(piece, Slot) and piece.is_asked)
    return (*pieces[:last], _with_first_candidate(pieces[last]), "\n")


def _with_first_candidate(piece: Piece) -> Piece:
    """An asked mark with its first candidate as the answer, which no model is shown; other pieces as they are."""
    return replace(piece, answer=piece.mark.candidates[0]) if isinstance(piece, Slot) and piece.is_asked else piece


def asked_marks(person: Person) -> list[TaskMark]:
    """The marks of a person that a model can be asked at."""
    return [mark for mark in person.marks if mark.is_asked]


def _refusal(people: Sequence[Person], task: Task, history: History, draw: int, why: str) -> NotAsked:
    """All marks of a task with feedback, where a history needs other answers than a person's at their places."""
    marks = tuple(_key(person, mark) for person in people for mark in asked_marks(person))
    reason = f"later text of task {task.name} shows what answers led to, so that {why}"
    return NotAsked(history, draw, marks, reason)


def _asked_blocks(person: Person) -> list[int]:
    return list(dict.fromkeys(mark.block for mark in asked_marks(person)))


def _block(person: Person, block: int, task: Task) -> tuple[Piece, ...]:
    start, end = person.bounds(block)
    return tuple(pieces_of(person.transcript.text[start:end], person.marks_of(block), task, start))


def _up_to(person: Person, block: int) -> list[TaskMark]:
    return [mark for mark in person.marks if mark.block <= block]


def _with_answers(pieces: Sequence[Piece], answers: Mapping[int, str], asked_numbers: set[int]) -> tuple[Piece, ...]:
    """Pieces with other answers at some marks, of which only those with an asked number are asked."""
    return tuple(
        replace(piece, answer=answers.get(piece.mark.number, piece.answer), is_asked=piece.mark.number in asked_numbers)
        if isinstance(piece, Slot)
        else piece
        for piece in pieces
    )


def _gather(
    passages: dict[tuple[Piece, ...], Passage],
    history: History,
    name: str,
    pieces: tuple[Piece, ...],
    person: Person,
    marks: Sequence[TaskMark],
    draw: int = 0,
) -> None:
    """Add a person's marks to the passage of these pieces, which several people may share."""
    anonymous, keys = tuple(map(_anonymous, pieces)), _single_keys(person, marks)
    if passage := passages.get(anonymous):
        keys = tuple((*earlier, *key) for earlier, key in zip(passage.marks, keys, strict=True))
        passages[anonymous] = replace(passage, marks=keys)
    else:
        passages[anonymous] = Passage(history, draw, name, pieces, keys)


def _name(person: Person) -> str:
    return f"{person.experiment}/{person.participant}"


def _key(person: Person, mark: TaskMark) -> AskedMark:
    return AskedMark(person.experiment, person.participant, mark.number)


def _single_keys(person: Person, marks: Sequence[TaskMark]) -> tuple[tuple[AskedMark], ...]:
    """The asked ones of a person's marks, each in a group of its own."""
    return tuple((_key(person, mark),) for mark in marks if mark.is_asked)
