"""A model's files before any library reads them: the folder or the hub's cache, whole and safe, and their hash."""

import contextlib
import math
import re
from collections import Counter
from collections.abc import Collection
from fnmatch import fnmatchcase
from pathlib import Path

from valuesassets.models.gguf_files import SUFFIX, find_gguf, readable, remembered_sha256
from valuesassets.models.gguf_folders import MARKER, find_converted, read_origin
from valuesassets.records.errors import ModelError, TokenizerError
from valuesassets.records.files import kind_of_file, no_such_file, read_json, sha256_file, sha256_json

TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "*.spm")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
LARGE = 2**26
"""Bytes from which a file's hash is remembered: a tenth of a second's work."""
COMMIT = re.compile(r"[0-9a-f]{40}")
NEEDED = (
    *TOKENIZER_FILES,
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt", "sentencepiece.bpe.model"),
    *("chat_template.json", "chat_template.jinja", "config.json", "generation_config.json"),
    *("model.safetensors", "model.safetensors.index.json"),
    *("model-?????-of-?????.safetensors", "model-?????-of-??????.safetensors"),
)
"""What is read of a hub model: no pickles, no code, no second copy of its weights under another name or in a folder."""


def require_folder(model: str) -> Path | None:
    """The folder that `model` names, with what it must hold; None for a hub id.

    Raises:
        ModelError, TokenizerError: no such folder, or it lacks configuration, tokenizer or safe weights.
    """
    folder = Path(model)
    if not (model and folder.is_dir()):
        if model and folder.exists():
            raise ModelError(f"{model}: is a file, a folder with a model or a GGUF file was expected; name one of them")
        if not HUB_ID.fullmatch(model):
            raise ModelError(f"{no_such_file(model, 'folder')}, or give a hub id such as owner/name")
        return None
    if (folder / MARKER).is_file() and read_origin(folder) is None:
        raise ModelError(
            f"{model}: is no longer as it was made of a GGUF file; name the GGUF file, which makes it anew"
        )
    if not (folder / "config.json").is_file():
        named = sorted(path for path in folder.iterdir() if path.suffix.lower() == SUFFIX)
        if named:
            raise ModelError(f"{model}: is a folder of GGUF files; name the file itself, such as {named[0]}")
        raise ModelError(f"{model}: no config.json; name a folder as save_pretrained writes it")
    if not any(any(folder.glob(name)) for name in TOKENIZER_FILES):
        raise TokenizerError(f"{model}: no tokenizer; put tokenizer.json (or tokenizer.model) beside the weights")
    if not any(folder.glob("*.safetensors")):
        pickles = sorted(path.name for pattern in PICKLES for path in folder.glob(pattern))
        found = f"found only {pickles[0]}, a pickle, which can run code" if pickles else "found none"
        raise ModelError(
            f"{model}: weights in safetensors were expected, {found}; save the model again with save_pretrained"
        )
    for path in sorted(folder.glob("*.safetensors")):
        kind = kind_of_file(path)
        if kind is not None:
            raise ModelError(f"{path}: is {kind}, weights were expected; download the file again")
    return folder


def find_model(model: str, revision: str | None = None, offline: bool = False) -> Path | None:
    """The folder with a model's files: its own, the hub's cache, or what its GGUF file was made into.

    Returns:
        None where the hub has yet to give some of them, or the GGUF file is yet to be converted.

    Raises:
        ModelError, TokenizerError: as `require_folder`; or the hub is not to be asked, and the cache lacks a part.
    """
    gguf = find_gguf(model)
    if gguf is not None:
        return find_converted(gguf)
    folder = require_folder(model)
    if folder is not None:
        return folder
    lack = find_lack(model, revision)
    if lack is None:
        return cached_snapshot(model, revision)
    if not is_offline(offline):
        return None
    at = f" at revision {revision}" if revision else ""
    raise ModelError(
        f"{model}: {lack} in this machine's cache of the hub{at}, and the hub is not to be asked (offline); "
        "download it once with the network allowed, or name a folder that holds it"
    )


def count_weights(folder: Path) -> Counter[str]:
    """How many numbers of each dtype (`F32`, `BF16`, ...) transformers will read as weights, by the files' headers.

    Raises:
        ModelError: a file of the weights is absent or cut short.
    """
    from safetensors import SafetensorError, safe_open

    counts: Counter[str] = Counter()
    for path in _weight_files(folder):
        try:
            with safe_open(path, framework="np") as weights:
                for part in map(weights.get_slice, weights.keys()):
                    counts[part.get_dtype()] += math.prod(part.get_shape())
        except (OSError, SafetensorError) as error:
            said = " ".join(str(error).split())
            raise ModelError(f"{path}: not a whole file of weights: {said}; download it again") from None
    return counts


def _weight_files(folder: Path) -> list[Path]:
    """One file, or those that the index names; a model may come with its weights a second time, in another form."""
    index = folder / "model.safetensors.index.json"
    if (folder / "model.safetensors").is_file() or not index.is_file():
        return sorted(folder.glob("model.safetensors"))
    return [folder / name for name in sorted(_indexed(index))]


def _indexed(index: Path) -> set[str]:
    return set(read_json(index).get("weight_map", {}).values())


def hash_folder(folder: Path) -> str:
    """Hash over a folder's weights and configuration.

    Raises:
        ModelError: a file cannot be read.
    """
    files = [*folder.glob("*.safetensors"), *folder.glob("*.index.json"), folder / "config.json"]
    files.append(folder / "generation_config.json")
    there = (path for path in sorted(set(files)) if path.is_file())
    hashed = {}
    for path in there:
        with readable(path):
            hashed[path.name] = (remembered_sha256 if path.stat().st_size >= LARGE else sha256_file)(path)
    return sha256_json(hashed)


def is_offline(asked: bool) -> bool:
    """Whether the hub is not to be asked: because a person said so, or the environment (HF_HUB_OFFLINE)."""
    from huggingface_hub import constants

    return asked or constants.HF_HUB_OFFLINE


def cached_snapshot(model: str, revision: str | None) -> Path | None:
    """The folder of a hub model in this machine's cache, None where it is not there; its name is the commit.

    A branch moves; its commit is what names the weights.
    """
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(model, "config.json", revision=revision)
    return Path(config).parent if isinstance(config, str) else None


def find_lack(model: str, revision: str | None) -> str | None:
    """What a hub model lacks in this machine's cache, in words; None where it is whole.

    Whole is: tokenizer, every file of the weights, and all that the hub lists of the commit where a download kept its
    list.
    """
    from huggingface_hub import get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    snapshot = cached_snapshot(model, revision)
    if snapshot is None:
        return "is not"
    there = {path.name for path in snapshot.iterdir() if path.is_file()}
    lack = find_lack_of_part(there)
    if lack is not None:
        return lack
    named = {name for index in snapshot.glob("*.safetensors.index.json") for name in _indexed(index)}
    with contextlib.suppress(CachedRepoTreeNotFoundError):
        listed = (file.path for file in get_cached_repo_tree(model, revision=snapshot.name))
        named |= {path for path in listed if is_needed(path)}
    absent = sorted(named - there)
    return f"lacks {absent[0]}" if absent else None


def is_needed(path: str) -> bool:
    """Whether a file of a hub model is one that is read (see `NEEDED`)."""
    return any(fnmatchcase(path, pattern) for pattern in NEEDED) and "/" not in path


def find_lack_of_part(names: Collection[str]) -> str | None:
    """Which part of a model none of these files is, in words; None where there is something of each."""
    if "config.json" not in names:
        return "has no config.json"
    if not any(fnmatchcase(name, pattern) for name in names for pattern in TOKENIZER_FILES):
        return "has no tokenizer"
    if not any(name.endswith(".safetensors") for name in names):
        return "has no weights in safetensors"
    return None
