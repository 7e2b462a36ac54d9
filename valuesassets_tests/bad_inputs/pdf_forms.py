"""PDFs that are no questionnaires, and files that are no PDFs, all of the name `form.pdf`."""

import io
import zipfile
from pathlib import Path

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from valuesassets_tests.bad_inputs.making import FORMS, Make, files

FONT = FORMS.parent / "fonts" / "DejaVuSansCondensed.ttf"


def pdf(content: bytes) -> Make:
    return files({"form.pdf": content})


def zipped(**entries: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "."), content)
    return stream.getvalue()


def encrypted(folder: Path) -> None:
    canvas = Canvas(str(folder / "form.pdf"), encrypt=StandardEncryption("secret", canPrint=0))
    canvas.drawString(100, 100, "Q1")
    canvas.save()


def scan(folder: Path) -> None:
    from PIL import Image

    picture = folder / "page.png"
    Image.new("L", (600, 800), 200).save(picture)
    canvas = Canvas(str(folder / "form.pdf"))
    for _ in range(2):
        canvas.drawImage(str(picture), 0, 0, 595, 842)
        canvas.showPage()
    canvas.save()


def letter(folder: Path) -> None:
    canvas = Canvas(str(folder / "form.pdf"))
    canvas.drawString(72, 700, "Dear colleagues, the questionnaire will follow next week.")
    canvas.save()


def codebook(folder: Path) -> None:
    canvas = Canvas(str(folder / "form.pdf"))
    for number in range(2000):
        canvas.drawString(72, 700, f"Q1 Variable {number}")
        canvas.showPage()
    canvas.save()


def from_right_to_left(folder: Path) -> None:
    pdfmetrics.registerFont(TTFont("Wide", str(FONT)))
    canvas = Canvas(str(folder / "form.pdf"))
    canvas.setFont("Wide", 10)
    for number in range(1, 30):
        canvas.drawRightString(500, 800 - 25 * number, "מה חשוב לך בחיים"[::-1])
    canvas.save()
