"""Small models that the package index has: what is known of each, and where it is kept on this machine."""

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
"""Begins what `model_id` and `--model` call a model of the index by."""
REGISTRY = STUDIES / "facts" / "index_models.toml"

Hash = Annotated[str, pydantic.Field(pattern=SHA256)]


class _Entry(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class IndexWheel(_Entry):
    """A wheel of the index, which a model or a part of it is a member of.

    Attributes:
        bytes: of the wheel.
        member: the model's file in it, or the part of it; None in a wheel that has its terms alone.
        terms: the licence's text in it.
    """

    package: str
    version: str
    bytes: int
    sha256: Hash
    member: str | None = None
    terms: str | None = None


class IndexModel(_Entry):
    """A model that the index has as a GGUF file, in one wheel or in parts.

    Attributes:
        file: its name as it is kept, hash and bytes are its own.
        parameters: how many numbers it holds.
        is_open: whether its licence asks nothing of whoever fetches it.
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
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: IndexModel.model_validate(entry) for name, entry in told.items()}


def index_models() -> dict[str, IndexModel]:
    """The models that can be had, by name."""
    return read_registry(REGISTRY)


def require_index_model(name: str) -> IndexModel:
    """The model of that name.

    Raises:
        ModelError: there is none.
    """
    known = index_models()
    if name not in known:
        raise ModelError(no_such_name(name, "model of the package index", known))
    return known[name]


def index_folder(name: str) -> Path:
    """Where a model of the index is kept: its file, and the text of its licence beside it."""
    return own_cache() / "index" / name


def find_index_file(name: str) -> Path | None:
    """The file of a model of the index on this machine; None where it was not fetched.

    Raises:
        ModelError: there is no such model.
    """
    model = require_index_model(name)
    path = index_folder(name) / model.file
    return path if path.is_file() and path.stat().st_size == model.bytes else None
