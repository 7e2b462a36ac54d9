"""Whether shares that were counted over simulations lie where they have to, three Monte Carlo errors granted."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

REJECTED, COVERAGE, FOUND = 0.07, (0.93, 0.97), 0.9
"""Most rejections where there is nothing, where coverage has to lie, and fewest rejections where there is something."""


def is_within(share: float, low: float, high: float, n: int) -> bool:
    """Whether a share of n simulations lies between two bounds, each moved out by three standard errors at the bound.

    >>> is_within(0.08, 0, 0.07, 1000), is_within(0.1, 0, 0.07, 1000)
    (True, False)
    """
    below, above = (3 * np.sqrt(bound * (1 - bound) / n) for bound in (low, high))
    return bool(low - below <= share <= high + above)


def plain_tables(tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Tables as plain values, null where a number is missing: what is written as JSON."""
    return {name: frame.astype(object).where(frame.notna(), None).to_dict("records") for name, frame in tables.items()}
