"""Tables in spreadsheets (XLSX): the rows of the first sheet by column, as stored; formulas have their saved values.

A library reads other workbooks. This reader names the cell of what a broken or odd file holds, which no library does.
"""

import io
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from valuesassets.records.errors import InputError
from valuesassets.records.files import kind_of_file, no_such_file
from valuesassets.records.text_tables import Row, too_many_rows
from valuesassets.records.zips import DAMAGED

MOST_BYTES = 50 * 2**20
"""Limit on the unpacked size of a spreadsheet; no table of questions is larger."""
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
SHARED = "xl/sharedStrings.xml"
CELL = re.compile("([A-Z]{1,3})([1-9][0-9]{0,6})")
LAST_ROW = 2**20


def read_sheet(
    path: Path, columns: Sequence[str], error: type[InputError] = InputError, *, most_rows: int
) -> list[Row]:
    """The rows of a spreadsheet's first sheet, which has to have these columns; blank rows are left out.

    Raises:
        error: the file is missing or no spreadsheet; it holds merged cells, or a formula without a value; a column is
            missing or stands twice; there is no row, or more than `most_rows`. Names file and cell.
    """
    return rows_of_cells(_cells(path, error, most_rows), path, columns, error)


def rows_of_cells(
    cells: dict[int, dict[str, str]], path: Path, columns: Sequence[str], error: type[InputError] = InputError
) -> list[Row]:
    """The rows below a header, of the texts of cells by row and column.

    Raises:
        error: a column is missing or stands twice, or there is no row.
    """
    (number, header), *body = sorted(cells.items()) or [(1, {})]
    names = {column: text.strip().lower() for column, text in header.items() if text.strip()}
    expected = f"a sheet with columns {', '.join(columns)}"
    for column in columns:
        if list(names.values()).count(column) != 1:
            fault = "stands twice" if column in names.values() else f"is not there (found {', '.join(names.values())})"
            raise error(f"{path}: row {number}: column {column} {fault[:80]}; {expected} was expected; mend its header")
    rows = []
    for place, texts in body:
        fields = {name: texts.get(column, "").strip() for column, name in names.items()}
        if any(fields.values()):
            rows.append(Row(place, place, fields))
    if not rows:
        raise error(f"{path}: holds no row below its header; {expected} was expected; name another file")
    return rows


def _cells(path: Path, error: type[InputError], most_rows: int) -> dict[int, dict[str, str]]:
    """The texts of the first sheet's cells by row and column, empty ones left out."""
    not_one = f"{path}: is no spreadsheet (XLSX); save it as XLSX or CSV"
    if not path.is_file():
        raise error(no_such_file(path))
    if not os.access(path, os.R_OK):
        raise error(f"{path}: cannot be read: Permission denied; check who may read it")
    if kind_of_file(path) != "a ZIP archive or an Office document":
        raise error(not_one)
    cells: dict[int, dict[str, str]] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
                raise error(f"{path}: unpacks to more than {MOST_BYTES // 2**20} MiB, no table of questions does")
            shared = []
            if SHARED in archive.namelist():
                shared = [_text(each) for each in _elements(archive, SHARED, "si")]
            for element in _elements(archive, _first_sheet(archive), "c", "row", "mergeCell"):
                if fault := _fault(element, shared, cells):
                    raise error(f"{path}: {fault}")
                if element.tag == f"{MAIN}c" and (text := _cell_text(element, shared)):
                    _, column, row = _place(element)
                    cells.setdefault(row, {})[column] = text
                    if len(cells) > most_rows + 1:  # the header is one
                        raise error(too_many_rows(path, most_rows))
    except (*DAMAGED, LookupError, StopIteration, ElementTree.ParseError):
        raise error(not_one) from None
    return cells


def _fault(element: ElementTree.Element, shared: Sequence[str], cells: dict[int, dict[str, str]]) -> str | None:
    """Why an element of the sheet cannot be read as it is; None where it can."""
    if element.tag == f"{MAIN}mergeCell":
        return f"cells {element.get('ref')} are merged; part them and write each row's own words"
    if element.tag != f"{MAIN}c":
        return None
    place, column, row = _place(element)
    if not 0 < row <= LAST_ROW:
        return f"a cell stands at {place!r}, where no sheet has one; save it anew as XLSX or CSV"
    if column in cells.get(row, {}):
        return f"cell {place} stands there twice; save it anew as XLSX or CSV"
    if element.find(f"{MAIN}f") is not None and element.find(f"{MAIN}v") is None:
        return f"cell {place} holds a formula without its value; open the file in a spreadsheet program and save it"
    index = element.findtext(f"{MAIN}v") if element.get("t") == "s" else None
    if index is not None and (not re.fullmatch("[0-9]{1,9}", index) or int(index) >= len(shared)):
        return f"cell {place} is to have text {index[:20]!r} of {len(shared)}; save the table anew as XLSX or CSV"
    return None


def _place(cell: ElementTree.Element) -> tuple[str, str, int]:
    """A cell's place as written, its column and its row; the row is 0 where a sheet has no such place."""
    place = cell.get("r", "")
    match = CELL.fullmatch(place)
    return (place, match[1], int(match[2])) if match else (place[:20], "", 0)


def _first_sheet(archive: zipfile.ZipFile) -> str:
    """The archive's name of a workbook's first sheet."""
    first = next(_elements(archive, "xl/workbook.xml", "sheet"))
    listed = ElementTree.fromstring(_xml(archive, "xl/_rels/workbook.xml.rels"))  # noqa: S314
    target = {each.get("Id"): each.get("Target") or "" for each in listed}[first.get(RELATION)]
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _elements(archive: zipfile.ZipFile, name: str, *tags: str) -> Iterator[ElementTree.Element]:
    """The elements of a file in the archive that have these tags; only the current one is kept in memory."""
    wanted = {f"{MAIN}{tag}" for tag in tags}
    around: list[ElementTree.Element] = []
    for event, element in ElementTree.iterparse(io.BytesIO(_xml(archive, name)), ("start", "end")):  # noqa: S314
        if event == "start":
            around.append(element)
            continue
        around.pop()
        if element.tag in wanted:
            yield element
            around[-1].clear()


def _xml(archive: zipfile.ZipFile, name: str) -> bytes:
    content = archive.read(name)
    plain = content.replace(b"\0", b"")  # UTF-16 as well
    if b"<!DOCTYPE" in plain or b"<!ENTITY" in plain:  # written by no office program; could exhaust memory
        raise KeyError(name)
    return content


def _text(element: ElementTree.Element) -> str:
    """The text of a string, without the phonetic guides that some languages add."""
    parts = [element.find(f"{MAIN}t"), *(run.find(f"{MAIN}t") for run in element.findall(f"{MAIN}r"))]
    return "".join(part.text or "" for part in parts if part is not None)


def _cell_text(cell: ElementTree.Element, shared: Sequence[str]) -> str:
    kind, inline, value = cell.get("t", "n"), cell.find(f"{MAIN}is"), cell.find(f"{MAIN}v")
    if inline is not None:
        return _text(inline)
    stored = (value.text or "") if value is not None else ""
    if kind == "s":
        return shared[int(stored)] if stored else ""
    return re.sub(r"\.0+$", "", stored) if kind == "n" else stored
