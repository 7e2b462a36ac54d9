"""Awareness without answering style: mean answers, each group's general level over the questions taken off."""

import warnings

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Probe
from valuesassets.instruments.worldvaluesbench.measures.group_moves import Sides, sides_of
from valuesassets.measure.between_groups import between, small_sample_factor, sums_by
from valuesassets.measure.resampling import ROUNDING

Floats = NDArray[np.float64]


def style_free_components(probe: Probe, model: str, min_group: int = 5) -> tuple[float, float, float]:
    """A_hh, A_mh and A_mm of what is left of mean answers when each group's mean over its questions is taken off.

    Groups that answer high whatever is asked, and models that do so for them, would otherwise be found alike. A person
    who answers several questions enters their mean too; the noise that is taken off is summed person by person.
    """
    n_groups, n_questions = len(probe.groups.levels), len(probe.questions)
    everyone, place = np.unique(np.concatenate([asked.people for asked in probe.questions]), return_inverse=True)
    places = np.split(place, np.cumsum([len(asked.people) for asked in probe.questions])[:-1])
    group_of = np.zeros(everyone.size, dtype=np.int64)
    means = np.full((2, n_groups, n_questions), np.nan)
    errors = np.zeros((2, everyone.size, n_questions))
    for number, (asked, people) in enumerate(zip(probe.questions, places, strict=True)):
        group_of[people] = asked.groups
        if model in asked.with_attributes:
            sides = sides_of(asked, None, asked.with_attributes[model], n_groups, min_group)
            _enter(means[:, :, number], errors[:, :, number], sides, asked, people, n_groups)
    is_there = np.isfinite(means[0])
    n_of_group = is_there.sum(axis=1)
    with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
        # a group that lacks questions would else keep the others' general height as a level of its own
        means = means - np.nanmean(means, axis=1, keepdims=True)
        free = means - (np.where(is_there, means, 0).sum(axis=2) / n_of_group)[:, :, None]
        errors -= (errors.sum(axis=2) / np.maximum(n_of_group, 1)[group_of])[:, :, None]
    pairs = ((0, 0), (0, 1), (1, 1))
    noise = [sums_by(group_of, n_groups, errors[a] * errors[b]) for a, b in pairs]
    sums = np.zeros(3)
    for number in range(n_questions):
        here = is_there[:, number]
        if here.sum() >= 2:
            sides_here = free[:, here, number, None]
            for place, ((a, b), v) in enumerate(zip(pairs, noise, strict=True)):
                sums[place] += between(sides_here[a], sides_here[b], v[here, number])
    hh, mh, mm = np.where(np.abs(sums) < ROUNDING, 0, sums).tolist()
    return hh, mh, mm


def _enter(
    means: Floats, errors: Floats, sides: Sides, asked: AskedQuestion, people: NDArray[np.int64], n_groups: int
) -> None:
    """Enter one question's mean answers by group, (2, G), and what each person adds to their error, (2, people)."""
    groups, weights = asked.groups[sides.rows], asked.weights[sides.rows]
    s1, s2, s3 = sums_by(groups, n_groups, np.stack([weights, weights**2, weights**3], axis=1)).T
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(small_sample_factor(s1, s2, s3)) / s1
    for side, (person, group) in enumerate(((sides.a, sides.means.a), (sides.b, sides.means.b))):
        # a mean answer in scale units is 1 less the mean of the distribution function over cut points
        means[side, sides.present] = 1 - group[sides.present].mean(axis=1)
        off = weights * (group[groups].mean(axis=1) - person.mean(axis=1))
        np.add.at(errors[side], people[sides.rows], off * scale[groups])
