"""Tables and files of questions made to keep a reader busy, to fill its memory or to break it.

By the name of the fault: the ending of the file and what writes it.
"""

import json
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

HEAD = "id,text,item,options\n"
ROW = "q{n},How happy are you?,,1 = very | 2 = not at all\n"
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TITLES = "".join(
    f'<c r="{column}1" t="inlineStr"><is><t>{title}</t></is></c>'
    for column, title in zip("ABCD", ("id", "text", "item", "options"), strict=True)
)
PARTS = {
    "xl/workbook.xml": f'<workbook {MAIN} xmlns:r="{OFFICE}"><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets>'
    "</workbook>",
    "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/>'
    "</Relationships>",
    "xl/sharedStrings.xml": f"<sst {MAIN}><si><t>How happy are you?</t></si></sst>",
}
SHEET, BOOK, RELATIONS, SHARED = "xl/worksheets/sheet1.xml", *PARTS
Make = Callable[[Path], object]


def cell(place: str, text: str, kind: str = "inlineStr") -> str:
    value = f"<is><t>{text}</t></is>" if kind == "inlineStr" else f"<v>{text}</v>"
    return f'<c r="{place}" t="{kind}">{value}</c>'


def row(number: object, text: str | None = None, column: str = "B") -> str:
    text = cell(f"{column}{number}", "How happy are you?") if text is None else text
    rest = cell(f"D{number}", "1 = very | 2 = not at all")
    return f'<row r="{number}">{cell(f"A{number}", f"q{number}")}{text}{rest}</row>'


def book(path: Path, rows: str = "", parts: Mapping[str, bytes | str | None] = {}) -> None:
    """A workbook with these rows below its header; parts of it that are others, or None to leave them out."""
    sheet = f'<worksheet {MAIN}><sheetData><row r="1">{TITLES}</row>{rows}</sheetData></worksheet>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (PARTS | {SHEET: sheet} | dict(parts)).items():
            if content is not None:
                archive.writestr(name, content)


def xlsx(rows: Callable[[], str], parts: Callable[[], Mapping[str, bytes | str | None]] = dict) -> tuple[str, Make]:
    return "xlsx", lambda path: book(path, rows(), parts())


def shared(index: str) -> tuple[str, Make]:
    return xlsx(lambda: row(2, cell("B2", index, "s")))


def text(content: str | bytes) -> Make:
    return lambda path: path.write_bytes(content if isinstance(content, bytes) else content.encode())


def huge_text(begin: str, repeated: str, times: int) -> Make:
    def make(path: Path) -> None:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(begin)
            for _ in range(times // 1000):
                stream.write(repeated * 1000)

    return make


def entities() -> str:
    doubled = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    return f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a0 "ha">{doubled}]><sst {MAIN}><si><t>&a11;</t></si></sst>'


def wide(encoding: str) -> bytes:
    return entities().replace('"1.0"', f'"1.0" encoding="{encoding}"').encode(encoding)


def relation(target: str) -> tuple[str, Make]:
    return xlsx(str, lambda: {RELATIONS: PARTS[RELATIONS].replace("worksheets/sheet1.xml", target)})


def without(part: str) -> tuple[str, Make]:
    return xlsx(lambda: row(2), lambda: {part: None})


def shared_as(content: Callable[[], str | bytes]) -> tuple[str, Make]:
    return xlsx(lambda: row(2), lambda: {SHARED: content()})


TABLES: dict[str, tuple[str, Make]] = {
    "a shared string of index -1": shared("-1"),
    "a shared string beyond the last": shared("1"),
    "a shared string of index text": shared("first"),
    "a shared string of no index": shared(""),
    "a shared string of index 5,000 figures": shared("9" * 5000),
    "a row number that is huge": xlsx(lambda: row("9" * 20)),
    "a row number of 5,000 figures": xlsx(lambda: row("9" * 5000)),
    "a row number 0": xlsx(lambda: row(0)),
    "a cell twice": xlsx(lambda: row(2) + row(2)),
    "columns of 5,000 letters": xlsx(lambda: row(2, column="B" * 5000)),
    "a cell without a place": xlsx(lambda: row(2).replace(' r="B2"', "")),
    "20,000 rows": xlsx(lambda: "".join(map(row, range(2, 20_002)))),
    "a million empty rows": xlsx(lambda: "".join(f'<row r="{n}"/>' for n in range(2, 1_000_002))),
    "a sheet that unpacks to 400 MiB": xlsx(str, lambda: {SHEET: bytes(400 * 2**20)}),
    "a sheet of 49 MiB of cells": xlsx(lambda: "<row>" + "<c/>" * 12_000_000 + "</row>"),
    "a sheet of 49 MiB of unknown elements": xlsx(lambda: "<row>" + "<x/>" * 12_000_000 + "</row>"),
    "elements 1,000,000 deep": xlsx(lambda: "<a>" * 1_000_000 + "</a>" * 1_000_000),
    "entities that explode": shared_as(entities),
    "entities that explode in UTF-16": shared_as(lambda: wide("utf-16")),
    "XML in an unknown encoding": shared_as(lambda: '<?xml version="1.0" encoding="no-such"?><a/>'),
    "XML that breaks off": shared_as(lambda: "<sst><si>"),
    "a relation that leads out of the archive": relation("../../../etc/passwd"),
    "a relation that leads to itself": relation("_rels/workbook.xml.rels"),
    "no workbook": without(BOOK),
    "no sheet": without(SHEET),
    "no relations": without(RELATIONS),
    "2,000,000 rows": ("csv", huge_text(HEAD, ROW, 2_000_000)),
    "one line of 100 MB": ("csv", huge_text(HEAD, "a" * 100, 1_000_000)),
    "a header of 100 MB": ("csv", huge_text("id", ",a" * 50, 1_000_000)),
    "a quotation mark before 100 MB": ("csv", huge_text(HEAD + 'q1,"', "b" * 99 + "\n", 1_000_000)),
    "100 MB of empty lines": ("csv", huge_text(HEAD, "\n" * 100, 1_000_000)),
    "NULs between rows": ("csv", text(HEAD + ROW + "\0" * 1000 + "\n")),
    "nothing but NULs": ("csv", text(bytes(1000))),
    "a byte order mark and no more": ("csv", text(b"\xef\xbb\xbf")),
    "two byte order marks": ("csv", text(b"\xef\xbb\xbf" * 2 + HEAD.encode())),
    "Latin-1": ("csv", text((HEAD + ROW.replace("happy", "glücklich")).encode("latin-1"))),
    "UTF-16 without its mark": ("csv", text((HEAD + ROW).encode("utf-16-le"))),
    "UTF-32": ("csv", text((HEAD + ROW).encode("utf-32"))),
    "a field of 200,000 letters": ("csv", text(HEAD + ROW.replace("happy", "a" * 200_000))),
    "a form that is a pipe nobody writes into": ("csv", os.mkfifo),
    "a code of 5,000 figures": ("csv", text(HEAD + ROW.replace("1 =", "9" * 5000 + " ="))),
    "JSON 200,000 deep": ("json", text("[" * 200_000)),
    "JSON of 200 MB": ("json", huge_text("[", "[],", 66_000_000)),
    "a number of 5,000 figures": ("json", text(json.dumps([{"id": "a", "options": []}]).replace('"a"', "9" * 5000))),
}  # fmt: skip
