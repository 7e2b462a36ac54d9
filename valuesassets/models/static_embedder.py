"""Makes a static sentence-transformers embedder whose mean word vectors give chosen vectors for chosen texts.

The folder is written without the library, whose import takes seconds; a test loads the folder with the library.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from valuesassets.records.errors import ModelError, StorageError
from valuesassets.records.files import unbroken, write_json

UNKNOWN = "[UNK]"
MODULE = "sentence_transformers.sentence_transformer.modules.static_embedding.StaticEmbedding"
LARGEST_ERROR = 1e-6
"""Largest error of a text's vector in any dimension, before it is rounded to float32."""


def write_static_embedder(folder: Path, texts: Sequence[str], vectors: NDArray[np.float64]) -> Path:
    """Write the folder of an embedder that gives texts their vectors (texts, dimensions), with the shortest word
    vectors that do; it replaces an existing folder. Words of no text get the mean vector, and so a direction.

    Raises:
        ModelError: no word vectors give these texts their vectors, for instance where two hold the same words.
        StorageError: the folder cannot be written.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from tokenizers.normalizers import Lowercase

    splitter, lower = pre_tokenizers.Whitespace(), Lowercase()
    words = [[word for word, _ in splitter.pre_tokenize_str(lower.normalize_str(text))] for text in texts]
    vocabulary = {UNKNOWN: 0} | {word: n for n, word in enumerate(sorted({w for each in words for w in each}), 1)}
    weights = solve_words([[vocabulary[word] for word in each] for each in words], len(vocabulary), vectors)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Sequence([lower])
    tokenizer.pre_tokenizer = splitter
    return _save(folder, {"embedding.weight": weights.astype(np.float32)}, tokenizer.to_str(pretty=True))


def solve_words(texts: Sequence[Sequence[int]], size: int, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minimum-norm word vectors, (size, dimensions), whose mean over each text's words is the text's vector.

    Words are numbers from 1; word 0, the unknown one, gets the mean. A ModelError if there are no such vectors.

    >>> solve_words([[1], [1, 2]], 3, np.array([[2.0], [3.0]])).round(6).ravel().tolist()
    [2.5, 2.0, 4.0]
    """
    shares = np.zeros((len(texts), size))
    for row, words in enumerate(texts):
        np.add.at(shares[row], list(words), 1 / max(len(words), 1))
    weights: NDArray[np.float64] = np.linalg.lstsq(shares, vectors, rcond=None)[0].astype(np.float64)
    misses = np.abs(shares @ weights - vectors).max(axis=1)
    worst = int(misses.argmax())
    if misses[worst] > LARGEST_ERROR:
        raise ModelError(
            f"no word vectors give text {worst + 1} of {len(texts)} its planted vector (off by {misses[worst]:.2g}): "
            "it holds the words of others; reword it"
        )
    weights[0] = vectors.mean(axis=0)
    return weights


def _save(folder: Path, weights: Mapping[str, NDArray[np.float32]], tokenizer: str) -> Path:
    from safetensors.numpy import save_file

    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        with unbroken():
            temporary.mkdir(parents=True)
            write_json(temporary / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": MODULE}])
            write_json(temporary / "config_sentence_transformers.json", {"prompts": {}, "default_prompt_name": None})
            (temporary / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
            save_file(dict(weights), temporary / "model.safetensors", {"format": "pt"})
            if folder.exists():
                shutil.rmtree(folder)
            temporary.rename(folder)
    except OSError as error:
        raise StorageError(
            f"{folder}: the embedder cannot be written: {error}; free space or choose another folder"
        ) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder
