"""People's answers and models' ratings of one question, side by side as arrays: what every score is computed from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Groups:
    """The groups that anybody is in: combinations of the factors' levels.

    Attributes:
        factors: names of the factors.
        levels: (G, F) level of each group by factor.
    """

    factors: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Rated:
    """What one model says to one question, for each of the people asked about.

    Attributes:
        probs: (n, K) distribution over the scale; a single rating is a row of one 1. NaN rows where there is no rating
            on the scale.
        ratings: (n,) the ratings as they were given, off the scale or not; NaN where there is none. None where
            the model gave distributions.
        n_missing, n_off_scale: ratings that are lacking, and those that are not on the scale.
        has_row: (n,) whether the model's file has a row for the person, with a rating or without; None: for everybody.
        n_draws: (n,) of how many drawn answers each distribution consists; None where none was drawn, or each person
            has a single rating of their own.
        profiles: (n,) which people share a distribution that was drawn; given with `n_draws`.
    """

    probs: Floats
    ratings: Floats | None
    n_missing: int
    n_off_scale: int
    has_row: NDArray[np.bool_] | None = None
    n_draws: Floats | None = None
    profiles: NDArray[np.int64] | None = None

    def of_some(self, keep: NDArray[np.bool_]) -> "Rated":
        """The same of some people; one row that stands for all stays one."""
        is_one = len(self.probs) > 0 and self.probs.strides[0] == 0
        shape = (int(keep.sum()), self.probs.shape[1])
        probs = np.broadcast_to(self.probs[0], shape) if is_one else self.probs[keep]
        ratings = None if self.ratings is None else self.ratings[keep]
        has_row = None if self.has_row is None else self.has_row[keep]
        n_draws = None if self.n_draws is None else self.n_draws[keep]
        profiles = None if self.profiles is None else self.profiles[keep]
        has_rating = np.isfinite(probs[:, 0]) if ratings is None else np.isfinite(ratings)
        n_off = int((has_rating & np.isnan(probs[:, 0])).sum())
        return Rated(probs, ratings, int((~has_rating).sum()), n_off, has_row, n_draws, profiles)

    @property
    def is_decoded(self) -> bool:
        """Whether ratings were drawn or taken, in place of whole distributions."""
        return self.ratings is not None

    def of_people(self, order: NDArray[np.int64]) -> "Rated":
        """The same ratings, given to people in another order."""
        given = (self.probs, self.ratings, self.n_draws, self.profiles)
        probs, ratings, n_draws, profiles = (None if each is None else each[order] for each in given)
        return replace(self, probs=probs, ratings=ratings, n_draws=n_draws, profiles=profiles)


@dataclass(frozen=True)
class AskedQuestion:
    """One question of a probe: the people asked about, what they answered and what models say.

    Attributes:
        people: (n,) number of the person among all people of the probe: one person answers several questions.
        groups: (n,) number of the person's group.
        weights: (n,) above 0.
        answers: (n,) codes on the scale; NaN where there is none.
        with_attributes, without: by model.
    """

    question: ValueQuestion
    people: NDArray[np.int64]
    groups: NDArray[np.int64]
    weights: Floats
    answers: Floats
    with_attributes: Mapping[str, Rated]
    without: Mapping[str, Rated]


@dataclass(frozen=True)
class Probe:
    """All that is compared: the groups and the questions."""

    groups: Groups
    questions: Sequence[AskedQuestion]
