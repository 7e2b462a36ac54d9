"""Answers of small groups, drawn towards what the groups that share a level with them answer."""

from collections.abc import Sequence

import numpy as np

from valuesassets.measure.arrays import Array


def shrunken(shares: Array, effective_n: Array, noise: Array, levels: Sequence[Sequence[str]]) -> tuple[Array, float]:
    """Distribution functions of G groups, (G, C), nearer to the truth than their raw ones, and how much was borrowed.

    F~ = (n F + a P)/(n + a): P is an additive fit of the factors, and counts as much as `a` people, a = U/R - 1 with
    U = mean sum P(1 - P), the variance of one answer, and R = mean [sum (F - P)^2 G/(G - d) - sum v], how far groups
    truly lie from the fit. R <= 0: F~ = P, and a is infinite.

    Args:
        shares: (G, C) weighted distribution functions at the C cut points.
        effective_n: (G,) above 0.
        noise: (G,) unbiased variances of the shares, summed over cut points; NaN (one person) is left out of R.
        levels: (G, F) level of each group by factor.

    Returns:
        F~, between 0 and 1 and never decreasing along the cut points; and `a`, in people, 0 or more.

    Source: Efron and Morris (1973), J. Am. Stat. Assoc. 68(341), 117-130 (empirical Bayes); for shares the beta
    distribution's prior size, which is variance of an answer over variance between groups, less 1.
    """
    design = additive_design(levels)
    n, d = design.shape
    if n == 1:
        return shares.copy(), 0.0
    if n <= d:  # as many effects as groups would fit anything: draw towards the mean of all
        design, d = np.ones((n, 1)), 1
    root = np.sqrt(effective_n)[:, None]
    fitted = design @ np.linalg.lstsq(design * root, shares * root, rcond=None)[0]
    fitted = np.maximum.accumulate(np.clip(fitted, 0, 1), axis=1)
    spread = np.mean(np.sum(fitted * (1 - fitted), axis=1))
    off = np.sum((shares - fitted) ** 2, axis=1) * n / (n - d) - noise
    between = float(np.mean(off[np.isfinite(off)])) if np.isfinite(off).any() else 0.0
    if between <= 0:
        return fitted, float("inf")
    borrowed = max(float(spread) / between - 1, 0.0)
    size = effective_n[:, None]
    return (size * shares + borrowed * fitted) / (size + borrowed), borrowed


def spread_kept(effective_n: Array, borrowed: float, levels: Sequence[Sequence[str]]) -> Array:
    """(G,) on average F~(1 - F~) / F(1 - F), below 1: F~ follows the noise of those it was computed from, a little.

    F~ holds the share (n/(n + a))^2 of a group's own noise, and of the rest the fit's d/G.

    Args:
        borrowed: as `shrunken` gives it.

    >>> spread_kept(np.full(4, 5.0), float("inf"), [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]).round(2).tolist()
    [0.85, 0.85, 0.85, 0.85]
    """
    n_groups, d = additive_design(levels).shape
    of_fit = (d if n_groups > d else 1) / n_groups
    own = (effective_n / (effective_n + borrowed)) ** 2
    # of a single person nothing of the spread is kept in their own answer, and nothing can be undone
    return np.maximum(1 - (own + (1 - own) * of_fit) / effective_n, 1 / 2)


def additive_design(levels: Sequence[Sequence[str]]) -> Array:
    """(G, d) a constant and, of each factor, all levels but one that some group has; columns independent.

    >>> additive_design([("a", "x"), ("a", "y"), ("b", "x")]).tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    columns = [np.ones(len(levels))]
    for factor in zip(*levels, strict=True):
        for level in list(dict.fromkeys(factor))[1:]:
            tried = [*columns, np.array([float(each == level) for each in factor])]
            if np.linalg.matrix_rank(np.stack(tried, axis=1)) == len(tried):
                columns = tried
    return np.stack(columns, axis=1)
