"""The embedder `lexical`: a text as the words that it holds, to show what needs no model of language."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

LEXICAL = "lexical"
"""Its name, in place of a model's."""
DIMENSIONS = 2048
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def lexical_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """(n, 2048) texts as their words, 1 + log(count) at a hashed place each; of length one, or zero without a word.

    Each word has a hashed sign too, so that words that share a place do not make texts alike on average.

    Source: Weinberger et al. (2009), Feature Hashing for Large Scale Multitask Learning, Proceedings of ICML,
    1113-1120, section 2; 1 + log(count): Manning, Raghavan and Schütze (2008), section 6.4.1.

    >>> one, same, other = lexical_vectors(["We wait.", "WE, wait", "I buy"])
    >>> float(one @ same) > 0.99, abs(float(one @ other)) < 0.01
    (True, True)
    """
    vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for vector, text in zip(vectors, texts, strict=True):
        for word, count in Counter(found.lower() for found in WORD.findall(text)).items():
            place, sign = _place(word)
            vector[place] += sign * (1 + np.log(count))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


@cache
def _place(word: str) -> tuple[int, int]:
    """A word's place and sign, the same everywhere."""
    number = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
    return (number >> 1) % DIMENSIONS, 1 if number & 1 else -1
