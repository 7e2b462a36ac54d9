"""Whether readings depend on what was read beside them: how far the same trials move, in nats and in shares."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from valuesassets.records.trials import Reading

INVARIANCE_TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-2, "bfloat16": 0.15}
"""Largest difference of a label's log-probability between batches, by the rounding of each dtype."""
VISIBLE_SHARE = 0.01
"""Change of an answer's share above which results show it: they give whole percentages."""

Pairs = Sequence[tuple[Reading, Reading]]


@dataclass(frozen=True)
class Certificate:
    """How far readings move when the same trials are read alone and in another batch.

    Attributes:
        trials: how many were read again.
        max_difference: largest difference of a label's log-probability, in nats; infinite where only one is zero.
        tolerance: the difference that rounding explains, in nats.
        share_moved: largest difference of an answer's share of P_valid, from 0 to 1; None in files of older versions.
    """

    trials: int
    max_difference: float
    tolerance: float
    share_moved: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether rounding explains how far readings move with the batch; nothing read again shows nothing."""
        return self.trials > 0 and self.max_difference <= self.tolerance

    @property
    def is_visible(self) -> bool:
        """Whether answers move so far that results would show it."""
        return self.share_moved is not None and self.share_moved > VISIBLE_SHARE

    def describe(self) -> dict[str, object]:
        """The certificate as it goes into a file's metadata."""
        return {**asdict(self), "agrees": self.agrees, "is_visible": self.is_visible}

    @property
    def doubt(self) -> str | None:
        """How far answers move where that is more than rounding, or visible; None else, and where nothing was read."""
        if not self.trials or (self.agrees and not self.is_visible):
            return None
        nats = f"{self.max_difference:.2g} nats"
        explained = "which is rounding" if self.agrees else f"where rounding explains {self.tolerance:.2g}"
        moved = "by" if self.share_moved is None else f"by {_points(self.share_moved)} percentage points, or"
        return f"warning: shares of answers change with the batch {moved} {nats}, {explained}"


def _points(share: float) -> str:
    """A share that moved as percentage points, in words.

    >>> _points(0.0314), _points(0.314), _points(3e-6)
    ('up to 3.1', 'up to 31', 'less than 0.001')
    """
    points = 100 * share
    return "less than 0.001" if points < 0.001 else f"up to {points:{'.2g' if points < 10 else '.0f'}}"


def certify(pairs: Pairs, trials: int, tolerance: float) -> Certificate:
    """What two readings of each of some trials show.

    Args:
        trials: how many were read again; some may have been read more than twice.
        tolerance: the difference that rounding explains, in nats.
    """
    return Certificate(trials, largest_difference(pairs), tolerance, largest_share_moved(pairs))


def largest_difference(pairs: Pairs) -> float:
    """The largest difference of a label's log-probability between two readings of a trial, in nats."""
    return max((_difference(one, other) for one, other in pairs), default=0.0)


def _difference(one: Reading, other: Reading) -> float:
    if one.label_probs is None or other.label_probs is None:
        return 0.0 if one.status is other.status else math.inf
    pairs = [(a, b) for a, b in zip(one.label_probs, other.label_probs, strict=True) if a != b]
    return max((abs(math.log(a / b)) if a > 0 and b > 0 else math.inf for a, b in pairs), default=0.0)


def largest_share_moved(pairs: Pairs) -> float:
    """The largest difference of an answer's share, its probability over that of all labels, from 0 to 1."""
    return max((_share_moved(one, other) for one, other in pairs), default=0.0)


def _share_moved(one: Reading, other: Reading) -> float:
    if one.label_probs is None or other.label_probs is None:
        return 0.0 if one.status is other.status else 1.0
    totals = math.fsum(one.label_probs), math.fsum(other.label_probs)
    if not all(totals):
        return 0.0 if totals[0] == totals[1] else 1.0
    pairs = zip(one.label_probs, other.label_probs, strict=True)
    return max(abs(a / totals[0] - b / totals[1]) for a, b in pairs)
