"""What weights take and what memory there is: where a model goes, and that it fits there before it is read."""

import os
import resource
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from valuesassets.models.model_files import count_weights
from valuesassets.records.errors import ModelError

if TYPE_CHECKING:
    from valuesassets.models.loading import OpenedModel

MEMINFO, OWN_CGROUPS, CGROUPS = Path("/proc/meminfo"), Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
"""What Linux says: of the machine, the cgroups of this process, and where they are mounted."""
OWN_PAGES = Path("/proc/self/statm")
"""The pages of addresses that this process has, first of its numbers."""
BESIDE_WEIGHTS = 0.15
"""Of the weights: what reading takes beside them at least, on a graphics card."""
ITEM_BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
FLOATS = ("F64", "F32", "F16", "BF16")
WIDE = {"I64": 8, "U64": 8, "I32": 4, "U32": 4, "I16": 2, "U16": 2}
"""Bytes of what no dtype changes, one for all others: integers, and floats of eight bits."""


def require_memory(opened: "OpenedModel") -> None:
    """See that the weights of a model fit into what is free where it is to run.

    Raises:
        ModelError: they do not fit, or their files are not whole.
    """
    needed, free = weights_bytes(count_weights(opened.folder), opened.dtype), free_bytes(opened.device)
    if needed > free:
        raise ModelError(f"{opened.model_id}: {_too_little(needed, free, opened)}")


def require_on_gpus(opened: "OpenedModel", places: Mapping[str, object]) -> None:
    """See that no layer of a spread model waits on the CPU or the disk, from where each pass would fetch it anew.

    Args:
        places: by module, where accelerate has put it: number of a GPU, `cpu` or `disk`.

    Raises:
        ModelError: some do; says what the weights take and what is free.
    """
    waiting = [name for name, place in places.items() if place in ("cpu", "disk")]
    if waiting:
        said = _too_little(weights_bytes(count_weights(opened.folder), opened.dtype), free_bytes("auto"), opened)
        raise ModelError(
            f"{opened.model_id}: {len(waiting)} of {len(places)} parts of it do not fit on the GPUs, first "
            f"{waiting[0] or 'all'}; {said}"
        )


def find_single_gpu(folder: Path, dtype: str) -> str | None:
    """The first GPU that is large enough for a model and what reading takes beside it; None where none is.

    By the whole memory of a card, not by what is free: a model goes to the same place however often it is loaded.
    """
    import torch

    needed = (1 + BESIDE_WEIGHTS) * weights_bytes(count_weights(folder), dtype)
    cards = (f"cuda:{index}" for index in range(torch.cuda.device_count()))
    return next((card for card in cards if total_bytes(card) >= needed), None)


def _too_little(needed: int, free: int, opened: "OpenedModel") -> str:
    kind, remedy = ("memory", "more of it") if opened.device == "cpu" else ("GPU memory", "a larger GPU or several")
    remedy += ", or for dtype bfloat16" if ITEM_BYTES[opened.dtype] > ITEM_BYTES["bfloat16"] else ""
    return (
        f"its weights take {_gib(needed)} in {opened.dtype}, {_gib(free)} of {kind} are free on "
        f"{socket.gethostname()}; ask for {remedy}"
    )


def weights_bytes(counts: Mapping[str, int], dtype: str) -> int:
    """Bytes that weights take when they are loaded in a dtype.

    >>> weights_bytes({"F32": 10, "I64": 1}, "bfloat16")
    28
    """
    return sum(n * (ITEM_BYTES[dtype] if kind in FLOATS else WIDE.get(kind, 1)) for kind, n in counts.items())


def free_bytes(device: str) -> int:
    """Bytes that are free for weights on `cpu` or `cuda:0`; for `auto` on all GPUs together.

    Raises:
        ModelError: a GPU that is visible cannot be used.
    """
    if device == "cpu":
        return _free_host_bytes()
    import torch

    if device == "auto":
        return sum(_free_gpu_bytes(f"cuda:{index}") for index in range(torch.cuda.device_count()))
    return _free_gpu_bytes(device)


def total_bytes(device: str) -> int:
    """Bytes of the whole memory of `cpu` or `cuda:0`."""
    if device == "cpu":
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    import torch

    return torch.cuda.get_device_properties(device).total_memory


def _free_gpu_bytes(device: str) -> int:
    import torch

    try:
        held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)  # by torch, for whoever is next
        return torch.cuda.mem_get_info(device)[0] + held
    except (RuntimeError, AssertionError) as error:  # broken, in another job's exclusive use, or torch without CUDA
        said = " ".join(str(error).split()).split(". ")[0]
        what_to_do = "see what nvidia-smi says there, ask for another node"
        raise ModelError(f"{socket.gethostname()}: {device} cannot be used: {said}; {what_to_do}") from None


def _free_host_bytes() -> int:
    fields = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
    available = int(fields["MemAvailable"].split()[0]) * 1024
    return min([available, *_free_by_cgroup(), *_free_by_limit()])


def _free_by_limit() -> list[int]:
    """Bytes left under this process's limit of addresses (`ulimit -v`), where it has one."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    held = int(OWN_PAGES.read_text().split()[0]) * resource.getpagesize()
    return [] if limit == resource.RLIM_INFINITY else [max(limit - held, 0)]


def _free_by_cgroup() -> list[int]:
    """Bytes left under the limit of each cgroup that this process is in, up to the outermost, of either version."""
    left = []
    for line in OWN_CGROUPS.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            left += _left_in(CGROUPS, path, "memory.max", "memory.current", "")
        elif "memory" in controllers.split(","):
            left += _left_in(CGROUPS / "memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
    return left


def _left_in(mount: Path, path: str, limit: str, usage: str, total: str) -> list[int]:
    own, left = mount / path.lstrip("/"), []
    for group in (own, *own.parents):
        if group.is_relative_to(mount) and (group / limit).is_file() and (group / limit).read_text() != "max\n":
            of_group = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
            cached = sum(int(of_group[f"{total}{kind}_file"]) for kind in ("active", "inactive"))  # goes when need be
            left.append(max(int((group / limit).read_text()) - int((group / usage).read_text()) + cached, 0))
    return left


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.3g} GiB"
