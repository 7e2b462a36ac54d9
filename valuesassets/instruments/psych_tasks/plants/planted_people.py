"""Made-up people: their transcripts, and the law at each of their answers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from valuesassets.instruments.psych_tasks.plants.planted_tasks import (
    BALLOONS,
    DEEDS,
    MOST_PUMPS,
    PLANTED,
    STATEMENTS,
    Balloons,
    Counts,
    Earlier,
    Probs,
    Traits,
    Way,
    mixed,
    parts_at,
)
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import QuestionError
from valuesassets.records.settings.psych_tasks import PlantedModel

PEOPLE = PlantedModel(style=0.2, content=0.5)
"""How the people answer whose transcripts are read: each has a way to use the scale, and a trait."""
BURST = 0.12
"""Probability that a pump bursts the balloon."""
SPOILT = ("broken", "empty", "unlisted")
"""What the last mark of the first transcripts is made, so that it is seen whether each is found."""


@dataclass(frozen=True)
class PlantedPerson:
    """A made-up transcript.

    Attributes:
        starts: first character of each answer.
        probs: the law at each answer.
    """

    text: str
    way: Way
    starts: tuple[int, ...]
    answers: tuple[str, ...]
    probs: tuple[Probs, ...]
    candidates: tuple[str, ...]


class _Writer:
    """A transcript as it is written: each answer drawn from one law, and another noted beside it."""

    def __init__(
        self,
        task: Traits | Counts | Balloons,
        answering: PlantedModel,
        noted: PlantedModel,
        random: np.random.Generator,
    ) -> None:
        self.way = task.way(random)
        self.text = task.instructions(self.way)
        self._task, self._answering, self._noted, self._random = task, answering, noted, random
        self._earlier: list[Earlier] = []
        self._starts: list[int] = []
        self._probs: list[Probs] = []

    def answer(self, block: int, opening: str, closing: str, number: int = 0) -> int:
        """Write an answer between delimiters; gives its place among the candidates.

        Args:
            number: of the mark, where it is not the next one.
        """
        number = number or len(self._earlier) + 1
        parts = parts_at(self._task, self.way, number, block, self._earlier)
        answering, probs = (mixed(law, *parts) for law in (self._answering, self._noted))
        drawn = min(int(answering.cumsum().searchsorted(self._random.random())), len(probs) - 1)
        self._starts.append(len(self.text) + len(opening))
        self._probs.append(probs)
        self._earlier.append(Earlier(number, block, drawn))
        self.text += f"{opening}{self._task.texts(self.way)[drawn]}{closing}"
        return drawn

    def person(self) -> PlantedPerson:
        """What has been written."""
        texts = self._task.texts(self.way)
        answers = tuple(texts[mark.answer] for mark in self._earlier)
        return PlantedPerson(self.text, self.way, tuple(self._starts), answers, tuple(self._probs), texts)


def simulate_person(
    task: Traits | Counts | Balloons, answering: PlantedModel, noted: PlantedModel, random: np.random.Generator
) -> PlantedPerson:
    """A person who answers a task by one law; `probs` are those of another behind the same answers."""
    writer = _Writer(task, answering, noted, random)
    for number in range(1, _n_blocks(task) + 1):
        _write_block(writer, task, number, random)
    return writer.person()


def simulate_block(
    task: Traits | Counts | Balloons, answering: PlantedModel, noted: PlantedModel, random: np.random.Generator
) -> PlantedPerson:
    """A person who is shown the instructions and one block."""
    writer = _Writer(task, answering, noted, random)
    _write_block(writer, task, 1 + int(random.integers(_n_blocks(task))), random)
    return writer.person()


def _n_blocks(task: Traits | Counts | Balloons) -> int:
    return BALLOONS if isinstance(task, Balloons) else len(STATEMENTS if isinstance(task, Traits) else DEEDS)


def _write_block(writer: _Writer, task: Traits | Counts | Balloons, number: int, random: np.random.Generator) -> None:
    if isinstance(task, Balloons):
        _pump(writer, number, random)
        return
    writer.text += task.block(number)
    writer.answer(number, "<<", ">>", number)
    writer.text += "\n"


def _pump(writer: _Writer, balloon: int, random: np.random.Generator) -> None:
    """One balloon, to its end."""
    writer.text += f"Balloon {balloon}:\nYou press"
    for pumps in range(MOST_PUMPS):
        writer.text += " "
        if writer.answer(balloon, "{", "}") == 1:
            writer.text += f". You keep {pumps} points.\n"
            return
        if random.random() < BURST:
            writer.text += ". It bursts.\n"
            return
    writer.text += f". It is full: you keep {MOST_PUMPS} points.\n"


def planted_people(
    task: str, number: int, *seed: object, noted: PlantedModel = PEOPLE, are_blocks: bool = False
) -> Iterator[PlantedPerson]:
    """People who answer a task, the same for the same seed.

    Args:
        noted: the law whose probabilities stand beside their answers; every second person answers by it, too.
        are_blocks: whether each is shown one block alone.

    Raises:
        QuestionError: no law is known of the task.
    """
    if task not in PLANTED:
        raise QuestionError(
            f"task {task}: nobody is made up who answers it; name a file of transcripts, or one of {', '.join(PLANTED)}"
        )
    random = seeded("psych_tasks", task, *seed)
    simulate = simulate_block if are_blocks else simulate_person
    for place in range(number):
        yield simulate(PLANTED[task], noted if place % 2 else PEOPLE, noted, random)


def transcript_lines(task: str, number: int, *seed: object) -> list[str]:
    """Lines of JSON as a user's file has them; the last marks of the first three people are spoilt."""
    lines = []
    for place, person in enumerate(planted_people(task, number, *seed), 1):
        text = spoil(person, SPOILT[place - 1]) if place <= len(SPOILT) else person.text
        line: dict[str, object] = {"text": text, "experiment": task, "participant": str(place)}
        line |= {"flipped": person.way.is_reversed} if isinstance(PLANTED[task], Traits) else {}
        lines.append(json.dumps(line, ensure_ascii=False))
    return lines


def spoil(person: PlantedPerson, how: str) -> str:
    """A transcript whose last mark is not closed, empty, or answered by what is no candidate."""
    start, answer = person.starts[-1], person.answers[-1]
    behind = start + len(answer)
    before, after = person.text[:start], person.text[behind:]
    closing = ">>" if after.startswith(">>") else "}"
    said = {"broken": answer, "empty": "", "unlisted": "99"}[how]
    return before + said + (after.removeprefix(closing) if how == "broken" else after)
