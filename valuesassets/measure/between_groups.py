"""Variance and covariance between groups, corrected for sampling noise.

Two sides are measured on the same people, such as their answers and a model's predictions of them. The group means of
each side contain sampling noise. Its expectation is estimated from the variance within groups and subtracted, from the
covariance too: one person counted on both sides is no evidence that the groups' means covary.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from valuesassets.measure.arrays import Array


@dataclass(frozen=True)
class GroupMeans:
    """Weighted group means of two sides, with their sampling noise.

    Attributes:
        n: (G,) people. The means of a group without people are NaN; its noise is NaN with fewer than two people.
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
    """(n, C) sums of (rows, C) columns over the rows of each group; `places` are the rows' groups, 0 to n - 1."""
    sums = np.zeros((n, columns.shape[1]))
    for number, column in enumerate(columns.T):
        sums[:, number] = np.bincount(places, weights=column, minlength=n)
    return sums


def small_sample_factor(s1: ArrayLike, s2: ArrayLike, s3: ArrayLike) -> Array:
    """Factor that makes a weighted mean's variance, estimated from squared residuals, unbiased; inf for one person.

    For independent people with equal variance, sum w^2 (y - mean)^2 has the expectation (s2 - 2 s3/s1 + s2^2/s1^2)
    times that variance, and the mean has the variance s2/s1^2 times it. With equal weights the factor is n/(n - 1).
    With unequal weights n/(n - 1) is too small: by a seventh for 5 people whose weights have a coefficient of variation
    of .5.

    Args:
        s1, s2, s3: (...) sums over people of the weights, their squares and their cubes.

    >>> small_sample_factor(5.0, 5.0, 5.0).item()  # five people of weight 1
    1.25
    """
    s1, s2, s3 = (np.asarray(each, dtype=float) for each in (s1, s2, s3))
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = 1 - 2 * s3 / (s1 * s2) + s2 / s1**2
        return np.where(expected > 1e-9, 1 / expected, np.inf)


def group_means(a: Array, b: Array, weights: Array, groups: NDArray[np.int64], n_groups: int) -> GroupMeans:
    """Means of both sides by group, and their sampling noise.

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
        rest_a, rest_b = a - means[0][groups], b - means[1][groups]
        pairs = (rest_a, rest_a), (rest_a, rest_b), (rest_b, rest_b)
        products = [np.einsum("nc,nc->n", x, y) * squared for x, y in pairs]
        n = np.bincount(groups, minlength=n_groups)
        factor = np.where(n >= 2, small_sample_factor(s1, s2, s3), np.nan)
        noise = sums_by(groups, n_groups, np.stack(products, axis=1)) * (factor / s1**2)[:, None]
        return GroupMeans(n, s1**2 / s2, means[0], means[1], *noise.T)


def between(a: Array, b: Array, noise: Array) -> Array:
    """(...) unbiased sum over groups of the products of two sides' deviations from their means over groups.

    sum_g <a_g - a., b_g - b.> - (1 - 1/G) sum_g v_g(a, b), with equal weights of groups. With the same side twice it
    is the sum of squared deviations.

    Args:
        a, b: (G, C, ...) group means.
        noise: (G, ...) sampling (co)variance of the two sides' means.

    >>> between(np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]]), np.array([0.1, 0.1])).item()
    0.4
    """
    n = len(a)
    products = np.einsum("gc...,gc...->...", a, b) - np.einsum("c...,c...->...", a.sum(axis=0), b.sum(axis=0)) / n
    return products - (1 - 1 / n) * noise.sum(axis=0)


def pairings(a: Array, b: Array, noise: Array) -> Array:
    """(G, G) contribution of each pair of a group of side a and a group of side b; the diagonal sums to `between`.

    The sum over any one-to-one pairing of groups is unbiased: the noise of groups paired with themselves is subtracted.

    Args:
        a, b: (G, C) group means.
        noise: (G,) sampling (co)variance of the two sides' means.
    """
    n = a.shape[0]
    return centred(a) @ centred(b).T - np.diag(noise) + noise.sum() / n**2


def centred(means: Array) -> Array:
    """(G, C) deviations from the mean over groups."""
    return means - means.mean(axis=0)
