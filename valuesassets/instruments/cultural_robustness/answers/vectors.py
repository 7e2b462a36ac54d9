"""`cultural_robustness/vectors`, `question_vectors`: answers and questions as vectors of an embedder, row by row."""

from collections.abc import Collection

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.cultural_robustness.answers.answer_quality import KEY, is_usable
from valuesassets.instruments.cultural_robustness.tables import VECTORS
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import rows

NOT_EMBEDDED = ("empty", "failed")
"""Statuses of answers without a letter or digit: they have no direction."""


def embeddable(answered: pd.DataFrame, quality: pd.DataFrame) -> pd.DataFrame:
    """The answers that have something to embed, whether or not they count.

    Raises:
        MissingData: there is none, or the two frames are of different answers.
    """
    if not answered.loc[:, KEY].reset_index(drop=True).equals(quality.loc[:, KEY].reset_index(drop=True)):
        raise MissingData("answers and their quality are of different answers; judge the answers again")
    with_text = rows(answered, ~np.isin(quality["status"].to_numpy(str), NOT_EMBEDDED))
    if not len(with_text):
        raise MissingData(f"none of {len(answered)} answers has a letter or digit; look at what the model writes")
    return with_text


def answer_vectors(
    answered: pd.DataFrame, quality: pd.DataFrame, vectors: NDArray[np.float32], keep: Collection[str] = ()
) -> pd.DataFrame:
    """Rows of `VECTORS` for answers that were embedded.

    Args:
        answered: as `embeddable` gives them; `vectors` has a row for each.
        quality: of all answers.
        keep: statuses that count beside `ok`.
    """
    counts = quality.loc[:, KEY].assign(is_usable=is_usable(quality, keep))
    keys = answered.loc[:, KEY].merge(counts, on=KEY, how="left", validate="one_to_one")
    return VECTORS.frame([]) if not len(keys) else keys.assign(vector=list(vectors)).loc[:, VECTORS.names]
