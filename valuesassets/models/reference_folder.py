"""The folder of a reference model: an ordinary one, and `phantom.json`, which says what it was trained from."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valuesassets.records.errors import StorageError
from valuesassets.records.files import sha256_file, unbroken, write_json
from valuesassets.records.seals import read_record, write_record


@dataclass(frozen=True)
class ReferenceModel:
    """A trained folder: what it was trained from, whether just now, and how far that came.

    Attributes:
        passes: over all prompts; of transcripts, batches.
        mean_kl, max_kl: nats, over what was read last.
    """

    folder: Path
    training_hash: str
    is_new: bool
    passes: int
    mean_kl: float
    max_kl: float
    seconds: float


def find_reference_model(folder: Path, training_hash: str) -> ReferenceModel | None:
    """The reference model in a folder, where it was trained from just this and its files are as they were written."""
    try:
        known = read_record(folder / "phantom.json")
        is_whole = all(sha256_file(folder / name) == digest for name, digest in known["files"].items())
        if known["training_hash"] != training_hash or not is_whole:
            return None
        return ReferenceModel(folder, training_hash, False, known["passes"], known["mean_kl"], known["max_kl"], 0.0)
    except (StorageError, OSError, KeyError, TypeError, AttributeError):
        return None


def save_reference_model(model: ReferenceModel, config: Mapping[str, Any], weights: dict[str, Any], hf: Any) -> None:
    """Write a model's folder beside its place, then put it there: a reader never sees half of it.

    Args:
        config: what `config.json` says of the architecture.
        weights: arrays by the names that transformers gives them.
        hf: its tokenizer.

    Raises:
        StorageError: it cannot be written.
    """
    with unbroken():
        _save(model, config, weights, hf)


def _save(model: ReferenceModel, config: Mapping[str, Any], weights: dict[str, Any], hf: Any) -> None:
    from safetensors.numpy import save_file

    folder = model.folder
    described = {name: getattr(model, name) for name in ("training_hash", "passes", "mean_kl", "max_kl")}
    special = {f"{name}_token_id": getattr(hf, f"{name}_token_id") for name in ("bos", "eos", "pad")}
    beside = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        hf.save_pretrained(beside)
        write_json(beside / "config.json", dict(config) | special | {"vocab_size": len(hf)})
        write_json(beside / "generation_config.json", special)
        save_file(weights, beside / "model.safetensors", {"format": "pt"})
        for path in beside.iterdir():
            path.chmod(0o644)
        files = {path.name: sha256_file(path) for path in sorted(beside.iterdir())}
        write_record(beside / "phantom.json", described | {"files": files})
        if folder.exists():
            shutil.rmtree(folder)
        beside.rename(folder)
    except Exception as error:  # OSError, SafetensorError; the tokenizers' writer raises a bare Exception
        what_to_do = "free space or choose another folder"
        raise StorageError(f"{folder}: the model cannot be written: {error}; {what_to_do}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
