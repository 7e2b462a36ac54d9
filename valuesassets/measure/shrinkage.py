"""Empirical Bayes shrinkage of small groups' answers towards those of groups that share a factor level with them."""

from collections.abc import Sequence

import numpy as np

from valuesassets.measure.arrays import Array


def shrunken(shares: Array, effective_n: Array, noise: Array, levels: Sequence[Sequence[str]]) -> tuple[Array, float]:
    """Shrunken distribution functions of G groups, (G, C), and the weight of the fit they are shrunken towards.

    F~ = (n F + a P)/(n + a): P is an additive fit of the factors, with the weight of `a` people. a = U/R - 1 with
    U = mean sum P(1 - P), the variance of one answer, and R = mean [sum (F - P)^2 G/(G - d) - sum v], the variance of
    groups around the fit without sampling noise. If R <= 0, F~ = P and a is infinite.

    Args:
        shares: (G, C) weighted distribution functions at the C cut points.
        effective_n: (G,) effective sample sizes above 0.
        noise: (G,) unbiased sampling variances of the shares, summed over cut points; R leaves out NaN (one person).
        levels: (G, F) level of each group by factor.

    Returns:
        F~, between 0 and 1 and never decreasing along the cut points; and `a`, in people, 0 or more.

    Source: Efron and Morris (1973), J. Am. Stat. Assoc. 68(341), 117-130 (empirical Bayes). For shares, a is the prior
    sample size of a beta distribution: the variance of an answer over the variance between groups, minus 1.
    """
    design = additive_design(levels)
    n, d = design.shape
    if n == 1:
        return shares.copy(), 0.0
    if n <= d:  # as many effects as groups would fit perfectly: shrink towards the overall mean
        design, d = np.ones((n, 1)), 1
    root = np.sqrt(effective_n)[:, None]
    fitted = design @ np.linalg.lstsq(design * root, shares * root, rcond=None)[0]
    fitted = np.maximum.accumulate(np.clip(fitted, 0, 1), axis=1)
    answer_variance = np.mean(np.sum(fitted * (1 - fitted), axis=1))
    variances = np.sum((shares - fitted) ** 2, axis=1) * n / (n - d) - noise
    between = float(np.mean(variances[np.isfinite(variances)])) if np.isfinite(variances).any() else 0.0
    if between <= 0:
        return fitted, float("inf")
    borrowed = max(float(answer_variance) / between - 1, 0.0)
    size = effective_n[:, None]
    return (size * shares + borrowed * fitted) / (size + borrowed), borrowed


def spread_kept(effective_n: Array, borrowed: float, levels: Sequence[Sequence[str]]) -> Array:
    """(G,) expected ratio F~(1 - F~) / F(1 - F), below 1, because F~ follows the sampling noise of its own data.

    F~ contains the share (n/(n + a))^2 of a group's own noise, and the share d/G of the rest through the fit.

    Args:
        effective_n: (G,) effective sample sizes.
        borrowed: `a` as `shrunken` returns it.

    >>> spread_kept(np.full(4, 5.0), float("inf"), [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]).round(2).tolist()
    [0.85, 0.85, 0.85, 0.85]
    """
    n_groups, d = additive_design(levels).shape
    fit_share = (d if n_groups > d else 1) / n_groups
    own_share = (effective_n / (effective_n + borrowed)) ** 2
    # the answer of a single person has no variance to correct
    return np.maximum(1 - (own_share + (1 - own_share) * fit_share) / effective_n, 1 / 2)


def additive_design(levels: Sequence[Sequence[str]]) -> Array:
    """(G, d) design matrix: a constant and, for each factor, dummies of all levels but the first; columns independent.

    >>> additive_design([("a", "x"), ("a", "y"), ("b", "x")]).tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    columns = [np.ones(len(levels))]
    for factor in zip(*levels, strict=True):
        for level in list(dict.fromkeys(factor))[1:]:
            candidates = [*columns, np.array([float(each == level) for each in factor])]
            if np.linalg.matrix_rank(np.stack(candidates, axis=1)) == len(candidates):
                columns = candidates
    return np.stack(columns, axis=1)
