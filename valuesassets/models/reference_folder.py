"""The folder of a reference model: an ordinary model folder with `phantom.json`, which says what it was trained on."""

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
    """A trained model's folder, and how well the training went.

    Attributes:
        is_new: whether it was trained just now.
        passes: passes over all prompts; for transcripts, batches.
        mean_kl, max_kl: divergence from the planted answers at the end of training, in nats.
    """

    folder: Path
    training_hash: str
    is_new: bool
    passes: int
    mean_kl: float
    max_kl: float
    seconds: float


def find_reference_model(folder: Path, training_hash: str) -> ReferenceModel | None:
    """The reference model in a folder, if it has this training hash and its files are unchanged; else None."""
    try:
        record = read_record(folder / "phantom.json")
        is_whole = all(sha256_file(folder / name) == digest for name, digest in record["files"].items())
        if record["training_hash"] != training_hash or not is_whole:
            return None
        return ReferenceModel(folder, training_hash, False, record["passes"], record["mean_kl"], record["max_kl"], 0.0)
    except (StorageError, OSError, KeyError, TypeError, AttributeError):
        return None


@unbroken()
def save_reference_model(model: ReferenceModel, config: Mapping[str, Any], weights: dict[str, Any], hf: Any) -> None:
    """Write a model's folder under a temporary name, then rename it: a reader never sees half of it.

    Args:
        config: the architecture, for `config.json`.
        weights: arrays by the names that transformers gives them.

    Raises:
        StorageError: the folder cannot be written.
    """
    from safetensors.numpy import save_file

    folder = model.folder
    record = {name: getattr(model, name) for name in ("training_hash", "passes", "mean_kl", "max_kl")}
    special = {f"{name}_token_id": getattr(hf, f"{name}_token_id") for name in ("bos", "eos", "pad")}
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        hf.save_pretrained(temporary)
        write_json(temporary / "config.json", dict(config) | special | {"vocab_size": len(hf)})
        write_json(temporary / "generation_config.json", special)
        save_file(weights, temporary / "model.safetensors", {"format": "pt"})
        for path in temporary.iterdir():
            path.chmod(0o644)
        files = {path.name: sha256_file(path) for path in sorted(temporary.iterdir())}
        write_record(temporary / "phantom.json", record | {"files": files})
        if folder.exists():
            shutil.rmtree(folder)
        temporary.rename(folder)
    except Exception as error:  # OSError, SafetensorError; the tokenizers' writer raises a bare Exception
        what_to_do = "free space or choose another folder"
        raise StorageError(f"{folder}: the model cannot be written: {error}; {what_to_do}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
