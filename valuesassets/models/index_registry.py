"""The registry of small models on the package index, and where they are on this machine."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated

import pydantic

from valuesassets.models.hub_cache import own_cache
from valuesassets.records.errors import ModelError
from valuesassets.records.files import no_such_name
from valuesassets.records.places import STUDIES
from valuesassets.records.settings.kinds import SHA256

PREFIX = "index:"
"""Prefix of a model of the index in `model_id` and `--model`."""
REGISTRY = STUDIES / "facts" / "index_models.toml"

Hash = Annotated[str, pydantic.Field(pattern=SHA256)]


class _Entry(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class IndexWheel(_Entry):
    """A wheel of the index that holds a model's file, or a part of it.

    Attributes:
        bytes: size of the wheel.
        member: path of the model's file, or of the part, in the wheel; None in a wheel that holds only the terms.
        terms: path of the licence's text in the wheel.
    """

    package: str
    version: str
    bytes: int
    sha256: Hash
    member: str | None = None
    terms: str | None = None


class IndexModel(_Entry):
    """A GGUF model on the index, in one wheel or in parts.

    Attributes:
        file: name of the GGUF file on this machine, whose size and hash are `bytes` and `sha256`.
        parameters: how many numbers it holds.
        is_open: whether its licence needs no acceptance.
    """

    title: str
    file: str
    bytes: int
    sha256: Hash
    parameters: int
    licence: str
    is_open: bool
    wheels: tuple[IndexWheel, ...]


@cache
def read_registry(path: Path) -> dict[str, IndexModel]:
    """The models of a registry by name."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: IndexModel.model_validate(entry) for name, entry in entries.items()}


def index_models() -> dict[str, IndexModel]:
    """The models that can be fetched, by name."""
    return read_registry(REGISTRY)


def require_index_model(name: str) -> IndexModel:
    """The model of a name; a ModelError if the registry has none."""
    models = index_models()
    if name not in models:
        raise ModelError(no_such_name(name, "model of the package index", models))
    return models[name]


def index_folder(name: str) -> Path:
    """The folder of a model of the index: its file, and its licence's text."""
    return own_cache() / "index" / name


def find_index_file(name: str) -> Path | None:
    """The file of a model of the index (`require_index_model`) on this machine; None where it was not fetched."""
    model = require_index_model(name)
    path = index_folder(name) / model.file
    return path if path.is_file() and path.stat().st_size == model.bytes else None
