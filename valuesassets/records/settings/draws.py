"""`[families.<name>.draws]`: how often the survey lets a family write an answer, where no probabilities are read."""

from typing import Annotated, Self

import pydantic

from valuesassets.records.settings.kinds import Positive, Record, unit

LEAST_OPTIONS = 5
"""Fewest draws of a prompt that must be an option, so that their shares are used."""


class Draws(Record):
    """The draws of a family whose answers the survey counts. Their shares replace the probabilities."""

    n: Annotated[int, pydantic.Field(ge=LEAST_OPTIONS)] = 40
    """Answers to each prompt, that is to each question in each order; with `se_unit`, in each round."""
    temperature: Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)] = 1.0
    """Sampling temperature; 1 draws from the model's own probabilities."""
    max_tokens: Positive = 32
    """Most tokens of an answer; thoughts have their own limit, `max_reasoning_tokens`."""
    se_unit: Annotated[float, pydantic.Field(gt=0, lt=0.5), unit("scale units, 0 to 1")] | None = None
    """Standard error of a mean answer, as a root mean square over the cell's questions, below which a cell has draws
    enough: further rounds of `n` are drawn until then. If left out, there is one round."""
    most: Positive = 200
    """Most answers to each prompt, in all rounds."""

    @pydantic.model_validator(mode="after")
    def _first_round_fits(self) -> Self:
        if self.most < self.n:
            raise ValueError(f"most = {self.most} is less than n = {self.n}, the first round; raise one or lower one")
        return self

    @property
    def rounds(self) -> int:
        """The most rounds that a cell is drawn in."""
        return 1 if self.se_unit is None else self.most // self.n
