"""A questionnaire of ten questions without variable codes: as a PDF set in many ways, as a table, as a spreadsheet."""

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from valuesassets_tests.instruments.survey.material.forms.paper_forms import PaperForm

QUESTIONS = {
    "How satisfied are you with your life as a whole these days?": (
        "Very satisfied", "Fairly satisfied", "Not very satisfied", "Not at all satisfied",
    ),
    "Would you say that most people can be trusted?": ("Most people can be trusted", "One cannot be too careful"),
    "How important is work in your life?": (
        "Very important", "Quite important", "Not important", "Not at all important",
    ),
    "How often do you meet friends outside your home?": (
        "Every week", "Once or twice a month", "A few times a year", "Never",
    ),
    "Do you agree that incomes should be made more equal?": (
        "Agree strongly", "Agree", "Neither agree nor disagree", "Disagree", "Disagree strongly",
    ),
    "How proud are you of the place where you live?": (
        "Very proud", "Quite proud", "Not very proud", "Not at all proud",
    ),
    "Is cheating on taxes ever acceptable to you?": ("Always", "Sometimes", "Never"),
    "How much do you trust the local council of your town?": (
        "A great deal", "Quite a lot", "Not very much", "Not at all",
    ),
    "Did you sign a petition during the last twelve months?": ("Yes", "No"),
    "Should the town protect trees even if it costs jobs?": ("Yes, always", "It depends", "No, never"),
}  # fmt: skip
HEADER = ("id", "text", "item", "options")


def rows() -> list[tuple[str, ...]]:
    """The table of the questions, its header first."""
    written = (" | ".join(f"{n} = {label}" for n, label in enumerate(labels, 1)) for labels in QUESTIONS.values())
    return [
        HEADER,
        *((f"q{n}", text, "", options) for n, (text, options) in enumerate(zip(QUESTIONS, written, strict=True), 1)),
    ]


def print_ten(
    path: Path,
    number: str = "{}.",
    answer: Callable[[int], str] = lambda n: f"{'abcdefgh'[n]})",
    columns: int = 1,
    indent: float = 24,
) -> Path:
    """The PDF.

    Args:
        number: how a question is numbered.
        answer: what stands before an answer, by its place from 0.
        indent: of the answers, in points.
    """
    form = PaperForm(path)
    form.y = 60.0
    form.text(50, "A short questionnaire of our town", bold=True, size=12)
    form.down(24)
    top = form.y
    for place, (text, labels) in enumerate(QUESTIONS.items(), 1):
        left = 310 if columns == 2 and place > 5 else 50
        if columns == 2 and place == 6:
            form.y = top
        form.text(left, number.format(place))
        for line in _wrapped(text, 34):
            form.text(left + 24, line)
            form.down(12)
        for n, label in enumerate(labels):
            form.text(left + indent, answer(n))
            form.text(left + indent + 16, label)
            form.down(12)
        form.down(8)
        if columns == 1 and form.y > 760:
            form.new_page()
    return form.save()


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def write_xlsx(
    path: Path, table: Sequence[Sequence[str]], merged: str = "", formula: str = "", has_values: bool = False
) -> Path:
    """A spreadsheet as offices write them: texts shared by cells, numbers as such.

    Args:
        merged: a range of cells that are one, such as `B2:B3`.
        formula: a cell that holds a formula.
        has_values: whether its value was saved with it, as spreadsheet programs do.
    """
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    texts = list(dict.fromkeys(field for row in table for field in row if not field.isdigit()))
    sheet = ""
    for number, row in enumerate(table, 1):
        cells = ""
        for column, field in zip("ABCDEFGH", row, strict=False):
            place = f"{column}{number}"
            if place == formula:
                value = f"<v>{escape(field)}</v>" if has_values else ""
                cells += f'<c r="{place}" t="str"><f>A1</f>{value}</c>'
            elif field.isdigit():
                cells += f'<c r="{place}"><v>{field}</v></c>'
            elif field:
                cells += f'<c r="{place}" t="s"><v>{texts.index(field)}</v></c>'
        sheet += f'<row r="{number}">{cells}</row>'
    merge = f'<mergeCells count="1"><mergeCell ref="{merged}"/></mergeCells>' if merged else ""
    shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    book = '<sheets><sheet name="questions" sheetId="1" r:id="rId1"/></sheets>'
    relation = '<Relationship Id="rId1" Type="worksheet" Target="worksheets/sheet1.xml"/>'
    parts = {
        "xl/workbook.xml": f'<workbook {space} xmlns:r="{office}">{book}</workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships>{relation}</Relationships>",
        "xl/sharedStrings.xml": f"<sst {space}>{shared}</sst>",
        "xl/worksheets/sheet1.xml": f"<worksheet {space}><sheetData>{sheet}</sheetData>{merge}</worksheet>",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def write_ods(path: Path, table: Sequence[Sequence[str]]) -> Path:
    """A spreadsheet of OpenDocument."""
    names = {"office": "office:1.0", "table": "table:1.0", "text": "text:1.0"}
    spaces = " ".join(f'xmlns:{key}="urn:oasis:names:tc:opendocument:xmlns:{name}"' for key, name in names.items())
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    lines = ("".join(cell.format(escape(field)) for field in row) for row in table)
    body = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
    sheet = f'<office:spreadsheet><table:table table:name="questions">{body}</table:table></office:spreadsheet>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        entry = f'<file-entry full-path="/" media-type="{kind}"/>'
        archive.writestr("META-INF/manifest.xml", f"<manifest>{entry}</manifest>")
        archive.writestr(
            "content.xml",
            f'<office:document-content {spaces} office:version="1.2"><office:body>{sheet}</office:body>'
            "</office:document-content>",
        )
    return path
