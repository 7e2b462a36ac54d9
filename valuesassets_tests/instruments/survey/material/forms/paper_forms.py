"""Small questionnaires printed for a test: a page is what `canvas` calls draw on it."""

from collections.abc import Sequence
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from valuesassets.studies import questionnaires

BUNDLED = Path(questionnaires.__file__).parent
"""Where the questionnaires lie that ship with the package."""
HEIGHT = 842.0


class PaperForm:
    """Prints question by question from the top of an A4 page; `y` is measured from the top, in points."""

    def __init__(self, path: Path, **options):
        self.path = path
        self.canvas = Canvas(str(path), pagesize=(595, HEIGHT), invariant=1, **options)
        self.y = 100.0

    def text(self, x: float, written: str, bold: bool = False, size: float = 9, italic: bool = False) -> float:
        """Returns the width of what was written."""
        font = "Helvetica-Oblique" if italic else "Helvetica-Bold" if bold else "Helvetica"
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, HEIGHT - self.y, written)
        return self.canvas.stringWidth(written, font, size)

    def down(self, points: float = 14) -> None:
        self.y += points

    def question(self, number: str, *lines: str) -> None:
        self.down(20)
        self.text(50, number, bold=True)
        for line in lines:
            self.text(80, line, bold=True)
            self.down()

    def options(self, code: str | None, *labels: str) -> None:
        if code:
            self.text(450, f"({code})")
        for label in labels:
            self.text(85, label)
            self.down()

    def scale(self, code: str, left: str, right: str, values: Sequence[int] = range(1, 11)) -> None:
        self.text(450, f"({code})")
        self.down()
        self.text(85, left)
        self.text(230, right)
        self.text(340, "DK")
        self.text(370, "NA")
        self.down()
        for place, value in enumerate(values):
            self.text(90 + 20 * place, str(value))
        self.text(340, "88")
        self.text(370, "99")
        self.down()

    def grid(self, heads: Sequence[str], rows: Sequence[Sequence[str]], ruled: bool = True) -> None:
        """`rows` are code, item and answer codes; an item or a head takes a line per `|`."""
        columns = max(len(row) for row in rows) - 2
        edges = [40.0, 80.0, 260.0, *(260.0 + 50 * (place + 1) for place in range(columns))]
        if heads:
            self._row(["", "", *heads], edges, ruled)
        for row in rows:
            self._row(row, edges, ruled)

    def _row(self, cells: Sequence[str], edges: Sequence[float], ruled: bool) -> None:
        lines = max(cell.count("|") + 1 for cell in cells)
        top = self.y
        for cell, left in zip(cells, edges, strict=False):
            parts = cell.split("|")
            for number, part in enumerate(parts):
                self.y = top + 12 + 11 * number + 5.5 * (lines - len(parts))
                self.text(left + 4, part, size=8)
        self.y = top + 11 * lines + 6
        if ruled:
            for edge in edges[: len(cells) + 1]:
                self.canvas.line(edge, HEIGHT - top, edge, HEIGHT - self.y)
            for height in (top, self.y):
                self.canvas.line(edges[0], HEIGHT - height, edges[len(cells)], HEIGHT - height)

    def framed(self, rows: Sequence[Sequence[tuple[float, str]]]) -> None:
        """A frame around lines of words at their places, without rules in between."""
        top = self.y
        self.down(4)
        for row in rows:
            self.down(12)
            for x, written in row:
                self.text(x, written)
        self.down(8)
        for edge in (45, 545):
            self.canvas.line(edge, HEIGHT - top, edge, HEIGHT - self.y)
        for height in (top, self.y):
            self.canvas.line(45, HEIGHT - height, 545, HEIGHT - height)
        self.down(16)

    def new_page(self) -> None:
        self.canvas.showPage()
        self.y = 100.0

    def save(self) -> Path:
        self.canvas.save()
        return self.path
