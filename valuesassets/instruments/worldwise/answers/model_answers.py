"""All answers of one model, and functions that measure every model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from valuesassets.instruments.worldwise.answers.scenario_answers import gather_answers
from valuesassets.instruments.worldwise.tables import PROJECTIONS, REASON_VECTORS, REASONS
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import stacked

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
    """The answers of each model, by its name, from the cells that exist.

    Args:
        projections: by model.

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
