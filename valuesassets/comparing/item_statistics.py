"""`item_statistics`: descriptive statistics of each usable answer distribution."""

import numpy as np
import pandas as pd

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.measure.distances import tvd_of
from valuesassets.records.tables import TABLES

NEAR_UNIFORM = 0.95
"""An answer counts as near uniform from this share of the uniform distribution's entropy."""


def derive_item_statistics(grid: AnswerGrid) -> pd.DataFrame:
    """Rows of `item_statistics`, one per (cell, question). Its `attrs` hold `notes` on what was left out.

    Expected values are null for categorical questions, whose distance to uniform is total variation. The lowest of
    several modes is given. Entropies of drawn answers are corrected for drawing (Miller and Madow). Source of the
    concentration: Simpson (1949), Nature 163, 688.
    """
    scales, answers = grid.scales, grid.answers
    uniform, entropy = scales.uniform(), grid.entropy_bits
    to_uniform = np.where(scales.is_ordinal, scales.w1_unit(answers, uniform), tvd_of(answers, uniform))
    share = np.minimum(entropy / np.log2(scales.n_options), 1)
    is_known = np.isfinite(entropy)
    best = np.where(is_known[..., None], answers, 0).argmax(axis=-1)
    columns = {
        "response_type": np.array(scales.response_types, dtype=object),
        "is_converted": grid.is_converted,
        "n_options": scales.n_options,
        "expected_value": scales.expected_code(answers),
        "expected_value_unit": scales.expected_unit(answers),
        "entropy_bits": np.maximum(entropy, 0),
        "entropy_share": np.maximum(share, 0),
        "concentration": np.einsum("cik,cik->ci", answers, answers),
        "w1_unit_to_uniform": np.where(grid.is_drawn, np.nan, to_uniform),
        "p_valid": grid.p_valid,
        "mode": scales.codes[np.arange(len(grid.items)), best].astype(int),
        "is_near_uniform": share >= NEAR_UNIFORM,
    }
    table = grid.listed(grid.labels, is_known, columns)
    table.attrs["notes"] = [*grid.notes, *grid.why_empty("distances to uniform answers")]
    return table


def no_item_statistics(reason: str) -> pd.DataFrame:
    """An empty table with the reason why it is empty, which the report prints in its place."""
    table = TABLES["item_statistics"].empty_frame()
    table.attrs["reason"] = reason
    return table
