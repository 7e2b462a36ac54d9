"""`worldwise/say_do_gap`: do models write what they choose, scenario by scenario?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.answers.model_answers import ModelAnswers, of_models
from valuesassets.instruments.worldwise.answers.reasons import DECIDE, OPEN
from valuesassets.instruments.worldwise.answers.scenario_answers import (
    CHOICE,
    DECISION,
    POSITION_DECIDE,
    POSITION_OPEN,
    by_scenario,
)
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
"""By readout: its form, what is compared, and the size of a unit: decisions are beside p_high, positions the lean."""


def derive_say_do_gap(
    answered: Mapping[str, ModelAnswers],
    reliability: Mapping[str, pd.DataFrame],
    scenarios: pd.DataFrame,
    how: Inference,
) -> dict[str, pd.DataFrame]:
    """`gaps` of all models, p-values corrected over axes and models, for each form and measure; none of a model whose
    choices follow position, which over both orders are even whatever it prefers.

    Signs of scenarios are flipped for all axes and models at once, and each gap is held against the largest statistic
    (`step_down_p`): signs of eight scenarios give no p below 2 / 256, so that Holm's rejects none of more than six.
    Corrected p-values allow for dilemmas of a domain being alike, as those of pairs of cultures do.

    Args:
        scenarios: `scenario_id, domain` of all dilemmas.
    """
    domains = domains_of(scenarios)
    gaps_by_model = {model: scenario_gaps(each.by_readout) for model, each in answered.items()}
    table = of_models(answered, lambda model, each: gaps_of_model(model, each.by_readout, how))
    table = withheld(table, without_evidence(reliability))
    readouts = [
        readout for readout in GAPS if any(np.isfinite(gaps[readout].gaps).any() for gaps in gaps_by_model.values())
    ]
    parts = [_corrected(table, readout, gaps_by_model, how, domains) for readout in readouts]
    return {"gaps": pd.concat([table.head(0), *parts], ignore_index=True)}


def is_beyond(row: Mapping[str, Any], alpha: float) -> bool:
    """Whether a gap is beyond chance, whatever the answers that are missing could have said.

    The interval is moved to the bound that is nearest to 0: that of all missing answers on one pole.
    """
    low, high = row["gap_least"] - (row["gap"] - row["gap_low"]), row["gap_most"] + (row["gap_high"] - row["gap"])
    return bool(row["p_corrected"] <= alpha and (low > 0 or high < 0))


@dataclass(frozen=True, eq=False)
class ScenarioGaps:
    """What a model writes less what it chooses, a scenario at a time, over the conditions that have both.

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


def scenario_gaps(answers: Mapping[str, pd.DataFrame]) -> dict[str, ScenarioGaps]:
    """Of each of `GAPS`.

    Args:
        answers: by readout, see `gather_answers`.
    """
    chosen = by_scenario(answers[CHOICE])
    gaps_by_readout = {}
    for readout, (_, _, unit) in GAPS.items():
        written = [by_scenario(answers[readout], missing).like(chosen) for missing in (np.nan, -1.0, 1.0)]
        gaps = [mean_of_known(unit * (each - chosen.values), axis=0) for each in written]
        gaps_by_readout[readout] = ScenarioGaps(chosen.scenarios, chosen.axes, *gaps)
    return gaps_by_readout


def gaps_of_model(model: str, answers: Mapping[str, pd.DataFrame], how: Inference) -> pd.DataFrame:
    """The table `say_do_gap/gaps` of one model before correction: a row per form, measure and axis.

    The interval is over scenarios; p flips the signs of scenarios, so that of n of them it is 2 / 2^n at least.

    Args:
        answers: by readout, see `gather_answers`.
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
    ids = list(dict.fromkeys(scenario for gaps in gaps_by_model.values() for scenario in gaps[readout].scenarios))
    axis_of = dict(
        pair
        for gaps in gaps_by_model.values()
        for pair in zip(gaps[readout].scenarios, gaps[readout].axes.tolist(), strict=True)
    )
    groups = [f"{axis_of[name]} {domains.get(name, name)}" for name in ids]
    by_model = [
        pd.Series(each[readout].gaps, index=list(each[readout].scenarios)).reindex(ids)
        for each in gaps_by_model.values()
    ]
    share = share_alike(
        np.transpose([each.to_numpy(float) for each in by_model]), groups, [axis_of[name] for name in ids]
    )
    gaps, grown = np.zeros((len(ids), len(tested))), np.ones(len(tested))
    for at, (model, axis) in enumerate(zip(tested["model"], tested["axis"], strict=True)):
        of_model = gaps_by_model[model][readout]
        places = [ids.index(scenario) for scenario in of_model.scenarios]
        gaps[places, at] = np.nan_to_num(np.where(of_model.axes == axis, of_model.gaps, 0))
        is_known = (of_model.axes == axis) & np.isfinite(of_model.gaps)
        grown[at] = inflation(
            [groups[place] for place, is_there in zip(places, is_known, strict=True) if is_there], share
        )
    signs = 2.0 * random_of(how, "flips", readout).integers(0, 2, size=(how.resamples, len(ids))) - 1
    sizes = np.sqrt((gaps**2).sum(axis=0))
    scale = np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    # Drawn signs may give less than all of them do.
    observed = np.abs(gaps.sum(axis=0)) * scale / np.sqrt(grown)
    p = np.maximum(step_down_p(observed, np.abs(signs @ gaps) * scale), tested["p"])
    return part.assign(p_corrected=pd.Series(p, index=tested.index).reindex(part.index))
