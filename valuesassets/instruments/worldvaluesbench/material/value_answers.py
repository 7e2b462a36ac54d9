"""`worldvaluesbench/value_answers`: people's answers, a column for each question with codes of its scale."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.people.own_variables import Codes, Scale


def scales_of(questions: Iterable[ValueQuestion]) -> dict[str, Scale]:
    """The scale by which codes of the file become answers, by question."""
    return {each.id: Scale(range(each.lo, each.hi + 1), each.recodes, each.missing) for each in questions}


def derive_value_answers(ids: Sequence[str] | NDArray[np.object_], answers: Mapping[str, Codes]) -> pd.DataFrame:
    """Rows of `VALUE_ANSWERS` from the ids of people and (n,) codes by question."""
    return pd.DataFrame({"participant_id": ids, **answers})


def question_ids(value_answers: pd.DataFrame) -> list[str]:
    """The questions of a table of answers, in the order of its columns."""
    return [name for name in value_answers.columns if name != "participant_id"]
