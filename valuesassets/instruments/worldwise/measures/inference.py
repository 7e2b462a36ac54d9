"""How intervals and p-values of worldwise are made."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import column, parts_of, rows
from valuesassets.records.settings.measuring import Inference

OK, REFUSED, UNDEFINED = "ok", "refused", "undefined"
"""Of a measure: it stands; what it rests on does not carry it; what it needs is not there."""


def random_of(how: Inference, *purpose: object) -> np.random.Generator:
    """A generator of random numbers for one purpose."""
    return seeded(how.seed, "worldwise", *purpose)


def narrow_interval(n: int, level: float) -> str | None:
    """Why an interval over so few scenarios cannot hold the mean as often as it says, in words; None where it can.

    Resamples stay between the least and the greatest value, and all n lie on one side of their median in 2^(1 - n).

    >>> narrow_interval(2, 0.95), narrow_interval(6, 0.95)
    ('an interval over 2 scenarios holds the mean in .50 of cases at most', None)
    """
    most = 1 - 2.0 ** (1 - n)
    if n < 2 or most >= level:
        return None
    return f"an interval over {n} scenarios holds the mean in {f'{most:.2f}'.lstrip('0')} of cases at most"


def corrected(table: pd.DataFrame, by: Sequence[str], how: Inference) -> pd.DataFrame:
    """The rows of all models with corrected p-values, `p_corrected`: over each part with the same `by`.

    Rows without a p-value are no tests.
    """
    whole = table.assign(p_corrected=np.nan)
    tested = rows(whole, whole["p"].notna())
    for _, part in parts_of(tested, by) if by else [((), tested)]:
        whole.loc[part.index, "p_corrected"] = CORRECTIONS[how.correction](column(part, "p").astype(float))
    return whole
