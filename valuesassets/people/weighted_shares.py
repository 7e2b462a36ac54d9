"""Weighted shares of people's answers, and the design effect of unequal weights."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.people.surveys import SILENT


def weighted_answers(
    codes: NDArray[np.int16], weights: Array, values: Sequence[int]
) -> tuple[Array, dict[str, object]] | None:
    """Weighted distribution of answers with its sample sizes; None where nobody answered.

    Args:
        codes: (n,) answers; missing ones are negative, or `NOTHING` where answers begin at 1.
        weights: (n,) weights above 0.
        values: the K codes of answers, from 0 or 1 on.

    Returns:
        (K,) probabilities that sum to 1; n, weighted_n (sum of weights), design_effect (Kish's) and effective_n of
        those who answered, and dk_rate (weighted share of don't know, no answer and other answers among those asked).

    >>> probs, measured = weighted_answers(np.array([1, 2, -1], np.int16), np.array([3.0, 1.0, 1.0]), [1, 2, 3])
    >>> probs.tolist(), measured["n"], measured["dk_rate"]
    ([0.75, 0.25, 0.0], 2, 0.2)
    """
    answered = codes >= min(1, *values)
    if not answered.any():
        return None
    mass = np.bincount(codes[answered], weights[answered], minlength=max(values) + 1)[list(values)]
    effect = design_effect(weights[answered])
    weight_answered, weight_silent = float(weights[answered].sum()), float(weights[np.isin(codes, SILENT)].sum())
    return mass / weight_answered, {
        "n": int(answered.sum()),
        "weighted_n": weight_answered,
        "design_effect": effect,
        "effective_n": float(answered.sum() / effect),
        "dk_rate": weight_silent / (weight_answered + weight_silent),
    }


def design_effect(weights: Array) -> float:
    """Kish's design effect of unequal weights, at least 1: n * sum(w^2) / sum(w)^2 = 1 + cv^2.

    It is the factor by which the variance of a mean grows. Strata and clusters of a sample are not included; clusters
    usually increase the variance further.

    Source: Kish (1965), Survey Sampling, section 11.7.

    >>> design_effect(np.array([1.0, 3.0]))
    1.25
    """
    return float(len(weights) * np.sum(weights**2) / np.sum(weights) ** 2)
