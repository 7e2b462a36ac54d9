"""Remembers on this machine which checks of a model passed, so that no process repeats them."""

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
"""CPU seconds from which a check's outcome is stored; cheaper checks, as of tiny models, run each time."""
LIBRARIES = ("torch", "transformers", "tokenizers")


def kept_check(name: str, subject: Mapping[str, Any], find_fault: Callable[[], str | None]) -> str | None:
    """Run a check, or recall that it passed: None where it passes, else why it fails in words.

    Only passes are stored. A stored pass counts only if everything the check depends on is the same: what is checked,
    this project's sources in this package, the libraries, and the processor.

    Args:
        subject: what is checked, as hashes and settings, and the kinds of GPU if it runs on some.
    """
    import torch

    conditions = {
        "check": name,
        "of": dict(subject),
        "sources": _sources_sha256(),
        "libraries": {library: version(library) for library in LIBRARIES},
        "processor": [torch.backends.cpu.get_cpu_capability(), os.cpu_count(), torch.get_num_threads()],
    }
    key = sha256_json(conditions)
    record = own_cache() / "checks" / f"{key}.json"
    with contextlib.suppress(StorageError):  # absent or damaged
        if read_json(record) == {"passed": conditions}:
            return None
    began = time.process_time()
    fault = find_fault()
    if fault is None and time.process_time() - began >= WORTH_KEEPING:
        with contextlib.suppress(StorageError):  # the check runs again next time
            write_json(record, {"passed": conditions})
    return fault


@cache
def _sources_sha256() -> str:
    """Hash over the sources in this package: an edit of any of them makes every check run again."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
