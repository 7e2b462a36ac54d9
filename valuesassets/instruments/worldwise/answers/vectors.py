"""Vectors of texts: the bag-of-words embedder `lexical`, a baseline without language model, and storage in tables."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from valuesassets.measure.means import Array

PLACES = 2**15
"""Places of words: of a thousand words hardly two share one."""
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def lexical_vectors(texts: Sequence[str]) -> sparse.csr_array:
    """(n, 32768) bags of words: 1 + log(count) at the place of each word; of length one, or zero without a word.

    Places are hashes, so that the vector of a text does not depend on other texts.

    Source: Weinberger et al. (2009), Feature Hashing for Large Scale Multitask Learning, Proceedings of ICML,
    1113-1120; Manning, Raghavan and Schütze (2008), Introduction to Information Retrieval, section 6.4.1 (1 + log).

    >>> one, same, other = lexical_vectors(["We wait.", "WE, wait", "I buy"]).toarray()
    >>> round(float(one @ same), 6), float(one @ other)
    (1.0, 0.0)
    """
    bags = [Counter(word.lower() for word in WORD.findall(text)) for text in texts]
    weights = np.array([1 + np.log(count) for bag in bags for count in bag.values()], dtype=float)
    rows = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    places = np.array([_place(word) for bag in bags for word in bag], dtype=np.intp)
    vectors = sparse.csr_array((weights, (rows, places)), shape=(len(bags), PLACES))
    lengths = np.sqrt(np.bincount(vectors.tocoo().row, vectors.data**2, minlength=len(bags)))
    return vectors.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None]).tocsr()


@cache
def _place(word: str) -> int:
    """A word's place, the same everywhere."""
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big") % PLACES


Vectors = NDArray[np.floating] | sparse.csr_array
"""(n, d), dense or sparse."""


def vector_columns(vectors: Vectors) -> dict[str, list[list[float]]]:
    """The columns `places` and `vector`; dense vectors have no places, bags of words only their nonzero numbers."""
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
