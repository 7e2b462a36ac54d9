"""The store of vectors, a safetensors file for each batch (`known_files.py`): no text is embedded twice."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valuesassets.models.known_files import HASH, intact_files, keep_file
from valuesassets.records.files import unbroken

SUFFIX = ".safetensors"
DAMAGED = "known vectors are damaged; the file is removed and its texts are embedded again"


class KnownVector(NamedTuple):
    """A text's vector as the embedder gives it, its number of tokens, and whether only its beginning was read."""

    vector: NDArray[np.float32]
    n_tokens: int
    is_truncated: bool


class KnownVectors:
    """The stored vectors of one embedder and prefix by text key (64 hexadecimal digits), in memory and on disk."""

    def __init__(self, folder: Path, warn: Callable[[str], None] | None = None) -> None:
        """Open a folder, which may not exist yet; a damaged file is reported to `warn` and removed."""
        from safetensors.numpy import load

        self._folder, self._vectors = folder, dict[str, KnownVector]()
        for _, content in intact_files(folder, re.compile(f"{HASH}{re.escape(SUFFIX)}"), DAMAGED, warn):
            self._vectors = _from_arrays(load(content)) | self._vectors

    def get(self, key: str) -> KnownVector | None:
        """The vector of a text's key; None where none is stored."""
        return self._vectors.get(key)

    def add(self, vectors: Mapping[str, KnownVector]) -> None:
        """Store a batch's vectors, or raise a StorageError; vectors that are stored already stay unchanged."""
        from safetensors.numpy import save

        new = {key: vectors[key] for key in sorted(vectors) if key not in self._vectors}
        if not new:
            return
        with unbroken():
            keep_file(self._folder, "", save(_to_arrays(new)), SUFFIX)
            self._vectors |= new


def _to_arrays(vectors: Mapping[str, KnownVector]) -> dict[str, NDArray[np.generic]]:
    keys = np.frombuffer(bytes.fromhex("".join(vectors)), np.uint8).reshape(len(vectors), -1)
    return {
        "keys": np.ascontiguousarray(keys),
        "vectors": np.stack([each.vector for each in vectors.values()]),
        "n_tokens": np.array([each.n_tokens for each in vectors.values()], np.int64),
        "is_truncated": np.array([each.is_truncated for each in vectors.values()], np.uint8),
    }


def _from_arrays(arrays: Mapping[str, NDArray[np.generic]]) -> dict[str, KnownVector]:
    rows = zip(arrays["keys"], arrays["vectors"], arrays["n_tokens"], arrays["is_truncated"], strict=True)
    return {bytes(key).hex(): KnownVector(vector, int(n), bool(cut)) for key, vector, n, cut in rows}
