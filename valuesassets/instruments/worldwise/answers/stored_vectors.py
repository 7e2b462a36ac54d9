"""Stores vectors as lists in tables: all numbers of an embedder, and the nonzero ones of a bag of words with their places."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from valuesassets.measure.means import Array

Vectors = NDArray[np.floating] | sparse.csr_array
"""(n, d), dense or sparse."""


def vector_columns(vectors: Vectors) -> dict[str, list[list[float]]]:
    """The columns `places` and `vector` of (n, d) vectors; `places` is empty for dense vectors."""
    if not isinstance(vectors, sparse.csr_array):
        return {"places": [[] for _ in vectors], "vector": np.asarray(vectors, dtype=np.float32).tolist()}
    ends = list(zip(vectors.indptr, vectors.indptr[1:], strict=False))
    return {
        "places": [vectors.indices[begin:end].tolist() for begin, end in ends],
        "vector": [vectors.data[begin:end].astype(np.float32).tolist() for begin, end in ends],
    }


def read_vectors(*tables: pd.DataFrame) -> list[Array]:
    """(n, d) vectors of the rows of each table; for bags of words d is the number of words in any of them.

    Words that no row has change no product and no distance.
    """
    listed = [list(map(np.asarray, table["vector"])) for table in tables]
    if not any(map(len, (places for table in tables for places in table["places"]))):
        width = max((len(vector) for vectors in listed for vector in vectors), default=0)
        return [np.array(vectors, dtype=float).reshape(len(vectors), width) for vectors in listed]
    placed = [[np.asarray(places, dtype=np.intp) for places in table["places"]] for table in tables]
    used = np.unique(np.concatenate([places for each in placed for places in each]))
    dense = []
    for vectors, places in zip(listed, placed, strict=True):
        wide = np.zeros((len(vectors), len(used)))
        for row, vector, place in zip(wide, vectors, places, strict=True):
            row[np.searchsorted(used, place)] = vector
        dense.append(wide)
    return dense
