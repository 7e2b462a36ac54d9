"""All that one model answered in a study, as every measure takes it, and measures of all models in one table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from valuesassets.instruments.worldwise.answers.scenario_answers import gather_answers
from valuesassets.instruments.worldwise.tables import PROJECTIONS, REASON_VECTORS, REASONS
from valuesassets.records.errors import MissingData

Cells = Mapping[tuple[str, str], pd.DataFrame]
"""A table of each cell, by model and culture."""


@dataclass(frozen=True, eq=False)
class ModelAnswers:
    """What one model answered, all conditions together; without rows what was not asked for.

    Attributes:
        choices, reasons, projections, vectors: rows of `CHOICES`, `REASONS`, `PROJECTIONS`, `REASON_VECTORS`.
    """

    choices: pd.DataFrame
    reasons: pd.DataFrame = field(default_factory=REASONS.empty_frame)
    projections: pd.DataFrame = field(default_factory=PROJECTIONS.empty_frame)
    vectors: pd.DataFrame = field(default_factory=REASON_VECTORS.empty_frame)

    @cached_property
    def by_readout(self) -> dict[str, pd.DataFrame]:
        """As `gather_answers` gives them."""
        return gather_answers(self.choices, self.reasons, self.projections)


def model_answers(
    choices: Cells,
    reasons: Cells | None = None,
    projections: Mapping[str, pd.DataFrame] | None = None,
    vectors: Cells | None = None,
) -> dict[str, ModelAnswers]:
    """What each model answered, by its name, of the cells that there are.

    Args:
        projections: by model.

    Raises:
        MissingData: there is no cell.
    """
    if not choices:
        raise MissingData("no cell has choices yet; materialise choices first")
    answers_by_model = {}
    for model in dict.fromkeys(name for name, _ in choices):
        frames = {"choices": _together(choices, model)}
        frames |= {"reasons": _together(reasons, model)} if reasons else {}
        frames |= {"projections": projections[model]} if projections and model in projections else {}
        frames |= {"vectors": _together(vectors, model)} if vectors else {}
        answers_by_model[model] = ModelAnswers(**{name: frame for name, frame in frames.items() if frame is not None})
    return answers_by_model


def of_models(
    answered: Mapping[str, ModelAnswers], derive: Callable[[str, ModelAnswers], pd.DataFrame]
) -> pd.DataFrame:
    """A measure of every model, in one table."""
    tables = [derive(model, answers) for model, answers in answered.items()]
    filled = [frame for frame in tables if len(frame)] or tables[:1]
    return pd.concat([frame.astype(object) for frame in filled], ignore_index=True).infer_objects()


def _together(cells: Cells, model: str) -> pd.DataFrame | None:
    """The cells of a model in one table, in their order; None where it has none."""
    own = [frame for (name, _), frame in cells.items() if name == model]
    return pd.concat(own, ignore_index=True) if own else None
