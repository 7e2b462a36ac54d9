"""Correlation of two sets of profiles, each pair of profiles over the same items: is this model like its country?

A profile is one row of expected values over items. Three centrings answer three questions. Without any, that items
differ in their mean answer makes every two sets alike. Centred on items, a shared habit (say, to agree) still does.
Centred on items and on profiles, only the pattern of who differs on what is left. On a bounded scale even that holds
a trace of habits, which can move an item less the nearer it lies to an end; style-centring takes that off as well.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.records.errors import MissingData

LEAST_VARIANCE = 1e-12
"""Mean square under which what is left after centring is rounding: there is no correlation."""


def centred_on_items(profiles: Array) -> Array:
    """Profiles without their items' means, (P, I); NaN stays, and an item that one profile has is NaN throughout.

    >>> centred_on_items(np.array([[1.0, 5.0], [3.0, np.nan]])).tolist()
    [[-1.0, nan], [1.0, nan]]
    """
    means, n = mean_of_known(profiles, axis=0), np.isfinite(profiles).sum(axis=0)
    return np.where(n > 1, profiles - means, np.nan)


def without_style(profiles: Array, style: Array) -> Array:
    """Item-centred profiles less what a habit would do to them, (P, I): a regression of each profile over its items.

    Args:
        profiles: (P, I), NaN where missing.
        style: (I, S) how far each of S habits moves each item; see `style_of_items`.
    """
    centred = centred_on_items(profiles)
    known = np.isfinite(centred)
    squares = np.einsum("pi,ij,ik->pjk", known.astype(float), style, style, optimize=True)
    slopes = np.linalg.pinv(squares, hermitian=True) @ (np.where(known, centred, 0) @ style)[..., None]
    return centred - (style @ slopes[..., 0].T).T


def style_of_items(means: Array, variances: Array) -> Array:
    """How far habits move each item, (I, 4): a shift of all, a push to one end, one to both ends, a strong push's bend.

    A push of t logits along the scale moves an item's mean by t times the variance of its answers, so that items at the
    ends, and scales of many steps, hardly follow.

    Args:
        means, variances: (I,) of the answers on [0, 1], pooled over profiles.

    Source: for the kinds of style, Baumgartner and Steenkamp (2001), Journal of Marketing Research 38(2), 143-156; the
    derivative of an exponential family's mean is its variance.
    """
    return np.stack([np.ones_like(means), variances, means - 0.5, variances * (means - 0.5)], axis=1)


def without_shared_dimension(a: Array, b: Array) -> tuple[Array, Array]:
    """Two sets of profiles, each less the one dimension over items that the pairs of their rows share most.

    Whatever habit moves items by one pattern, known or not, in both rows of a pair alike, is taken off, and with it as
    much of anything else that they share. The dimension is the one that adds most to the sum of products of the pairs:
    the sum that is left is never larger than without the habit's own pattern, so that a test of it errs to caution.

    Args:
        a, b: (P, I) profiles, row p of both a pair; NaN where missing.

    Source: the first component of the covariance between two sets, Tucker (1958), Psychometrika 23(2), 111-136
    (inter-battery factor analysis), here with one pattern for both.
    """
    both = np.isfinite(a) & np.isfinite(b)
    one, other = (np.where(both, centred_on_items(each), 0.0) for each in (a, b))
    one, other = (np.where(np.isfinite(each), each, 0.0) for each in (one, other))
    shared = one.T @ other
    largest = len(shared) - 1
    pattern = linalg.eigh(shared + shared.T, subset_by_index=(largest, largest))[1]
    return without_style(a, pattern), without_style(b, pattern)


@dataclass(frozen=True)
class Paired:
    """Sums over the items that both profiles of a pair have, for every pair of an `a` and a `b` profile.

    Attributes:
        sums: (6, ..., P, Q) numbers of items, then sums of a, b, a^2, b^2 and ab over them.
        is_double: whether each pair's own means are taken off.
    """

    sums: Array
    is_double: bool

    def correlation(self, pairs: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Array:
        """Pearson correlations over all items of the chosen pairs together.

        Args:
            pairs: rows and columns, (..., N) each: N pairs per correlation.

        Returns:
            (...); NaN where nothing varies.
        """
        n, a, b, aa, bb, ab = (part[..., pairs[0], pairs[1]] for part in self.sums)
        if not self.is_double:
            n, a, b, aa, bb, ab = (part.sum(axis=-1, keepdims=True) for part in (n, a, b, aa, bb, ab))
        sizes = np.maximum(n, 1)
        covariance, va, vb = (
            np.sum(square - one * other / sizes, axis=-1) for square, one, other in ((ab, a, b), (aa, a, a), (bb, b, b))
        )
        least = LEAST_VARIANCE * np.maximum(n.sum(axis=-1), 1)
        is_known = (va > least) & (vb > least)
        return np.where(is_known, covariance / np.sqrt(np.where(is_known, va * vb, 1)), np.nan)


def paired(a: Array, b: Array, is_double: bool = False) -> Paired:
    """Sums for every pair of a profile of `a` and one of `b`.

    Args:
        a, b: (P, I) and (Q, I) profiles, centred or not, NaN where missing.
        is_double: take off each pair's own means as well.

    Raises:
        MissingData: the profiles are over different items.
    """
    if a.shape[1] != b.shape[1]:
        raise MissingData(f"profiles over {a.shape[1]} and {b.shape[1]} items cannot be correlated; align them first")
    known, known_b = np.isfinite(a).astype(float), np.isfinite(b).astype(float)
    one, other = np.nan_to_num(a), np.nan_to_num(b)
    parts = ((known, known_b), (one, known_b), (known, other), (one**2, known_b), (known, other**2), (one, other))
    return Paired(np.stack([of_a @ of_b.T for of_a, of_b in parts]), is_double)


def correlation(a: Array, b: Array, is_double: bool = False) -> float:
    """Pearson correlation of the rows of `a` with the same rows of `b` over all items together; NaN if nothing varies.

    >>> a = np.array([[0.1, 0.9], [0.2, 0.8]])
    >>> round(correlation(a, a[::-1]), 2), round(correlation(centred_on_items(a), centred_on_items(a[::-1])), 2)
    (0.96, -1.0)
    """
    rows = np.arange(a.shape[0])
    return float(paired(a, b, is_double).correlation((rows, rows)))


def resampled_correlations(a: Array, b: Array, counts: Array, is_double: bool = False) -> Array:
    """`correlation` in samples of items, (draws,); what was taken off each item stays off.

    Args:
        counts: (draws, I) how often each item stands in each sample.
    """
    known = np.isfinite(a) & np.isfinite(b)
    one, other = np.where(known, a, 0), np.where(known, b, 0)
    parts = (known.astype(float), one, other, one**2, other**2, one * other)
    sums = np.stack([(counts @ part.T)[..., None] for part in parts])
    rows, only = np.arange(a.shape[0]), np.zeros(a.shape[0], dtype=np.intp)
    return Paired(sums, is_double).correlation((rows, only))
