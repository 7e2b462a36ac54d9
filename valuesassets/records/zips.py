"""Writes reproducible zips, and reads the single file of an archive."""

import gzip
import lzma
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every file in a zip, so that the same content gives the same bytes."""

DAMAGED = (zipfile.BadZipFile, RuntimeError, EOFError, OSError, ValueError, zlib.error, lzma.LZMAError)
"""Exceptions of reading a damaged archive. RuntimeError: encryption or an unknown method; OSError: bzip2, or a broken
index; ValueError: a name."""


def write_zip(path: Path, content: Mapping[str, bytes]) -> None:
    """Write files, given by name, into a zip in the order of their names."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in sorted(content.items()):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(entry, data)


MOST_BYTES = 4 * 2**30
"""A larger file in an archive is not unpacked."""
PACKED = ("a ZIP archive or an Office document", "a gzip archive")
"""The kinds of archives, as `files.kind_of` names them."""
OFFICE = "[Content_Types].xml"
"""A file by which archives of Word and Excel are recognised."""


def packed_file(path: Path) -> tuple[str, bytes] | None:
    """Name and content of the one file in an archive (ZIP, gzip); None where it is damaged or an Office document.

    Raises:
        ValueError: the archive holds no file, several, or a huge one; the message says what to do.
    """
    try:
        if not zipfile.is_zipfile(path):
            with gzip.open(path) as stream:
                content = stream.read(MOST_BYTES + 1)
            return (path.stem, content) if len(content) <= MOST_BYTES else None
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir() and "__MACOSX" not in entry.filename]
            names = [entry.filename for entry in entries]
            if len(entries) == 1 and entries[0].file_size <= MOST_BYTES:
                return Path(names[0]).name, archive.read(entries[0])
    except DAMAGED:
        return None
    if OFFICE in names:
        return None
    listing = f"{len(names)} files ({', '.join(sorted(names)[:3])})" if names else "nothing"
    raise ValueError(f"is an archive that holds {listing}, one file was expected; unpack it and name the file")
