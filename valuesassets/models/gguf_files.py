"""Reads GGUF files, the model files of llama.cpp, Ollama and LM Studio: their parts, metadata and hash."""

import contextlib
import hashlib
import math
import mmap
import re
import struct
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from valuesassets.models.hub_cache import own_cache
from valuesassets.models.index_registry import PREFIX, find_index_file, require_index_model
from valuesassets.records.errors import ModelError, StorageError
from valuesassets.records.files import kind_of_file, no_such_file, read_json, sha256_json, write_json

MAGIC = b"GGUF"
SUFFIX = ".gguf"
VERSIONS = (2, 3)
PART = re.compile(r"(?P<name>.+)-(?P<number>\d{5})-of-(?P<parts>\d{5})\.gguf", re.I)
ALIGNMENT = 32
"""Bytes to which tensors are aligned, unless a file says otherwise."""
RACY_NS = 2_000_000_000
"""Nanoseconds between writing and hashing below which a file may have been written again unnoticed."""

_WIDTHS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9


class Tensor(NamedTuple):
    """One tensor of a file: how it is stored, and where (`offset` bytes into the part's data)."""

    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int

    @property
    def numbers(self) -> int:
        """How many numbers the tensor holds."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes of the tensor in the file."""
        from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

        per_block, block_bytes = GGML_QUANT_SIZES[GGMLQuantizationType(self.kind)]
        return self.numbers // per_block * block_bytes


@dataclass(frozen=True)
class Header:
    """The header of one file, which precedes the tensors' data.

    Attributes:
        raw: by key, the bytes of a metadata entry in the file, key and type included.
        data: byte at which the data begin.
    """

    path: Path
    version: int
    metadata: Mapping[str, Any]
    raw: Mapping[str, bytes]
    tensors: tuple[Tensor, ...]
    data: int


@dataclass(frozen=True)
class GgufFile:
    """A model in one GGUF file or in `parts`, in order; `name` is the user's. Headers are read when they are needed."""

    name: str
    parts: tuple[Path, ...]

    @cached_property
    def headers(self) -> tuple[Header, ...]:
        """The header of each part; a ModelError if one is no GGUF file, of an unknown version, or cut off."""
        headers = tuple(map(_read_header, self.parts))
        n_parts = int(headers[0].metadata.get("split.count", 1))
        if n_parts > len(self.parts):
            raise ModelError(
                f"{self.name}: is one of {n_parts} parts, whose names end in -00001-of-{n_parts:05} and so on; give "
                "the parts these names, in one folder"
            )
        return headers

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The file's metadata; in a split file, the first part has it."""
        return self.headers[0].metadata

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors of all parts."""
        return [tensor for header in self.headers for tensor in header.tensors]

    @property
    def architecture(self) -> str:
        """The architecture's name in llama.cpp."""
        return str(self.metadata.get("general.architecture", ""))

    def of_architecture(self, key: str) -> Any:
        """The architecture's metadata under a key (`context_length`, ...); None where the file has none."""
        return self.metadata.get(f"{self.architecture}.{key}")

    @cached_property
    def quantisation(self) -> str:
        """The name of its quantisation, such as `Q4_K_M`, `Q8_0` or `F16`; else of the type of most of its numbers."""
        from gguf.constants import GGMLQuantizationType, LlamaFileType

        file_type = self.metadata.get("general.file_type")
        if isinstance(file_type, int) and file_type in {kind.value for kind in LlamaFileType}:
            return LlamaFileType(file_type).name.removeprefix("MOSTLY_").removeprefix("ALL_")
        counts: Counter[int] = Counter()
        for tensor in self.tensors:
            counts[tensor.kind] += tensor.numbers
        return GGMLQuantizationType(counts.most_common(1)[0][0]).name

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(path.stat().st_size for path in self.parts)

    @cached_property
    def sha256(self) -> str:
        """Hash of the file; of a split one, over the hashes of its parts."""
        hashes = [remembered_sha256(path) for path in self.parts]
        return hashes[0] if len(hashes) == 1 else sha256_json(hashes)

    def stamp(self) -> list[list[int]]:
        """Size and time of every part, which change when the file does."""
        return [[stat.st_size, stat.st_mtime_ns] for stat in (path.stat() for path in self.parts)]


def find_gguf(model: str) -> GgufFile | None:
    """The GGUF file that `model` names, with all of its parts; None for a folder or a hub id.

    A file without the suffix counts if it begins as GGUF files do: Ollama stores such files. `index:NAME` names the
    file of a model that was fetched from the package index.

    Raises:
        ModelError: there is no such file, or one of its parts is missing.
    """
    if model.startswith(PREFIX):
        return _find_of_index(model)
    path = Path(model)
    has_suffix = path.suffix.lower() == SUFFIX
    if not model or path.is_dir() or not (has_suffix or path.is_file()):
        return None
    if not path.is_file():
        raise ModelError(no_such_file(model))
    if not has_suffix and not begins_as_gguf(path):
        return None
    parts = part_paths(path)
    absent = next((number for number, part in enumerate(parts, 1) if not part.exists()), None)
    if absent is not None:
        raise ModelError(
            f"{model}: part {absent} of {len(parts)} is missing: {parts[absent - 1].name} was expected beside it; put "
            "all parts into one folder"
        )
    return GgufFile(model, parts)


def part_paths(path: Path) -> tuple[Path, ...]:
    """Every part of a split GGUF file in order, existing or not; for any other file, the file alone."""
    match = PART.fullmatch(path.name)
    if match is None:
        return (path,)
    names = [f"{match['name']}-{number:05}-of-{match['parts']}{SUFFIX}" for number in range(1, int(match["parts"]) + 1)]
    entries = {entry.name.lower(): entry for entry in path.parent.glob("*")}
    return tuple(entries.get(name.lower(), path.with_name(name)) for name in names)


def _find_of_index(model: str) -> GgufFile:
    name = model.removeprefix(PREFIX)
    path = find_index_file(name)
    if path is None:
        raise ModelError(f"{model}: is not on this machine; fetch it with `valuesassets models get {name}`")
    file = GgufFile(model, (path,))
    if file.sha256 != require_index_model(name).sha256:
        raise ModelError(
            f"{model}: {path} is not the file of the package index; remove it, then fetch it with `valuesassets models "
            f"get {name}`"
        )
    return file


def begins_as_gguf(path: Path) -> bool:
    """Whether a file begins as GGUF files do."""
    with readable(path), open(path, "rb") as stream:
        return stream.read(4) == MAGIC


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """A block in which an OSError becomes a ModelError about the file."""
    try:
        yield
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}; see who may read it") from None


def remembered_sha256(path: Path) -> str:
    """Hash of a file, or a ModelError; computed once as long as its size, times and place on the disk stay the same."""
    with readable(path):
        store, stat, place = own_cache() / "hashes.json", path.stat(), str(path.resolve())
        now = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_dev]
        try:
            hashes = read_json(store)
            entry = hashes.get(place, {})
            if entry["file"] == now and re.fullmatch("[0-9a-f]{64}", entry["sha256"]):
                return entry["sha256"]
        except (StorageError, AttributeError, KeyError, TypeError):  # absent, or written by somebody else
            hashes = {}
        started, digest = time.time_ns(), hashlib.sha256()
        with open(path, "rb") as stream:
            while block := stream.read(1 << 22):
                digest.update(block)
        sha256 = digest.hexdigest()
        if started - max(stat.st_mtime_ns, stat.st_ctime_ns) > RACY_NS and path.stat().st_mtime_ns == stat.st_mtime_ns:
            other_hashes = hashes if isinstance(hashes, dict) else {}
            with contextlib.suppress(StorageError):  # it is computed again next time
                write_json(store, other_hashes | {place: {"file": now, "sha256": sha256}})
        return sha256


class _CutOffError(Exception):
    """The file ends before its header does."""


class _Reader:
    """Reads the values of a header in order, and checks every length against the file's."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data, self.place, self._end = data, 0, len(data)

    def take(self, n: int) -> bytes:
        if n > self._end - self.place:
            raise _CutOffError
        self.place += n
        return self._data[self.place - n : self.place]

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self) -> str:
        return self.take(self.number("<Q")).decode("utf-8", "surrogateescape")

    def value(self, kind: int) -> Any:
        if kind in _WIDTHS:
            return self.number(_WIDTHS[kind])
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY:
            raise ValueError(f"a value of the unknown type {kind}")
        inner, count = self.number("<I"), self.number("<Q")
        if inner in _WIDTHS:
            form = _WIDTHS[inner]
            return list(struct.unpack(f"<{count}{form[1]}", self.take(count * struct.calcsize(form))))
        if count > self._end:
            raise _CutOffError
        return [self.value(inner) for _ in range(count)]

    def entries(self, count: int) -> Iterator[tuple[str, Any, bytes]]:
        for _ in range(count):
            start = self.place
            key = self.text()
            value = self.value(self.number("<I"))
            yield key, value, self._data[start : self.place]

    def tensor(self) -> Tensor:
        name, dimensions = self.text(), self.number("<I")
        if dimensions > 8:
            raise ValueError(f"the tensor {name[:40]!r} of {dimensions} dimensions")
        shape = tuple(reversed([self.number("<Q") for _ in range(dimensions)]))
        return Tensor(name, shape, self.number("<I"), self.number("<Q"))


def _read_header(path: Path) -> Header:
    size = path.stat().st_size
    if not size or not begins_as_gguf(path):
        kind = kind_of_file(path) or "of another kind"
        raise ModelError(f"{path}: is {kind}, a GGUF file was expected; download it again, or name another file")
    try:
        with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            header = _parse(path, _Reader(data))
    except _CutOffError:
        raise ModelError(
            f"{path}: is cut off: it ends after {size:,} bytes, before its weights; download it again"
        ) from None
    except (ValueError, struct.error, OverflowError, MemoryError, RecursionError) as error:
        reason = " ".join(str(error).split())[:120]
        raise ModelError(f"{path}: its beginning is damaged ({reason}); download it again") from None
    from gguf.constants import GGMLQuantizationType

    known_kinds = {kind.value for kind in GGMLQuantizationType}
    tensors = [tensor for tensor in header.tensors if tensor.kind in known_kinds]
    n_needed = max((header.data + tensor.offset + tensor.size for tensor in tensors), default=0)
    if n_needed > size:
        raise ModelError(f"{path}: is cut off: {size:,} of {n_needed:,} bytes are there; download it again")
    return header


def _parse(path: Path, reader: _Reader) -> Header:
    reader.take(len(MAGIC))
    version = reader.number("<I")
    if version not in VERSIONS:
        is_swapped = int.from_bytes(version.to_bytes(4, "little"), "big") in VERSIONS
        kind = "for big-endian machines" if is_swapped else f"of version {version} of the format"
        advice = "convert the model anew" if is_swapped or version < min(VERSIONS) else "update this project"
        raise ModelError(f"{path}: is a GGUF file {kind}, versions 2 and 3 are read; {advice}, or use another file")
    n_tensors, n_entries = reader.number("<Q"), reader.number("<Q")
    metadata: dict[str, Any] = {}
    raw: dict[str, bytes] = {}
    for key, value, entry_bytes in reader.entries(n_entries):
        metadata[key], raw[key] = value, entry_bytes
    tensors = tuple(reader.tensor() for _ in range(n_tensors))
    alignment = _whole_number(metadata, "general.alignment", ALIGNMENT, 1)
    _whole_number(metadata, "split.count", 1, 0)
    data = math.ceil(reader.place / alignment) * alignment
    return Header(path, version, metadata, raw, tensors, data)


def _whole_number(metadata: Mapping[str, Any], key: str, otherwise: int, least: int) -> int:
    number = metadata.get(key, otherwise)
    if type(number) is not int or number < least:
        raise ValueError(f"{key} is {number!r:.40}, a whole number from {least} was expected")
    return number


def write_joined(file: GgufFile, path: Path) -> None:
    """Write a split file's parts as one file, for readers that cannot read parts."""
    first = file.headers[0]
    alignment = first.metadata.get("general.alignment", ALIGNMENT)
    entries = [entry_bytes for key, entry_bytes in first.raw.items() if not key.startswith("split.")]
    place, table = 0, []
    for tensor in file.tensors:
        name = tensor.name.encode("utf-8", "surrogateescape")
        shape = struct.pack(f"<I{len(tensor.shape)}Q", len(tensor.shape), *reversed(tensor.shape))
        table.append(struct.pack("<Q", len(name)) + name + shape + struct.pack("<IQ", tensor.kind, place))
        place += math.ceil(tensor.size / alignment) * alignment
    with open(path, "wb") as out:
        out.write(MAGIC + struct.pack("<IQQ", first.version, len(table), len(entries)) + b"".join([*entries, *table]))
        out.write(bytes(-out.tell() % alignment))
        for header in file.headers:
            with open(header.path, "rb") as stream:
                for tensor in header.tensors:
                    stream.seek(header.data + tensor.offset)
                    n_left = tensor.size
                    while n_left and (block := stream.read(min(n_left, 1 << 24))):
                        out.write(block)
                        n_left -= len(block)
                    out.write(bytes(-out.tell() % alignment))
