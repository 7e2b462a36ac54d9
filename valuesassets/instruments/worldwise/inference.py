"""How intervals and p-values of worldwise are made."""

from dataclasses import dataclass

import numpy as np

from valuesassets.measure.seeding import seeded

OK, REFUSED, UNDEFINED = "ok", "refused", "undefined"
"""Of a measure: it stands; what it rests on does not carry it; what it needs is not there."""


@dataclass(frozen=True)
class Inference:
    """How intervals and p-values are made.

    Attributes:
        resamples: of scenarios for intervals, and permutations or random signs of tests.
        alpha: level of the tests.
        level: coverage of the intervals.
    """

    resamples: int = 2000
    alpha: float = 0.05
    level: float = 0.95
    seed: int = 0

    def random(self, *purpose: object) -> np.random.Generator:
        """A generator for one purpose."""
        return seeded(self.seed, "worldwise", *purpose)
