"""`worldwise/say_do_gap`: do models write what they choose, scenario by scenario?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.answers.model_answers import (
    CHOICE,
    DECISION,
    POSITION_DECIDE,
    POSITION_OPEN,
    Answered,
    ByReadout,
    Frames,
    by_scenario,
    of_models,
)
from valuesassets.instruments.worldwise.answers.reasons import DECIDE, OPEN
from valuesassets.instruments.worldwise.material.scenarios import domains_of
from valuesassets.instruments.worldwise.measures.inference import OK, UNDEFINED, narrow_interval, random_of
from valuesassets.instruments.worldwise.measures.reliability import withheld, without_evidence
from valuesassets.instruments.worldwise.tables import SAY_DO_GAP
from valuesassets.measure.alike_things import inflation, share_alike
from valuesassets.measure.log_score import sign_flip_p
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.multiple_tests import step_down_p
from valuesassets.measure.resampling import means_with_intervals, resample_counts
from valuesassets.records.frames import rows_where
from valuesassets.records.settings.measuring import Inference

GAPS = {
    DECISION: (DECIDE, "decision", 0.5),
    POSITION_DECIDE: (DECIDE, "position", 1.0),
    POSITION_OPEN: (OPEN, "position", 1.0),
}
"""By readout: its form, its measure, and the size of a unit: decisions compare with p_high, positions with the lean."""


def derive_say_do_gap(
    answered: Answered, reliability: Frames, scenarios: pd.DataFrame, how: Inference
) -> dict[str, pd.DataFrame]:
    """`gaps` of all models, p-values corrected over axes and models, for each form and measure.

    Models whose choices follow position have no gaps: over both orders their choices are even whatever they prefer.
    Signs of scenarios are flipped for all axes and models at once, and each gap is compared with the largest statistic
    (`step_down_p`): signs of eight scenarios give no p below 2 / 256, so that Holm's procedure rejects none of more
    than six. Corrected p-values allow for similar dilemmas in a domain, as those of pairs of cultures do.
    """
    domains = domains_of(scenarios)
    gaps_by_model = {model: scenario_gaps(each.by_readout) for model, each in answered.items()}
    table = of_models(answered, lambda model, each: gaps_of_model(model, each.by_readout, how))
    table = withheld(table, without_evidence(reliability))
    parts = [
        _corrected(table, readout, gaps_by_model, how, domains)
        for readout in GAPS
        if any(np.isfinite(of_readout[readout].gaps).any() for of_readout in gaps_by_model.values())
    ]
    return {"gaps": pd.concat([table.head(0), *parts], ignore_index=True)}


def is_beyond(row: Mapping[str, Any], alpha: float) -> bool:
    """Whether a gap is beyond chance, whatever the missing answers could have been.

    The interval is moved to the bound nearest to 0, that of all missing answers on one pole.
    """
    low, high = row["gap_least"] - (row["gap"] - row["gap_low"]), row["gap_most"] + (row["gap_high"] - row["gap"])
    return bool(row["p_corrected"] <= alpha and (low > 0 or high < 0))


@dataclass(frozen=True, eq=False)
class ScenarioGaps:
    """What a model writes minus what it chooses in each scenario, over the conditions that have both.

    Attributes:
        scenarios: (S,) their ids.
        axes: (S,) the axis of each.
        gaps: (S,) NaN where no condition has both.
        least, most: (S,) the same with all missing texts on the low pole, and on the high one.
    """

    scenarios: tuple[str, ...]
    axes: NDArray[np.str_]
    gaps: Array
    least: Array
    most: Array


def scenario_gaps(answers: ByReadout) -> dict[str, ScenarioGaps]:
    """The gaps for each of `GAPS`, from answers by readout (see `gather_answers`)."""
    chosen = by_scenario(answers[CHOICE])
    gaps_by_readout = {}
    for readout, (_, _, unit) in GAPS.items():
        written = [by_scenario(answers[readout], missing).like(chosen) for missing in (np.nan, -1.0, 1.0)]
        gaps = [mean_of_known(unit * (each - chosen.values), axis=0) for each in written]
        gaps_by_readout[readout] = ScenarioGaps(chosen.scenarios, chosen.axes, *gaps)
    return gaps_by_readout


def gaps_of_model(model: str, answers: ByReadout, how: Inference) -> pd.DataFrame:
    """The table `say_do_gap/gaps` of one model before correction: a row per form, measure and axis.

    The interval is over scenarios. p flips the signs of scenarios; of n scenarios it is 2 / 2^n at least.
    """
    gap_rows = []
    for readout, of_scenarios in scenario_gaps(answers).items():
        form, measure, _ = GAPS[readout]
        for axis in dict.fromkeys(of_scenarios.axes.tolist()):
            is_on = of_scenarios.axes == axis
            row: dict[str, Any] = {"model": model, "form": form, "measure": measure, "axis": axis}
            counts = resample_counts(int(is_on.sum()), how.resamples, random_of(how, model, "gap", readout, axis))
            gap = means_with_intervals(of_scenarios.gaps[is_on], counts, how.level)
            row |= {"n_scenarios": int(gap.n)}
            row |= {f"gap_{end}": float(mean_of_known(getattr(of_scenarios, end)[is_on])) for end in ("least", "most")}
            if gap.n == 0:
                gap_rows.append(
                    row | {"status": UNDEFINED, "reason": "no scenario has both a choice and what was written"}
                )
                continue
            own_gaps = of_scenarios.gaps[is_on][np.isfinite(of_scenarios.gaps[is_on])]
            p = sign_flip_p(own_gaps, how.resamples, random_of(how, model, "flips", readout, axis))
            note = narrow_interval(int(gap.n), how.level)
            gap_rows.append(row | gap.columns("gap") | {"p": p, "status": OK, "reason": note})
    return SAY_DO_GAP.frame(gap_rows)


def _corrected(
    table: pd.DataFrame,
    readout: str,
    gaps_by_model: Mapping[str, Mapping[str, ScenarioGaps]],
    how: Inference,
    domains: Mapping[str, str],
) -> pd.DataFrame:
    """The rows of a form and measure with corrected p-values; the statistic is |sum| / sqrt(sum of squares)."""
    form, measure, _ = GAPS[readout]
    part = rows_where(table, form=form, measure=measure)
    tested = rows_where(part, status=OK)
    of_readout = {model: each[readout] for model, each in gaps_by_model.items()}
    axis_of = {
        name: axis
        for each in of_readout.values()
        for name, axis in zip(each.scenarios, each.axes.tolist(), strict=True)
    }
    wide = pd.DataFrame(
        {model: pd.Series(each.gaps, index=list(each.scenarios)) for model, each in of_readout.items()}
    ).reindex(list(axis_of))
    axes = np.array(list(axis_of.values()), dtype=str)
    groups = [f"{axis} {domains.get(name, name)}" for name, axis in axis_of.items()]
    share = share_alike(wide.to_numpy(float), groups, axes.tolist())
    gaps, factors = np.zeros((len(wide), len(tested))), np.ones(len(tested))
    for number, (model, axis) in enumerate(zip(tested["model"], tested["axis"], strict=True)):
        is_tested = (axes == axis) & wide[model].notna().to_numpy()
        gaps[is_tested, number] = wide[model].to_numpy(float)[is_tested]
        factors[number] = inflation([group for group, is_in in zip(groups, is_tested, strict=True) if is_in], share)
    signs = 2.0 * random_of(how, "flips", readout).integers(0, 2, size=(how.resamples, len(wide))) - 1
    sizes = np.sqrt((gaps**2).sum(axis=0))
    scale = np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    # Drawn signs may give less than all of them do.
    observed = np.abs(gaps.sum(axis=0)) * scale / np.sqrt(factors)
    p = np.maximum(step_down_p(observed, np.abs(signs @ gaps) * scale), tested["p"])
    return part.assign(p_corrected=pd.Series(p, index=tested.index).reindex(part.index))
