"""Folders of safetensors that were converted from GGUF files: where they are, and which file each came from."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from valuesassets.models.gguf_files import GgufFile
from valuesassets.models.hub_cache import own_cache
from valuesassets.records.errors import StorageError
from valuesassets.records.files import read_json, sha256_json

CONVERSION_VERSION = 1
"""Raised when the conversion's result changes; folders of other versions are converted and asked anew."""
NUMBER_BYTES = 4
"""Bytes per number in a converted folder, which is float32."""
MARKER = "gguf.json"
"""The file in a converted folder that says which GGUF file it came from; written last."""


@dataclass(frozen=True)
class GgufOrigin:
    """The GGUF file that a folder of safetensors was converted from, as the folder's marker says.

    Attributes:
        file: the file's name, without folders.
        doubts: how the folder's tokenizer may differ from the one that the model was trained with, in words.
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
        """The GGUF file's description, for metadata."""
        named = ("file", "sha256", "quantisation", "architecture", "doubts")
        return {name: each for name, each in asdict(self).items() if name in named}

    def caution(self, dtype: str) -> str:
        """A report's remark on the readings of the converted model."""
        return f"{self.quantisation}, computed in {dtype}: numbers are those of the quantised model"


def weights_id(sha256: str) -> str:
    """The id of a converted file's weights: the file's hash, from conversion version 2 on with the version."""
    return sha256 if CONVERSION_VERSION == 1 else sha256_json([sha256, CONVERSION_VERSION])


def converted_folders() -> Path:
    """The folder that holds all converted folders, each named by its file's hash."""
    return own_cache() / "gguf"


def read_origin(folder: Path) -> GgufOrigin | None:
    """The GGUF file that a folder was converted from; None for any other folder, and for one changed since."""
    try:
        marker = read_json(folder / MARKER)
        origin = GgufOrigin(**marker | {"doubts": tuple(marker["doubts"])})
        sizes = {name: (folder / name).stat().st_size for name in origin.sizes}
    except (OSError, StorageError, TypeError, KeyError, AttributeError):
        return None
    return origin if origin.version == CONVERSION_VERSION and sizes == origin.sizes else None


def find_converted(file: GgufFile) -> Path | None:
    """The folder that a GGUF file was converted to; None where it has yet to be converted."""
    folder = converted_folders() / file.sha256
    origin = read_origin(folder)
    return folder if origin is not None and origin.sha256 == file.sha256 else None
