"""The ratings of one model, looked up for the people of a data set."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import Floats, Rated
from valuesassets.instruments.worldvaluesbench.answers.ratings_files import Distributions, Scores, read_ratings
from valuesassets.instruments.worldvaluesbench.material.backgrounds import profile_keys
from valuesassets.instruments.worldvaluesbench.material.probe_samples import resolve_people
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.records.errors import RatingsError
from valuesassets.records.frames import column

Given = Path | str | pd.DataFrame
"""A file of ratings, or a frame with the columns of one."""


@dataclass(frozen=True)
class RatingSource:
    """The ratings of one model, which are looked up by question and people.

    Attributes:
        places: the row in the data set of each single rating's person; or the number of each person's profile.
        parts: by question, the rows of its single ratings; or the row of the distribution of each profile.
    """

    ratings: Scores | Distributions
    places: NDArray[np.int64]
    parts: Mapping[str, NDArray[np.int64]]
    n_people: int

    @classmethod
    def read(
        cls,
        ratings: Given,
        name: str,
        is_without: bool,
        questions: Mapping[str, ValueQuestion],
        people: pd.DataFrame,
        least_p_valid: float = 0.0,
    ) -> "RatingSource":
        """Ratings of a file or frame, for the people of the data set.

        Raises:
            RatingsError: as `read_ratings`; a person or profile is not in the data set; ratings without attributes
                name some.
        """
        table = read_ratings(ratings, name, questions, least_p_valid)
        if isinstance(table, Distributions):
            table = _without_attributes(table) if is_without else table
            keys = profile_keys(people, table.attributes).astype("category")
            _require_profiles(table, keys)
            return cls(table, keys.cat.codes.to_numpy().astype(np.int64), _numbered(table, keys), len(people))
        ids = column(table.frame, "participant_id")
        places = resolve_people(table.source, ids, people)
        question_of_row = table.frame["question_id"].cat
        order = np.argsort(question_of_row.codes.to_numpy(), kind="stable")
        ends = np.searchsorted(question_of_row.codes.to_numpy()[order], np.arange(1, len(question_of_row.categories)))
        parts = dict(zip(map(str, question_of_row.categories), np.split(order, ends), strict=True))
        return cls(table, places, parts, len(people))

    @property
    def questions(self) -> set[str]:
        """Ids of the questions with ratings."""
        return set(self.ratings.probs if isinstance(self.ratings, Distributions) else self.parts)

    def n_given(self, questions: Iterable[str]) -> int:
        """The number of single ratings of these questions; 0 if the model gave distributions."""
        if isinstance(self.ratings, Distributions):
            return 0
        is_given = self.ratings.frame["score"].notna().to_numpy(dtype=bool)
        return sum(int(is_given[self.parts[name]].sum()) for name in questions if name in self.parts)

    @property
    def one_sided(self) -> set[str]:
        """Ids of questions without an answer without attributes, if other questions of the file have one."""
        profiles = self.ratings.profiles if isinstance(self.ratings, Distributions) else {}
        lacking = {name for name, keys in profiles.items() if "" not in keys}
        return lacking if len(lacking) < len(profiles) else set()

    def without_attributes(self) -> "RatingSource | None":
        """The ratings without attributes of the same file; None unless every question has them."""
        ratings = self.ratings
        if not isinstance(ratings, Distributions) or not ratings.attributes:
            return None
        answers_both_ways = all("" in profiles for profiles in ratings.profiles.values())
        return replace(self, ratings=_without_attributes(ratings)) if answers_both_ways else None

    def rated(self, question: ValueQuestion, places: NDArray[np.int64]) -> Rated:
        """The ratings of a question for the people in these rows of the data set."""
        if isinstance(self.ratings, Distributions):
            return self._distributions(self.ratings, question, places)
        part = self.parts.get(question.id, np.empty(0, dtype=np.int64))
        of_all = np.full(self.n_people, np.nan)
        of_all[self.places[part]] = self.ratings.frame["score"].to_numpy(float)[part]
        has_row = np.zeros(self.n_people, dtype=np.bool_)
        has_row[self.places[part]] = True
        return replace(rated_singly(question, of_all[places]), has_row=has_row[places])

    def _distributions(self, ratings: Distributions, question: ValueQuestion, places: NDArray[np.int64]) -> Rated:
        n_answers = len(question.values)
        if question.id not in ratings.probs:
            nothing = np.broadcast_to(np.nan, (places.size, n_answers))
            return Rated(nothing, None, places.size, 0, np.zeros(places.size, dtype=np.bool_))
        n_profiles = len(ratings.probs[question.id])
        by_profile = np.vstack([ratings.probs[question.id], np.full(n_answers, np.nan)])
        if ratings.attributes:
            profiles = self.parts[question.id][self.places[places]]
            probs, has_row = by_profile[profiles], profiles < n_profiles
        else:  # one row for all: a view, whatever the number of people
            profiles, has_row = np.zeros(places.size, np.int64), None
            probs = np.broadcast_to(by_profile[0], (places.size, n_answers))
        n_missing = int(np.isnan(probs[:, 0]).sum())
        if question.id not in ratings.n_draws:
            return Rated(probs, None, n_missing, 0, has_row)
        draws = np.append(ratings.n_draws[question.id], np.nan)[profiles]
        return Rated(probs, None, n_missing, 0, has_row, draws, profiles)


def rated_singly(question: ValueQuestion, ratings: Floats) -> Rated:
    """Single ratings, (n,) whole numbers or NaN, as distributions with probability 1 for each that is on the scale."""
    is_given = np.isfinite(ratings)
    is_on = is_given & (ratings >= question.lo) & (ratings <= question.hi)
    table = np.vstack([np.eye(len(question.values)), np.full(len(question.values), np.nan)])
    probs = table[np.where(is_on, ratings - question.lo, len(question.values)).astype(np.intp)]
    return Rated(probs, ratings, int((~is_given).sum()), int((is_given & ~is_on).sum()))


def _without_attributes(ratings: Distributions) -> Distributions:
    """The distributions without attributes, which have the empty profile."""
    for question_id, profiles in ratings.profiles.items():
        if "" not in profiles:
            raise RatingsError(
                f"{ratings.source}: {question_id} is rated for {profiles[0]}, not without attributes; leave them empty "
                f"or give the file as ratings with attributes"
            )
    rows = {name: profiles.get_indexer(pd.Index([""])) for name, profiles in ratings.profiles.items()}
    probs = {name: ratings.probs[name][row] for name, row in rows.items()}
    draws = {name: draws[rows[name]] for name, draws in ratings.n_draws.items()}
    return replace(ratings, attributes=(), profiles=dict.fromkeys(rows, pd.Index([""])), probs=probs, n_draws=draws)


def _require_profiles(ratings: Distributions, keys: pd.Series) -> None:
    profiles_of_people = set(keys.cat.categories) | {""}
    for question_id, profiles in ratings.profiles.items():
        unknown = [key for key in profiles if key not in profiles_of_people]
        if unknown:
            raise RatingsError(
                f"{ratings.source}: {question_id}: nobody in the data set is {unknown[0]}; give codes as the survey "
                f"has them, or remove its rows"
            )


def _numbered(ratings: Distributions, keys: pd.Series) -> dict[str, NDArray[np.int64]]:
    """By question, the row of the distribution of each profile of the data set; the row after the last means none."""
    numbered = {}
    for question_id, profiles in ratings.profiles.items():
        rows = profiles.get_indexer(pd.Index(keys.cat.categories))
        numbered[question_id] = np.where(rows < 0, len(profiles), rows).astype(np.int64)
    return numbered
