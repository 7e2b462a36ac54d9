"""What stands beside every model's scores: answers that know people alone, and the model's own disarranged."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Probe, Rated
from valuesassets.instruments.worldvaluesbench.material.probe_samples import People
from valuesassets.measure.between_groups import sums_by
from valuesassets.measure.seeding import seeded

OTHER_PEOPLE = "people of another split"
"""Everybody gets the pooled answers of people of another split: the best score of pooled answers, and no awareness."""
OTHER_GROUPS = "groups of another split"
"""Everybody gets their group's answers of another split: as good as knowing the groups can make it. They are drawn
answers, as many as the group has people there (after weighting), and their noise is taken off."""
GROUPS_MAJORITY = "majority of each group"
"""Everybody gets their own group's most frequent answer; it has seen the answers that it is compared with."""


def without_attributes(name: str) -> str:
    """The name of a model that was asked without attributes."""
    return f"{name} without attributes"


def shuffled(name: str) -> str:
    """The name of a model whose ratings are shuffled over people within each question."""
    return f"{name} shuffled"


def control_models(probe: Probe, dataset: People, samples: pd.DataFrame, seed: int) -> Probe:
    """The same people and questions with controls in place of models.

    Each model without attributes, each shuffled, and two that answer as people of splits that nobody was sampled from;
    the latter are left out where there is no such split.
    """
    others = _Others.of(dataset, samples, probe)

    def controls(asked: AskedQuestion) -> dict[str, Rated]:
        found = others.answers(asked) if others else {}
        found |= {without_attributes(name): rated for name, rated in asked.without.items()}
        for name, rated in asked.with_attributes.items():
            order = seeded(seed, "shuffled", name, asked.question.id).permutation(len(asked.groups))
            found[shuffled(name)] = rated.of_people(order)
        return found

    return _with_models(probe, controls)


def majority_of_groups(probe: Probe) -> Probe:
    """The same people and questions with one model, which gives everybody their group's most frequent answer.

    The lowest code of several; without weights.
    """
    return _with_models(probe, lambda asked: {GROUPS_MAJORITY: _majority(asked, len(probe.groups.levels))})


def _with_models(probe: Probe, models: Callable[[AskedQuestion], Mapping[str, Rated]]) -> Probe:
    return Probe(probe.groups, [replace(asked, with_attributes=models(asked), without={}) for asked in probe.questions])


def _majority(asked: AskedQuestion, n_groups: int) -> Rated:
    known, n_answers = np.isfinite(asked.answers), len(asked.question.values)
    places = asked.groups[known] * n_answers + (asked.answers[known] - asked.question.lo).astype(np.int64)
    counts = np.bincount(places, minlength=n_groups * n_answers).reshape(n_groups, n_answers)
    return Rated(np.eye(n_answers)[counts.argmax(axis=1)][asked.groups], None, 0, 0)


class _Others:
    """People of splits that nobody was sampled from, in the probe's groups."""

    def __init__(self, dataset: People, places: np.ndarray, groups: np.ndarray, probe: Probe) -> None:
        self.dataset, self.places, self.groups, self.n_groups = dataset, places, groups, len(probe.groups.levels)
        self.weights = dataset.participants["weight"].to_numpy(float)[places]

    @classmethod
    def of(cls, dataset: People, samples: pd.DataFrame, probe: Probe) -> "_Others | None":
        people = dataset.participants
        sampled = people["participant_id"].isin(list(samples["participant_id"].unique()))
        is_other = ~people["split"].isin(list(people.loc[sampled, "split"].unique()))
        levels = pd.MultiIndex.from_tuples(probe.groups.levels)
        groups = levels.get_indexer(
            pd.MultiIndex.from_arrays([people[factor].astype(object) for factor in probe.groups.factors])
        )
        places = np.flatnonzero(is_other.to_numpy() & (groups >= 0))
        return cls(dataset, places, groups[places], probe) if places.size else None

    def answers(self, asked: AskedQuestion) -> dict[str, Rated]:
        """Both controls for one question; none where no other person answered it."""
        question = asked.question
        codes = self.dataset.value_answers[question.id].to_numpy(float, na_value=np.nan)[self.places]
        known = (codes >= question.lo) & (codes <= question.hi)
        if not known.any():
            return {}
        weights = self.weights[known]
        given = np.eye(len(question.values))[(codes[known] - question.lo).astype(np.int64)] * weights[:, None]
        given = np.concatenate([given, weights[:, None] ** 2], axis=1)
        sums: Floats = sums_by(self.groups[known], self.n_groups, given)
        is_empty = sums[:, -1] == 0
        sums[is_empty] = sums.sum(axis=0)
        of_groups, n_draws = sums[:, :-1], sums[:, :-1].sum(axis=1) ** 2 / sums[:, -1]
        of_groups /= of_groups.sum(axis=1, keepdims=True)
        sizes = np.bincount(asked.groups, minlength=self.n_groups)
        pooled = sizes @ of_groups / sizes.sum()
        each = np.broadcast_to(pooled, (len(asked.groups), pooled.size))
        profiles = np.where(is_empty, self.n_groups, np.arange(self.n_groups))[asked.groups]  # the empty share one
        own = Rated(of_groups[asked.groups], None, 0, 0, n_draws=n_draws[asked.groups], profiles=profiles)
        return {OTHER_PEOPLE: Rated(each, None, 0, 0), OTHER_GROUPS: own}
