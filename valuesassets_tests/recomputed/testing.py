"""Tables of tests: values and p-values as their own tables have them, corrected within their families."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets_tests.recomputed.basics import holm
from valuesassets_tests.recomputed.checking import Check

ALPHA = 0.05
KEYS = ["test_family", "test", "statistic"]


def check_tests(check: Check, table: str, rows: Sequence[dict[str, Any]], draws: float | None = None) -> None:
    """A table of tests.

    Args:
        rows: test_family, test, statistic, value, p, n.
        draws: of our own labellings where the study's were drawn, infinite where we counted all; None where both
            counted all, so that p-values are equal.
    """
    own = pd.DataFrame(rows)
    check.equal(table, KEYS, own[[*KEYS, "value", "n"]])
    if draws is None:
        check.equal(table, KEYS, own[[*KEYS, "p"]])
    else:
        check.p(table, KEYS, own, "p", draws)
    stored = check.stored(table)
    corrected = holm_in_families(stored["p"], stored["test_family"])
    after = stored[KEYS].assign(p_corrected=corrected, is_rejected=corrected <= ALPHA, n_resamples=check.draws)
    check.equal(table, KEYS, after)


def holm_in_families(p: pd.Series, families: pd.Series | Sequence[str]) -> np.ndarray:
    """Holm's p-values within families of tests; NaN where there was no test."""
    found = np.full(len(p), math.nan)
    values = p.to_numpy(dtype=float)
    for family in set(families):
        here = np.flatnonzero((np.asarray(families, dtype=object) == family) & np.isfinite(values))
        found[here] = holm(values[here])
    return found
