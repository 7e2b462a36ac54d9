"""`cultural_robustness/question_vectors`: the questions themselves as vectors, which say the same in every language."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.cultural_robustness.material.questions import all_questions
from valuesassets.instruments.cultural_robustness.tables import VECTORS
from valuesassets.records.frames import rows


def question_texts(questions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The questions without a country of all languages."""
    every = all_questions(questions)
    return rows(every, every["anchor"].isna())


def question_rows(questions: pd.DataFrame, vectors: NDArray[np.float32]) -> pd.DataFrame:
    """Rows of `VECTORS` for questions as `question_texts` gives them; `vectors` has a row for each."""
    keys = questions.loc[:, ["language", "id"]].assign(kind="question", sample=0, is_usable=True)
    return keys.assign(vector=list(vectors)).loc[:, VECTORS.names]
