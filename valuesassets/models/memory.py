"""How much memory weights take and machines have: chooses a GPU, and checks that a model fits before it loads."""

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from valuesassets.models.hub_cache import gib
from valuesassets.models.model_files import count_weights
from valuesassets.records.errors import ModelError

if TYPE_CHECKING:
    from valuesassets.models.loaded_model import OpenedModel

MEMINFO, OWN_CGROUPS, CGROUPS = Path("/proc/meminfo"), Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
"""Linux files with the machine's memory and this process's cgroups, and the folder of all cgroups."""
OWN_PAGES = Path("/proc/self/statm")
"""Its first number counts the pages of this process's address space."""
BESIDE_WEIGHTS = 0.15
"""Memory that reading takes beside the weights on a GPU, at least, as a share of the weights."""
ITEM_BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
FLOATS = ("F64", "F32", "F16", "BF16")
WIDE = {"I64": 8, "U64": 8, "I32": 4, "U32": 4, "I16": 2, "U16": 2}
"""Bytes of number types that keep their size in any dtype; types not listed (8 bits) take one."""


def require_memory(opened: "OpenedModel") -> None:
    """Raise a ModelError unless a model's weights are whole and fit into the free memory of its device."""
    if opened.device == "cpu" and not MEMINFO.exists():  # another system than Linux tells less
        return
    needed, free = weights_bytes(count_weights(opened.folder), opened.dtype), free_bytes(opened.device)
    if needed > free:
        raise ModelError(f"{opened.model_id}: {_too_little(needed, free, opened)}")


def require_on_gpus(opened: "OpenedModel", places: Mapping[str, object]) -> None:
    """Raise a ModelError if a layer of a spread model waits on the CPU or the disk, to be loaded anew by each pass.

    Args:
        places: by module, where accelerate has put it: number of a GPU, `cpu` or `disk`.
    """
    waiting = [name for name, place in places.items() if place in ("cpu", "disk")]
    if waiting:
        shortage = _too_little(weights_bytes(count_weights(opened.folder), opened.dtype), free_bytes("auto"), opened)
        raise ModelError(
            f"{opened.model_id}: {len(waiting)} of {len(places)} parts of it do not fit on the GPUs, first "
            f"{waiting[0] or 'all'}; {shortage}"
        )


def find_single_gpu(folder: Path, dtype: str) -> str | None:
    """The first GPU with the total memory for a model and for reading it, the same each time; None if too small."""
    import torch

    needed = (1 + BESIDE_WEIGHTS) * weights_bytes(count_weights(folder), dtype)
    cards = (f"cuda:{index}" for index in range(torch.cuda.device_count()))
    return next((card for card in cards if total_bytes(card) >= needed), None)


def _too_little(needed: int, free: int, opened: "OpenedModel") -> str:
    kind, remedy = ("memory", "more of it") if opened.device == "cpu" else ("GPU memory", "a larger GPU or several")
    remedy += ", or for dtype bfloat16" if ITEM_BYTES[opened.dtype] > ITEM_BYTES["bfloat16"] else ""
    return (
        f"its weights take {gib(needed)} in {opened.dtype}, {gib(free)} of {kind} are free on "
        f"{socket.gethostname()}; ask for {remedy}"
    )


def weights_bytes(counts: Mapping[str, int], dtype: str) -> int:
    """Bytes that weights take in memory when loaded in a dtype.

    >>> weights_bytes({"F32": 10, "I64": 1}, "bfloat16")
    28
    """
    return sum(n * (ITEM_BYTES[dtype] if kind in FLOATS else WIDE.get(kind, 1)) for kind, n in counts.items())


def free_bytes(device: str) -> int:
    """Bytes free for weights on `cpu`, a GPU or all GPUs (`auto`); a ModelError if a visible GPU cannot be used."""
    if device == "cpu":
        fields = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        available = int(fields["MemAvailable"].split()[0]) * 1024
        return min([available, *_free_by_cgroup(), *_free_by_limit()])
    import torch

    if device == "auto":
        return sum(_free_gpu_bytes(f"cuda:{index}") for index in range(torch.cuda.device_count()))
    return _free_gpu_bytes(device)


def total_bytes(device: str) -> int:
    """Bytes of total memory of a device such as `cpu` or `cuda:0`."""
    if device == "cpu":
        import psutil

        return psutil.virtual_memory().total
    import torch

    return torch.cuda.get_device_properties(device).total_memory


def _free_gpu_bytes(device: str) -> int:
    import torch

    try:
        reserved = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)  # by torch, and reusable
        return torch.cuda.mem_get_info(device)[0] + reserved
    except (RuntimeError, AssertionError) as error:  # broken, in another job's exclusive use, or torch without CUDA
        reason = " ".join(str(error).split()).split(". ")[0]
        what_to_do = "see what nvidia-smi says there, ask for another node"
        raise ModelError(f"{socket.gethostname()}: {device} cannot be used: {reason}; {what_to_do}") from None


def _free_by_limit() -> list[int]:
    """Bytes left under this process's limit of address space (`ulimit -v`), if it has one."""
    import resource  # not on Windows

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    n_used = int(OWN_PAGES.read_text().split()[0]) * resource.getpagesize()
    return [] if limit == resource.RLIM_INFINITY else [max(limit - n_used, 0)]


def _free_by_cgroup() -> list[int]:
    """Bytes left under the limit of each cgroup of this process and its parents, in version 1 or 2."""
    n_free = []
    for line in OWN_CGROUPS.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            n_free += _free_in(CGROUPS, path, "memory.max", "memory.current", "")
        elif "memory" in controllers.split(","):
            n_free += _free_in(CGROUPS / "memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
    return n_free


def _free_in(mount: Path, path: str, limit: str, usage: str, total: str) -> list[int]:
    own_group, n_free = mount / path.lstrip("/"), []
    for group in (own_group, *own_group.parents):
        if group.is_relative_to(mount) and (group / limit).is_file() and (group / limit).read_text() != "max\n":
            statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
            cached = sum(int(statistics[f"{total}{kind}_file"]) for kind in ("active", "inactive"))  # freed on demand
            n_free.append(max(int((group / limit).read_text()) - int((group / usage).read_text()) + cached, 0))
    return n_free
