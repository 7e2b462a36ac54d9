"""Tables in spreadsheets (XLSX): the rows of the first sheet by column, as they are stored; nothing is computed."""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from valuesassets.records.errors import InputError
from valuesassets.records.files import kind_of, no_such_file
from valuesassets.records.text_tables import Row

MOST_BYTES = 50 * 2**20
"""No table of questions unpacks to more."""
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
CELL = re.compile(r"([A-Z]+)(\d+)")


def read_sheet(path: Path, columns: Sequence[str], error: type[InputError] = InputError) -> list[Row]:
    """The rows of a spreadsheet's first sheet whose columns are these and perhaps more; blank ones are left out.

    Raises:
        error: no such file, no spreadsheet, a formula, merged cells, a column missing or twice, no row; names file and
            cell.
    """
    cells = _cells(path, error)
    (number, header), *body = [*_by_row(cells)] or [(1, {})]
    names = {column: text.strip().lower() for column, text in header.items() if text.strip()}
    expected = f"a sheet with columns {', '.join(columns)}"
    for column in columns:
        if list(names.values()).count(column) != 1:
            found = "stands twice" if column in names.values() else f"is not there (found {', '.join(names.values())})"
            raise error(f"{path}: row {number}: column {column} {found[:80]}; {expected} was expected; mend its header")
    rows = []
    for place, texts in body:
        fields = {name: texts.get(column, "").strip() for column, name in names.items()}
        if any(fields.values()):
            rows.append(Row(place, place, fields))
    if not rows:
        raise error(f"{path}: holds no row below its header; {expected} was expected; name another file")
    return rows


def _by_row(cells: dict[tuple[int, str], str]) -> Iterator[tuple[int, dict[str, str]]]:
    for number in sorted({row for row, _ in cells}):
        yield number, {column: text for (row, column), text in cells.items() if row == number}


def _cells(path: Path, error: type[InputError]) -> dict[tuple[int, str], str]:
    """The text of each cell of the first sheet, by row and column."""
    not_one = f"{path}: is no spreadsheet (XLSX); save it as XLSX or CSV"
    if not path.is_file():
        raise error(no_such_file(path))
    content = path.read_bytes()
    if kind_of(content) != "a ZIP archive or an Office document":
        raise error(not_one)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
                raise error(f"{path}: unpacks to more than {MOST_BYTES // 2**20} MiB, no table of questions does")
            names = set(archive.namelist())
            shared = []
            if "xl/sharedStrings.xml" in names:
                shared = [_text(each) for each in _xml(archive, "xl/sharedStrings.xml").iter(f"{MAIN}si")]
            sheet = _xml(archive, _first_sheet(archive))
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, StopIteration, RuntimeError, OSError, zlib.error):
        raise error(not_one) from None
    merged = sheet.find(f"{MAIN}mergeCells/{MAIN}mergeCell")
    if merged is not None:
        raise error(f"{path}: cells {merged.get('ref')} are merged; part them and write each row's own words")
    found = {}
    for cell in sheet.iter(f"{MAIN}c"):
        place = cell.get("r", "")
        if cell.find(f"{MAIN}f") is not None:
            raise error(f"{path}: cell {place} holds a formula; put its value in its place")
        match = CELL.fullmatch(place)
        if match and (text := _written(cell, shared)):
            found[int(match[2]), match[1]] = text
    return found


def _first_sheet(archive: zipfile.ZipFile) -> str:
    """The name of the part that holds the first sheet of a workbook."""
    first = next(_xml(archive, "xl/workbook.xml").iter(f"{MAIN}sheet"))
    relations = {each.get("Id"): each.get("Target") or "" for each in _xml(archive, "xl/_rels/workbook.xml.rels")}
    target = relations[first.get(RELATION)]
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _xml(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    content = archive.read(name)
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:  # no office writes one, and entities can be made to explode
        raise KeyError(name)
    return ElementTree.fromstring(content)  # noqa: S314


def _text(element: ElementTree.Element) -> str:
    """The text of a string, without the reading aids that some languages have beside it."""
    parts = [element.find(f"{MAIN}t"), *(run.find(f"{MAIN}t") for run in element.findall(f"{MAIN}r"))]
    return "".join(part.text or "" for part in parts if part is not None)


def _written(cell: ElementTree.Element, shared: Sequence[str]) -> str:
    kind, inline, value = cell.get("t", "n"), cell.find(f"{MAIN}is"), cell.find(f"{MAIN}v")
    if inline is not None:
        return _text(inline)
    stored = (value.text or "") if value is not None else ""
    if kind == "s":
        return shared[int(stored)]
    return re.sub(r"\.0+$", "", stored) if kind == "n" else stored
