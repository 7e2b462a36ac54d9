"""Whether answers drawn before and after differ by more than drawing the same model twice does."""

import numpy as np
from numpy.random import Generator

from valuesassets.measure.arrays import Array
from valuesassets.measure.repeated_moves import repeated_square
from valuesassets.measure.resampling import ROUNDING


def exchanged_p(
    before: Array, after: Array, n_before: Array, n_after: Array, unit: Array, draws: int, random: Generator
) -> float:
    """p-value of the hypothesis that one model gave both sets of answers.

    The draws of each question, wording and order are exchanged between before and after. Where one side is exact, the
    other is drawn from it anew. The statistic is what repeats in other wordings; with one wording, the variance of
    the change over questions.

    Args:
        before, after: (R, O, W, I, K) shares of the options by replicate, order and wording; each sums to 1.
        n_before, n_after: (R, O, W, I) answers that the shares count; 0 where they are exact.
        unit: (I, K) positions of the options on [0, 1].
    """
    observed, by_chance = _statistic(_means(after - before, unit)), np.empty(draws)
    changes = np.zeros((draws, *before.shape[:-1]))
    for place in np.ndindex(*before.shape[:-1]):
        shares = (before[place], after[place])
        counts = (int(n_before[place]), int(n_after[place]))
        changes[(slice(None), *place)] = _exchanged(shares, counts, draws, random) @ unit[place[-1]]
    by_chance = _statistic(changes.mean(axis=(1, 2)))
    return float((1 + np.sum(by_chance >= observed - ROUNDING * abs(observed))) / (1 + draws))


def _means(change: Array, unit: Array) -> Array:
    """(W, I) change of mean answers, replicates and orders averaged."""
    return np.einsum("rowik,ik->wi", change, unit) / (change.shape[0] * change.shape[1])


def _statistic(change: Array) -> Array:
    """(...,) of (..., W, I) changes."""
    return repeated_square(change) if change.shape[-2] > 1 else change[..., 0, :].var(axis=-1)


def _exchanged(shares: tuple[Array, Array], counts: tuple[int, int], draws: int, random: Generator) -> Array:
    """(draws, K) shares after less before, if both were of one model."""
    n_before, n_after = counts
    if n_before and n_after:
        both = [np.rint(share * n).astype(np.int64) for share, n in zip(shares, counts, strict=True)]
        total, n_after = both[0] + both[1], int(both[1].sum())
        after = random.multivariate_hypergeometric(total, n_after, size=draws)
        return after / n_after - (total - after) / max(int(both[0].sum()), 1)
    if n_before:
        return shares[1] - random.multinomial(n_before, _whole(shares[1]), size=draws) / n_before
    if n_after:
        return random.multinomial(n_after, _whole(shares[0]), size=draws) / n_after - shares[0]
    return np.tile(shares[1] - shares[0], (draws, 1))


def _whole(shares: Array) -> Array:
    """Shares that sum to 1 but for rounding."""
    return shares / shares.sum()
