"""`Adapter`: a LoRA folder as peft saves it, on this machine or the hub, checked before any weights are loaded."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valuesassets.models.adapter_settings import CONFIG, WEIGHTS, LoraSettings
from valuesassets.models.fetching import PlannedModel, download, plan_repository
from valuesassets.models.gguf_files import readable, remembered_sha256
from valuesassets.models.model_files import (
    HUB_ID,
    LARGE,
    PICKLES,
    TOKENIZER_FILES,
    TOKENIZER_PARTS,
    Parts,
    find_in_cache,
)
from valuesassets.models.tokenizer_files import MANY_SCRIPTS, read_tokenizer
from valuesassets.records.errors import ModelError, TokenizerError
from valuesassets.records.faults import validated
from valuesassets.records.files import kind_of_file, no_such_file, read_json, sha256_file, sha256_json
from valuesassets.records.places import named_model

_REMOVE = "name the base that it was trained on, or remove the tokenizer from a copy of the folder if it is not needed"


@dataclass(frozen=True)
class Adapter:
    """A LoRA folder whose weights are not loaded.

    Attributes:
        name: folder or hub id that the user gave.
        commit: on the hub; None for a folder.
        sha256: hash over its settings and weights.
    """

    name: str
    folder: Path
    commit: str | None
    sha256: str
    settings: LoraSettings

    def weights_id(self, base: str) -> str:
        """The id of the weights that it makes of a base with this id."""
        return sha256_json([base, self.sha256])

    def describe(self) -> dict[str, Any]:
        """The adapter's description, for metadata; `adapter_base` is the base that it names itself."""
        description = {
            "adapter": named_model(self.name),
            "adapter_revision": self.commit,
            "adapter_sha256": self.sha256,
        }
        return description | {"adapter_base": self.settings.base_model_name_or_path}

    def caution(self, model: str) -> str | None:
        """A warning where it names another base than a model; None where the last parts of both names are equal."""
        base = self.settings.base_model_name_or_path or ""
        is_same = Path(base).name.casefold() == Path(model).name.casefold()
        if not base or is_same:
            return None
        return (
            f"warning: the adapter {self.name} names {base} as its base, it was put on {model}; see whether it is that"
        )


def find_lack_of_part(names: Collection[str]) -> str | None:
    """Which file of an adapter is missing among these, in words; None where both are there."""
    lack = next((name for name in (CONFIG, WEIGHTS) if name not in names), None)
    return f"has no {lack}" if lack else None


PARTS = Parts(
    CONFIG,
    (CONFIG, WEIGHTS, *TOKENIZER_PARTS),
    find_lack_of_part,
)


def find_adapter(adapter: str, revision: str | None = None, offline: bool = False) -> Path | None:
    """The folder with an adapter's files, its own or one in the hub's cache; None where it has yet to be downloaded.

    Raises:
        ModelError: there is no such folder, it lacks a file, or the cache does and the hub may not be asked.
    """
    folder = Path(adapter)
    if adapter and folder.is_dir():
        _require_files(adapter, folder)
        return folder
    if adapter and folder.exists():
        raise ModelError(f"{adapter}: is a file, a folder with {CONFIG} was expected; name the folder")
    if not HUB_ID.fullmatch(adapter):
        raise ModelError(f"{no_such_file(adapter, 'folder')}, or give an adapter's hub id such as owner/name")
    return find_in_cache(adapter, revision, offline, PARTS)


def plan_adapter(adapter: str, revision: str | None = None, offline: bool = False) -> PlannedModel:
    """Find what this machine lacks of an adapter, without a download; errors as for `plan_model` of a model."""
    cached = find_adapter(adapter, revision, offline)
    if Path(adapter).is_dir():
        return PlannedModel(adapter, revision, None)
    return plan_repository(adapter, revision, offline, cached, PARTS)


def fetch_adapter(planned: PlannedModel, tell: Callable[[int], None] = lambda _: None) -> Adapter:
    """Download what is missing of an adapter and read its settings.

    Raises:
        ModelError, StorageError: the download failed, a file is cut, or the settings would not all be followed.
    """
    name, commit = planned.model, planned.commit
    folder = Path(name)
    if commit is not None:
        folder = download(name, planned.revision, commit, planned.is_whole, PARTS, tell)
    content = read_json(folder / CONFIG, ModelError)
    kind = content.get("peft_type") if isinstance(content, dict) else None
    if kind != "LORA":
        raise ModelError(
            f"{name}: {CONFIG} has peft_type {kind!r}, LORA was expected; merge it into its base with peft, and name "
            "the merged model"
        )
    settings = validated(LoraSettings, content, ModelError, f"{name}: {CONFIG}")
    require_whole(name, folder)
    hashes = {path.name: _sha256(path) for path in (folder / CONFIG, folder / WEIGHTS)}
    return Adapter(name, folder.absolute(), commit, sha256_json(hashes), settings)


def _sha256(path: Path) -> str:
    with readable(path):
        return (remembered_sha256 if path.stat().st_size >= LARGE else sha256_file)(path)


def require_whole(name: str, folder: Path) -> None:
    """Raise a ModelError unless the weights' file of an adapter is whole."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / WEIGHTS, framework="np") as weights:
            names = list(weights.keys())
    except (OSError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise ModelError(
            f"{name}: {WEIGHTS} is not a whole file of weights: {reason}; save or download it again"
        ) from None
    if not names:
        raise ModelError(f"{name}: {WEIGHTS} has no weights in it; save the adapter again")


def require_same_tokenizer(adapter: Adapter, base: Any, template: str | None) -> None:
    """Require that the tokenizer in an adapter's folder, if there is one, is that of its base.

    Args:
        base: the base's tokenizer.
        template: its chat template, where the model is asked in a chat.

    Raises:
        TokenizerError: it has other entries, cuts otherwise, or has another chat template.
    """
    if not any(any(adapter.folder.glob(name)) for name in TOKENIZER_FILES):
        return
    try:
        own = read_tokenizer(adapter.folder)
    except Exception as error:  # the libraries raise types of their own
        reason = (" ".join(str(error).split()) or type(error).__name__).split(". ")[0][:200]
        raise TokenizerError(f"{adapter.name}: its tokenizer cannot be read: {reason}; {_REMOVE}") from error
    difference = _difference(own, base)
    if difference is None and template is not None and (_template_of(own) or template) != template:
        difference = "has another chat template"
    if difference:
        raise TokenizerError(f"{adapter.name}: its tokenizer is not the base's: {difference}; {_REMOVE}")


def _difference(own: Any, base: Any) -> str | None:
    """How a tokenizer differs from another one, in words."""
    entries, others = own.get_vocab().items(), base.get_vocab().items()
    differing = sorted(entries ^ others, key=lambda entry: entry[::-1])
    if differing:
        (token, number), is_own = differing[0], differing[0] in entries
        return f"{'it' if is_own else 'the base'} has {token!r} as token {number}, the other has not"
    cuts = [each(MANY_SCRIPTS, add_special_tokens=False)["input_ids"] for each in (own, base)]
    return None if cuts[0] == cuts[1] else "it cuts words otherwise"


def _template_of(tokenizer: Any) -> str | None:
    try:
        return str(tokenizer.get_chat_template())
    except ValueError:  # there is none, or there are several without a default
        return None


def _require_files(adapter: str, folder: Path) -> None:
    """Raise a ModelError unless a folder has an adapter's settings and safe weights."""
    for path in (folder / CONFIG, folder / WEIGHTS):
        if path.exists() and not path.is_file():
            raise ModelError(f"{path}: is no file; save the adapter again")
    if not (folder / CONFIG).is_file():
        if (folder / "config.json").is_file():
            raise ModelError(f"{adapter}: no {CONFIG}; name a whole model as the model")
        raise ModelError(f"{adapter}: no {CONFIG}; name a folder as save_pretrained of peft writes it")
    if not (folder / WEIGHTS).is_file():
        pickles = sorted(path.name for pattern in PICKLES for path in folder.glob(pattern))
        if pickles:
            finding = f"found only {pickles[0]}, a pickle, which can run code; save the adapter again with a newer peft"
        else:
            finding = "found none; copy it there, or save the adapter again"
        raise ModelError(f"{adapter}: {WEIGHTS} was expected, {finding}")
    kind = kind_of_file(folder / WEIGHTS)
    if kind is not None:
        raise ModelError(f"{folder / WEIGHTS}: is {kind}, weights were expected; download the file again")
