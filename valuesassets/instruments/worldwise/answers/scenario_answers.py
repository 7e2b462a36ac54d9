"""Answers of one model as every measure takes them: a number for each condition in each scenario.

Conditions are compared within scenarios: what a dilemma is about moves answers more than any persona does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.answers.reasons import DECIDE, OK, OPEN
from valuesassets.instruments.worldwise.material.dimensions import CONTROLS, HIGH, LOW, ORDERS, PLACEBO
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.resampling import resampled_means
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, rows, rows_where

CHOICE, DECISION, POSITION_DECIDE, POSITION_OPEN = READOUTS = ("choice", "decision", "position_decide", "position_open")
"""Lean of the next-token probabilities; poles that were decided for in writing; positions of both forms' reasons."""
READOUT_NAMES: dict[str, str] = dict(
    zip(READOUTS, ("choices", "decisions", "reasons of decisions", "open reasons"), strict=True)
)
"""As figures and pages call them."""
PROFILED = (CHOICE, POSITION_DECIDE, POSITION_OPEN)
"""What profiles of cultures are made of: choices, and reasons."""
ASKED = ["culture", "scenario_id", "axis", "wording", "order", "value"]
POLE_VALUES = {HIGH: 1.0, LOW: -1.0}


@dataclass(frozen=True, eq=False)
class ScenarioAnswers:
    """A model's mean answer as every condition in every scenario.

    Attributes:
        conditions: (C,) cultures and controls.
        scenarios: (S,) their ids.
        axes: (S,) the axis of each.
        values: (C, S) 1 at the high pole, -1 at the low one; NaN where an order or wording has no answer.
    """

    conditions: tuple[str, ...]
    scenarios: tuple[str, ...]
    axes: NDArray[np.str_]
    values: Array

    @property
    def cultures(self) -> tuple[str, ...]:
        """Conditions that are no controls."""
        return tuple(each for each in self.conditions if each not in CONTROLS)

    def of(self, *conditions: str) -> Array:
        """(len(conditions), S) their values; NaN for a condition that was never asked."""
        nothing = np.full(len(self.scenarios), np.nan)
        places = dict(zip(self.conditions, self.values, strict=True))
        return np.array([places.get(name, nothing) for name in conditions]).reshape(
            len(conditions), len(self.scenarios)
        )

    @property
    def effects(self) -> Array:
        """(C, S) what each condition moves: its value less that of the placebo."""
        return self.values - self.of(PLACEBO)

    def like(self, other: "ScenarioAnswers") -> Array:
        """Their values in the conditions and scenarios of other answers; NaN where they have none."""
        own, theirs = ((list(each.conditions), list(each.scenarios)) for each in (self, other))
        wide = pd.DataFrame(self.values, index=pd.Index(own[0]), columns=pd.Index(own[1]))
        return wide.reindex(index=theirs[0], columns=theirs[1]).to_numpy(dtype=float)

    def by_axis(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Each axis and which scenarios stand on it."""
        for axis in dict.fromkeys(self.axes.tolist()):
            yield axis, self.axes == axis


def gather_answers(choices: pd.DataFrame, reasons: pd.DataFrame, projections: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What one model answered, by readout: culture, scenario_id, axis, wording, order and `value`, NaN where missing.

    Args:
        choices, reasons, projections: rows of these tables, all conditions together.

    Raises:
        MissingData: choices come from several channels, which are never pooled.
    """
    channels = sorted(choices["channel"].dropna().unique())
    if len(channels) > 1:
        raise MissingData(
            f"choices come from the channels {', '.join(channels)}, which are not pooled: measure each alone"
        )
    decide = rows_where(reasons, form=DECIDE)
    poles = column(decide, "decision").map(pd.Series(POLE_VALUES)).where(decide["status"] == OK)
    return {
        CHOICE: pd.concat([_asked(_choices_in(order, choices)) for order in ORDERS], ignore_index=True),
        DECISION: _asked(decide.assign(value=poles.astype(float))),
        POSITION_DECIDE: _asked(_positions(decide, projections)),
        POSITION_OPEN: _asked(_positions(rows_where(reasons, form=OPEN), projections)),
    }


def profiled(answers: Mapping[str, pd.DataFrame]) -> tuple[str, ...]:
    """Those of `PROFILED` that were asked for."""
    return tuple(readout for readout in PROFILED if len(answers[readout]))


def by_scenario(answers: pd.DataFrame, missing: float = np.nan) -> ScenarioAnswers:
    """Means over draws, then over the orders and wordings asked, each of which has to have an answer.

    Args:
        answers: of one readout, as `gather_answers` gives them.
        missing: what stands for a missing answer: a pole for bounds, else nothing.
    """
    conditions, scenarios = (tuple(dict.fromkeys(answers[name])) for name in ("culture", "scenario_id"))
    axis_of = dict(zip(answers["scenario_id"], answers["axis"], strict=True))
    axes = np.array([axis_of[each] for each in scenarios], dtype=str)
    filled = answers.assign(value=answers["value"].fillna(missing))
    means_by_order = filled.groupby(["culture", "scenario_id", "wording", "order"], sort=False)["value"].mean()
    cells = pd.DataFrame(
        means_by_order.groupby(level=["culture", "scenario_id"], sort=False).agg(["sum", "count", "size"])
    )
    means = column(cells, "sum").div(column(cells, "count")).where(cells["count"] == cells["size"])
    wide = means.unstack("scenario_id").reindex(index=list(conditions), columns=list(scenarios))
    return ScenarioAnswers(conditions, scenarios, axes, wide.to_numpy(dtype=float))


def axis_means(values: Array, axes: NDArray[np.str_]) -> tuple[tuple[str, ...], Array]:
    """Axes, and (..., A) means over the scenarios of each, of (..., S) values; NaN where nothing is known.

    >>> axis_means(np.array([[1.0, 3.0, 5.0]]), np.array(["IDV", "IDV", "PDI"]))[1].tolist()
    [[2.0, 5.0]]
    """
    names = tuple(dict.fromkeys(axes.tolist()))
    means = [mean_of_known(values[..., axes == name]) for name in names]
    return names, np.stack(means, axis=-1) if names else np.empty((*values.shape[:-1], 0))


def resampled_axis_means(values: Array, axes: NDArray[np.str_], counts: Array) -> Array:
    """(draws, ..., A) `axis_means` in samples of scenarios, (draws, S) as `stratified_counts` gives them."""
    names = dict.fromkeys(axes.tolist())
    return np.stack([resampled_means(values[..., axes == name], counts[:, axes == name]) for name in names], axis=-1)


def _choices_in(order: str, choices: pd.DataFrame) -> pd.DataFrame:
    """Leans in one order; their mean over orders is the lean."""
    leans = choices.assign(value=2 * choices[f"p_high_{order}"] - 1, order=order)
    return leans.assign(value=column(leans, "value").where(leans["status"] == OK))


def _positions(reasons: pd.DataFrame, projections: pd.DataFrame) -> pd.DataFrame:
    """Answers with their position on the scenario's own axis."""
    own = rows(projections, projections["is_own_axis"].astype(bool) & (projections["status"] == OK))
    placed = reasons.merge(own[["trial_id", "draw", "position"]], on=["trial_id", "draw"], how="left", validate="1:1")
    return placed.assign(value=placed["position"].where(placed["status"] == OK))


def _asked(answers: pd.DataFrame) -> pd.DataFrame:
    """The columns that measures need; what has no orders or wordings has one."""
    columns = answers.reindex(columns=ASKED).reset_index(drop=True)
    return columns.fillna({"wording": 0, "order": ""})
