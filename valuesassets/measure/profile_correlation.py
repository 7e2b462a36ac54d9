"""Correlation of two sets of profiles over the same items: do a model's answers resemble those of its country?

A profile is a row of expected answers over items. Without centring, any two sets correlate because items differ in
their mean answer. Centred on items, sets with the same response style (such as acquiescence) still correlate. Centred
on items and on profiles (double-centred), only the interaction of profiles and items is left. On a bounded scale even
that contains a trace of response style, which moves an item less the closer it is to an end of its scale;
style-centring removes this trace.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.records.errors import MissingData

LEAST_VARIANCE = 1e-12
"""Mean square below which centred values are rounding errors, and there is no correlation."""


def centred_on_items(profiles: Array) -> Array:
    """Profiles minus the items' means, (P, I); NaN where missing, and for items that only one profile has.

    >>> centred_on_items(np.array([[1.0, 5.0], [3.0, np.nan]])).tolist()
    [[-1.0, nan], [1.0, nan]]
    """
    means, n = mean_of_known(profiles, axis=0), np.isfinite(profiles).sum(axis=0)
    return np.where(n > 1, profiles - means, np.nan)


def without_style(profiles: Array, style: Array) -> Array:
    """Item-centred profiles minus response style, (P, I): the residuals of a regression of each profile on `style`.

    Args:
        profiles: (P, I), NaN where missing.
        style: (I, S) effect of each of S response styles on each item; see `style_of_items`.
    """
    centred = centred_on_items(profiles)
    is_present = np.isfinite(centred)
    squares = np.einsum("pi,ij,ik->pjk", is_present.astype(float), style, style, optimize=True)
    slopes = np.linalg.pinv(squares, hermitian=True) @ (np.where(is_present, centred, 0) @ style)[..., None]
    return centred - (style @ slopes[..., 0].T).T


def style_of_items(means: Array, variances: Array) -> Array:
    """Effects of response styles on each item, (I, 4).

    The columns are a shift of all items, a tendency to one end of the scale, a tendency to both ends (extreme
    responding), and the curvature of a strong tendency to one end. A tendency of t logits along the scale moves an
    item's mean by t times the variance of its answers, so it hardly moves items at the ends of a scale.

    Args:
        means, variances: (I,) of the answers on [0, 1], pooled over profiles.

    Source: for the kinds of style, Baumgartner and Steenkamp (2001), Journal of Marketing Research 38(2), 143-156; the
    derivative of an exponential family's mean is its variance.
    """
    return np.stack([np.ones_like(means), variances, means - 0.5, variances * (means - 0.5)], axis=1)


def without_shared_dimension(a: Array, b: Array) -> tuple[Array, Array]:
    """Two sets of profiles without the one dimension over items that their paired rows share most.

    This removes any response style, known or unknown, that moves items by one pattern in both rows of a pair, and as
    much of anything else that they share. The dimension is the one with the largest sum of products over pairs. The
    remaining sum is never larger than after removing the true pattern of the style, so a test of it is conservative.

    Args:
        a, b: (P, I) profiles, row p of both a pair; NaN where missing.

    Source: the first component of the covariance between two sets, Tucker (1958), Psychometrika 23(2), 111-136
    (inter-battery factor analysis), here with one pattern for both.
    """
    both = np.isfinite(a) & np.isfinite(b)
    centred_a, centred_b = (np.where(both, centred_on_items(each), 0.0) for each in (a, b))
    centred_a, centred_b = (np.where(np.isfinite(each), each, 0.0) for each in (centred_a, centred_b))
    shared = centred_a.T @ centred_b
    largest = len(shared) - 1
    pattern = linalg.eigh(shared + shared.T, subset_by_index=(largest, largest))[1]
    return without_style(a, pattern), without_style(b, pattern)


@dataclass(frozen=True)
class Paired:
    """Sums over shared items for every pair of an `a` and a `b` profile, from which correlations are computed.

    Attributes:
        sums: (6, ..., P, Q) numbers of shared items, then sums of a, b, a^2, b^2 and ab over them.
        is_double: whether each pair's own means are subtracted.
    """

    sums: Array
    is_double: bool

    def correlation(self, pairs: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Array:
        """Pearson correlations over all items and chosen pairs together.

        Args:
            pairs: rows and columns, (..., N) each, of the N pairs of each correlation.

        Returns:
            (...); NaN where nothing varies.
        """
        n, covariance, va, vb = self._variations(pairs)
        least = LEAST_VARIANCE * np.maximum(n, 1)
        is_known = (va > least) & (vb > least)
        return np.where(is_known, covariance / np.sqrt(np.where(is_known, va * vb, 1)), np.nan)

    def without_noise(self, pairs: tuple[NDArray[np.intp], NDArray[np.intp]], noise: Array) -> Array:
        """Factors of correlations, (...), at least 1, by which noise of the `a` profiles is taken out of them.

        Args:
            noise: (...) sum of squares that noise adds to the chosen `a` profiles.

        Returns:
            (...); NaN where nothing varies beyond the noise.

        Source: Spearman (1904), Am. J. Psychol. 15(1), 72-101 (attenuation).
        """
        n, _, va, _ = self._variations(pairs)
        beyond = va - noise
        is_known = beyond > LEAST_VARIANCE * np.maximum(n, 1)
        return np.where(is_known, np.sqrt(va / np.where(is_known, beyond, 1)), np.nan)

    def _variations(self, pairs: tuple[NDArray[np.intp], NDArray[np.intp]]) -> tuple[Array, Array, Array, Array]:
        """Numbers of items, and sums of centred products ab, aa and bb, (...) each, over chosen pairs."""
        n, a, b, aa, bb, ab = (part[..., pairs[0], pairs[1]] for part in self.sums)
        if not self.is_double:
            n, a, b, aa, bb, ab = (part.sum(axis=-1, keepdims=True) for part in (n, a, b, aa, bb, ab))
        sizes = np.maximum(n, 1)
        covariance, va, vb = (
            np.sum(products - x * y / sizes, axis=-1) for products, x, y in ((ab, a, b), (aa, a, a), (bb, b, b))
        )
        return n.sum(axis=-1), covariance, va, vb


def paired(a: Array, b: Array, is_double: bool = False) -> Paired:
    """Sums over shared items for every pair of a profile of `a` and a profile of `b`.

    Args:
        a, b: (P, I) and (Q, I) profiles, centred or not, NaN where missing.
        is_double: whether to subtract each pair's own means as well.

    Raises:
        MissingData: the profiles have different items.
    """
    return Paired(np.stack([left @ right.T for left, right in _factors(a, b)]), is_double)


def paired_without_each(a: Array, b: Array, is_double: bool = False) -> Paired:
    """As `paired`, I times over, each time without one of the I items; sums are (6, I, P, Q)."""
    items = [np.einsum("pi,qi->ipq", left, right) for left, right in _factors(a, b)]
    return Paired(np.stack([each.sum(axis=0) - each for each in items]), is_double)


def _factors(a: Array, b: Array) -> tuple[tuple[Array, Array], ...]:
    """The two factors of each of the six sums; see `Paired`."""
    if a.shape[1] != b.shape[1]:
        raise MissingData(f"profiles over {a.shape[1]} and {b.shape[1]} items cannot be correlated; align them first")
    in_a, in_b = np.isfinite(a).astype(float), np.isfinite(b).astype(float)
    x, y = np.nan_to_num(a), np.nan_to_num(b)
    return (in_a, in_b), (x, in_b), (in_a, y), (x**2, in_b), (in_a, y**2), (x, y)


def correlation(a: Array, b: Array, is_double: bool = False) -> float:
    """Pearson correlation of the rows of `a` with those of `b` over all rows and items; NaN if nothing varies.

    >>> a = np.array([[0.1, 0.9], [0.2, 0.8]])
    >>> round(correlation(a, a[::-1]), 2), round(correlation(centred_on_items(a), centred_on_items(a[::-1])), 2)
    (0.96, -1.0)
    """
    rows = np.arange(a.shape[0])
    return float(paired(a, b, is_double).correlation((rows, rows)))


def resampled_correlations(
    a: Array, b: Array, counts: Array, is_double: bool = False, noise: Array | None = None
) -> Array:
    """`correlation` in resamples of items, (draws,), with the centring of the original sample.

    Args:
        counts: (draws, I) number of times that each item occurs in each resample.
        noise: (I,) sum of squares that noise adds to each item of `a`, which is taken out of the correlations.
    """
    in_both = np.isfinite(a) & np.isfinite(b)
    x, y = np.where(in_both, a, 0), np.where(in_both, b, 0)
    parts = (in_both.astype(float), x, y, x**2, y**2, x * y)
    sums = np.stack([(counts @ part.T)[..., None] for part in parts])
    pairs = np.arange(a.shape[0]), np.zeros(a.shape[0], dtype=np.intp)
    resampled = Paired(sums, is_double)
    correlations = resampled.correlation(pairs)
    return correlations if noise is None else correlations * resampled.without_noise(pairs, counts @ noise)
