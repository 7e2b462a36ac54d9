"""What of answers belongs to the options, and what to the places at which they were shown.

An option that is shown first and then last has two values, x and y: a lean b = (x + y) / 2, which a pull of the places
leaves as it is where the two add, and that pull g = (x - y) / 2. What differs from order to order besides enters both
alike, so that the variance of g around its mean is that of the error of b.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import jackknife_ends

FEWEST_ITEMS = 6
"""Of fewer items the agreement is not measured: by chance alone it would often be high."""
LEAST_LEAN = 1e-4
"""Root mean square of leans below which there are none: readings are no more exact than that."""


@dataclass(frozen=True)
class OrderAgreement:
    """How answers in one order go with those in the other.

    Attributes:
        n, n_items: answers that were read in both orders, and items (questions, dilemmas) that they are to.
        changed: share of them whose preferred option changes with the order.
        pull: mean of g; above 0 it favours what is shown first.
        pull_share: mean square of g over that of g and b, in [0, 1]: 1 is position alone, about 1/2 noise.
        agreement: 1 - var(g) / mean(b^2), the reliability of b over both orders; about 0 for noise, below 0 where pulls
            differ by more than leans do. NaN where there are fewer than `FEWEST_ITEMS` items.
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
        """Whether the leans are the options': they come back in the other order, beyond chance; None: not measured."""
        return bool(self.agreement >= threshold and self.low > 0) if np.isfinite(self.agreement) else None


def order_agreement(
    first: Array, last: Array, items: Sequence[str], level: float = 0.95, centre: float | None = 0.0
) -> OrderAgreement:
    """How values of an option shown first go with those of the same option shown last.

    Args:
        first, last: (n,) above the centre where the option is preferred, as log odds are above 0.
        items: (n,) what each answer is to: answers to one item are no independent ones.
        centre: where neither option is preferred; None for the mean of all, where no value is special.

    Source: a single order's error is told from the difference of two: generalizability over a facet of two random
    levels, Brennan (2001), Generalizability Theory, chapter 3; the jackknife over items as in `jackknife_ends`.

    >>> leans = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
    >>> found = order_agreement(leans + 3, leans - 3, list("abcdef"))
    >>> found.changed, found.pull, round(found.pull_share, 2), found.agreement
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
        kept = [_agreement(leans[places != at], pulls[places != at]) for at in range(len(names))]
        ends = jackknife_ends(agreement, np.array(kept), level)
    return OrderAgreement(*counts, changed, float(pulls.mean()), share, agreement, *ends)


def _agreement(leans: Array, pulls: Array) -> float:
    """1 - var(g) / mean(b^2); 0 where nothing leans by more than readings are exact."""
    of_leans = float(np.mean(leans**2))
    return 1 - float(np.var(pulls, ddof=1)) / of_leans if of_leans > LEAST_LEAN**2 else 0.0
