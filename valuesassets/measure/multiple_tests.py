"""p-values corrected for how many tests stand in one family."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control

from valuesassets.records.errors import MissingData


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values, (n,): rejecting those below alpha makes any false rejection at most alpha likely.

    Raises:
        MissingData: a p-value is not between 0 and 1.

    Source: Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values, (n,): of those below alpha at most a share alpha are false, for independent tests.

    Raises:
        MissingData: a p-value is not between 0 and 1.

    Source: Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57(1), 289-300.
    """
    p = _checked(p_values)
    return p if p.size == 0 else np.asarray(false_discovery_control(p, method="bh"), dtype=float)


CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}


def _checked(p_values: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise MissingData(f"a family of tests needs p-values between 0 and 1, found {p.tolist()}")
    return p
