"""Zips whose bytes depend on what is in them alone, and what a damaged one raises."""

import lzma
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

EPOCH = (1980, 1, 1, 0, 0, 0)
"""When every file of a zip says it was written: the same content gives the same bytes."""

DAMAGED = (zipfile.BadZipFile, RuntimeError, EOFError, OSError, ValueError, zlib.error, lzma.LZMAError)
"""What reading a damaged archive may raise. RuntimeError: encrypted, or packed otherwise; OSError: bzip2, an index that
points nowhere; ValueError: a name."""


def write_zip(path: Path, content: Mapping[str, bytes]) -> None:
    """Write files by name into a zip, in the order of their names."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, held in sorted(content.items()):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(entry, held)
