"""Turns texts into vectors with a multilingual embedder (sentence-transformers): similar meanings lie close."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valuesassets.models.known_vectors import KnownVector, KnownVectors
from valuesassets.models.model_files import COMMIT
from valuesassets.records.errors import ModelError, ValuesAssetsError
from valuesassets.records.files import read_json, sha256_file, sha256_json

EMBEDDER_VERSION = "1"
"""Changes whenever the vector of the same text and embedder may come out differently."""
BATCH, KEPT = 64, 512
"""Texts per pass through the embedder, and per file of the store."""
OTHER_WEIGHTS = ("*.bin", "*.pt", "*.pth")
"""Files that can hold code; weights are read from safetensors only."""
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Embedded:
    """Vectors (texts, `dimensions`), each text's tokens without prefix, and whether only its beginning was read."""

    vectors: NDArray[np.float32]
    n_tokens: tuple[int, ...]
    is_truncated: tuple[bool, ...]


@dataclass(frozen=True)
class Embedder:
    """A sentence-transformers model on this machine; its weights are loaded when a text is not in the store.

    Attributes:
        commit: commit on the hub; None for a folder.
        weights_id: the commit, or a hash over the folder's files.
        prefix: text put before each text.
        device: as torch names it; None leaves the choice to the library.
    """

    name: str
    folder: Path
    commit: str | None
    weights_id: str
    prefix: str
    device: str | None = None

    @property
    def known_id(self) -> str:
        """Hash of everything but the text that a vector depends on."""
        return sha256_json([EMBEDDER_VERSION, self.weights_id, self.prefix])

    def describe(self) -> dict[str, object]:
        """The embedder's description for a file's metadata."""
        return {
            "model": self.name,
            "revision": self.commit,
            "weights_id": self.weights_id,
            "prefix": self.prefix,
            "dtype": "float32",
        }

    def open_known(self, folder: Path, warn: Callable[[str], None] | None = None) -> KnownVectors:
        """Open the embedder's store below a folder that holds the stores of any number of them; `warn` gets damage."""
        return KnownVectors(folder / self.known_id[:16], warn)

    def kept(self, texts: Sequence[str], store: KnownVectors) -> int:
        """How many of the texts have a stored vector."""
        return sum(store.get(self._key(text)) is not None for text in texts)

    def embed(
        self,
        texts: Sequence[str],
        *,
        normalise: bool = True,
        store: KnownVectors | None = None,
        on_progress: OnProgress | None = None,
    ) -> Embedded:
        """The vectors of texts, of length one if `normalise`; a stored text is not embedded again, an equal one once.

        Raises:
            ModelError: the model is no embedder, or gives a vector that is not finite or is zero.
        """
        unique = {self._key(text): text for text in texts}
        vectors_by_key = {key: stored for key in unique if store is not None and (stored := store.get(key)) is not None}
        rest = sorted(unique.keys() - vectors_by_key.keys(), key=lambda key: (-len(unique[key]), key))
        for start in range(0, len(rest), KEPT):
            part = rest[start : start + KEPT]
            batch = dict(zip(part, self._read([unique[key] for key in part]), strict=True))
            if store is not None:
                store.add(batch)
            vectors_by_key |= batch
            if on_progress:
                on_progress(len(vectors_by_key), len(unique))
        rows = [vectors_by_key[self._key(text)] for text in texts]
        vectors = np.stack([row.vector for row in rows]) if rows else np.zeros((0, 0), np.float32)
        if normalise and rows:
            lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
            if not lengths.all():
                zero_text = texts[int(np.flatnonzero(lengths == 0)[0])]
                raise ModelError(
                    f"{self.name}: the vector of {zero_text[:60]!r} is zero, has no length; leave that text out"
                )
            vectors = (vectors / lengths).astype(np.float32)
        return Embedded(vectors, tuple(row.n_tokens for row in rows), tuple(row.is_truncated for row in rows))

    def _key(self, text: str) -> str:
        return sha256_json([self.known_id, text])

    def _read(self, texts: list[str]) -> list[KnownVector]:
        with _one_line(self.name):
            vectors = np.asarray(
                self._model.encode(texts, prompt=self.prefix, batch_size=BATCH, show_progress_bar=False), np.float32
            )
            lengths = [(len(self._cut(text, False)), len(self._cut(self.prefix + text, True))) for text in texts]
        broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(broken):
            raise ModelError(
                f"{self.name}: gives vectors with NaN or infinite numbers, first of {texts[broken[0]][:60]!r}; name "
                "another embedder"
            )
        room = self._model.max_seq_length or float("inf")
        return [KnownVector(vector, n, whole > room) for vector, (n, whole) in zip(vectors, lengths, strict=True)]

    def _cut(self, text: str, is_whole: bool) -> list[int]:
        """Tokens of a text without truncation, with the tokens that the model adds if `is_whole`."""
        tokenizer: Any = self._model.tokenizer
        if not callable(tokenizer):  # static embedders have one of the tokenizers library
            return tokenizer.encode(text, add_special_tokens=is_whole).ids
        cut: Any = tokenizer(text, add_special_tokens=is_whole, truncation=False, verbose=False)
        return cut["input_ids"]

    @cached_property
    def _model(self) -> Any:
        import torch
        from sentence_transformers import SentenceTransformer

        with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):  # the library's own progress bars
            return SentenceTransformer(
                str(self.folder),
                device=self.device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32},
            )


def open_embedder(
    model: str, revision: str | None = None, prefix: str | None = None, device: str | None = None
) -> Embedder:
    """Open an embedder (hub id or folder) without its weights; missing files of a hub model are downloaded first.

    Args:
        prefix: text put before each text; None takes the model's own default prompt, if it names one.

    Raises:
        ModelError, StorageError: the model is absent, is not in safetensors, or the hub does not give it.
    """
    from valuesassets.models.fetching import EMBEDDER_FILES, fetch_embedder

    folder = Path(fetch_embedder(model, revision))
    _require_safetensors(model, folder)
    commit = folder.name if folder.parent.name == "snapshots" and COMMIT.fullmatch(folder.name) else None
    with _one_line(model):
        settings = folder / "config_sentence_transformers.json"
        settings_content = read_json(settings) if settings.is_file() else {}
        own_prefix = (settings_content.get("prompts") or {}).get(settings_content.get("default_prompt_name")) or ""
    files = {path for pattern in EMBEDDER_FILES for path in folder.rglob(pattern) if path.is_file()}
    weights_id = commit or sha256_json({str(path.relative_to(folder)): sha256_file(path) for path in sorted(files)})
    return Embedder(model, folder, commit, weights_id, own_prefix if prefix is None else prefix, device)


def embed_texts(
    model: str, texts: Sequence[str], *, revision: str | None = None, device: str | None = None
) -> NDArray[np.float32]:
    """The vectors of texts, (texts, dimensions), each of length one; other arguments as for `open_embedder`."""
    return open_embedder(model, revision, device=device).embed(texts).vectors


@contextlib.contextmanager
def _one_line(model: str) -> Iterator[None]:
    """Turn any error of the library in this block into one line; it raises many types and documents none."""
    try:
        yield
    except ValuesAssetsError:
        raise
    except Exception as error:
        from valuesassets.models.engine import is_out_of_memory

        if is_out_of_memory(error):
            raise ModelError(
                f"{model}: out of memory while texts were embedded; free some, use a larger device, or name a smaller "
                "embedder"
            ) from None
        reason = " ".join(str(error).split())[:200]
        raise ModelError(
            f"{model}: cannot be read as an embedder ({reason}); name a sentence-transformers model in safetensors"
        ) from None


def _require_safetensors(model: str, folder: Path) -> None:
    if not folder.exists():
        raise ModelError(f"{model}: no such folder; check the path")
    if not folder.is_dir():
        raise ModelError(f"{model}: is a file, the folder of a model was expected; name its folder")
    unsafe_files = [path for pattern in OTHER_WEIGHTS for path in folder.rglob(pattern)]
    if unsafe_files and not any(path.with_name("model.safetensors").exists() for path in unsafe_files):
        raise ModelError(
            f"{model}: its weights are in {unsafe_files[0].name}, which can hold code; save them as safetensors "
            "(save_pretrained does)"
        )
