"""All answers of one model, and a number for each condition in each scenario, from which measures are computed.

Conditions are compared within scenarios, since scenarios move answers more than any persona does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.answers.reasons import DECIDE, OK, OPEN
from valuesassets.instruments.worldwise.material.dimensions import CONTROLS, HIGH, LOW, ORDERS, PLACEBO
from valuesassets.instruments.worldwise.tables import PROJECTIONS, REASON_VECTORS, REASONS
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.resampling import resampled_means
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, rows, rows_where, stacked

CHOICE, DECISION, POSITION_DECIDE, POSITION_OPEN = READOUTS = ("choice", "decision", "position_decide", "position_open")
"""The lean of the next-token probabilities, the pole of the written decision, and the positions of both forms."""
READOUT_NAMES: dict[str, str] = dict(
    zip(READOUTS, ("choices", "decisions", "reasons of decisions", "open reasons"), strict=True)
)
"""Their names in figures and reports."""
ByReadout = Mapping[str, pd.DataFrame]
"""A model's answers by readout, see `gather_answers`."""
PROFILED = (CHOICE, POSITION_DECIDE, POSITION_OPEN)
"""The readouts from which profiles of cultures are computed."""
COLUMNS = ["culture", "scenario_id", "axis", "wording", "order", "value"]
POLE_VALUES = {HIGH: 1.0, LOW: -1.0}


@dataclass(frozen=True, eq=False)
class ScenarioAnswers:
    """A model's mean answer as each condition in each scenario.

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
        """The conditions without the controls."""
        return tuple(each for each in self.conditions if each not in CONTROLS)

    def of(self, *conditions: str) -> Array:
        """(len(conditions), S) their values; NaN for a condition that was never asked."""
        return self._wide().reindex(index=list(conditions)).to_numpy(dtype=float)

    @property
    def effects(self) -> Array:
        """(C, S) the value of each condition minus that of the placebo."""
        return self.values - self.of(PLACEBO)

    def like(self, other: "ScenarioAnswers") -> Array:
        """The values in the conditions and scenarios of other answers; NaN where they are missing."""
        columns, index = list(other.scenarios), list(other.conditions)
        return self._wide().reindex(index=index, columns=columns).to_numpy(dtype=float)

    def _wide(self) -> pd.DataFrame:
        return pd.DataFrame(self.values, index=pd.Index(self.conditions), columns=pd.Index(self.scenarios))


def gather_answers(choices: pd.DataFrame, reasons: pd.DataFrame, projections: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Answers of one model by readout: culture, scenario_id, axis, wording, order and `value`, NaN where it is missing.

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
        CHOICE: pd.concat([_with_columns(_choices_in(order, choices)) for order in ORDERS], ignore_index=True),
        DECISION: _with_columns(decide.assign(value=poles.astype(float))),
        POSITION_DECIDE: _with_columns(_positions(decide, projections)),
        POSITION_OPEN: _with_columns(_positions(rows_where(reasons, form=OPEN), projections)),
    }


def profiled(answers: ByReadout) -> tuple[str, ...]:
    """The readouts of `PROFILED` that have answers."""
    return tuple(readout for readout in PROFILED if len(answers[readout]))


def by_scenario(answers: pd.DataFrame, missing: float = np.nan) -> ScenarioAnswers:
    """Means over draws, then over orders and wordings; NaN if one of these has no answer.

    Args:
        answers: of one readout.
        missing: the value of a missing answer; a pole gives a bound.
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
    """The axes, and (..., A) means of (..., S) values over the scenarios of each; NaN where all values are missing.

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
    leans = (2 * choices[f"p_high_{order}"] - 1).where(choices["status"] == OK)
    return choices.assign(value=leans, order=order)


def _positions(reasons: pd.DataFrame, projections: pd.DataFrame) -> pd.DataFrame:
    """Answers with their position on the axis of their scenario."""
    own = rows(projections, projections["is_own_axis"].astype(bool) & (projections["status"] == OK))
    placed = reasons.merge(own[["trial_id", "draw", "position"]], on=["trial_id", "draw"], how="left", validate="1:1")
    return placed.assign(value=placed["position"].where(placed["status"] == OK))


def _with_columns(answers: pd.DataFrame) -> pd.DataFrame:
    """The columns that measures need; answers without orders or wordings have one of each."""
    return answers.reindex(columns=COLUMNS).reset_index(drop=True).fillna({"wording": 0, "order": ""})


Cells = Mapping[tuple[str, str], pd.DataFrame]
"""A table of each cell, by model and culture."""
Frames = Mapping[str, pd.DataFrame]
"""The tables of an asset by name."""


@dataclass(frozen=True, eq=False)
class ModelAnswers:
    """The answers of one model, all conditions together; tables of what was not asked are empty.

    Attributes:
        choices, reasons, projections, vectors: rows of `CHOICES`, `REASONS`, `PROJECTIONS`, `REASON_VECTORS`.
    """

    choices: pd.DataFrame
    reasons: pd.DataFrame = field(default_factory=REASONS.empty_frame)
    projections: pd.DataFrame = field(default_factory=PROJECTIONS.empty_frame)
    vectors: pd.DataFrame = field(default_factory=REASON_VECTORS.empty_frame)

    @cached_property
    def by_readout(self) -> dict[str, pd.DataFrame]:
        """The result of `gather_answers`."""
        return gather_answers(self.choices, self.reasons, self.projections)


Answered = Mapping[str, ModelAnswers]
"""The answers of every model by its name."""


def model_answers(
    choices: Cells,
    reasons: Cells | None = None,
    projections: Mapping[str, pd.DataFrame] | None = None,
    vectors: Cells | None = None,
) -> dict[str, ModelAnswers]:
    """The answers of each model, by its name, from the cells that exist; projections are by model.

    Raises:
        MissingData: there is no cell.
    """
    if not choices:
        raise MissingData("no cell has choices yet; materialise choices first")
    answers_by_model = {}
    for model in dict.fromkeys(name for name, _ in choices):
        cells = {"choices": choices, "reasons": reasons or {}, "vectors": vectors or {}}
        tables = {name: _together(each, model) for name, each in cells.items()}
        tables["projections"] = (projections or {}).get(model)
        answers_by_model[model] = ModelAnswers(**{name: table for name, table in tables.items() if table is not None})
    return answers_by_model


def of_models(answered: Answered, derive: Callable[[str, ModelAnswers], pd.DataFrame]) -> pd.DataFrame:
    """The tables that `derive` gives for each model, as one table."""
    return stacked([derive(model, answers).astype(object) for model, answers in answered.items()]).infer_objects()


def _together(cells: Cells, model: str) -> pd.DataFrame | None:
    """The cells of a model as one table, in their order; None if it has none."""
    own = [frame for (name, _), frame in cells.items() if name == model]
    return pd.concat(own, ignore_index=True) if own else None
