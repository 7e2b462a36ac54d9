"""Resamples of people within groups, and what the components between groups are in each of them.

A group's means carry noise v; means of people drawn from it again carry it twice. A resample takes off both: the noise
in the group as it was, and that of its own draw. Without the second, resamples centre on what the noise makes of the
estimate, and their interval lies beside the truth.

Groups also lie farther apart than they truly do, by their noise, and a draw's errors would count for more than they do:
resamples would spread too far, and intervals hold the truth too often. So errors of a draw are set against distances
between groups that are drawn together to their unbiased size.

Of n people n - 1 are drawn, so that means vary between draws exactly as v says (Rao and Wu 1988). Of a group of many
people, random blocks of them are drawn in place of people: as many means, a hundredth of the work. A block's mean is a
small sample's, so that blocks vary as people do, over sqrt of their number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from valuesassets.measure.arrays import Array
from valuesassets.measure.between_groups import GroupMeans, between, centred, sums_by
from valuesassets.measure.resampling import ROUNDING

LARGE = 200
"""People of a group from which on blocks of them are drawn."""
BLOCKS = 100
"""Blocks of a large group: their spread is known to sqrt(2 / 99), a seventh, and on average rightly."""


@dataclass(frozen=True)
class Units:
    """What is drawn: a person, or a block of people where their group is large.

    Attributes:
        unit: (n,) number of each person's unit; units of a group stand together.
        first: (G + 1,) where each group's units begin.
        is_large: (G,) whether its units are blocks.
    """

    unit: NDArray[np.int64]
    first: NDArray[np.int64]
    is_large: NDArray[np.bool_]


def draw_units(groups: NDArray[np.int64], n_groups: int, random: np.random.Generator) -> Units:
    """People as units, those of large groups put into blocks at random.

    Args:
        groups: (n,) of each person, 0 to n_groups - 1.

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
    """How often each unit is drawn, (n, draws) for each group of n units: n - 1 draws with replacement.

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
    """By how much group means of a draw lie beside those of the people it is drawn from.

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
    found: GroupMeans,
) -> Errors:
    """What draws do to the group means of one question.

    A draw's noise is computed anew where people are drawn; of blocks it is that of the whole group, which is large.
    Where a draw has nobody who answered, the group stays where it was.

    Args:
        a, b: (n, C) both sides.
        weights: (n,).
        rows: (n,) number of the unit of each row.
        counts: as `draw_counts` gives them.
        found: what `group_means` gives for the same rows and all groups of the units.
    """
    width, n_units, draws = a.shape[1], int(units.first[-1]), counts[0].shape[1]
    group_of = np.repeat(np.arange(len(counts)), np.diff(units.first))
    # distances from the group's mean: sums of small numbers, and what a group lacks stays at 0
    off = np.concatenate([a - found.a[group_of[rows]], b - found.b[group_of[rows]]], axis=1)
    w = weights[:, None]
    firsts = sums_by(rows, n_units, np.concatenate([w, w * off], axis=1))
    seconds = np.empty((n_units, 0))
    if not units.is_large.all():
        x, y = off[:, :width], off[:, width:]
        products = [np.einsum("nc,nc->n", *pair) for pair in ((x, x), (x, y), (y, y))]
        columns = np.concatenate([np.ones_like(w), 1 / w**2, off, np.stack(products, axis=1)], axis=1)
        seconds = sums_by(rows, n_units, w**2 * columns)
    moved = np.empty((len(counts), 2 * width, draws))
    once = np.stack([found.noise_aa, found.noise_ab, found.noise_bb])
    noise = once[:, :, None].repeat(draws, axis=2)
    for group, count in enumerate(counts):
        here = slice(units.first[group], units.first[group + 1])
        sums = firsts[here].T @ count
        is_empty = sums[0] <= 0  # nobody who answered was drawn, and nothing moves
        moved[group] = sums[1:] / np.where(is_empty, 1, sums[0])
        if not units.is_large[group]:
            drawn = _noise_of_draws(sums[0], seconds[here].T @ count, moved[group, :width], moved[group, width:])
            noise[:, group] = np.where(np.isfinite(drawn), drawn, once[:, group, None])
        moved[group] -= moved[group].mean(axis=1, keepdims=True)  # a mean of few unlike weights is off a little
        by_a = _stretch(moved[group, :width], once[0, group])
        by_b = _stretch(moved[group, width:], once[2, group])
        moved[group, :width] *= by_a
        moved[group, width:] *= by_b
        if not units.is_large[group]:
            noise[:, group] *= np.array([[by_a**2], [by_a * by_b], [by_b**2]])
    return Errors(moved[:, :width], moved[:, width:], noise)


def _stretch(moved: Array, noise: float) -> float:
    """By what a group's errors are multiplied so that they vary between draws as the noise says.

    Where weights differ, the mean of few people varies more between draws, or less, than its residuals tell.
    """
    varied = float(np.einsum("cr,cr->", moved, moved)) / moved.shape[1]
    return float(np.sqrt(noise / varied)) if varied > 0 and noise > 0 else 1.0


@dataclass(frozen=True)
class Drawn:
    """What draws add to the components of one question, or of several together; all of it may be summed over questions.

    Attributes:
        plain: (..., 2, 2) sums of products of both sides' distances from the mean over groups, noise and all.
        crossed: (..., 2, 2, draws) sums of products of these distances of one side and the errors of another.
        squared: (..., 3, draws) unbiased components of the errors themselves, aa, ab and bb: on average 0.
    """

    plain: Array
    crossed: Array
    squared: Array


def drawn_parts(a: Array, b: Array, errors: Errors) -> Drawn:
    """Of one question. What is left of the errors' own components on average, a hundredth of the noise, is taken off.

    Args:
        a, b: (G, C) group means.
        errors: of the same groups.
    """
    sides = np.stack([centred(side).ravel() for side in (a, b)])
    moved = (errors.a, errors.b)
    crossed = np.stack([sides @ each.reshape(sides.shape[1], -1) for each in moved], axis=1)
    pairs = zip(((0, 0), (0, 1), (1, 1)), errors.noise, strict=True)
    squared = np.stack([between(moved[x], moved[y], noise) for (x, y), noise in pairs])
    return Drawn(sides @ sides.T, crossed, squared - squared.mean(axis=1, keepdims=True))


def resampled_components(found: Array, drawn: Drawn) -> Array:
    """(3, draws) components A_aa, A_ab, A_bb in each draw: as found, and what the draw's errors add, less their noise.

    A_ab + <a', e_b> + <e_a, b'> + <e_a, e_b> - sum of v(e), where a' and b' are the groups' distances from their mean,
    mixed so that their products sum to A in place of what the noise makes of it.

    Args:
        found: (3,) components summed over questions, as `between` gives them.
        drawn: summed over the same questions.
    """
    mixed = np.einsum("xs,sed->xed", unbiased_mix(drawn.plain, found), drawn.crossed)
    crossed = np.stack([2 * mixed[0, 0], mixed[0, 1] + mixed[1, 0], 2 * mixed[1, 1]])
    return found[:, None] + crossed + drawn.squared


def unbiased_mix(plain: Array, found: Array) -> Array:
    """(2, 2) symmetric B that changes two sides least so that their products sum to the unbiased components: B N B = A.

    Args:
        plain: (2, 2) N, their sums of products as they are.
        found: (3,) A_aa, A_ab, A_bb; what is below 0 of them, by chance, counts as 0.

    Source: the linear map between two normal distributions of least distance: Dowson and Landau (1982), J. Multivariate
    Anal. 12(3), 450-455.

    >>> unbiased_mix(np.array([[4.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0, 1.0])).round(6).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    wanted = _power(np.array([[found[0], found[1]], [found[1], found[2]]]), 1)
    root, inverse = _power(plain, 0.5), _power(plain, -0.5)
    return inverse @ _power(root @ wanted @ root, 0.5) @ inverse


def _power(matrix: Array, power: float) -> Array:
    """A symmetric matrix to a power, without its eigenvalues that are not above 0."""
    values, vectors = np.linalg.eigh(matrix)
    is_there = values > ROUNDING * np.abs(values).max(initial=0)
    return (vectors * np.where(is_there, np.where(is_there, values, 1) ** power, 0)) @ vectors.T


def _noise_of_draws(s1: Array, sums: Array, a: Array, b: Array) -> Array:
    """(3, draws) v of one group in each draw, from sums of squared weights; not finite where one person was drawn.

    Args:
        s1: (draws,) sums of weights.
        sums: (2 + 2 C + 3, draws) of squared weights, of people, and of squared weights times both sides' distances and
            times their products.
        a, b: (C, draws) by how much the draw's means lie beside the group's.
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
    """Ends of the interval of a ratio from its resamples; NaN where they do not tell it from infinity.

    Where the denominator is not above 0 the ratio has gone through infinity; in more resamples than one end may leave
    out, there is no interval.

    Args:
        over, under: (draws,) numerator and denominator.
    """
    tail = (1 - level) / 2
    is_lost = ~(under > 0)
    if over.size < 2 or is_lost.mean() > tail:
        return np.nan, np.nan
    ratios = np.sort(np.where(is_lost, np.where(over < 0, -np.inf, np.inf), over / np.where(is_lost, 1, under)))
    # of B draws the k-th stands for k / (B + 1)
    places = np.clip(np.array([tail, 1 - tail]) * (over.size + 1) - 1, 0, over.size - 1)
    around = ratios[[np.floor(places).astype(int), np.ceil(places).astype(int)]]
    if not np.isfinite(around).all():
        return np.nan, np.nan
    low, high = around[0] + (places - np.floor(places)) * (around[1] - around[0])
    return float(low), float(high)


def left_out_ends(estimate: float, left_out: Array, level: float = 0.95) -> tuple[float, float]:
    """Ends of the interval of an estimate from those that leave one thing out; NaN where fewer than two or one is NaN.

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 11.3; t with n - 1 degrees.
    """
    n = left_out.size
    if n < 2 or not np.isfinite(left_out).all():
        return np.nan, np.nan
    error = np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2))
    reach = stats.t.ppf((1 + level) / 2, n - 1) * error
    return float(estimate - reach), float(estimate + reach)
