"""Ratings of one model, looked up for the people of a data set."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import Floats, Rated
from valuesassets.instruments.worldvaluesbench.answers.ratings_files import Distributions, Scores, read_ratings
from valuesassets.instruments.worldvaluesbench.material.probe_samples import resolve_people
from valuesassets.instruments.worldvaluesbench.material.profiles import profile_keys
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.records.errors import RatingsError
from valuesassets.records.frames import column

Given = Path | str | pd.DataFrame
"""A file of ratings, or a frame of its columns."""


@dataclass(frozen=True)
class RatingSource:
    """One model's ratings, to be taken by question and people.

    Attributes:
        places: of the data set: of each single rating its person; or of each person the number of their profile.
        parts: by question: which single ratings are its; or which distribution each profile has.
    """

    given: Scores | Distributions
    places: NDArray[np.int64]
    parts: Mapping[str, NDArray[np.int64]]
    n_people: int

    @classmethod
    def read(
        cls,
        given: Given,
        name: str,
        is_without: bool,
        questions: Mapping[str, ValueQuestion],
        people: pd.DataFrame,
        least_p_valid: float = 0.0,
    ) -> "RatingSource":
        """Ratings of a file or frame, held against the people of the data set.

        Raises:
            RatingsError: as `read_ratings`; a person or profile is not in the data set; what is said to be without
                attributes has some.
        """
        found = read_ratings(given, name, questions, least_p_valid)
        if isinstance(found, Distributions):
            found = _without_attributes(found) if is_without else found
            keys = profile_keys(people, found.attributes).astype("category")
            _require_profiles(found, keys)
            return cls(found, keys.cat.codes.to_numpy().astype(np.int64), _numbered(found, keys), len(people))
        ids = column(found.frame, "participant_id")
        resolve_people(found.source, ids, people)
        place = pd.Series(np.arange(len(people)), index=people["participant_id"])
        places = place.reindex(ids.cat.categories).to_numpy(float)[ids.cat.codes.to_numpy()]
        asked = found.frame["question_id"].cat
        order = np.argsort(asked.codes.to_numpy(), kind="stable")
        ends = np.searchsorted(asked.codes.to_numpy()[order], np.arange(1, len(asked.categories)))
        parts = dict(zip(map(str, asked.categories), np.split(order, ends), strict=True))
        return cls(found, places.astype(np.int64), parts, len(people))

    @property
    def questions(self) -> set[str]:
        """Ids of what is rated."""
        return set(self.given.probs if isinstance(self.given, Distributions) else self.parts)

    def n_given(self, questions: Iterable[str]) -> int:
        """How many single ratings there are of these questions, or none where distributions are given."""
        if isinstance(self.given, Distributions):
            return 0
        is_given = self.given.frame["score"].notna().to_numpy(dtype=bool)
        return sum(int(is_given[self.parts[name]].sum()) for name in questions if name in self.parts)

    @property
    def one_sided(self) -> set[str]:
        """Ids of what lacks an answer without attributes where something else in the file has one."""
        profiles = self.given.profiles if isinstance(self.given, Distributions) else {}
        lacking = {name for name, keys in profiles.items() if "" not in keys}
        return lacking if len(lacking) < len(profiles) else set()

    def without_attributes(self) -> "RatingSource | None":
        """What the same file says without attributes, where it answers every question of it both ways."""
        given = self.given
        if not isinstance(given, Distributions) or not given.attributes:
            return None
        answers_both_ways = all("" in profiles for profiles in given.profiles.values())
        return replace(self, given=_without_attributes(given)) if answers_both_ways else None

    def rated(self, question: ValueQuestion, places: NDArray[np.int64]) -> Rated:
        """What the model says to a question for people at these places of the data set."""
        if isinstance(self.given, Distributions):
            return self._distributions(self.given, question, places)
        part = self.parts.get(question.id, np.empty(0, dtype=np.int64))
        of_all = np.full(self.n_people, np.nan)
        of_all[self.places[part]] = self.given.frame["score"].to_numpy(float)[part]
        has_row = np.zeros(self.n_people, dtype=np.bool_)
        has_row[self.places[part]] = True
        return replace(rated_singly(question, of_all[places]), has_row=has_row[places])

    def _distributions(self, given: Distributions, question: ValueQuestion, places: NDArray[np.int64]) -> Rated:
        n_answers = len(question.values)
        if question.id not in given.probs:
            nothing = np.broadcast_to(np.nan, (places.size, n_answers))
            return Rated(nothing, None, places.size, 0, np.zeros(places.size, dtype=np.bool_))
        n_profiles = len(given.probs[question.id])
        probs, has_row = np.vstack([given.probs[question.id], np.full(n_answers, np.nan)]), None
        if not given.attributes:  # one row for all: a view, whatever the number of people
            found = np.broadcast_to(probs[0], (places.size, n_answers))
        else:
            numbers = self.parts[question.id][self.places[places]]
            found, has_row = probs[numbers], numbers < n_profiles
        n_missing = int(np.isnan(found[:, 0]).sum())
        if question.id not in given.n_draws:
            return Rated(found, None, n_missing, 0, has_row)
        profiles = self.parts[question.id][self.places[places]] if given.attributes else np.zeros(places.size, np.int64)
        draws = np.append(given.n_draws[question.id], np.nan)[profiles]
        return Rated(found, None, n_missing, 0, has_row, draws, profiles)


def rated_singly(question: ValueQuestion, ratings: Floats) -> Rated:
    """Single ratings as what a model says: a row of one 1 for each that is on the scale.

    Args:
        ratings: (n,) whole numbers; NaN where there is none.
    """
    is_given = np.isfinite(ratings)
    is_on = is_given & (ratings >= question.lo) & (ratings <= question.hi)
    table = np.vstack([np.eye(len(question.values)), np.full(len(question.values), np.nan)])
    probs = table[np.where(is_on, ratings - question.lo, len(question.values)).astype(np.intp)]
    return Rated(probs, ratings, int((~is_given).sum()), int((is_given & ~is_on).sum()))


def _without_attributes(found: Distributions) -> Distributions:
    """The distributions that were asked for without attributes: those of the empty profile."""
    for question_id, profiles in found.profiles.items():
        if "" not in profiles:
            raise RatingsError(
                f"{found.source}: {question_id} is rated for {profiles[0]}, not without attributes; leave them empty "
                f"or give the file as ratings with attributes"
            )
    rows = {name: profiles.get_indexer(pd.Index([""])) for name, profiles in found.profiles.items()}
    probs = {name: found.probs[name][row] for name, row in rows.items()}
    draws = {name: given[rows[name]] for name, given in found.n_draws.items()}
    return replace(found, attributes=(), profiles=dict.fromkeys(rows, pd.Index([""])), probs=probs, n_draws=draws)


def _require_profiles(found: Distributions, keys: pd.Series) -> None:
    known = set(keys.cat.categories) | {""}
    for question_id, profiles in found.profiles.items():
        unknown = [key for key in profiles if key not in known]
        if unknown:
            raise RatingsError(
                f"{found.source}: {question_id}: nobody in the data set is {unknown[0]}; give codes as the survey "
                f"has them, or remove its rows"
            )


def _numbered(found: Distributions, keys: pd.Series) -> dict[str, NDArray[np.int64]]:
    """By question, the row of its distributions for each profile of the data set; the row after the last: none."""
    numbered = {}
    for question_id, profiles in found.profiles.items():
        rows = profiles.get_indexer(pd.Index(keys.cat.categories))
        numbered[question_id] = np.where(rows < 0, len(profiles), rows).astype(np.int64)
    return numbered
