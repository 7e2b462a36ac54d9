"""Moves of people's and a model's answers between groups by question, which awareness is computed from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Groups, Probe, Rated
from valuesassets.measure.between_groups import (
    GroupMeans,
    between,
    centred,
    group_means,
    pairings,
    small_sample_factor,
    sums_by,
)
from valuesassets.measure.group_resampling import (
    Drawn,
    Errors,
    Units,
    draw_counts,
    draw_units,
    drawn_errors,
    drawn_parts,
    resampled_components,
)
from valuesassets.measure.ranked_probability import answers_at_most, probability_at_most
from valuesassets.measure.resampling import ROUNDING
from valuesassets.measure.seeding import seeded

Numbers = NDArray[np.int64]
ALL = "all"
SAME_PEOPLE = 0.5
"""The mean share of all people in a question from which people are resampled as the same ones in all questions."""


@dataclass(frozen=True)
class Sides:
    """People's answers to one question and a model's answers for the same people.

    Attributes:
        a, b: (n, K-1) distribution functions, people's as steps.
        rows: (n,) their rows in the question.
        present: numbers of the groups that are compared.
        means: of all groups; groups that are not compared are empty.
    """

    a: Floats
    b: Floats
    rows: Numbers
    present: Numbers
    means: GroupMeans


@dataclass(frozen=True)
class Scope:
    """A comparison of all groups, or of the levels of a factor over the same combinations of the other factors.

    Attributes:
        levels: (L, F') the level in each row; of all groups their levels by factor.
        members: (L, C) numbers of the groups of each level, with the same combination in a column.
    """

    name: str
    levels: tuple[tuple[str, ...], ...]
    members: Numbers

    def mix(self, present: Numbers, n_groups: int) -> tuple[Numbers, Floats]:
        """Rows with groups, and (L', G) weights of groups, equal over the combinations that all levels have."""
        is_there = np.isin(np.arange(n_groups), present)
        if self.name == ALL:
            return present, np.eye(n_groups)[present]
        whole = [column for column in self.members.T if (column >= 0).all() and is_there[column].all()]
        if not whole:
            return np.empty(0, dtype=np.int64), np.empty((0, n_groups))
        mixed = np.zeros((len(self.levels), n_groups))
        for column in whole:
            mixed[np.arange(len(column)), column] = 1 / len(whole)
        return np.arange(len(self.levels)), mixed


@dataclass(frozen=True)
class Moves:
    """One model in one scope by question, divided by the K - 1 cut points; NaN if a question compares nothing.

    Attributes:
        components: (Q, 3) A_hh, A_mh, A_mm; the last without the noise of drawn answers, NaN if this is unknown.
        drawn_noise: (Q,) the noise of drawn answers that was subtracted from A_mm.
        drawn: (Q, ...) changes of components in resamples.
        pairings: (L, L) sums over questions, with people's levels in rows and the model's in columns.
        lengths: (2, L, L) squared distances from the mean over the questions of the pairings, of people's level in the
            row and of the model's in the column.
    """

    components: Floats
    drawn_noise: Floats
    drawn: Drawn
    pairings: Floats
    lengths: Floats

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """(Q,) whether a question compares groups."""
        return np.isfinite(self.components[:, 0])

    def resampled(self, chosen: NDArray[np.bool_]) -> Floats:
        """(3, draws) components summed over some questions, in each resample."""
        parts = (part[chosen].sum(axis=0) for part in (self.drawn.plain, self.drawn.crossed, self.drawn.squared))
        drawn = Drawn(*parts)
        sums = self.components[chosen].sum(axis=0)
        if np.isnan(sums[2]):  # the noise of single draws is unknown; the slope does not depend on it
            sums[2] = drawn.plain[1, 1]
        return resampled_components(sums, drawn)


def scopes_of(groups: Groups) -> list[Scope]:
    """The scopes of a probe: all groups, then each factor."""
    number = {levels: place for place, levels in enumerate(groups.levels)}
    scopes = [Scope(ALL, groups.levels, np.arange(len(number))[:, None])]
    for place, factor in enumerate(groups.factors):
        names = list(dict.fromkeys(levels[place] for levels in groups.levels))
        others = list(dict.fromkeys((*levels[:place], *levels[place + 1 :]) for levels in groups.levels))
        cells = [[number.get((*rest[:place], name, *rest[place:]), -1) for rest in others] for name in names]
        scopes.append(Scope(factor, tuple((name,) for name in names), np.array(cells)))
    return scopes


def sides_of(item: AskedQuestion, first: Rated | None, second: Rated, n_groups: int, min_group: int) -> Sides:
    """People and a model, or two models if `first` is given.

    A group is compared if `min_group` of its people answered and at least two of them have all ratings.
    """
    question = item.question
    k = len(question.values)
    has_answer = np.isfinite(item.answers)
    is_whole = has_answer & np.isfinite(second.probs).all(axis=1)
    if first is not None:
        is_whole &= np.isfinite(first.probs).all(axis=1)
    answered = np.bincount(item.groups[has_answer], minlength=n_groups)
    is_compared = (answered >= min_group) & (np.bincount(item.groups[is_whole], minlength=n_groups) >= 2)
    rows = np.flatnonzero(is_whole & is_compared[item.groups])
    b = probability_at_most(second.probs[rows])
    people = answers_at_most(item.answers[rows] - question.lo, k)
    a = people if first is None else probability_at_most(first.probs[rows])
    means = group_means(a, b, item.weights[rows], item.groups[rows], n_groups)
    return Sides(a, b, rows, np.flatnonzero(is_compared), means)


class Resampling:
    """Resamples of people within groups, or of rows if questions have different people; `draws` may be 0."""

    def __init__(self, probe: Probe, draws: int, seed: int) -> None:
        self.draws, self._seed, self._n_groups = draws, seed, len(probe.groups.levels)
        people = np.concatenate([item.people for item in probe.questions])
        groups = np.concatenate([item.groups for item in probe.questions])
        self._people, first = np.unique(people, return_index=True)
        self.is_of_people = people.size >= SAME_PEOPLE * self._people.size * len(probe.questions)
        if self.is_of_people and draws:
            random = seeded(seed, "awareness", "people")
            self._units = draw_units(groups[first], self._n_groups, random)
            self._counts = draw_counts(self._units, draws, random)

    def units_of(self, item: AskedQuestion) -> tuple[Units, Numbers, Sequence[Floats]]:
        """Units, the unit of each row of the question, and counts of each unit in draws."""
        if self.is_of_people:
            return self._units, self._units.unit[np.searchsorted(self._people, item.people)], self._counts
        random = seeded(self._seed, "awareness", item.question.id)
        units = draw_units(item.groups, self._n_groups, random)
        return units, units.unit, draw_counts(units, self.draws, random)


def derive_moves(
    probe: Probe, scopes: Sequence[Scope], resampling: Resampling, min_group: int
) -> dict[str, list[Moves]]:
    """The moves of each model in each scope."""
    models = list(dict.fromkeys(name for item in probe.questions for name in item.with_attributes))
    n_groups, n_questions = len(probe.groups.levels), len(probe.questions)
    moves = {
        model: [_no_moves(n_questions, len(scope.levels), resampling.draws) for scope in scopes] for model in models
    }
    for number, item in enumerate(probe.questions):
        drawn = resampling.units_of(item) if resampling.draws else None
        for model, rated in item.with_attributes.items():
            sides = sides_of(item, None, rated, n_groups, min_group)
            if len(sides.present) >= 2:
                _add_question(moves[model], number, sides, item, rated, scopes, drawn)
    for in_scopes in moves.values():
        for moved in in_scopes:
            drawn = (moved.drawn.plain, moved.drawn.crossed, moved.drawn.squared)
            for array in (moved.components, moved.pairings, moved.lengths, *drawn):
                array[np.abs(array) < ROUNDING] = 0  # a model with one answer for everybody does not move at all
    return moves


def _no_moves(n_questions: int, n_levels: int, draws: int) -> Moves:
    shapes = ((n_questions, 2, 2), (n_questions, 2, 2, draws), (n_questions, 3, draws), (n_levels,) * 2)
    plain, crossed, squared, pairs = map(np.zeros, shapes)
    drawn = Drawn(plain, crossed, squared)
    return Moves(np.full((n_questions, 3), np.nan), np.zeros(n_questions), drawn, pairs, np.stack([pairs, pairs]))


def _add_question(
    moves: list[Moves],
    number: int,
    sides: Sides,
    item: AskedQuestion,
    rated: Rated,
    scopes: Sequence[Scope],
    drawn: tuple[Units, Numbers, Sequence[Floats]] | None,
) -> None:
    """Enter one question of one model into its moves in every scope."""
    means, cuts, errors = sides.means, sides.a.shape[1], None
    drawn_at = drawn_noise(item, rated, sides.rows, len(means.n))
    if drawn_at is not None:
        drawn_at = drawn_at[np.ix_(sides.present, sides.present)]
    if drawn is not None:
        units, rows, counts = drawn
        weights = item.weights[sides.rows]
        errors = drawn_errors(sides.a, sides.b, weights, units, rows[sides.rows], counts, means)
    noises = (means.noise_aa, means.noise_ab, means.noise_bb)
    for scope, to in zip(scopes, moves, strict=True):
        rows_there, mix = scope.mix(sides.present, len(means.n))
        if len(rows_there) < 2:
            continue
        mix = mix[:, sides.present]
        a, b = (mix @ side[sides.present] for side in (means.a, means.b))
        v = [mix**2 @ noise[sides.present] for noise in noises]
        pairs = ((a, a), (a, b), (b, b))
        to.components[number] = [between(*pair, noise) / cuts for pair, noise in zip(pairs, v, strict=True)]
        if drawn_at is not None:
            noise = mix @ drawn_at @ mix.T
            to.drawn_noise[number] = (np.trace(noise) - noise.sum() / len(noise)) / cuts
            to.components[number, 2] -= to.drawn_noise[number]
        squares = [np.sum(centred(side) ** 2, axis=1) / cuts for side in (a, b)]
        pairs_there = np.ix_(rows_there, rows_there)
        to.pairings[pairs_there] += pairings(a, b, v[1]) / cuts
        to.lengths[0][pairs_there] += squares[0][:, None]
        to.lengths[1][pairs_there] += squares[1][None, :]
        if errors is not None:
            moved_a, moved_b = (_mixed(mix, side[sides.present]) for side in (errors.a, errors.b))
            noise = np.stack([_mixed(mix**2, each[sides.present]) for each in errors.noise])
            parts = drawn_parts(a, b, Errors(moved_a, moved_b, noise))
            to.drawn.plain[number] = parts.plain / cuts
            to.drawn.crossed[number] = parts.crossed / cuts
            to.drawn.squared[number] = parts.squared / cuts


def _mixed(mix: Floats, values: Floats) -> Floats:
    """(L, ...) sums of (G, ...) values by rows of (L, G) weights."""
    is_all = mix.shape[0] == mix.shape[1]  # then the weights are those of single groups
    return values if is_all else np.tensordot(mix, values, axes=1)


def drawn_noise(item: AskedQuestion, rated: Rated, rows: NDArray[np.int64], n_groups: int) -> Floats | None:
    """(G, G) noise of drawn answers in products of a model's group means, summed over cut points; None without noise.

    A share of n answers has the unbiased variance M(1 - M)/(n - 1). The part that v(M, M) already contains, because
    people of a group have different draws, is subtracted. A single answer has the mean variance of other profiles, or
    NaN without any.

    Args:
        rows: the rows of the question that are compared.

    Source: variance of a share: Cochran (1977), Sampling Techniques, section 3.2.
    """
    if rated.n_draws is None or rated.profiles is None or not rows.size:
        return None
    _, first, profile = np.unique(rated.profiles[rows], return_index=True, return_inverse=True)
    if first.size == rows.size:
        return None  # v(M, M) contains the noise, since nobody shares a draw
    modelled, n = probability_at_most(rated.probs[rows][first]), rated.n_draws[rows][first]
    varies = _variances(np.sum(modelled * (1 - modelled), axis=1), n)
    groups, weights = item.groups[rows], item.weights[rows]
    by_profile, squares = (
        sums_by(profile * n_groups + groups, first.size * n_groups, each[:, None]).reshape(first.size, n_groups)
        for each in (weights, weights**2)
    )
    s1, s2, s3 = sums_by(groups, n_groups, np.stack([weights, weights**2, weights**3], axis=1)).T
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = by_profile / s1
        noise = parts.T @ (varies[:, None] * parts)
        of_group = np.diag(noise).copy()
        held = varies @ (squares * (1 - 2 * parts)) + s2 * of_group
        np.fill_diagonal(noise, of_group - small_sample_factor(s1, s2, s3) * held / s1**2)
    return noise


def _variances(spread: Floats, n: Floats) -> Floats:
    """(P,) variances of shares of n answers each, from M(1 - M)."""
    is_known = n > 1
    variances = np.where(is_known, spread / np.where(is_known, n - 1, 1), np.nan)
    if is_known.all():
        return variances
    of_one = np.mean(variances[is_known] * n[is_known]) if is_known.any() else np.nan
    return np.where(is_known, variances, of_one / n)
