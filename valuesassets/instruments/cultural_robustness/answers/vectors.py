"""`cultural_robustness/vectors`, `question_vectors`: answers and questions as vectors of an embedder, row by row."""

from collections.abc import Collection

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.cultural_robustness.answers.answer_quality import is_usable
from valuesassets.instruments.cultural_robustness.tables import VECTORS
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import rows

NOT_EMBEDDED = ("empty", "failed")
"""Statuses of answers without a letter or digit: they have no direction."""
KEYS = ["language", "kind", "id", "sample"]


def embeddable(answered: pd.DataFrame, quality: pd.DataFrame) -> pd.DataFrame:
    """The answers that have something to embed, whether or not they count.

    Raises:
        MissingData: there is none, or the two frames are of different answers.
    """
    if not answered.loc[:, KEYS].reset_index(drop=True).equals(quality.loc[:, KEYS].reset_index(drop=True)):
        raise MissingData("answers and their quality are of different answers; judge the answers again")
    found = rows(answered, ~np.isin(quality["status"].to_numpy(str), NOT_EMBEDDED))
    if not len(found):
        raise MissingData(f"none of {len(answered)} answers has a letter or digit; look at what the model writes")
    return found


def answer_vectors(
    answered: pd.DataFrame, quality: pd.DataFrame, vectors: NDArray[np.float32], keep: Collection[str] = ()
) -> pd.DataFrame:
    """Rows of `VECTORS` for answers that were embedded.

    Args:
        answered: as `embeddable` gives them; `vectors` has a row for each.
        quality: of all answers.
        keep: statuses that count beside `ok`.
    """
    counts = quality.loc[:, KEYS].assign(is_usable=is_usable(quality, keep))
    found = answered.loc[:, KEYS].merge(counts, on=KEYS, how="left", validate="one_to_one")
    return VECTORS.frame([]) if not len(found) else found.assign(vector=list(vectors)).loc[:, VECTORS.names]
