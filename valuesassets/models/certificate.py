"""The batch-invariance certificate: how far readings move when the same trials are read in other batches."""

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from valuesassets.records.readings import Reading

INVARIANCE_TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-2, "bfloat16": 0.15}
"""Largest difference of a label's log-probability between batches, by the rounding of each dtype."""

SAMPLED = 4


@dataclass(frozen=True)
class Certificate:
    """The measured difference between readings of the plan and the same trials read alone and in another batch.

    Attributes:
        trials: how many were read again.
        max_difference: largest difference of a label's log-probability, in nats; infinite where only one is zero.
        tolerance: what the dtype allows.
    """

    trials: int
    max_difference: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Whether the result does not depend on the batch, within tolerance; nothing read again shows nothing."""
        return self.trials > 0 and self.max_difference <= self.tolerance


def choose_sample(lengths: Mapping[str, int]) -> list[str]:
    """A few reading keys, the shortest and the longest prompt's among them, the others drawn; the seed is the keys.

    >>> choose_sample({"a": 9, "b": 3})
    ['b', 'a']
    """
    by_length = sorted(lengths, key=lambda key: (lengths[key], key))
    if len(by_length) <= SAMPLED:
        return by_length
    draw = random.Random("".join(by_length))  # noqa: S311  # a seeded choice, nothing secret
    return [by_length[0], *sorted(draw.sample(by_length[1:-1], SAMPLED - 2)), by_length[-1]]


def largest_difference(pairs: Iterable[tuple[Reading, Reading]]) -> float:
    """The largest difference of a label's log-probability between two readings of a trial, in nats."""
    return max((_difference(one, other) for one, other in pairs), default=0.0)


def _difference(one: Reading, other: Reading) -> float:
    if one.label_probs is None or other.label_probs is None:
        return 0.0 if one.status is other.status else math.inf
    return max(_log_ratio(a, b) for a, b in zip(one.label_probs, other.label_probs, strict=True))


def _log_ratio(one: float, other: float) -> float:
    if one == other:
        return 0.0
    return abs(math.log(one / other)) if one > 0 and other > 0 else math.inf
