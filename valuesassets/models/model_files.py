"""Checks a model's files before any library reads them: that they are there, whole and safe; and hashes them."""

import contextlib
import math
import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from valuesassets.models.gguf_files import SUFFIX, find_gguf, readable, remembered_sha256
from valuesassets.models.gguf_folders import MARKER, find_converted, read_origin
from valuesassets.records.errors import ModelError, TokenizerError
from valuesassets.records.files import kind_of_file, no_such_file, read_json, sha256_file, sha256_json
from valuesassets.records.terminal import is_utf8

TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "*.spm")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
LARGE = 2**26
"""Bytes from which a file's hash is remembered; hashing so many takes a tenth of a second."""
COMMIT = re.compile(r"[0-9a-f]{40}")
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
SIZES = re.compile(r"(hidden|intermediate|vocab)_size|num_hidden_layers|n_layers?|num_attention_heads")
COUNTS = re.compile(r"(num|n)_\w+")
"""Numbers in config.json by which transformers builds a model; those of `SIZES` are at least 1."""
MOST, MOST_LAYERS = 10**6, 10**4
"""Largest counts accepted, far above those of real models: libraries would build more for hours."""
TOKENIZER_PARTS = (
    *TOKENIZER_FILES,
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt", "sentencepiece.bpe.model"),
    *("chat_template.json", "chat_template.jinja"),
)
"""Files of which a tokenizer may consist."""
NEEDED = (
    *TOKENIZER_PARTS,
    *("config.json", "generation_config.json"),
    *(WEIGHTS, INDEX),
    *("model-?????-of-?????.safetensors", "model-?????-of-??????.safetensors"),
)
"""Files that are downloaded of a hub model: no pickles, no code, and no second copy of its weights."""


@dataclass(frozen=True)
class Parts:
    """What a repository on the hub needs to be whole.

    Attributes:
        config: name of the file that every such repository has.
        needed: patterns of the files that are downloaded.
        find_lack: says which part is missing among names of files, in words.
    """

    config: str
    needed: tuple[str, ...]
    find_lack: Callable[[Collection[str]], str | None]


def require_folder(model: str) -> Path | None:
    """The folder that `model` names, after a check of its files; None for a hub id.

    Raises:
        ModelError, TokenizerError: there is no such folder, or it lacks configuration, tokenizer or safe weights.
    """
    folder = Path(model)
    if not (model and folder.is_dir()):
        if model and folder.exists():
            raise ModelError(f"{model}: is a file, a folder with a model or a GGUF file was expected; name one of them")
        if not HUB_ID.fullmatch(model):
            raise ModelError(f"{no_such_file(model, 'folder')}, or give a hub id such as owner/name")
        return None
    for path in sorted(folder.iterdir()):
        if path.exists() and not (path.is_file() or path.is_dir()):  # reading a pipe or a device would never end
            raise ModelError(f"{path}: is no file but a pipe or a device; remove it")
    if (folder / MARKER).is_file() and read_origin(folder) is None:
        raise ModelError(
            f"{model}: is no longer as it was made of a GGUF file; name the GGUF file, which makes it anew"
        )
    if not (folder / "config.json").is_file():
        gguf_files = sorted(path for path in folder.iterdir() if path.suffix.lower() == SUFFIX)
        if gguf_files:
            raise ModelError(f"{model}: is a folder of GGUF files; name the file itself, such as {gguf_files[0]}")
        if (folder / "adapter_config.json").is_file():
            raise ModelError(f"{model}: is an adapter; name its base as the model, and this folder as the adapter")
        raise ModelError(f"{model}: no config.json; name a folder as save_pretrained writes it")
    if not any(any(folder.glob(name)) for name in TOKENIZER_FILES):
        raise TokenizerError(f"{model}: no tokenizer; put tokenizer.json (or tokenizer.model) beside the weights")
    if not any(folder.glob("*.safetensors")):
        pickles = sorted(path.name for pattern in PICKLES for path in folder.glob(pattern))
        finding = f"found only {pickles[0]}, a pickle, which can run code" if pickles else "found none"
        raise ModelError(
            f"{model}: weights in safetensors were expected, {finding}; save the model again with save_pretrained"
        )
    for path in sorted({*folder.glob("*.safetensors"), *weight_files(folder)}):
        if not is_utf8(str(path.absolute())):
            raise ModelError(f"{path}: is a name in another encoding than UTF-8; give the file or folder another name")
        if not path.is_file():
            raise ModelError(f"{path}: no such file of weights; download it again")
        kind = kind_of_file(path)
        if kind is not None:
            raise ModelError(f"{path}: is {kind}, weights were expected; download the file again")
    return folder


def find_model(model: str, revision: str | None = None, offline: bool = False) -> Path | None:
    """The folder with a model's files: its own, one in the hub's cache, or the one that its GGUF file became.

    None where files have yet to be downloaded or converted. Errors as `require_folder`; a ModelError where the cache
    lacks a file and the hub may not be asked.
    """
    gguf = find_gguf(model)
    if gguf is not None:
        return find_converted(gguf)
    folder = require_folder(model)
    if folder is not None:
        return folder
    return find_in_cache(model, revision, offline, MODEL_PARTS)


def find_in_cache(model: str, revision: str | None, offline: bool, parts: Parts) -> Path | None:
    """The folder of a hub repository in the cache, None where it has yet to be downloaded; a ModelError where a file is
    missing and the hub may not be asked."""
    lack = find_lack(model, revision, parts)
    if lack is None:
        return cached_snapshot(model, revision, parts.config)
    if not is_offline(offline):
        return None
    at = f" at revision {revision}" if revision else ""
    raise ModelError(
        f"{model}: {lack} in this machine's cache of the hub{at}, and the hub is not to be asked (offline); "
        "download it once with the network allowed, or name a folder that holds it"
    )


def count_weights(folder: Path) -> Counter[str]:
    """Number of weights of each dtype (`F32`, ...) in the files that load; a ModelError if one is not whole."""
    from safetensors import SafetensorError, safe_open

    counts: Counter[str] = Counter()
    for path in weight_files(folder):
        try:
            with safe_open(path, framework="np") as weights:
                for name in weights.keys():  # noqa: SIM118  # so the library names them
                    tensor = weights.get_slice(name)
                    if tensor.get_dtype().startswith("C"):  # transformers would take their real part
                        raise ModelError(f"{path}: {name} holds complex numbers; a language model has none")
                    counts[tensor.get_dtype()] += math.prod(tensor.get_shape())
        except (OSError, SafetensorError) as error:
            reason = " ".join(str(error).split())
            raise ModelError(f"{path}: not a whole file of weights: {reason}; download it again") from None
    return counts


def require_sound_settings(folder: Path) -> None:
    """Raise a ModelError if settings make a library build layers for hours, or name other weights."""
    path, settings = folder / "config.json", folder / "generation_config.json"
    if settings.is_file() and not isinstance(read_json(settings, ModelError), dict):
        raise ModelError(f"{settings}: an object was expected; download the file again")
    try:
        content: Any = read_json(path, ModelError)
    except ModelError:  # the library reports what is wrong
        return
    waiting = [content]
    while waiting:
        value_here = waiting.pop()
        for key, value in value_here.items() if isinstance(value_here, dict) else ():
            waiting.append(value)
            is_size, most = SIZES.fullmatch(key), MOST_LAYERS if "layer" in key else MOST
            is_count = isinstance(value, int) and (is_size or COUNTS.fullmatch(key))
            if is_count and (value > most or (is_size and value < 1)):
                raise ModelError(
                    f"{path}: {key} is {str(value)[:20]}, 1 to {most:,} was expected; download the file again"
                )
            if key == "transformers_weights" and value is not None:
                raise ModelError(
                    f"{path}: names other weights than {WEIGHTS} or {INDEX} ({key}); save the model again with "
                    "save_pretrained"
                )


def weight_files(folder: Path) -> list[Path]:
    """The files that transformers will load as weights: one, or all that the index names, in subfolders too.

    Raises:
        ModelError: the index cannot be read, or names something other than a safetensors file in the folder.
    """
    index = folder / INDEX
    if (folder / WEIGHTS).is_file() or not index.is_file():
        return sorted(folder.glob(WEIGHTS))
    return [folder / name for name in sorted(_indexed(index))]


def _indexed(index: Path) -> set[str]:
    content = read_json(index, ModelError)
    places = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(places, dict) or not places or not all(isinstance(name, str) for name in places.values()):
        raise ModelError(f"{index}: no weight_map that names the file of each weight; download the file again")
    for name in set(places.values()):
        if Path(name).is_absolute() or ".." in Path(name).parts or not name.endswith(".safetensors") or "\0" in name:
            raise ModelError(
                f"{index}: names {name[:80]!r}, a safetensors file in the model's folder was expected; save the model "
                "again with save_pretrained"
            )
    return set(places.values())


def hash_folder(folder: Path) -> str:
    """Hash over a folder's weights and configuration; a ModelError if a file is not whole or not in the folder."""
    count_weights(folder)  # fails early on broken files, before an hour of hashing
    files = [*folder.glob("*.safetensors"), *folder.glob("*.index.json"), *weight_files(folder), folder / "config.json"]
    files.append(folder / "generation_config.json")
    existing = (path for path in sorted(set(files)) if path.is_file())
    hashes = {}
    for path in existing:
        with readable(path):
            name = path.relative_to(folder).as_posix()
            hashes[name] = (remembered_sha256 if path.stat().st_size >= LARGE else sha256_file)(path)
    return sha256_json(hashes)


def is_offline(is_requested: bool) -> bool:
    """Whether the hub may not be asked, by request or by the environment (HF_HUB_OFFLINE)."""
    from huggingface_hub import constants

    return is_requested or constants.HF_HUB_OFFLINE


def cached_snapshot(model: str, revision: str | None, config: str = "config.json") -> Path | None:
    """The folder of a hub model in the cache, named by its commit, which identifies the weights; None if absent."""
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(model, config, revision=revision)
    return Path(path).parent if isinstance(path, str) else None


def find_lack(model: str, revision: str | None, parts: Parts | None = None) -> str | None:
    """What a hub model lacks in this machine's cache, in words; None where it is whole.

    A whole model has a tokenizer, every file of its weights, and, if a download kept the hub's list of the commit's
    files, all needed files in that list.

    Args:
        parts: those of a repository that holds something else than a model.
    """
    from huggingface_hub import get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    parts = parts or MODEL_PARTS
    snapshot = cached_snapshot(model, revision, parts.config)
    if snapshot is None:
        return "is not"
    names_here = {path.name for path in snapshot.iterdir() if path.is_file()}
    lack = parts.find_lack(names_here)
    if lack is not None:
        return lack
    named = {name for index in snapshot.glob("*.safetensors.index.json") for name in _indexed(index)}
    with contextlib.suppress(CachedRepoTreeNotFoundError):
        listed = (file.path for file in get_cached_repo_tree(model, revision=snapshot.name))
        named |= {path for path in listed if is_needed(path, parts.needed)}
    absent = sorted(named - names_here)
    return f"lacks {absent[0]}" if absent else None


def is_needed(path: str, needed: Collection[str] = NEEDED) -> bool:
    """Whether a file of a hub model is one of those that are downloaded."""
    return any(fnmatchcase(path, pattern) for pattern in needed) and "/" not in path


def find_lack_of_part(names: Collection[str]) -> str | None:
    """Which part of a model is missing among these files, in words; None where every part has a file."""
    if "config.json" not in names:
        return "has no config.json"
    if not any(fnmatchcase(name, pattern) for name in names for pattern in TOKENIZER_FILES):
        return "has no tokenizer"
    if not any(name.endswith(".safetensors") for name in names):
        return "has no weights in safetensors"
    return None


MODEL_PARTS = Parts("config.json", NEEDED, find_lack_of_part)
