"""Converts GGUF files into folders of safetensors, once per file, so that they load as fast as other folders."""

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

from valuesassets.models.gguf_files import GgufFile, write_joined
from valuesassets.models.gguf_folders import MARKER, NUMBER_BYTES, GgufOrigin, converted_folders, find_converted
from valuesassets.models.gguf_tokenizers import find_doubts, mend_beginning
from valuesassets.models.hub_cache import free_bytes, gib, hold_lock
from valuesassets.models.tokenizer_files import read_tokenizer
from valuesassets.records.errors import ModelError, StorageError, ValuesAssetsError
from valuesassets.records.files import write_json

SECONDS_BETWEEN = 5.0
NO_TEXT = ("t5", "t5encoder", "umt5")
"""Architectures that transformers reads from GGUF files and that do not continue texts."""
UNREAD_KINDS = {
    "mmproj": "the vision part of a model",
    "adapter": "an adapter (LoRA)",
    "imatrix": "an importance matrix",
}
"""Files that are no model by themselves, by `general.type`."""
EMBEDDERS = (
    "bert",
    "nomic-bert",
    "nomic-bert-moe",
    "jina-bert-v2",
    "jina-bert-v3",
    "modern-bert",
    "neo-bert",
    "gemma-embedding",
)
PLAIN_ROPE = ("", "none", "default")
ROPE_FREQUENCIES = "rope_freqs.weight"
MIXED_POSITIONS = ("gemma3", "gemma4")
"""Architectures with other positions in each kind of layer, so that a file's factors do not fit all layers."""
LLAMA3_FACTORS = (8.0, 32.0)
"""Stretching factors of Llama 3.1 and 3.2, which a file holds only in the resulting frequencies."""
WIDE_GEMMAS = {("gemma2", 46), ("gemma3", 62)}
"""Architecture and layers of the models with 27 billion parameters, whose attention scale no file holds."""
UNWRITABLE = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES),
    *(errno.EEXIST, errno.ENOTDIR, errno.EISDIR),
)
"""Errors of writing; any other error, or one without a system number, means that a file could not be read."""


def needed_bytes(file: GgufFile) -> int:
    """Disk space for a file's conversion: its numbers in float32, and a joined copy of a split file."""
    return sum(tensor.numbers for tensor in file.tensors) * NUMBER_BYTES + (file.size if len(file.parts) > 1 else 0)


def convert(file: GgufFile, say: Callable[[str], None] = lambda _: None) -> Path:
    """Convert a GGUF file into a folder of safetensors, whole or not at all; an existing folder is used as it is.

    Raises:
        ModelError, TokenizerError: transformers cannot read the file, or would read it wrongly.
        StorageError: the disk has no room for the folder.
    """
    if (existing := find_converted(file)) is not None:
        return existing
    require_convertible(file)
    folder = converted_folders() / file.sha256
    with _writable(file):
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = hold_lock(
            folder.with_name(f"{folder.name}.lock"),
            lambda: say(f"{file.name}: waits for another process, which makes safetensors of it"),
        )
    with lock:
        if (existing := find_converted(file)) is not None:
            return existing
        for leftover in folder.parent.glob(f".{folder.name}.*"):  # of a conversion that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        require_room(file)
        temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
        try:
            with _writable(file):
                temporary.mkdir()
                origin = _convert(file, temporary, say)
                shutil.rmtree(folder, ignore_errors=True)  # of another version, or damaged
                temporary.replace(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    for doubt in origin.doubts:
        say(f"{file.name}: its tokenizer: {doubt}")
    return folder


def require_room(file: GgufFile) -> None:
    """Raise a StorageError or ModelError, with what is needed and free, if disk or memory are too small to convert."""
    from valuesassets.models.memory import free_bytes as free_memory

    needed, free = needed_bytes(file), free_bytes()
    if needed > free:
        raise StorageError(
            f"{file.name}: becomes {gib(needed)} of safetensors in {converted_folders()}, but the disk has "
            f"{gib(free)} free: {gib(needed - free)} are missing; free them, or set HF_HOME to a folder on a larger "
            "disk"
        )
    largest = max(tensor.numbers for tensor in file.tensors)
    peak, available = int((sum(t.numbers for t in file.tensors) + 2.2 * largest) * NUMBER_BYTES), free_memory("cpu")
    if peak > available:
        raise ModelError(
            f"{file.name}: its conversion takes about {gib(peak)} of memory, {gib(available)} are free; convert it "
            "where there is more, or use a smaller model"
        )


def require_convertible(file: GgufFile) -> None:
    """Raise a ModelError, with the reason, unless transformers reads a file with this metadata, and correctly."""
    metadata, architecture = file.metadata, file.architecture
    kind = UNREAD_KINDS.get(str(metadata.get("general.type")))
    if architecture == "clip":
        kind = UNREAD_KINDS["mmproj"]
    if kind is not None:
        raise _refusal(file, f"is {kind}, not a model that writes text", "name the file of the model itself")
    is_embedder = bool(file.of_architecture("pooling_type")) or file.of_architecture("attention.causal") is False
    if is_embedder or architecture in EMBEDDERS:
        raise _refusal(file, f"is an embedder ({architecture})", "choose a model that writes text")
    if not architecture:
        raise _refusal(file, "names no architecture (general.architecture)", "download it again, or use another file")
    if not file.tensors:
        raise _refusal(file, "holds no weights, a vocabulary alone", "name the file of the whole model")
    if not metadata.get("tokenizer.ggml.tokens"):
        raise _refusal(file, "holds no tokenizer", "use a file that was converted with its tokenizer")
    if architecture in NO_TEXT or not _is_supported(architecture):
        raise _refusal(
            file,
            f"transformers reads no GGUF file of the architecture {architecture}",
            "use the model as safetensors, or another model",
        )
    unreadable = _unread_quantisations(file)
    if unreadable:
        raise _refusal(
            file,
            f"transformers cannot read its quantisation {', '.join(unreadable)}",
            "use another quantisation of the model, such as Q8_0 or Q4_K_M",
        )
    rope_scaling = str(file.of_architecture("rope.scaling.type") or "")
    if rope_scaling not in PLAIN_ROPE:
        raise _refusal(
            file,
            f"its positions are stretched ({rope_scaling}), which transformers does not take from a GGUF file",
            "use the model as safetensors",
        )
    if architecture in MIXED_POSITIONS and any(tensor.name == ROPE_FREQUENCIES for tensor in file.tensors):
        raise _unknown_factors(file)


def _is_supported(architecture: str) -> bool:
    from transformers.integrations.gguf.gguf_config_mapping import GGUF_CONFIG_ARCHS
    from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES

    architectures = {name.replace("-", "_") for name in GGUF_SUPPORTED_ARCHITECTURES} - {"general", "tokenizer"}
    name_here = architecture.replace("-", "_")
    return (
        architecture in GGUF_CONFIG_ARCHS
        or name_here in architectures
        or name_here in {name.replace("_", "") for name in architectures}
    )


def _unread_quantisations(file: GgufFile) -> list[str]:
    """Names of the quantisations in a file that transformers cannot turn into numbers."""
    import numpy as np
    from gguf import GGMLQuantizationType, dequantize
    from gguf.constants import GGML_QUANT_SIZES
    from transformers.integrations.gguf.dequant import GGML_BLOCK
    from transformers.integrations.gguf.gguf_config_mapping import GGUF_CONFIG_ARCHS

    plain = {GGMLQuantizationType.F32, GGMLQuantizationType.F16, GGMLQuantizationType.BF16}
    names = []
    for number in sorted({tensor.kind for tensor in file.tensors}):
        try:
            kind = GGMLQuantizationType(number)
            if file.architecture in GGUF_CONFIG_ARCHS:
                is_read = kind in plain or number in GGML_BLOCK
            else:
                size = GGML_QUANT_SIZES[kind][1]
                dtype = {"F32": np.float32, "F16": np.float16}.get(kind.name, np.uint8)
                is_read = dequantize(np.zeros((1, size), np.uint8).view(dtype), kind).dtype == np.float32
        except (ValueError, NotImplementedError):
            is_read = False
        if not is_read:
            is_known = number in {kind.value for kind in GGMLQuantizationType}
            names.append(GGMLQuantizationType(number).name if is_known else f"type {number}")
    return names


def _convert(file: GgufFile, folder: Path, say: Callable[[str], None]) -> GgufOrigin:
    """Write a file's tokenizer and weights into a folder, the marker last."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    began, source, stamp = time.monotonic(), folder / "source", file.stamp()
    parameters = sum(tensor.numbers for tensor in file.tensors if tensor.name != ROPE_FREQUENCIES)
    say(
        f"{file.name}: {file.quantisation}, {parameters / 1e6:,.0f} million parameters; made into "
        f"{gib(needed_bytes(file))} of safetensors in {converted_folders()}, once"
    )
    source.mkdir()
    if len(file.parts) == 1:
        (source / "model.gguf").symlink_to(file.parts[0].resolve())
    else:
        write_joined(file, source / "model.gguf")
    with _one_line(file, "tokenizer"):
        hf: Any = AutoTokenizer.from_pretrained(source, gguf_file="model.gguf", trust_remote_code=False)
        mend_beginning(hf, file)
        hf.save_pretrained(folder)
    with (
        _one_line(file, "weights"),
        _reported_tensors(lambda done, total: say(f"{file.name}: {done} of {total} tensors")),
    ):
        loading: Any = AutoModelForCausalLM.from_pretrained(
            source, gguf_file="model.gguf", dtype=torch.float32, trust_remote_code=False, output_loading_info=True
        )
    model, info = loading
    _require_all(file, model, parameters, info)
    _set_missing_settings(file, model)
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.config._name_or_path = ""
    model.save_pretrained(folder)
    del model, loading
    shutil.rmtree(source)
    doubts = find_doubts(read_tokenizer(folder), file)
    if file.stamp() != stamp:
        raise _refusal(file, "changed while it was converted", "wait until it is whole, then give the command again")
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    seconds = time.monotonic() - began
    name = file.parts[0].name
    origin = GgufOrigin(
        name, file.sha256, file.quantisation, file.architecture, parameters, tuple(doubts), sizes, round(seconds, 1)
    )
    write_json(folder / MARKER, asdict(origin))
    say(f"{file.name}: converted in {seconds:.0f} s")
    return origin


def _require_all(file: GgufFile, model: Any, parameters: int, info: Any) -> None:
    """Check that every weight came from the file, and that every tensor of the file went into a weight."""
    absent = sorted([*map(str, info["missing_keys"]), *(str(key[0]) for key in info["mismatched_keys"])])
    if absent:
        raise _refusal(
            file,
            f"transformers finds {len(absent)} weights of the architecture {file.architecture} not in it, first "
            f"{absent[0]}",
            "use the model as safetensors",
        )
    layers = getattr(model.config.get_text_config(), "num_hidden_layers", None) or 0
    n_unused = sum(t.numbers for t in file.tensors if (b := _block(t.name)) is not None and b >= layers)
    n_read = sum(weights.numel() for weights in model.parameters())
    n_buffers = sum(buffer.numel() for name, buffer in model.named_buffers() if name in model.state_dict())
    if parameters - n_unused not in (n_read, n_read + n_buffers):
        raise _refusal(
            file,
            f"it holds {parameters - n_unused:,} numbers, transformers reads {n_read:,} of the architecture "
            f"{file.architecture}",
            "use the model as safetensors",
        )


def _block(name: str) -> int | None:
    parts = name.split(".")
    return int(parts[1]) if parts[0] == "blk" and len(parts) > 1 and parts[1].isdigit() else None


def _set_missing_settings(file: GgufFile, model: Any) -> None:
    """Set what transformers does not take from a file although it changes the model's output."""
    config = model.config.get_text_config()
    if (file.architecture, config.num_hidden_layers) in WIDE_GEMMAS:
        config.query_pre_attn_scalar = config.hidden_size // config.num_attention_heads
    factors = [tensor for tensor in file.tensors if tensor.name == ROPE_FREQUENCIES]
    if factors:
        config.rope_parameters = _llama3_rope(file, config)


def _llama3_rope(file: GgufFile, config: Any) -> dict[str, Any]:
    import copy

    import numpy as np
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    header, tensor = next((h, t) for h in file.headers for t in h.tensors if t.name == ROPE_FREQUENCIES)
    factors = np.fromfile(header.path, np.float32, tensor.numbers, offset=header.data + tensor.offset)
    theta = (getattr(config, "rope_parameters", None) or {}).get("rope_theta")
    if theta is None:  # one per kind of layer, or none
        raise _unknown_factors(file)
    for factor in LLAMA3_FACTORS:
        stretched = {
            "rope_type": "llama3",
            "rope_theta": theta,
            "factor": factor,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        }
        candidate = copy.deepcopy(config)
        candidate.rope_parameters = stretched
        frequencies = ROPE_INIT_FUNCTIONS["llama3"](candidate, "cpu")[0].numpy()
        plain = 1.0 / theta ** (np.arange(0, 2 * len(frequencies), 2) / (2 * len(frequencies)))
        if len(factors) == len(frequencies) and np.allclose(plain / frequencies, factors, rtol=1e-4):
            return stretched
    raise _unknown_factors(file)


def _unknown_factors(file: GgufFile) -> ModelError:
    return _refusal(
        file, "its positions are stretched by factors that transformers does not know", "use the model as safetensors"
    )


@contextlib.contextmanager
def _reported_tensors(tell: Callable[[int, int], None]) -> Iterator[None]:
    """A block in which the library's loop over tensors calls `tell` instead of drawing a progress bar."""
    from transformers import modeling_gguf_pytorch_utils as library

    def report_progress(tensors: Iterable[Any], **_: Any) -> Iterator[Any]:
        every, last = list(tensors), time.monotonic()
        for done, tensor in enumerate(every):
            if time.monotonic() - last > SECONDS_BETWEEN:
                last = time.monotonic()
                tell(done, len(every))
            yield tensor

    with patch.object(library, "tqdm", report_progress):
        yield


@contextlib.contextmanager
def _one_line(file: GgufFile, part: str) -> Iterator[None]:
    try:
        yield
    except ValuesAssetsError:
        raise
    except Exception as error:  # the library raises OSError, ValueError, KeyError, RuntimeError and types of its own
        if _system_error(error) in UNWRITABLE:
            raise
        reason = (" ".join(str(error).split()) or type(error).__name__).split(". ")[0][:200].removesuffix(".")
        raise _refusal(
            file, f"transformers cannot read its {part}: {reason}", "use the model as safetensors"
        ) from error


@contextlib.contextmanager
def _writable(file: GgufFile) -> Iterator[None]:
    try:
        yield
    except ValuesAssetsError:
        raise
    except Exception as error:
        number = _system_error(error)
        if number in UNWRITABLE:
            raise StorageError(
                f"{file.name}: {converted_folders()}: cannot be written: {os.strerror(number)}; free space there or "
                "set HF_HOME to another folder"
            ) from error
        if number is None and not isinstance(error, OSError):
            raise
        reason = os.strerror(number) if number else " ".join(str(error).split())[:200]
        what_to_do = "see whether it is there, whole, and who may read it"
        raise _refusal(file, f"cannot be converted: {reason}", what_to_do) from error


def _system_error(error: Exception) -> int | None:
    """The system's number of an error, which libraries written in Rust put into the message."""
    if isinstance(error, OSError):
        return error.errno
    match = re.search(r"\(os error (\d+)\)", str(error))
    return int(match[1]) if match else None


def _refusal(file: GgufFile, what: str, what_to_do: str) -> ModelError:
    return ModelError(f"{file.name}: {what}; {what_to_do}")
