"""Opens XML and ZIP files that others wrote, without entities and without archives that unpack to gigabytes."""

import zipfile
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from valuesassets.records.errors import QuestionError
from valuesassets.records.files import no_such_file
from valuesassets.records.xlsx_tables import MOST_BYTES
from valuesassets.records.zips import DAMAGED


def read_form_bytes(path: Path) -> bytes:
    """The bytes of a form; QuestionError where it is absent or cannot be read."""
    if not path.is_file():
        raise QuestionError(no_such_file(path))
    try:
        return path.read_bytes()
    except OSError as fault:
        raise QuestionError(f"{path}: cannot be read: {fault.strerror}; check who may read it") from None


def xml_root(path: Path, what: str) -> ElementTree.Element:
    """The root of an XML file, its tags without namespaces. No file that it names is fetched.

    Args:
        what: the kind of file that was expected.

    Raises:
        QuestionError: no XML, or XML that declares entities.
    """
    content = read_form_bytes(path)
    try:
        _refuse_entities(content, path)
        root = ElementTree.fromstring(content)  # noqa: S314  # entities are refused above
    except (expat.ExpatError, ElementTree.ParseError, LookupError, ValueError) as fault:
        raise QuestionError(
            f"{path}: is no XML ({str(fault)[:80]}), {what} was expected; export the form anew"
        ) from None
    for element in root.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
    return root


def _refuse_entities(content: bytes, path: Path) -> None:
    """Read XML once without keeping it, and stop at the first entity that it declares."""

    def refuse(name: str, *_: object) -> NoReturn:
        raise QuestionError(
            f"{path}: its DOCTYPE declares the entity {name[:40]}, which could fill the memory or fetch files; take "
            "it out"
        )

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.Parse(content, True)


def require_small_archive(path: Path, what: str) -> None:
    """See that an Office document unpacks to little, and declares nothing in its XML.

    Raises:
        QuestionError: it is no ZIP archive, unpacks to more than 50 MiB, or has a DOCTYPE.
    """
    if not path.is_file():
        raise QuestionError(no_such_file(path))
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > MOST_BYTES:
                raise QuestionError(
                    f"{path}: unpacks to more than {MOST_BYTES // 2**20} MiB, no form does; take pictures out of it"
                )
            is_odd = any(
                entry.filename.endswith((".xml", ".rels")) and _declares(archive.read(entry)) for entry in entries
            )
    except DAMAGED:
        raise QuestionError(f"{path}: is damaged, or is not {what}; save it anew") from None
    if is_odd:
        raise QuestionError(f"{path}: holds XML with a DOCTYPE, which could declare entities; save it anew")


def _declares(content: bytes) -> bool:
    plain = content.replace(b"\0", b"")  # UTF-16 as well
    return b"<!DOCTYPE" in plain or b"<!ENTITY" in plain
