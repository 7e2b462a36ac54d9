"""Made-up people: their transcripts, with the probability of each candidate at every answer."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from valuesassets.instruments.psych_tasks.plants.planted_tasks import (
    MOST_PUMPS,
    PLANTED,
    Balloons,
    Earlier,
    PlantedTask,
    Probs,
    Traits,
    Way,
    mix,
    mixture_parts,
)
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import QuestionError
from valuesassets.records.settings.psych_tasks import PlantedModel

PEOPLE = PlantedModel(style=0.2, content=0.5)
"""The response model of the people whose transcripts are read: each has a way to use the scale, and a trait."""
BURST = 0.12
"""Probability that a pump bursts the balloon."""
FAULTS = ("broken", "empty", "unlisted")
"""Faults that the last marks of the first transcripts get, so that a study shows whether each is detected."""


@dataclass(frozen=True)
class PlantedPerson:
    """A made-up transcript.

    Attributes:
        starts: first character of each answer.
        probs: (candidates,) probabilities at each answer.
    """

    text: str
    way: Way
    starts: tuple[int, ...]
    answers: tuple[str, ...]
    probs: tuple[Probs, ...]
    candidates: tuple[str, ...]


class _Writer:
    """Writes a transcript: answers are drawn from one response model, the probabilities of another are noted.

    Args:
        answering: the response model that answers.
        noted: the response model whose probabilities are noted behind the same answers.
    """

    def __init__(
        self, task: PlantedTask, answering: PlantedModel, noted: PlantedModel, random: np.random.Generator
    ) -> None:
        self.way = task.way(random)
        self.text = task.instructions(self.way)
        self._task, self._answering, self._noted, self._random = task, answering, noted, random
        self._earlier: list[Earlier] = []
        self._starts: list[int] = []
        self._probs: list[Probs] = []

    def write_block(self, number: int) -> None:
        """Write a block with its answers."""
        self.text += self._task.question(number)
        if isinstance(self._task, Balloons):
            self._write_presses(number)
            return
        self._answer(number, "<<", ">>", number)
        self.text += "\n"

    def person(self) -> PlantedPerson:
        """The person whose transcript was written so far."""
        texts = self._task.texts(self.way)
        answers = tuple(texts[mark.answer] for mark in self._earlier)
        return PlantedPerson(self.text, self.way, tuple(self._starts), answers, tuple(self._probs), texts)

    def _answer(self, block: int, opening: str, closing: str, number: int) -> int:
        """Write the answer to a mark between delimiters; return its place among the candidates."""
        parts = mixture_parts(self._task, self.way, number, block, self._earlier)
        answering, probs = (mix(response, *parts) for response in (self._answering, self._noted))
        place = min(int(answering.cumsum().searchsorted(self._random.random())), len(probs) - 1)
        self._starts.append(len(self.text) + len(opening))
        self._probs.append(probs)
        self._earlier.append(Earlier(number, block, place))
        self.text += f"{opening}{self._task.texts(self.way)[place]}{closing}"
        return place

    def _write_presses(self, balloon: int) -> None:
        for pumps in range(MOST_PUMPS):
            self.text += " "
            if self._answer(balloon, "{", "}", len(self._earlier) + 1) == 1:
                self.text += f". You keep {pumps} points.\n"
                return
            if self._random.random() < BURST:
                self.text += ". It bursts.\n"
                return
        self.text += f". It is full: you keep {MOST_PUMPS} points.\n"


def planted_people(
    task: str, number: int, *seed: object, noted: PlantedModel = PEOPLE, are_blocks: bool = False
) -> Iterator[PlantedPerson]:
    """People who answer a task, the same for the same seed.

    Args:
        noted: the response model whose `probs` are noted; every second person answers by it, too.
        are_blocks: whether each person is shown one block alone.

    Raises:
        QuestionError: the task is none of `PLANTED`.
    """
    if task not in PLANTED:
        raise QuestionError(
            f"task {task}: nobody is made up who answers it; name a file of transcripts, or one of {', '.join(PLANTED)}"
        )
    random, planted = seeded("psych_tasks", task, *seed), PLANTED[task]
    for place in range(number):
        writer = _Writer(planted, noted if place % 2 else PEOPLE, noted, random)
        blocks = range(1, planted.n_blocks + 1)
        for block in [1 + int(random.integers(planted.n_blocks))] if are_blocks else blocks:
            writer.write_block(block)
        yield writer.person()


def transcript_lines(task: str, number: int, *seed: object) -> list[str]:
    """A file of transcripts, line by line (JSON); the last marks of the first three people have a fault each."""
    lines = []
    for place, person in enumerate(planted_people(task, number, *seed), 1):
        text = spoil(person, FAULTS[place - 1]) if place <= len(FAULTS) else person.text
        line: dict[str, object] = {"text": text, "experiment": task, "participant": str(place)}
        line |= {"flipped": person.way.is_reversed} if isinstance(PLANTED[task], Traits) else {}
        lines.append(json.dumps(line, ensure_ascii=False))
    return lines


def spoil(person: PlantedPerson, fault: str) -> str:
    """A transcript whose last mark is not closed (`broken`), `empty`, or answered by no candidate (`unlisted`)."""
    start, answer = person.starts[-1], person.answers[-1]
    before, after = person.text[:start], person.text[start + len(answer) :]
    if fault == "broken":
        return before + answer + after.removeprefix(">>" if after.startswith(">>") else "}")
    return before + ("99" if fault == "unlisted" else "") + after
