"""People's answers and models' ratings of the same questions as arrays, from which every score is computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Groups:
    """The groups that have members, each a combination of levels: (G, F) levels of each group by factor."""

    factors: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]

    def numbers(self, participants: pd.DataFrame) -> NDArray[np.int64]:
        """(P,) number of each participant's group; -1 for none of these groups."""
        levels = pd.MultiIndex.from_arrays([participants[factor].astype(object) for factor in self.factors])
        return pd.MultiIndex.from_tuples(self.levels).get_indexer(levels).astype(np.int64)


@dataclass(frozen=True)
class Rated:
    """The ratings of one model for one question, a row for each person asked.

    Attributes:
        probs: (n, K) distribution over the scale; a single rating has probability 1. NaN without a rating on the scale.
        ratings: (n,) single ratings, off the scale or on it; NaN if missing. None if the model gave distributions.
        n_missing, n_off_scale: number of ratings that are missing, and that are not on the scale.
        has_row: (n,) whether the model's file has a row for the person, with a rating or without; None: for everybody.
        n_draws: (n,) number of drawn answers in each distribution; None if distributions are exact, or single ratings.
        profiles: (n,) people with the same number share a drawn distribution; set together with `n_draws`.
    """

    probs: Floats
    ratings: Floats | None
    n_missing: int
    n_off_scale: int
    has_row: NDArray[np.bool_] | None = None
    n_draws: Floats | None = None
    profiles: NDArray[np.int64] | None = None

    def of_some(self, keep: NDArray[np.bool_]) -> "Rated":
        """The ratings of some people; a single row that is broadcast to all people stays a view."""
        is_one = len(self.probs) > 0 and self.probs.strides[0] == 0
        shape = (int(keep.sum()), self.probs.shape[1])
        probs = np.broadcast_to(self.probs[0], shape) if is_one else self.probs[keep]
        arrays = (self.ratings, self.has_row, self.n_draws, self.profiles)
        ratings, has_row, n_draws, profiles = (None if each is None else each[keep] for each in arrays)
        has_rating = np.isfinite(probs[:, 0]) if ratings is None else np.isfinite(ratings)
        n_off = int((has_rating & np.isnan(probs[:, 0])).sum())
        fields = {"ratings": ratings, "has_row": has_row, "n_draws": n_draws, "profiles": profiles}
        return replace(self, probs=probs, n_missing=int((~has_rating).sum()), n_off_scale=n_off, **fields)

    @property
    def is_decoded(self) -> bool:
        """Whether the model gave single ratings instead of distributions."""
        return self.ratings is not None

    def of_people(self, order: NDArray[np.int64]) -> "Rated":
        """The ratings, assigned to people in another order."""
        arrays = (self.probs, self.ratings, self.n_draws, self.profiles)
        probs, ratings, n_draws, profiles = (None if each is None else each[order] for each in arrays)
        return replace(self, probs=probs, ratings=ratings, n_draws=n_draws, profiles=profiles)


@dataclass(frozen=True)
class AskedQuestion:
    """One question of a probe with the people asked, their answers and the models' ratings.

    Attributes:
        people: (n,) number of the person among all people of the probe; one person answers several questions.
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
    """The groups and questions that are compared."""

    groups: Groups
    questions: Sequence[AskedQuestion]


def in_large_groups(groups: NDArray[np.int64], answers: Floats, min_group: int, n_groups: int) -> NDArray[np.bool_]:
    """(n,) whether a person's group has `min_group` people who answered.

    >>> in_large_groups(np.array([0, 0, 1]), np.array([3.0, 1.0, 2.0]), 2, 2).tolist()
    [True, True, False]
    """
    answered = np.bincount(groups, weights=np.isfinite(answers), minlength=n_groups)
    return answered[groups] >= min_group


def large_groups(probe: Probe, min_group: int) -> Probe:
    """The probe without each question's groups of fewer than `min_group` people who answered.

    Groups that remain in no question are removed, and so are questions without a group. Scores of pooled answers use
    the whole probe instead.
    """
    n_groups = len(probe.groups.levels)
    keeps = [in_large_groups(item.groups, item.answers, min_group, n_groups) for item in probe.questions]
    if all(keep.all() for keep in keeps):
        return probe
    questions = [_people_of(*pair) for pair in zip(probe.questions, keeps, strict=True) if pair[1].any()]
    groups_left = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(item.groups for item in questions)]))
    levels = tuple(probe.groups.levels[group] for group in groups_left)
    renumbered = [replace(item, groups=np.searchsorted(groups_left, item.groups)) for item in questions]
    return Probe(Groups(probe.groups.factors, levels), renumbered)


def _people_of(item: AskedQuestion, keep: NDArray[np.bool_]) -> AskedQuestion:
    """The question with some of its people."""
    if keep.all():
        return item
    fields = {name: getattr(item, name)[keep] for name in ("people", "groups", "weights", "answers")}
    for side in ("with_attributes", "without"):
        fields[side] = {name: rated.of_some(keep) for name, rated in getattr(item, side).items()}
    return replace(item, **fields)
