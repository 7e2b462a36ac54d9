"""`worldwise/projections`: where a text stands on an axis, from the mean of its sentences' vectors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from valuesassets.measure.means import Array

SHORTEST = 1e-12
"""A shorter vector has no direction."""
Vectors = NDArray[np.floating] | sparse.csr_array


def text_vectors(sentences: Vectors, texts: NDArray[np.intp], n_texts: int) -> tuple[Vectors, NDArray[np.bool_]]:
    """(n_texts, d) mean of the unit vectors of a text's sentences, made to length one.

    Args:
        sentences: (s, d) a row for each sentence of each text, dense or sparse.
        texts: (s,) which text it is of.

    Returns:
        The vectors, and (n_texts,) whether a text has a direction: without a sentence it has none, and its vector is 0.
    """
    shape = n_texts, len(texts)
    sums = sparse.csr_array((np.ones(len(texts)), (texts, np.arange(len(texts)))), shape=shape) @ sentences
    lengths = np.sqrt(np.asarray((sums * sums).sum(axis=1), dtype=float))
    has_direction = lengths > SHORTEST
    return sparse.diags_array(1 / np.where(has_direction, lengths, 1)) @ sums, has_direction


def positions(vectors: Vectors, direction: Array, high: Array, low: Array) -> Array:
    """(n,) 2 (v.a - m) / d along an axis a: 0 half-way between the poles' means, 1 at the high one, -1 at the low one.

    Args:
        vectors: (n, d) of length one, dense or sparse.
        direction: (d,) the axis, of any length.
        high, low: (d,) or (n, d) means of the poles: of exemplars, or of each text's `anchors`.

    Returns:
        NaN where the high pole does not lie above the low one; m is the midpoint of both along a, d their distance.

    >>> positions(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    array([ 1., -1.])
    """
    above, below = np.asarray(high) @ direction, np.asarray(low) @ direction
    distance = above - below
    over = 2 * (vectors @ direction) - (above + below)
    return np.divide(over, distance, out=np.full(over.shape, np.nan), where=distance > SHORTEST)


def anchors(advocates: Array, scenarios: Sequence[str], asked: Sequence[str]) -> Array:
    """(n, d) mean of a pole's advocates for each text, those of its own scenario left out; NaN where none is left.

    Args:
        advocates: (k, d) of texts in favour of one pole.
        scenarios: (k,) the dilemma of each.
        asked: (n,) the dilemma of each text that is to be placed.
    """
    others = np.asarray(asked)[:, None] != np.asarray(scenarios)
    left = others.sum(axis=1, keepdims=True)
    sums = others.astype(float) @ advocates
    return np.divide(sums, left, out=np.full_like(sums, np.nan), where=left > 0)
