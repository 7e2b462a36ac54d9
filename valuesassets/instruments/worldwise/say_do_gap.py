"""Do models write what they choose? Decisions and reasons beside next-token probabilities, scenario by scenario."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.inference import OK, UNDEFINED, Inference, narrow_interval
from valuesassets.instruments.worldwise.measure_tables import SAY_DO_GAP
from valuesassets.instruments.worldwise.reasons import DECIDE, OPEN
from valuesassets.instruments.worldwise.scenario_answers import (
    CHOICE,
    DECISION,
    POSITION_DECIDE,
    POSITION_OPEN,
    by_scenario,
)
from valuesassets.measure.log_score import sign_flip_p
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.multiple_tests import holm
from valuesassets.measure.resampling import means_with_intervals, resample_counts
from valuesassets.records.frames import column, parts_of, rows

GAPS = {
    DECISION: (DECIDE, "decision", 0.5),
    POSITION_DECIDE: (DECIDE, "position", 1.0),
    POSITION_OPEN: (OPEN, "position", 1.0),
}
"""By readout: its form, what is compared, and the size of a unit: decisions are beside p_high, positions the lean."""


def derive_say_do_gap(model: str, answers: Mapping[str, pd.DataFrame], how: Inference) -> pd.DataFrame:
    """The table `say_do_gap` of one model before correction: a row per form, measure and axis.

    A scenario's gap is the mean, over the conditions that have both, of what was written less what was chosen. The
    interval is over scenarios; p flips the signs of scenarios, so that of n of them it is 2 / 2^n at least.

    Args:
        answers: by readout, see `gather_answers`.
    """
    chosen = by_scenario(answers[CHOICE])
    made = []
    for readout, (form, measure, unit) in GAPS.items():
        written = [by_scenario(answers[readout], missing).like(chosen) for missing in (np.nan, -1.0, 1.0)]
        gaps, *ends = (mean_of_known(unit * (each - chosen.values), axis=0) for each in written)
        for axis, is_on in chosen.by_axis():
            row: dict[str, Any] = {"model": model, "form": form, "measure": measure, "axis": axis}
            counts = resample_counts(int(is_on.sum()), how.resamples, how.random(model, "gap", readout, axis))
            found = means_with_intervals(gaps[is_on], counts, how.level)
            row |= {"n_scenarios": int(found.n)} | dict(_bounds(ends, is_on))
            if found.n == 0:
                made.append(row | {"status": UNDEFINED, "reason": "no scenario has both a choice and what was written"})
                continue
            known = gaps[is_on][np.isfinite(gaps[is_on])]
            p = sign_flip_p(known, how.resamples, how.random(model, "flips", readout, axis))
            note = narrow_interval(int(found.n), how.level)
            made.append(row | found.columns("gap") | {"p": p, "status": OK, "reason": note})
    return SAY_DO_GAP.frame(made)


def correct_gaps(gaps: pd.DataFrame) -> pd.DataFrame:
    """The rows of all models with corrected p-values: Holm over axes and models, for each form and measure.

    Signs of eight scenarios give no p below 2 / 256, so that one of more than six such tests cannot reach .05.
    """
    found = gaps.copy()
    for _, part in parts_of(rows(gaps, gaps["p"].notna()), ["form", "measure"]):
        found.loc[part.index, "p_corrected"] = holm(column(part, "p"))
    return found


def _bounds(ends: list[Array], is_on: NDArray[np.bool_]) -> Iterator[tuple[str, float]]:
    """The gap with all missing answers on the low pole, and on the high one."""
    for name, each in zip(("gap_least", "gap_most"), ends, strict=True):
        yield name, float(mean_of_known(each[is_on]))
