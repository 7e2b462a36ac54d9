"""The embedder `lexical`: a text as a bag of words, a baseline that needs no language model."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b

import numpy as np
from scipy import sparse

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
