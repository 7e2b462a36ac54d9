"""Checks of a model that passed, kept on this machine by all that they depend on, so that no process repeats them."""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from valuesassets.models.hub_cache import own_cache
from valuesassets.records.errors import StorageError
from valuesassets.records.files import read_json, sha256_json, write_json

WORTH_KEEPING = 0.5
"""CPU seconds from which a check's outcome is kept; tiny models are tried anew each time."""
LIBRARIES = ("torch", "transformers", "tokenizers")


def kept_check(name: str, of: Mapping[str, Any], find_fault: Callable[[], str | None]) -> str | None:
    """Why a check fails, in words; None where it passes. Only that it passed is kept, and only of these very things.

    A record is believed where it says the same of all that the check depends on: of what is checked, this project's
    sources of models, the libraries, and the processor. Any other is made again.

    Args:
        of: what is checked: hashes and settings; and the kinds of GPU, where it is checked on one.
    """
    depends = {"check": name, "of": dict(of), **_depends()}
    key = sha256_json(depends)
    record = own_cache() / "checks" / f"{key}.json"
    with contextlib.suppress(StorageError):  # none, or a broken one
        if read_json(record) == {"passed": depends}:
            return None
    began = time.process_time()
    fault = find_fault()
    if fault is None and time.process_time() - began >= WORTH_KEEPING:
        with contextlib.suppress(StorageError):  # it is tried again next time
            write_json(record, {"passed": depends})
    return fault


def _depends() -> dict[str, Any]:
    import torch

    return {
        "sources": _sources_sha256(),
        "libraries": {name: version(name) for name in LIBRARIES},
        "processor": [torch.backends.cpu.get_cpu_capability(), os.cpu_count(), torch.get_num_threads()],
    }


@cache
def _sources_sha256() -> str:
    """Hash over the sources of models: whoever edits one of them has every check made again."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
