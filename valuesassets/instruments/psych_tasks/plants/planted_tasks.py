"""Tasks of made-up people, and the law by which they answer: known at every mark, whatever stands before it.

q = (1 - style - content) item + style (share of earlier answers) + content (the same, turned round where two items are
keyed differently). A share is smoothed by one answer spread over all candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

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
    """What differs between people: whether scales are shown the other way round, and the keys that they press."""

    is_reversed: bool = False
    keys: tuple[str, ...] = ()


class PlantedTask(Protocol):
    """A task with a law."""

    @property
    def candidates(self) -> int:
        """How many there are at each mark."""
        ...

    def way(self, random: np.random.Generator) -> Way:
        """How a new person is shown the task."""
        ...

    def instructions(self, way: Way) -> str:
        """What stands before the first block."""
        ...

    def texts(self, way: Way) -> tuple[str, ...]:
        """The candidates."""
        ...

    def own(self, way: Way, number: int, block: int, earlier: Sequence[Earlier]) -> Probs:
        """(candidates,) how often each is answered for what is asked alone."""
        ...

    def is_keyed_alike(self, number: int, other: int) -> bool:
        """Whether two marks mean the same by the same answer."""
        ...


def law_at(
    task: PlantedTask, law: PlantedModel, way: Way, number: int, block: int, earlier: Sequence[Earlier]
) -> Probs:
    """(candidates,) how probable each answer is at a mark, behind what stands before it.

    Args:
        earlier: the marks that stand before it, whoever answered them, in any order.
    """
    return mixed(law, *parts_at(task, way, number, block, earlier))


def parts_at(
    task: PlantedTask, way: Way, number: int, block: int, earlier: Sequence[Earlier]
) -> tuple[Probs, Probs, Probs]:
    """(candidates,) what is mixed at a mark: the item's own answers, the share of earlier ones, the same by keying."""
    even = [1 / task.candidates] * task.candidates
    style, content = even.copy(), even.copy()
    for mark in earlier:
        style[mark.answer] += 1
        is_alike = task.is_keyed_alike(number, mark.number)
        content[mark.answer if is_alike else task.candidates - 1 - mark.answer] += 1
    n = 1 + len(earlier)
    return task.own(way, number, block, earlier), np.array(style) / n, np.array(content) / n


def mixed(law: PlantedModel, own: Probs, style: Probs, content: Probs) -> Probs:
    """(candidates,) the law, of its parts."""
    return (1 - law.style - law.content) * own + law.style * style + law.content * content


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
is keyed the other way."""
AGREEMENT = ("very inaccurate", "rather inaccurate", "neither", "rather accurate", "very accurate")
DEEDS = (
    *("go to the cinema", "eat in a restaurant", "meet friends"),
    *("clean the windows", "repair something", "cook for others"),
)
KEYS = (("P", "S"), ("E", "W"), ("G", "K"))
BALLOONS, MOST_PUMPS = 4, 5


@dataclass(frozen=True)
class Traits:
    """Statements of one trait, half of them keyed the other way."""

    candidates: int = len(AGREEMENT)

    def way(self, random: np.random.Generator) -> Way:
        """Half of the people are shown the scale the other way round."""
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
        """A distribution of the statement's own, turned round with the scale."""
        own = _drawn("traits", number, self.candidates, alpha=1.5)
        return own[::-1] if way.is_reversed else own

    def is_keyed_alike(self, number: int, other: int) -> bool:
        """Every second statement is keyed the other way."""
        return number % 2 == other % 2

    def block(self, number: int) -> str:
        """What is asked, up to the answer."""
        return f"{number}. {STATEMENTS[number - 1]}. "


@dataclass(frozen=True)
class Counts:
    """How often things were done in a month."""

    candidates: int = 13

    def way(self, random: np.random.Generator) -> Way:
        """All are shown the same."""
        return Way()

    def instructions(self, way: Way) -> str:
        """What is counted."""
        return "How many times did you do this in the past month, 0 to 12? Answer with one number.\n"

    def texts(self, way: Way) -> tuple[str, ...]:
        """Numbers from 0."""
        return tuple(str(number) for number in range(self.candidates))

    def own(self, way: Way, number: int, block: int, earlier: Sequence[Earlier]) -> Probs:
        """Small numbers more often, and one number of the deed's own."""
        return _counted(number, self.candidates)

    def is_keyed_alike(self, number: int, other: int) -> bool:
        """A number means the same everywhere."""
        return True

    def block(self, number: int) -> str:
        """What is asked, up to the answer."""
        return f"{number}. How often did you {DEEDS[number - 1]}? "


@dataclass(frozen=True)
class Balloons:
    """Balloons that are pumped up until one stops or they burst; the keys are each person's own."""

    candidates: int = 2

    def way(self, random: np.random.Generator) -> Way:
        """One of three pairs of keys."""
        return Way(keys=KEYS[int(random.integers(len(KEYS)))])

    def instructions(self, way: Way) -> str:
        """Which key does what."""
        pump, stop = way.keys
        return f"Here are {BALLOONS} balloons. Press {pump} to pump it up, or {stop} to stop and keep the points.\n"

    def texts(self, way: Way) -> tuple[str, ...]:
        """The keys: pump, stop."""
        return way.keys

    def own(self, way: Way, number: int, block: int, earlier: Sequence[Earlier]) -> Probs:
        """The fuller the balloon the more often people stop."""
        pumps = sum(mark.block == block for mark in earlier)
        pump = 0.95 - 0.17 * min(pumps, MOST_PUMPS)
        return np.array([pump, 1 - pump])

    def is_keyed_alike(self, number: int, other: int) -> bool:
        """A key means the same everywhere."""
        return True


PLANTED: dict[str, Traits | Counts | Balloons] = {
    "ipip_traits": Traits(),
    "monthly_counts": Counts(),
    "balloons": Balloons(),
}
"""By name of the task file."""


@cache
def _counted(number: int, size: int) -> Probs:
    """Small numbers more often than large ones, and one number often."""
    fall = np.exp(-np.arange(size) / (1.5 + number % 4))
    own = 0.7 * fall / fall.sum()
    own[(number * 5) % size] += 0.3
    return own


@cache
def _drawn(what: str, number: int, size: int, alpha: float) -> Probs:
    """A distribution that is the same in every study."""
    return 0.9 * seeded("psych_tasks", what, number).dirichlet(np.full(size, alpha)) + 0.1 / size
