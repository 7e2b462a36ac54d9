"""Preferences for options separated from position bias, by asking in two orders.

An option that is shown first and then last has two values, x and y. Its lean b = (x + y) / 2 is free of additive
position bias, which is g = (x - y) / 2. Any other differences between orders enter both equally, so that the variance
of g around its mean is the error variance of b.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import jackknife_ends

FEWEST_ITEMS = 6
"""Fewest items for which agreement is measured: with fewer it is often high by chance alone."""
LEAST_LEAN = 1e-4
"""Root mean square of leans that counts as 0: the readings are not more precise than that."""


@dataclass(frozen=True)
class OrderAgreement:
    """Agreement of answers in one order of the options with answers in the other.

    Attributes:
        n, n_items: numbers of answers that were read in both orders, and of their items (questions, dilemmas).
        changed: share of answers whose preferred option changes with the order.
        pull: mean of g; positive where the first option is favoured.
        pull_share: mean square of g over that of g and b, in [0, 1]: 1 is position bias alone, about 1/2 is noise.
        agreement: 1 - var(g) / mean(b^2), the reliability of b over both orders; about 0 for noise, negative where g
            varies more than b. NaN with fewer than `FEWEST_ITEMS` items.
        low, high: ends of its interval over items, in [0, 1].
    """

    n: int
    n_items: int
    changed: float
    pull: float
    pull_share: float
    agreement: float
    low: float
    high: float

    def is_evidence(self, threshold: float) -> bool | None:
        """Whether leans replicate in the other order, beyond chance; None where this was not measured."""
        return bool(self.agreement >= threshold and self.low > 0) if np.isfinite(self.agreement) else None


def order_agreement(
    first: Array, last: Array, items: Sequence[str], level: float = 0.95, centre: float | None = 0.0
) -> OrderAgreement:
    """Agreement between the values of options shown first and the values of the same options shown last.

    Args:
        first, last: (n,) values above the centre where the option is preferred, such as log odds above 0.
        items: (n,) item of each answer; answers to the same item are not independent.
        centre: value at which neither option is preferred; None for the mean of all values.

    Source: the error of an order is estimated from the difference of two: generalizability over a facet of two random
    levels, Brennan (2001), Generalizability Theory, chapter 3; the jackknife over items as in `jackknife_ends`.

    >>> leans = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
    >>> result = order_agreement(leans + 3, leans - 3, list("abcdef"))
    >>> result.changed, result.pull, round(result.pull_share, 2), result.agreement
    (1.0, 3.0, 0.84, 1.0)
    """
    is_known = np.isfinite(first) & np.isfinite(last)
    names, places = np.unique(np.asarray(items, dtype=object)[is_known].astype(str), return_inverse=True)
    x, y = (np.asarray(each, dtype=float)[is_known] for each in (first, last))
    middle = (float(np.mean((x + y) / 2)) if x.size else 0.0) if centre is None else centre
    leans, pulls = (x + y) / 2 - middle, (x - y) / 2
    counts = x.size, len(names)
    if not x.size:
        return OrderAgreement(*counts, *[np.nan] * 6)
    squares = float(np.mean(pulls**2)), float(np.mean(leans**2))
    share = squares[0] / sum(squares) if sum(squares) > 0 else np.nan
    changed = float(np.mean((x > middle) != (y > middle)))
    agreement = _agreement(leans, pulls) if len(names) >= FEWEST_ITEMS else np.nan
    ends = np.nan, np.nan
    if np.isfinite(agreement):
        left_out = [_agreement(leans[places != item], pulls[places != item]) for item in range(len(names))]
        ends = jackknife_ends(agreement, np.array(left_out), level)
    return OrderAgreement(*counts, changed, float(pulls.mean()), share, agreement, *ends)


def _agreement(leans: Array, pulls: Array) -> float:
    """1 - var(g) / mean(b^2); 0 where leans are smaller than the precision of the readings."""
    mean_square = float(np.mean(leans**2))
    return 1 - float(np.var(pulls, ddof=1)) / mean_square if mean_square > LEAST_LEAN**2 else 0.0
