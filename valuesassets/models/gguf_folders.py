"""Folders of safetensors that were made of GGUF files: where they stand, and which file each was made from."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from valuesassets.models.gguf_files import GgufFile
from valuesassets.models.hub_cache import own_cache
from valuesassets.records.errors import StorageError
from valuesassets.records.files import read_json, sha256_json

CONVERSION_VERSION = 1
"""Raised when what comes of a file changes; folders of another version are made anew, and asked anew."""
NUMBER_BYTES = 4
"""Of a number in a converted folder, float32."""
MARKER = "gguf.json"
"""In a converted folder: which file it was made from, written last."""


@dataclass(frozen=True)
class GgufOrigin:
    """Which GGUF file a folder of safetensors was made from, as its marker says.

    Attributes:
        file: its name, without folders.
        doubts: what its tokenizer may do otherwise than the file's model learned, in words.
        sizes: bytes of each file of the folder.
    """

    file: str
    sha256: str
    quantisation: str
    architecture: str
    parameters: int
    doubts: tuple[str, ...]
    sizes: dict[str, int]
    seconds: float
    version: int = CONVERSION_VERSION

    def describe(self) -> dict[str, Any]:
        """What names the file, as it goes into metadata."""
        named = ("file", "sha256", "quantisation", "architecture", "doubts")
        return {name: each for name, each in asdict(self).items() if name in named}

    def said(self, dtype: str) -> str:
        """What a report says of numbers that were read off it."""
        return f"{self.quantisation}, computed in {dtype}: numbers are those of the quantised model"


def weights_id(sha256: str) -> str:
    """What names the weights that come of a file: its hash, and from version 2 of the conversion on the version too."""
    return sha256 if CONVERSION_VERSION == 1 else sha256_json([sha256, CONVERSION_VERSION])


def converted_folders() -> Path:
    """Where folders that were made of GGUF files stand, each named by its file's hash."""
    return own_cache() / "gguf"


def read_origin(folder: Path) -> GgufOrigin | None:
    """The file that a folder was made from; None for any other folder, and for one that is not as it was made."""
    try:
        told = read_json(folder / MARKER)
        origin = GgufOrigin(**told | {"doubts": tuple(told["doubts"])})
        sizes = {name: (folder / name).stat().st_size for name in origin.sizes}
    except (OSError, StorageError, TypeError, KeyError, AttributeError):
        return None
    return origin if origin.version == CONVERSION_VERSION and sizes == origin.sizes else None


def find_converted(file: GgufFile) -> Path | None:
    """The folder that a GGUF file was made into; None where that is yet to be done."""
    folder = converted_folders() / file.sha256
    origin = read_origin(folder)
    return folder if origin is not None and origin.sha256 == file.sha256 else None
