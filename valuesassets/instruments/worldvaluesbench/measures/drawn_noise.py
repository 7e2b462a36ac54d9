"""The noise of answers that were drawn: people of one profile share the draw, so their spread does not show it."""

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Rated
from valuesassets.measure.between_groups import small_sample_factor, sums_by
from valuesassets.measure.ranked_probability import probability_at_most

Floats = NDArray[np.float64]


def drawn_noise(asked: AskedQuestion, rated: Rated, rows: NDArray[np.int64], n_groups: int) -> Floats | None:
    """(G, G) what the draws add to products of group means of a model, summed over cut points; None: nothing.

    A share of n answers varies by M(1 - M)/(n - 1), estimated without bias. What v(M, M) takes off already, because
    people of a group differ by their draws, does not count again. A single answer to a profile has no spread: it is
    taken to vary as those of other profiles do; NaN where there are none.

    Args:
        rows: of the question, those that are compared.

    Source: variance of a share: Cochran (1977), Sampling Techniques, section 3.2.
    """
    if rated.n_draws is None or rated.profiles is None or not rows.size:
        return None
    _, first, profile = np.unique(rated.profiles[rows], return_index=True, return_inverse=True)
    if first.size == rows.size:
        return None  # everybody has a draw of their own, which v(M, M) holds
    said, n = probability_at_most(rated.probs[rows][first]), rated.n_draws[rows][first]
    varies = _variances(np.sum(said * (1 - said), axis=1), n)
    groups, weights = asked.groups[rows], asked.weights[rows]
    by_profile, squares = (
        sums_by(profile * n_groups + groups, first.size * n_groups, each[:, None]).reshape(first.size, n_groups)
        for each in (weights, weights**2)
    )
    s1, s2, s3 = sums_by(groups, n_groups, np.stack([weights, weights**2, weights**3], axis=1)).T
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = by_profile / s1
        noise = parts.T @ (varies[:, None] * parts)
        own = np.diag(noise).copy()
        held = varies @ (squares * (1 - 2 * parts)) + s2 * own
        np.fill_diagonal(noise, own - small_sample_factor(s1, s2, s3) * held / s1**2)
    return noise


def _variances(spread: Floats, n: Floats) -> Floats:
    """(P,) variances of shares of n answers each, from M(1 - M)."""
    is_known = n > 1
    found = np.where(is_known, spread / np.where(is_known, n - 1, 1), np.nan)
    if is_known.all():
        return found
    of_one = np.mean(found[is_known] * n[is_known]) if is_known.any() else np.nan
    return np.where(is_known, found, of_one / n)
