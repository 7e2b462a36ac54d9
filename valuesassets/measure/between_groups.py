"""Components between groups without sampling noise: how far groups lie apart, on one side or on two sides together.

Two sides are measured on the same people, such as what they answered and what a model says of them. Each side's group
means carry the noise of who was asked. Its expectation is known from the spread within groups and is taken off, also
where both sides share the people: one person on both sides is no evidence that groups move together.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from valuesassets.measure.arrays import Array


@dataclass(frozen=True)
class GroupMeans:
    """Weighted means of two sides by group, with the noise in them.

    Attributes:
        n: (G,) people. Means of a group without people are NaN, and so is the noise of one with fewer than two.
        effective_n: (G,) (sum w)^2 / sum w^2 (Kish 1965).
        a, b: (G, C) means of the two sides.
        noise_aa, noise_ab, noise_bb: (G,) unbiased (co)variances of these means, summed over the C columns.
    """

    n: NDArray[np.int64]
    effective_n: Array
    a: Array
    b: Array
    noise_aa: Array
    noise_ab: Array
    noise_bb: Array

    @property
    def noise_of_difference(self) -> Array:
        """(G,) unbiased variance of b - a, summed over the columns."""
        return self.noise_aa - 2 * self.noise_ab + self.noise_bb


def sums_by(places: NDArray[np.int64], n: int, columns: Array) -> Array:
    """(n, C) sums of the rows of (rows, C) columns that have the same place, 0 to n - 1."""
    sums = np.zeros((n, columns.shape[1]))
    for number, column in enumerate(columns.T):
        sums[:, number] = np.bincount(places, weights=column, minlength=n)
    return sums


def small_sample_factor(s1: ArrayLike, s2: ArrayLike, s3: ArrayLike) -> Array:
    """By what the squared residuals of a weighted mean have to be multiplied to be unbiased; inf for one person.

    Of independent people with one variance, sum w^2 (y - mean)^2 is on average (s2 - 2 s3/s1 + s2^2/s1^2) times it,
    and the mean's own variance s2/s1^2 times it. With equal weights the factor is n/(n - 1); where weights differ,
    n/(n - 1) would be too small, at 5 people and weights with a coefficient of variation of .5 by a seventh.

    Args:
        s1, s2, s3: (...) sums over people of the weights, their squares and their cubes.

    >>> small_sample_factor(5.0, 5.0, 5.0).item()  # five people of weight 1
    1.25
    """
    s1, s2, s3 = (np.asarray(each, dtype=float) for each in (s1, s2, s3))
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = 1 - 2 * s3 / (s1 * s2) + s2 / s1**2
        return np.where(kept > 1e-9, 1 / kept, np.inf)


def group_means(a: Array, b: Array, weights: Array, groups: NDArray[np.int64], n_groups: int) -> GroupMeans:
    """Means of both sides by group, and their noise.

    v(a, b) = f sum w^2 (a_i - a_g)(b_i - b_g) / (sum w)^2, with f of `small_sample_factor`.

    Args:
        a, b: (n, C) of the same people, no gaps.
        weights: (n,) above 0.
        groups: (n,) 0 to n_groups - 1.

    Source: Cochran (1977), Sampling Techniques, section 6.4 (a ratio's variance by its residuals).

    >>> two = group_means(np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]]), np.ones(2), np.zeros(2, int), 1)
    >>> two.a.item(), two.noise_ab.item()
    (0.5, 0.25)
    """
    squared = weights**2
    s1, s2, s3 = sums_by(groups, n_groups, np.stack([weights, squared, squared * weights], axis=1)).T
    with np.errstate(divide="ignore", invalid="ignore"):
        means = [sums_by(groups, n_groups, weights[:, None] * side) / s1[:, None] for side in (a, b)]
        off_a, off_b = a - means[0][groups], b - means[1][groups]
        products = [np.einsum("nc,nc->n", x, y) * squared for x, y in ((off_a, off_a), (off_a, off_b), (off_b, off_b))]
        n = np.bincount(groups, minlength=n_groups)
        factor = np.where(n >= 2, small_sample_factor(s1, s2, s3), np.nan)
        noise = sums_by(groups, n_groups, np.stack(products, axis=1)) * (factor / s1**2)[:, None]
        return GroupMeans(n, s1**2 / s2, means[0], means[1], *noise.T)


def between(a: Array, b: Array, noise: Array) -> Array:
    """(...) unbiased sums over groups of the products of two sides' distances from the mean over groups.

    sum_g <a_g - a., b_g - b.> - (1 - 1/G) sum_g v_g(a, b), groups alike. Of one side, its squared distances.

    Args:
        a, b: (G, C, ...) group means.
        noise: (G, ...) of the pair.

    >>> between(np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]]), np.array([0.1, 0.1])).item()
    0.4
    """
    n = len(a)
    products = np.einsum("gc...,gc...->...", a, b) - np.einsum("c...,c...->...", a.sum(axis=0), b.sum(axis=0)) / n
    return products - (1 - 1 / n) * noise.sum(axis=0)


def pairings(a: Array, b: Array, noise: Array) -> Array:
    """(G, G) what each pair of a group of side a and a group of side b adds; the sum of the diagonal is `between`.

    Summed over any pairing of all groups it is unbiased: what a pairing leaves in place has its noise taken off.

    Args:
        a, b: (G, C) group means.
        noise: (G,) of the pair.
    """
    n = a.shape[0]
    return centred(a) @ centred(b).T - np.diag(noise) + noise.sum() / n**2


def centred(means: Array) -> Array:
    """(G, C) distances from the mean over groups."""
    return means - means.mean(axis=0)
