"""The part of a probe that is compared group by group: groups that enough people answered in."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Groups, Probe, Rated


def in_large_groups(groups: NDArray[np.int64], answers: Floats, min_group: int, n_groups: int) -> NDArray[np.bool_]:
    """(n,) whether a person's group has `min_group` people who answered.

    >>> in_large_groups(np.array([0, 0, 1]), np.array([3.0, 1.0, 2.0]), 2, 2).tolist()
    [True, True, False]
    """
    answered = np.bincount(groups, weights=np.isfinite(answers), minlength=n_groups)
    return answered[groups] >= min_group


def large_groups(probe: Probe, min_group: int) -> Probe:
    """The probe without each question's groups of fewer than `min_group` people who answered.

    Groups that are left in no question are gone, and questions without a group. Scores of pooled answers are of the
    whole probe: who is alone in a group is pooled as well.
    """
    n_groups = len(probe.groups.levels)
    keeps = [in_large_groups(asked.groups, asked.answers, min_group, n_groups) for asked in probe.questions]
    if all(keep.all() for keep in keeps):
        return probe
    questions = [_people_of(*pair) for pair in zip(probe.questions, keeps, strict=True) if pair[1].any()]
    found = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(asked.groups for asked in questions)]))
    levels = tuple(probe.groups.levels[group] for group in found)
    renumbered = [replace(asked, groups=np.searchsorted(found, asked.groups)) for asked in questions]
    return Probe(Groups(probe.groups.factors, levels), renumbered)


def _people_of(asked: AskedQuestion, keep: NDArray[np.bool_]) -> AskedQuestion:
    """One question, of some of its people."""
    if keep.all():
        return asked
    return AskedQuestion(
        asked.question,
        asked.people[keep],
        asked.groups[keep],
        asked.weights[keep],
        asked.answers[keep],
        _rated(asked.with_attributes, keep),
        _rated(asked.without, keep),
    )


def _rated(models: Mapping[str, Rated], keep: NDArray[np.bool_]) -> dict[str, Rated]:
    return {name: rated.of_some(keep) for name, rated in models.items()}
