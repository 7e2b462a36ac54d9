"""`survey/item_statistics`: each usable answer distribution in numbers."""

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.cell_answers import Answer, answers_by_cell
from valuesassets.measure import summaries
from valuesassets.measure.distances import tvd, wasserstein1_unit

NEAR_UNIFORM = 0.95
"""Share of a uniform answer's entropy from which an answer counts as near uniform."""


def derive_item_statistics(answers: pd.DataFrame) -> pd.DataFrame:
    """One row per (cell, question); expected values are null for categorical questions.

    Args:
        answers: as `usable_answers` gives them.

    Returns:
        model, language, question_id, response_type, is_converted, n_options, expected_value (analysis scale),
        expected_value_unit, entropy_bits, entropy_share, mode, concentration, w1_unit_to_uniform (total variation for
        categorical questions), is_near_uniform, p_valid.
    """
    p_valid = answers.drop_duplicates(["model", "language", "question_id"]).set_index(
        ["model", "language", "question_id"]
    )["p_valid"]
    rows = [
        {"model": model, "language": language, "question_id": question_id}
        | _statistics(answer)
        | {"p_valid": float(p_valid.loc[(model, language, question_id)])}
        for (model, language), answered in answers_by_cell(answers).items()
        for question_id, answer in answered.items()
    ]
    return pd.DataFrame(rows)


def _statistics(answer: Answer) -> dict[str, object]:
    found, is_ordinal = answer.distribution, answer.is_ordinal
    uniform = summaries.uniform_like(found)
    share = summaries.entropy_share(found)
    return {
        "response_type": answer.response_type,
        "is_converted": answer.is_converted,
        "n_options": len(found.values),
        "expected_value": summaries.expected_value(found) if is_ordinal else np.nan,
        "expected_value_unit": summaries.expected_value_unit(found) if is_ordinal else np.nan,
        "entropy_bits": summaries.entropy_bits(found),
        "entropy_share": share,
        "mode": int(summaries.mode(found)),
        "concentration": summaries.concentration(found),
        "w1_unit_to_uniform": (wasserstein1_unit if is_ordinal else tvd)(found, uniform),
        "is_near_uniform": share >= NEAR_UNIFORM,
    }
