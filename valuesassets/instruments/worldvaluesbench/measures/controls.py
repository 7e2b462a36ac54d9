"""Controls of models' scores: answers of people, and shuffled ratings of the models; and the names of controls."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Probe, Rated
from valuesassets.instruments.worldvaluesbench.material.probe_samples import People
from valuesassets.measure.between_groups import sums_by
from valuesassets.measure.seeding import seeded

OTHER_PEOPLE = "people of another split"
"""A control with the pooled answers of another split for everybody: the best score of pooled answers, no awareness."""
OTHER_GROUPS = "groups of another split"
"""A control with each group's answers of another split, the best score from knowing the groups. They count as drawn
answers, as many as the group has people there after weighting."""
GROUPS_MAJORITY = "majority of each group"
"""A control with each group's most frequent answer among the answers that it is compared with."""


def without_attributes(name: str) -> str:
    """The name of a model's ratings without attributes."""
    return f"{name} without attributes"


def shuffled(name: str) -> str:
    """The name of a model's ratings, shuffled over people within each question."""
    return f"{name} shuffled"


def control_models(probe: Probe, dataset: People, samples: pd.DataFrame, seed: int) -> Probe:
    """The probe with controls in place of models: each without attributes, each shuffled, and two of other splits.

    The latter are answers of people in splits without samples; they are left out if there is no such split.
    """
    others = _Others.outside_samples(dataset, samples, probe)

    def controls(item: AskedQuestion) -> dict[str, Rated]:
        models = others.answers(item) if others else {}
        models |= {without_attributes(name): rated for name, rated in item.without.items()}
        for name, rated in item.with_attributes.items():
            order = seeded(seed, "shuffled", name, item.question.id).permutation(len(item.groups))
            models[shuffled(name)] = rated.of_people(order)
        return models

    return _with_models(probe, controls)


def majority_of_groups(probe: Probe) -> Probe:
    """The probe with one model, each group's most frequent answer without weights, the lowest code of several."""
    return _with_models(probe, lambda item: {GROUPS_MAJORITY: _majority(item, len(probe.groups.levels))})


def _with_models(probe: Probe, models: Callable[[AskedQuestion], Mapping[str, Rated]]) -> Probe:
    return Probe(probe.groups, [replace(item, with_attributes=models(item), without={}) for item in probe.questions])


def _majority(item: AskedQuestion, n_groups: int) -> Rated:
    has_answer, n_answers = np.isfinite(item.answers), len(item.question.values)
    places = item.groups[has_answer] * n_answers + (item.answers[has_answer] - item.question.lo).astype(np.int64)
    counts = np.bincount(places, minlength=n_groups * n_answers).reshape(n_groups, n_answers)
    return Rated(np.eye(n_answers)[counts.argmax(axis=1)][item.groups], None, 0, 0)


class _Others:
    """The people of splits without samples, in the probe's groups."""

    def __init__(self, dataset: People, places: np.ndarray, groups: np.ndarray, probe: Probe) -> None:
        self.dataset, self.places, self.groups, self.n_groups = dataset, places, groups, len(probe.groups.levels)
        self.weights = dataset.participants["weight"].to_numpy(float)[places]

    @classmethod
    def outside_samples(cls, dataset: People, samples: pd.DataFrame, probe: Probe) -> "_Others | None":
        people = dataset.participants
        sampled = people["participant_id"].isin(list(samples["participant_id"].unique()))
        is_other = ~people["split"].isin(list(people.loc[sampled, "split"].unique()))
        groups = probe.groups.numbers(people)
        places = np.flatnonzero(is_other.to_numpy() & (groups >= 0))
        return cls(dataset, places, groups[places], probe) if places.size else None

    def answers(self, item: AskedQuestion) -> dict[str, Rated]:
        """Both controls for one question; none if no other person answered it."""
        question = item.question
        codes = self.dataset.value_answers[question.id].to_numpy(float, na_value=np.nan)[self.places]
        has_answer = (codes >= question.lo) & (codes <= question.hi)
        if not has_answer.any():
            return {}
        weights = self.weights[has_answer]
        shares = np.eye(len(question.values))[(codes[has_answer] - question.lo).astype(np.int64)] * weights[:, None]
        shares = np.concatenate([shares, weights[:, None] ** 2], axis=1)
        sums: Floats = sums_by(self.groups[has_answer], self.n_groups, shares)
        is_empty = sums[:, -1] == 0
        sums[is_empty] = sums.sum(axis=0)
        of_groups, n_draws = sums[:, :-1], sums[:, :-1].sum(axis=1) ** 2 / sums[:, -1]
        of_groups /= of_groups.sum(axis=1, keepdims=True)
        sizes = np.bincount(item.groups, minlength=self.n_groups)
        pooled = sizes @ of_groups / sizes.sum()
        each = np.broadcast_to(pooled, (len(item.groups), pooled.size))
        profiles = np.where(is_empty, self.n_groups, np.arange(self.n_groups))[item.groups]  # empty groups share one
        by_group = Rated(of_groups[item.groups], None, 0, 0, n_draws=n_draws[item.groups], profiles=profiles)
        return {OTHER_PEOPLE: Rated(each, None, 0, 0), OTHER_GROUPS: by_group}


WITHOUT, SHUFFLED = without_attributes(""), shuffled("")
"""The endings of names of ratings without attributes, and of shuffled ratings."""
CONTROLS = ("uniform", "majority", OTHER_PEOPLE, OTHER_GROUPS, GROUPS_MAJORITY)
"""Controls that do not come from a model."""


def with_sides(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column `attributes` (`with`, `without`, or null for controls), and only the model in `model`.

    >>> with_sides(pd.DataFrame({"model": ["m", "m without attributes", "uniform"]}))["attributes"].tolist()
    ['with', 'without', None]
    """
    if "attributes" in frame:
        return frame
    names = [str(name) for name in frame["model"]]
    is_control = [each in CONTROLS or each.endswith(SHUFFLED) for each in names]
    sides = ["without" if each.endswith(WITHOUT) else "with" for each in names]
    sides = [None if control else side for control, side in zip(is_control, sides, strict=True)]
    return frame.assign(model=[each.removesuffix(WITHOUT) for each in names], attributes=sides)


def models_only(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of models with attributes."""
    sided = with_sides(frame)
    return pd.DataFrame(sided.loc[sided["attributes"] == "with"])
