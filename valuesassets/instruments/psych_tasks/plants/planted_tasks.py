"""Tasks of made-up people, and the probability of each of their answers, which is known at every mark.

q = (1 - style - content) item + style (share of earlier answers) + content (the same, reversed where two items are
keyed differently). A share is smoothed by one answer spread over all candidates.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.seeding import seeded
from valuesassets.records.settings.psych_tasks import PlantedModel

Probs = NDArray[np.float64]


class Earlier(NamedTuple):
    """A mark that stands before another, and the place of its answer among the candidates."""

    number: int
    block: int
    answer: int


@dataclass(frozen=True)
class Way:
    """What differs between people: whether scales are shown reversed, and the keys that they press."""

    is_reversed: bool = False
    keys: tuple[str, ...] = ()


class PlantedTask(ABC):
    """A task that made-up people answer, with `candidates` at each mark and `n_blocks` blocks."""

    candidates: ClassVar[int]
    n_blocks: ClassVar[int]

    def way(self, random: np.random.Generator) -> Way:
        """How a new person is shown the task; all are shown the same unless a task says otherwise."""
        return Way()

    @abstractmethod
    def instructions(self, way: Way) -> str:
        """The text before the first block."""

    @abstractmethod
    def texts(self, way: Way) -> tuple[str, ...]:
        """The candidates."""

    @abstractmethod
    def own(self, way: Way, number: int, block: int, earlier: Sequence[Earlier]) -> Probs:
        """(candidates,) probabilities of the answers to the question alone."""

    def is_keyed_alike(self, number: int, other: int) -> bool:
        """Whether the same answer means the same at two marks."""
        return True

    @abstractmethod
    def question(self, number: int) -> str:
        """The text of a block up to its first answer."""


def planted_probs(
    task: PlantedTask, response: PlantedModel, way: Way, number: int, block: int, earlier: Sequence[Earlier]
) -> Probs:
    """(candidates,) probabilities of the answers at a mark under a response model.

    Args:
        earlier: the marks before it, whoever answered them, in any order.
    """
    return mix(response, *mixture_parts(task, way, number, block, earlier))


def mixture_parts(
    task: PlantedTask, way: Way, number: int, block: int, earlier: Sequence[Earlier]
) -> tuple[Probs, Probs, Probs]:
    """(candidates,) parts that are mixed at a mark: the item's own answers, shares of earlier ones, the same by key."""
    even = [1 / task.candidates] * task.candidates
    style, content = even.copy(), even.copy()
    for mark in earlier:
        style[mark.answer] += 1
        is_alike = task.is_keyed_alike(number, mark.number)
        content[mark.answer if is_alike else task.candidates - 1 - mark.answer] += 1
    n = 1 + len(earlier)
    return task.own(way, number, block, earlier), np.array(style) / n, np.array(content) / n


def mix(response: PlantedModel, own: Probs, style: Probs, content: Probs) -> Probs:
    """(candidates,) the mixture of these parts under a response model."""
    return (1 - response.style - response.content) * own + response.style * style + response.content * content


STATEMENTS = (
    "Like order",
    "Leave a mess in my room",
    "Like to tidy up",
    "Am not bothered by disorder",
    "Love order and regularity",
    "Leave my belongings around",
    "Do things according to a plan",
    "Am not bothered by messy people",
    'Want everything to be "just right"',
    "Often forget to put things back in their proper place",
)
"""Of the International Personality Item Pool, facet orderliness (public domain, https://ipip.ori.org); every second one
is reverse-keyed."""
AGREEMENT = ("very inaccurate", "rather inaccurate", "neither", "rather accurate", "very accurate")
DEEDS = (
    *("go to the cinema", "eat in a restaurant", "meet friends"),
    *("clean the windows", "repair something", "cook for others"),
)
KEYS = (("P", "S"), ("E", "W"), ("G", "K"))
MOST_PUMPS = 5


class Traits(PlantedTask):
    """Statements of one trait, half of them reverse-keyed."""

    candidates, n_blocks = len(AGREEMENT), len(STATEMENTS)

    def way(self, random: np.random.Generator) -> Way:
        """The scale is shown reversed to half of the people."""
        return Way(is_reversed=bool(random.integers(2)))

    def instructions(self, way: Way) -> str:
        """The labels of the scale."""
        labels = AGREEMENT[::-1] if way.is_reversed else AGREEMENT
        scale = ", ".join(f"{number} = {label}" for number, label in enumerate(labels, 1))
        return f"How accurately does each statement describe you? Answer with one number.\n{scale}\n"

    def texts(self, way: Way) -> tuple[str, ...]:
        """Numbers from 1."""
        return tuple(str(number) for number in range(1, self.candidates + 1))

    def own(self, way: Way, number: int, block: int, earlier: Sequence[Earlier]) -> Probs:
        """The statement's own distribution, reversed with the scale."""
        probs = _statement_probs(number)
        return probs[::-1] if way.is_reversed else probs

    def is_keyed_alike(self, number: int, other: int) -> bool:
        """Every second statement is reverse-keyed."""
        return number % 2 == other % 2

    def question(self, number: int) -> str:
        """A statement."""
        return f"{number}. {STATEMENTS[number - 1]}. "


class Counts(PlantedTask):
    """How often things were done in a month."""

    candidates, n_blocks = 13, len(DEEDS)

    def instructions(self, way: Way) -> str:
        """What is counted."""
        return "How many times did you do this in the past month, 0 to 12? Answer with one number.\n"

    def texts(self, way: Way) -> tuple[str, ...]:
        """Numbers from 0."""
        return tuple(str(number) for number in range(self.candidates))

    def own(self, way: Way, number: int, block: int, earlier: Sequence[Earlier]) -> Probs:
        """Small numbers are likelier, and one number of the deed's own."""
        return _count_probs(number)

    def question(self, number: int) -> str:
        """A deed."""
        return f"{number}. How often did you {DEEDS[number - 1]}? "


class Balloons(PlantedTask):
    """Balloons that are pumped up until the person stops or they burst; each person has keys of their own."""

    candidates, n_blocks = 2, 4

    def way(self, random: np.random.Generator) -> Way:
        """One of three pairs of keys."""
        return Way(keys=KEYS[int(random.integers(len(KEYS)))])

    def instructions(self, way: Way) -> str:
        """Which key does what."""
        pump, stop = way.keys
        return (
            f"Here are {self.n_blocks} balloons. Press {pump} to pump it up, or {stop} to stop and keep the points.\n"
        )

    def texts(self, way: Way) -> tuple[str, ...]:
        """The keys: pump, stop."""
        return way.keys

    def own(self, way: Way, number: int, block: int, earlier: Sequence[Earlier]) -> Probs:
        """People stop more often, the fuller the balloon is."""
        pumps = sum(mark.block == block for mark in earlier)
        pump = 0.95 - 0.17 * min(pumps, MOST_PUMPS)
        return np.array([pump, 1 - pump])

    def question(self, number: int) -> str:
        """A balloon, whose presses follow."""
        return f"Balloon {number}:\nYou press"


PLANTED: dict[str, PlantedTask] = {"ipip_traits": Traits(), "monthly_counts": Counts(), "balloons": Balloons()}
"""By name of the task file."""


@cache
def _count_probs(number: int) -> Probs:
    """Small numbers are likelier than large ones, and one number is frequent."""
    size = Counts.candidates
    fall = np.exp(-np.arange(size) / (1.5 + number % 4))
    probs = 0.7 * fall / fall.sum()
    probs[(number * 5) % size] += 0.3
    return probs


@cache
def _statement_probs(number: int) -> Probs:
    """A distribution that is the same in every study."""
    size = Traits.candidates
    return 0.9 * seeded("psych_tasks", "traits", number).dirichlet(np.full(size, 1.5)) + 0.1 / size
