"""Statuses, random numbers, notes on intervals and corrected p-values of worldwise's measures."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import column, parts_of, rows
from valuesassets.records.settings.measuring import Inference

OK, REFUSED, UNDEFINED = "ok", "refused", "undefined"
"""Statuses of a measure: valid; its data do not support it; its data are missing."""


def random_of(how: Inference, *purpose: object) -> np.random.Generator:
    """A random generator for one purpose."""
    return seeded(how.seed, "worldwise", *purpose)


def narrow_interval(n: int, level: float) -> str | None:
    """Why an interval over so few scenarios cannot hold the mean as often as it says; None if it can.

    Resamples stay within the range of the values, and all n lie on one side of their median with probability 2^(1 - n).

    >>> narrow_interval(2, 0.95), narrow_interval(6, 0.95)
    ('an interval over 2 scenarios holds the mean in .50 of cases at most', None)
    """
    most = 1 - 2.0 ** (1 - n)
    if n < 2 or most >= level:
        return None
    return f"an interval over {n} scenarios holds the mean in {f'{most:.2f}'.lstrip('0')} of cases at most"


def corrected(table: pd.DataFrame, by: Sequence[str], how: Inference) -> pd.DataFrame:
    """The table with `p_corrected`, corrected in each part with the same `by`; rows without p are no tests."""
    whole = table.assign(p_corrected=np.nan)
    tested = rows(whole, whole["p"].notna())
    for _, part in parts_of(tested, by) if by else [((), tested)]:
        whole.loc[part.index, "p_corrected"] = CORRECTIONS[how.correction](column(part, "p").astype(float))
    return whole
