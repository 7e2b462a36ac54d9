"""Whether a change repeats: what two wordings of the same question show alike is no accident of a wording."""

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import ROUNDING
from valuesassets.records.errors import MissingData

AT_ONCE = 4_000_000
"""Flipped values in memory at once."""


def repeated_square(change: Array) -> Array:
    """(...,) mean over items of the product of changes in two different wordings, of (..., W, I), wordings centred.

    It estimates the variance, over items, of the part of a change that repeats. It can be negative.

    >>> repeated_square(np.array([[0.1, -0.1], [0.3, -0.3]])).round(9).item()
    0.03
    """
    n = change.shape[-2]
    centred = change - change.mean(axis=-1, keepdims=True)
    pairs = centred.sum(axis=-2) ** 2 - np.sum(centred**2, axis=-2)
    return pairs.mean(axis=-1) / (n * (n - 1))


def repeated_move(change: ArrayLike, batteries: ArrayLike, draws: int, random: Generator) -> tuple[float, float]:
    """`repeated_square` of a change, and its one-sided p-value where nothing repeats.

    Signs are flipped battery by battery and wording by wording, so that items of a battery stay together.

    Args:
        change: (W, I), two or more wordings.
        batteries: (I,) labels.

    Raises:
        MissingData: there is one wording.
    """
    values = np.asarray(change, dtype=float)
    n_wordings = len(values)
    if n_wordings < 2:
        raise MissingData(
            "one wording, two or more are needed to see whether a change repeats; raise elicitation.wordings"
        )
    battery = np.unique(np.asarray(batteries).astype(str), return_inverse=True)[1]
    centred = values - values.mean(axis=1, keepdims=True)
    observed, n_reached = float(repeated_square(values)), 0
    step = max(1, AT_ONCE // centred.size)
    for start in range(0, draws, step):
        shape = (min(step, draws - start), n_wordings, int(battery.max()) + 1)
        signs = 1 - 2 * random.integers(0, 2, shape, dtype=np.int8)
        flipped = repeated_square(signs[..., battery] * centred)
        n_reached += int(np.sum(flipped >= observed - ROUNDING * abs(observed)))
    return observed, (1 + n_reached) / (1 + draws)
