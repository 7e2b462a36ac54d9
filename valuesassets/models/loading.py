"""Models from a local folder or the hub: safetensors only, no code of theirs, tokenizer held against the weights."""

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valuesassets.models.prompt_tokenizer import PromptTokenizer, describe_tokenizer
from valuesassets.records.errors import ModelError, TokenizerError
from valuesassets.records.files import sha256_file, sha256_json
from valuesassets.records.found_files import kind_of_file, no_such_file

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

DTYPES = ("float32", "bfloat16", "float16")
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "*.spm")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_WHAT_TO_DO = {
    "custom code": "code that comes with a model is never run: choose a model that transformers knows by itself",
    "does not recognize this architecture": "choose another model, or one that this version of transformers knows",
    "Unrecognized configuration class": "choose a model that writes text (a causal language model)",
    "connect": "check the network, or download the model and name its folder",
    "offline mode": "allow the network, or download the model and name its folder",
    "configuration": "check the model's name, or download its config.json again",
    "tokenizer": "save the tokenizer again beside the weights",
    "weights": "download the weights again, all of their files",
}
"""By words of a library's message; else by the part of the model that it could not read."""
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


@dataclass(frozen=True)
class OpenedModel:
    """What is known of a model before its weights are read.

    Attributes:
        model_id: hub id or folder as given.
        revision: commit of the hub; None for a folder.
        weights_id: the commit, or a hash over the folder's weights and configuration: the same id, the same model.
        config: architecture.
        tokenizer: held against the configuration.
        dtype: `float32`, `bfloat16` or `float16`; what `auto` came to.
    """

    model_id: str
    revision: str | None
    weights_id: str
    config: "PretrainedConfig"
    tokenizer: PromptTokenizer
    dtype: str

    def describe(self) -> dict[str, Any]:
        """What names the model, as it goes into a file's metadata; `bos` lists the tokens that begin every prompt."""
        return {
            "model": self.model_id,
            "revision": self.revision,
            "weights_id": self.weights_id,
            "tokenizer_sha256": self.tokenizer.sha256,
            "bos": self.tokenizer.hf.convert_ids_to_tokens(list(self.tokenizer.bos)),
            "dtype": self.dtype,
        }


@dataclass(frozen=True)
class LoadedModel:
    """A model in evaluation mode, with all that names it."""

    opened: OpenedModel
    model: "PreTrainedModel"
    device: str

    @property
    def model_id(self) -> str:
        """Hub id or folder as given."""
        return self.opened.model_id

    @property
    def tokenizer(self) -> PromptTokenizer:
        """The model's tokenizer."""
        return self.opened.tokenizer

    @property
    def eos_ids(self) -> frozenset[int]:
        """Every token that ends a text, by generation settings, configuration and tokenizer."""
        generation = getattr(self.model, "generation_config", None)
        named = [
            getattr(holder, "eos_token_id", None) for holder in (generation, self.opened.config, self.tokenizer.hf)
        ]
        listed = [ids if isinstance(ids, list) else [ids] for ids in named]
        return frozenset(i for ids in listed for i in ids if i is not None)

    def describe(self) -> dict[str, Any]:
        """What names the model, as it goes into a file's metadata."""
        return self.opened.describe() | {"device": self.device}


def load_model(model: str, revision: str | None = None, dtype: str = "auto", device: str = "auto") -> LoadedModel:
    """A model ready to be read, from a local folder or a hub id.

    Raises:
        ModelError: folder, configuration or weights are absent, unsafe or broken, or the hub does not answer.
        TokenizerError: the tokenizer is absent or does not fit the model.
    """
    return load_weights(open_model(model, revision, dtype), device)


def open_model(model: str, revision: str | None = None, dtype: str = "auto") -> OpenedModel:
    """Configuration and tokenizer of a model, its weights only hashed: enough to tell which readings are known.

    Raises:
        ModelError, TokenizerError: as `load_model`.
    """
    from huggingface_hub.utils import logging as hub_logging
    from transformers import AutoConfig, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # errors are one line on stderr: nothing else goes there
    logging.set_verbosity_error()
    hub_logging.set_verbosity_error()
    folder = _require_folder(model)
    where: dict[str, Any] = {"revision": revision, "local_files_only": folder is not None, "trust_remote_code": False}
    with _one_line(model, "configuration", ModelError):
        config = AutoConfig.from_pretrained(model, **where)
    with _one_line(model, "tokenizer", TokenizerError):
        hf = AutoTokenizer.from_pretrained(model, **where)
    tokenizer = describe_tokenizer(hf, model, config.get_text_config().vocab_size)
    commit = None if folder else getattr(config, "_commit_hash", None) or revision
    weights_id = _hash_folder(folder) if folder else commit
    if weights_id is None:
        raise ModelError(f"{model}: the hub names no commit for it; give a revision")
    own = str(getattr(config, "dtype", None) or "float32").removeprefix("torch.")
    chosen = own if dtype == "auto" else dtype
    if chosen not in DTYPES:
        raise ModelError(f"{model}: dtype {chosen}; one of {', '.join(DTYPES)} was expected; ask for one of them")
    return OpenedModel(model, commit, weights_id, config, tokenizer, chosen)


def load_weights(opened: OpenedModel, device: str = "auto") -> LoadedModel:
    """The weights of an opened model, on a device.

    Raises:
        ModelError: weights absent, broken, incomplete, or no such device.
    """
    import torch
    from transformers import AutoModelForCausalLM

    chosen = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    if chosen.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError(f"{opened.model_id}: device {chosen} asked for, no GPU is visible; ask for cpu or a GPU node")
    # Without this, a repository without safetensors is read from whatever pull request offers a conversion.
    os.environ["DISABLE_SAFETENSORS_CONVERSION"] = "1"
    dtype: torch.dtype = getattr(torch, opened.dtype)
    with _one_line(opened.model_id, "weights", ModelError):
        loading: Any = AutoModelForCausalLM.from_pretrained(
            opened.model_id,
            revision=opened.revision,
            config=opened.config,
            dtype=dtype,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=Path(opened.model_id).is_dir(),
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # named below, in one line
            **({"device_map": chosen} if chosen != "cpu" else {}),
        )
    model, info = loading
    other = [
        f"{name} ({'x'.join(map(str, found))} in the file, {'x'.join(map(str, wanted))} by config.json)"
        for name, found, wanted in sorted(info["mismatched_keys"])
    ]
    absent = [*sorted(map(str, info["missing_keys"])), *other]
    if absent:
        raise ModelError(
            f"{opened.model_id}: {len(absent)} weights are missing or of another shape, first {absent[0]}; "
            "the weights are incomplete or belong to another config.json: save both again, from one model"
        )
    return LoadedModel(opened, model.eval(), chosen)


def _require_folder(model: str) -> Path | None:
    """The folder that `model` names, with what it must hold; None for a hub id."""
    folder = Path(model)
    if not (model and folder.is_dir()):
        if model and folder.exists():
            raise ModelError(f"{model}: is a file, a folder with a model was expected; name the folder")
        if not HUB_ID.fullmatch(model):
            raise ModelError(f"{no_such_file(model, 'folder')}, or give a hub id such as owner/name")
        return None
    if not (folder / "config.json").is_file():
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


def _hash_folder(folder: Path) -> str:
    files = [*folder.glob("*.safetensors"), *folder.glob("*.index.json"), folder / "config.json"]
    files.append(folder / "generation_config.json")
    return sha256_json({path.name: sha256_file(path) for path in sorted(set(files)) if path.is_file()})


@contextlib.contextmanager
def _one_line(model: str, part: str, kind: type[ModelError]) -> Iterator[None]:
    """Whatever a library raises while it reads `part`, as one line of ours."""
    try:
        yield
    except Exception as error:  # the libraries raise OSError, ValueError, KeyError, RuntimeError and types of their own
        said = " ".join(str(error).split()) or type(error).__name__
        first_sentence = said.split(". ")[0][:200].removesuffix(".")
        what_to_do = next((advice for sign, advice in _WHAT_TO_DO.items() if sign in said), _WHAT_TO_DO[part])
        raise kind(f"{model}: {part} cannot be read: {first_sentence}; {what_to_do}") from error
