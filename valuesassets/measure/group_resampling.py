"""Bootstrap of people within groups for components between groups (see `between_groups`).

The mean of a group has sampling noise v; the mean of a resample of it has that noise twice. A resample subtracts both:
the noise of the original sample and that of its own draw. Without the second, resamples centre on a biased estimate and
their interval misses the truth.

The observed distances between groups are too large, by the noise. The errors of a draw would be multiplied by them and
count for too much, so that intervals would be too wide. The errors are therefore multiplied by distances that have been
shrunk to their unbiased size.

n - 1 of n people are drawn, so that the variance of means between draws is exactly v (Rao and Wu 1988). In large groups
random blocks of people are drawn instead of people, at a hundredth of the cost. The mean of a block is that of a small
sample, so blocks vary as people do, divided by the square root of their size.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from valuesassets.measure.arrays import Array
from valuesassets.measure.between_groups import GroupMeans, between, centred, sums_by
from valuesassets.measure.resampling import ROUNDING, jackknife_error

LARGE = 200
"""Group size above which blocks of people are drawn."""
BLOCKS = 100
"""Blocks of a large group: the estimate of their variance is unbiased, with a relative error of sqrt(2 / 99)."""


@dataclass(frozen=True)
class Units:
    """Resampling units: people, or blocks of people in large groups.

    Attributes:
        unit: (n,) index of each person's unit; the units of a group are consecutive.
        first: (G + 1,) index of each group's first unit.
        is_large: (G,) whether a group's units are blocks.
    """

    unit: NDArray[np.int64]
    first: NDArray[np.int64]
    is_large: NDArray[np.bool_]


def draw_units(groups: NDArray[np.int64], n_groups: int, random: np.random.Generator) -> Units:
    """Resampling units of people, who are assigned to blocks at random in large groups.

    Args:
        groups: (n,) group of each person, 0 to n_groups - 1.

    Source: random groups: Wolter (2007), Introduction to Variance Estimation, 2nd ed., chapter 2.
    """
    sizes = np.bincount(groups, minlength=n_groups)
    is_large = sizes > LARGE
    n_units = np.where(is_large, BLOCKS, sizes)
    first = np.concatenate([[0], np.cumsum(n_units)])
    order = np.lexsort((random.random(groups.size), groups))
    place = np.empty(groups.size, dtype=np.int64)
    place[order] = np.arange(groups.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Units(first[groups] + place % np.maximum(n_units, 1)[groups], first, is_large)


def draw_counts(units: Units, draws: int, random: np.random.Generator) -> list[Array]:
    """Number of times that each unit is drawn, (n, draws) for each group of n units: n - 1 draws with replacement.

    Source: Rao and Wu (1988), J. Am. Stat. Assoc. 83(401), 231-241; Rao, Wu and Yue (1992), Survey Methodology 18(2),
    209-217.
    """
    counts = []
    for n in np.diff(units.first):
        chosen = random.integers(0, max(n, 1), size=(max(n - 1, 0), draws))
        places = chosen * draws + np.arange(draws)
        counts.append(np.bincount(places.ravel(), minlength=draws * n).reshape(n, draws).astype(float))
    return counts


@dataclass(frozen=True)
class Errors:
    """Deviations of the group means of each draw from those of the original sample.

    Attributes:
        a, b: (G, C, draws) of both sides.
        noise: (3, G, draws) unbiased (co)variances aa, ab and bb of the draw's means, summed over columns.
    """

    a: Array
    b: Array
    noise: Array


def drawn_errors(
    a: Array,
    b: Array,
    weights: Array,
    units: Units,
    rows: NDArray[np.int64],
    counts: Sequence[Array],
    means: GroupMeans,
) -> Errors:
    """Errors of the group means of one question in each draw.

    The noise of a draw is computed for each draw where people are drawn; for blocks it is that of the whole group,
    which is large. The error is 0 where nobody in a draw answered.

    Args:
        a, b: (n, C) both sides.
        weights: (n,).
        rows: (n,) unit of each row.
        counts: as `draw_counts` returns them.
        means: as `group_means` returns them for the same rows and all groups of the units.
    """
    width, n_units, draws = a.shape[1], int(units.first[-1]), counts[0].shape[1]
    group_of = np.repeat(np.arange(len(counts)), np.diff(units.first))
    # deviations from the group's mean: sums of small numbers, and 0 for a group without answers
    deviations = np.concatenate([a - means.a[group_of[rows]], b - means.b[group_of[rows]]], axis=1)
    w = weights[:, None]
    firsts = sums_by(rows, n_units, np.concatenate([w, w * deviations], axis=1))
    seconds = np.empty((n_units, 0))
    if not units.is_large.all():
        x, y = deviations[:, :width], deviations[:, width:]
        products = [np.einsum("nc,nc->n", *pair) for pair in ((x, x), (x, y), (y, y))]
        columns = np.concatenate([np.ones_like(w), 1 / w**2, deviations, np.stack(products, axis=1)], axis=1)
        seconds = sums_by(rows, n_units, w**2 * columns)
    errors = np.empty((len(counts), 2 * width, draws))
    sample_noise = np.stack([means.noise_aa, means.noise_ab, means.noise_bb])
    noise = sample_noise[:, :, None].repeat(draws, axis=2)
    for group, count in enumerate(counts):
        rows_of_group = slice(units.first[group], units.first[group + 1])
        sums = firsts[rows_of_group].T @ count
        is_empty = sums[0] <= 0  # nobody who answered was drawn: the errors are 0
        errors[group] = sums[1:] / np.where(is_empty, 1, sums[0])
        if not units.is_large[group]:
            both = errors[group, :width], errors[group, width:]
            noise_of_draws = _noise_of_draws(sums[0], seconds[rows_of_group].T @ count, *both)
            noise[:, group] = np.where(np.isfinite(noise_of_draws), noise_of_draws, sample_noise[:, group, None])
        errors[group] -= errors[group].mean(axis=1, keepdims=True)  # few unequal weights leave a small bias
        factor_a = _stretch(errors[group, :width], sample_noise[0, group])
        factor_b = _stretch(errors[group, width:], sample_noise[2, group])
        errors[group, :width] *= factor_a
        errors[group, width:] *= factor_b
        if not units.is_large[group]:
            noise[:, group] *= np.array([[factor_a**2], [factor_a * factor_b], [factor_b**2]])
    return Errors(errors[:, :width], errors[:, width:], noise)


def _stretch(errors: Array, noise: float) -> float:
    """Factor that gives a group's errors the variance between draws that the noise implies.

    With unequal weights, the mean of few people varies more or less between draws than its residuals imply.
    """
    variance = float(np.einsum("cr,cr->", errors, errors)) / errors.shape[1]
    return float(np.sqrt(noise / variance)) if variance > 0 and noise > 0 else 1.0


@dataclass(frozen=True)
class Drawn:
    """Sums of products from which the components of each draw are computed; they add up over questions.

    Attributes:
        plain: (..., 2, 2) sums of products of both sides' deviations from the mean over groups, including noise.
        crossed: (..., 2, 2, draws) sums of products of one side's deviations and another side's errors.
        squared: (..., 3, draws) unbiased components of the errors, aa, ab and bb, with a mean of 0.
    """

    plain: Array
    crossed: Array
    squared: Array


def drawn_parts(a: Array, b: Array, errors: Errors) -> Drawn:
    """The sums of products of one question. The mean of `squared`, about a hundredth of the noise, is subtracted.

    Args:
        a, b: (G, C) group means.
        errors: those of the same groups.
    """
    sides = np.stack([centred(side).ravel() for side in (a, b)])
    errors_by_side = (errors.a, errors.b)
    crossed = np.stack([sides @ each.reshape(sides.shape[1], -1) for each in errors_by_side], axis=1)
    pairs = zip(((0, 0), (0, 1), (1, 1)), errors.noise, strict=True)
    squared = np.stack([between(errors_by_side[x], errors_by_side[y], noise) for (x, y), noise in pairs])
    return Drawn(sides @ sides.T, crossed, squared - squared.mean(axis=1, keepdims=True))


def resampled_components(components: Array, drawn: Drawn) -> Array:
    """(3, draws) components A_aa, A_ab, A_bb in each draw: the estimate plus the draw's errors, minus their noise.

    A_ab + <a', e_b> + <e_a, b'> + <e_a, e_b> - sum of v(e). a' and b' are the groups' deviations from the mean after a
    linear map that makes their sums of products equal the unbiased components A.

    Args:
        components: (3,) components summed over questions, as `between` returns them.
        drawn: sums over the same questions.
    """
    mixed = np.einsum("xs,sed->xed", unbiased_mix(drawn.plain, components), drawn.crossed)
    crossed = np.stack([2 * mixed[0, 0], mixed[0, 1] + mixed[1, 0], 2 * mixed[1, 1]])
    return components[:, None] + crossed + drawn.squared


def unbiased_mix(plain: Array, components: Array) -> Array:
    """(2, 2) symmetric B with the least change of two sides that gives them the unbiased components: B N B = A.

    Args:
        plain: (2, 2) N, the observed sums of products.
        components: (3,) A_aa, A_ab, A_bb; negative eigenvalues, which occur by chance, count as 0.

    Source: the linear map between two normal distributions of least distance: Dowson and Landau (1982), J. Multivariate
    Anal. 12(3), 450-455.

    >>> unbiased_mix(np.array([[4.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0, 1.0])).round(6).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    wanted = _power(np.array([[components[0], components[1]], [components[1], components[2]]]), 1)
    root, inverse = _power(plain, 0.5), _power(plain, -0.5)
    return inverse @ _power(root @ wanted @ root, 0.5) @ inverse


def _power(matrix: Array, power: float) -> Array:
    """A symmetric matrix to a power, over its positive eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    is_positive = values > ROUNDING * np.abs(values).max(initial=0)
    return (vectors * np.where(is_positive, np.where(is_positive, values, 1) ** power, 0)) @ vectors.T


def _noise_of_draws(s1: Array, sums: Array, a: Array, b: Array) -> Array:
    """(3, draws) noise v of one group per draw, from sums of squared weights; not finite where one person was drawn.

    Args:
        s1: (draws,) sums of weights.
        sums: (2 + 2 C + 3, draws) sums of squared weights, of people, and of squared weights times both sides'
            deviations and times their products.
        a, b: (C, draws) deviations of the draw's means from the group's.
    """
    width = len(a)
    s2, n, x, y, products = sums[0], sums[1], sums[2 : 2 + width], sums[2 + width : 2 + 2 * width], sums[-3:]
    around = products - [
        np.sum(a * (2 * x - s2 * a), axis=0),
        np.sum(a * y + b * x - s2 * a * b, axis=0),
        np.sum(b * (2 * y - s2 * b), axis=0),
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        return around * n / ((n - 1) * s1**2)


def ratio_ends(over: Array, under: Array, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of a ratio from its resamples; NaN where the resamples do not exclude infinity.

    Where the denominator is not positive the ratio has passed infinity. There is no interval where this happens in more
    resamples than lie beyond one end.

    Args:
        over, under: (draws,) numerator and denominator.
    """
    tail = (1 - level) / 2
    is_infinite = ~(under > 0)
    if over.size < 2 or is_infinite.mean() > tail:
        return np.nan, np.nan
    ratios = np.sort(np.where(is_infinite, np.where(over < 0, -np.inf, np.inf), over / np.where(is_infinite, 1, under)))
    # of B draws the k-th stands for k / (B + 1)
    places = np.clip(np.array([tail, 1 - tail]) * (over.size + 1) - 1, 0, over.size - 1)
    around = ratios[[np.floor(places).astype(int), np.ceil(places).astype(int)]]
    if not np.isfinite(around).all():
        return np.nan, np.nan
    low, high = around[0] + (places - np.floor(places)) * (around[1] - around[0])
    return float(low), float(high)


def left_out_ends(estimate: float, left_out: Array, level: float = 0.95) -> tuple[float, float]:
    """Jackknife interval of an estimate from the estimates that leave out one unit; NaN with fewer than two, or a NaN.

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 11.3; t with n - 1 degrees.
    """
    n = left_out.size
    if n < 2 or not np.isfinite(left_out).all():
        return np.nan, np.nan
    reach = stats.t.ppf((1 + level) / 2, n - 1) * jackknife_error(left_out)
    return float(estimate - reach), float(estimate + reach)
