"""`worldwise/quality_report`: statuses of answers, bounds for missing ones, and whether refusals depend on personas."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.answers.model_answers import (
    CHOICE,
    DECISION,
    Answered,
    ByReadout,
    Frames,
    ModelAnswers,
    ScenarioAnswers,
    axis_means,
    by_scenario,
    of_models,
    profiled,
)
from valuesassets.instruments.worldwise.answers.reasons import (
    ADVOCATE,
    DECIDE,
    DECLINED,
    FAILED,
    FILTERED,
    NOT_ASKED,
    OPEN,
    REFUSED,
)
from valuesassets.instruments.worldwise.answers.reasons import OK as READ
from valuesassets.instruments.worldwise.answers.vectors import read_vectors
from valuesassets.instruments.worldwise.material.dimensions import AXES, PLACEBO, UNPROMPTED
from valuesassets.instruments.worldwise.material.value_names import ticked_leans
from valuesassets.instruments.worldwise.measures.axes import pole_means
from valuesassets.instruments.worldwise.measures.inference import OK, UNDEFINED, corrected, random_of
from valuesassets.instruments.worldwise.measures.projections import judge_advocates
from valuesassets.instruments.worldwise.tables import ADVOCATES, BOUNDS, CONVERGENT, REASONED, REFUSALS, STATUSES
from valuesassets.measure.between_groups import sums_by
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.profile_correlation import paired
from valuesassets.measure.proportions import wilson_interval
from valuesassets.measure.resampling import permutation_p, with_ends
from valuesassets.records.frames import column, parts_of, rows, rows_where
from valuesassets.records.settings.measuring import Inference

NO_ANSWER = (DECLINED, REFUSED, FILTERED)
"""Statuses of answers that were given but take no side."""


def derive_quality_report(
    answered: Answered, how: Inference, values: pd.DataFrame, axes: Frames | None = None
) -> dict[str, pd.DataFrame]:
    """`statuses` and `bounds` of all models; with reasons also `refusals`, `advocates` and `convergent_validity`.

    Refusals are corrected over forms and models. `axes` are the tables of that asset; None without reasons.
    """
    derivations: dict[str, Callable[[str, ModelAnswers], pd.DataFrame]] = {
        "statuses": lambda model, each: derive_statuses(model, each.choices, each.reasons, how.level),
        "bounds": lambda model, each: derive_bounds(model, each.by_readout),
    }
    if axes is not None:
        derivations |= {
            "refusals": lambda model, each: derive_refusals(model, each.reasons, how),
            "advocates": lambda model, each: derive_advocates(model, each, axes),
            "convergent_validity": lambda model, each: derive_convergent(model, each, values),
        }
    tables = {name: of_models(answered, derive) for name, derive in derivations.items()}
    return tables | {name: corrected(table, [], how) for name, table in tables.items() if name == "refusals"}


def derive_advocates(model: str, answers: ModelAnswers, axes: Frames) -> pd.DataFrame:
    """The table `quality_report/advocates` of one model: a row per axis with requests to advocates."""
    requests = rows_where(answers.reasons, form=ADVOCATE)
    speaking = rows_where(answers.vectors, kind=REASONED, form=ADVOCATE).reset_index(drop=True)
    advocate_vectors, exemplar_vectors = read_vectors(speaking, axes["vectors"])
    judgements = []
    for axis in dict.fromkeys(requests["axis"]):
        high, low = pole_means(axes["vectors"], exemplar_vectors, axis)
        advocacy = judge_advocates(speaking, advocate_vectors, axis, high - low)
        why, n = advocacy.why_not_distinguished, int((speaking["axis"] == axis).sum())
        row = {"model": model, "axis": axis, "auc": advocacy.auc, "p": advocacy.p, "is_told_apart": why is None}
        judgements.append(row | {"n_advocates": n, "reason": why})
    return ADVOCATES.frame(judgements)


def derive_convergent(model: str, answers: ModelAnswers, values: pd.DataFrame) -> pd.DataFrame:
    """The table `quality_report/convergent_validity` of one model: a row per axis on which reasons have positions."""
    keys = ["trial_id", "draw"]
    decisions = rows_where(answers.reasons, form=DECIDE, status=READ).set_index(keys)
    placed = rows(answers.projections, answers.projections["position"].notna())
    wide = placed.pivot_table(values="position", index=keys, columns="axis", sort=False).reindex(decisions.index)
    if wide.empty or not wide.shape[1]:
        return CONVERGENT.empty_frame()
    validity = convergent_validity(
        {str(axis): wide[axis].to_numpy(float) for axis in wide},
        ticked_leans(list(decisions["values"]), values),
        list(decisions["scenario_id"]),
    )
    shared = {"model": model, "discriminant": validity.discriminant_mean_abs}
    return CONVERGENT.frame(
        [shared | {"axis": axis, "r": r, "n_answers": int(wide[axis].notna().sum())} for axis, r in validity.r.items()]
    )


def derive_statuses(model: str, choices: pd.DataFrame, reasons: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """The table `quality_report/statuses` of one model: a row per form, condition and status, with Wilson intervals.

    Choices are a form of their own.
    """
    answers = pd.concat([choices.assign(form=CHOICE), reasons], ignore_index=True)
    statuses = []
    for (form, culture), part in parts_of(answers, ["form", "culture"]):
        row = {"model": model, "form": form, "culture": culture, "n": len(part)}
        for (status,), same in parts_of(part, ["status"]):
            ends = wilson_interval(len(same), len(part), level)
            statuses.append(
                row | {"status": status, "n_status": len(same)} | with_ends("rate", len(same) / len(part), ends)
            )
    return STATUSES.frame(statuses)


def derive_bounds(model: str, answers: ByReadout) -> pd.DataFrame:
    """The table `quality_report/bounds` of one model: the least and the greatest possible leans and effects.

    All missing answers are put on one pole; for effects those of the culture on one and those of the placebo on the
    other. Positions can lie beyond the poles; their bounds hold only for positions between the poles.
    """
    bounds = []
    for readout in (*profiled(answers), *[DECISION] * bool(len(answers[DECISION]))):
        missing = rows(answers[readout], answers[readout]["value"].isna())
        n_missing = Counter(zip(missing["culture"], missing["axis"], strict=True))
        least, most = (by_scenario(answers[readout], pole) for pole in (-1.0, 1.0))
        names, lows = axis_means(least.values, least.axes)
        _, highs = axis_means(most.values, most.axes)
        placebo_low, placebo_high = (_of_placebo(each) for each in (least, most))
        for place, culture in enumerate(least.conditions):
            for at, axis in enumerate(names):
                row: dict[str, Any] = {"model": model, "readout": readout, "culture": culture, "axis": axis}
                row |= {"n_missing": n_missing[culture, axis]}
                row |= {"lean_least": lows[place, at], "lean_most": highs[place, at]}
                if culture != PLACEBO:
                    row |= {
                        "effect_least": lows[place, at] - placebo_high[at],
                        "effect_most": highs[place, at] - placebo_low[at],
                    }
                bounds.append(row)
    return BOUNDS.frame(bounds)


def derive_refusals(model: str, reasons: pd.DataFrame, how: Inference) -> pd.DataFrame:
    """The table `quality_report/refusals` of one model, a row per form: whether refusals depend on the persona.

    Personas are permuted within scenarios; the statistic is the variance, over personas, of the mean share of answers
    that were declined, refused or filtered. The condition without a persona is left out, and so are answers that failed
    or were not asked.
    """
    answers = rows(reasons, ~reasons["status"].isin([FAILED, NOT_ASKED]) & (reasons["culture"] != UNPROMPTED))
    refusals = []
    for form in (each for each in (DECIDE, OPEN) if (reasons["form"] == each).any()):
        part = rows_where(answers, form=form)
        has_none = part.assign(has_none=column(part, "status").isin(NO_ANSWER).astype(float))
        shares = has_none.pivot_table(values="has_none", index="culture", columns="scenario_id", sort=False)
        rates = shares.to_numpy(dtype=float)
        row: dict[str, Any] = {"model": model, "form": form, "n_conditions": len(rates), "n_scenarios": rates.shape[1]}
        if len(part) and not column(part, "status").isin((READ, *NO_ANSWER)).any():
            reason = f"none of {len(part)} answers can be read, so that none is known to be no refusal"
            refusals.append(row | {"status": UNDEFINED, "reason": reason})
            continue
        if len(rates) < 2:
            refusals.append(row | {"status": UNDEFINED, "reason": f"{len(rates)} personas were asked, two are needed"})
            continue
        random = random_of(how, model, "refusals", form)
        permuted = random.permuted(np.broadcast_to(rates, (how.resamples, *rates.shape)), axis=1)
        of_personas = mean_of_known(rates)
        chance = np.nanvar(mean_of_known(permuted), axis=-1)
        row |= {"rate_least": float(np.nanmin(of_personas)), "rate_most": float(np.nanmax(of_personas))}
        refusals.append(row | {"p": permutation_p(float(np.nanvar(of_personas)), chance), "status": OK})
    return REFUSALS.frame(refusals)


def _of_placebo(answers: ScenarioAnswers) -> Array:
    """(A,) mean lean of the placebo on each axis."""
    return axis_means(answers.of(PLACEBO), answers.axes)[1][0]


@dataclass(frozen=True)
class ConvergentValidity:
    """Correlations of positions with ticked values, both centred within dilemmas.

    Attributes:
        r: by axis, with values of the same axis; None where nothing varies.
        mean: of these; None without any.
        discriminant_mean_abs: mean absolute correlation with values of other axes.
    """

    r: dict[str, float | None]
    mean: float | None
    discriminant_mean_abs: float | None


def convergent_validity(placed: Mapping[str, Array], leans: Array, scenarios: Sequence[str]) -> ConvergentValidity:
    """The correlations of positions on each axis with ticked values of that axis, and of the others.

    Args:
        placed: (n,) positions by valid axis, NaN where an answer has none.
        leans: (n, 6) ticked values of the high pole minus those of the low one, on each of `AXES`.
        scenarios: (n,) the dilemma of each answer.

    Source: Campbell and Fiske (1959), Convergent and Discriminant Validation by the Multitrait-Multimethod Matrix,
    Psychol. Bull. 56(2), 81-105.
    """
    if not placed:
        return ConvergentValidity({}, None, None)
    groups = np.unique(np.asarray(scenarios), return_inverse=True)[1]
    own = _centred(np.column_stack(list(placed.values())), groups)
    ticked = _centred(leans, groups)
    one, other = np.indices((own.shape[1], len(AXES)))
    r = paired(own.T, ticked.T).correlation((one[..., None], other[..., None]))
    is_same = np.array([[code == axis for axis in AXES] for code in placed])
    same = {code: _number(value) for code, value in zip(placed, r[is_same], strict=True)}
    on_same, on_others = (_number(mean_of_known(each).item()) for each in (r[is_same], np.abs(r[~is_same])))
    return ConvergentValidity(same, on_same, on_others)


def _centred(values: Array, groups: NDArray[np.intp]) -> Array:
    """(n, k) values minus the mean over the rows of their group; NaN stays and counts nothing."""
    is_known, n_groups = np.isfinite(values), int(groups.max()) + 1
    sums = sums_by(groups, n_groups, np.where(is_known, values, 0))
    return values - (sums / np.maximum(sums_by(groups, n_groups, is_known.astype(float)), 1))[groups]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
