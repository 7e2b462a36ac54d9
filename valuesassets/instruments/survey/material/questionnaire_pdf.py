"""`survey/questionnaire_pdf`: one language's questionnaire as a checked PDF, and its source."""

import io
import itertools
import zipfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pdfplumber
from pdfminer.pdfpage import PDFPage
from pdfplumber.page import Page

from valuesassets.instruments.survey.material.forms.download import MOST_BYTES, download, public_address
from valuesassets.records.errors import PdfError
from valuesassets.records.files import kind_of, no_such_file, sha256_file, whole_file
from valuesassets.records.limited import within_limits
from valuesassets.records.settings.cells import Language
from valuesassets.records.settings.questionnaires import Questionnaires
from valuesassets.records.study import Study
from valuesassets.records.zips import DAMAGED

MOST_PAGES = 400  # of a questionnaire; codebooks and reports have more

PRINT_ANEW = (
    "print it to a new PDF, or write its questions into a table, which `valuesassets template questions` begins"
)
_WHAT_TO_DO = {
    "an empty file": "fetch it again",
    "an HTML page": "open the link in a browser, log in where it asks for it, and save the PDF itself",
    "a ZIP archive or an Office document": "unpack the archive, or save the document as PDF",
    "a picture": "print all pages into one PDF and run text recognition on it",
}
"""Advice by kind of file."""


@dataclass(frozen=True)
class QuestionnairePdf:
    """A questionnaire file: path, hash, number of pages and source."""

    path: str
    sha256: str
    pages: int
    source: str


def fetch_questionnaire(study: Study, language: str, destination: Path) -> QuestionnairePdf:
    """Put a language's questionnaire at `destination`, from the package, the study's folder or GESIS.

    Raises:
        PdfError: not available, not a readable PDF, or not the one with the study's sha256; nothing is written then.
        StorageError: the folder cannot be written.
    """
    declared = study.languages[language]
    with whole_file(destination) as temporary:
        content, source = _read_questionnaire(Questionnaires.of(study), declared, language)
        temporary.write_bytes(content)
        pages = count_pages(temporary, source)
        digest = sha256_file(temporary)
        if declared.sha256 is not None and declared.sha256.lower() != digest:
            raise PdfError(
                f"{source}: the PDF has the sha256 {digest}, languages.{language}.sha256 in the study asks for "
                f"{declared.sha256.lower()}; see whether it is the right edition, then put the right PDF into pdf_dir "
                "or correct the study"
            )
    return QuestionnairePdf(str(destination), digest, pages, source)


def has_questionnaire(study: Study, language: str) -> bool:
    """Whether a language has a PDF; imported questions may have none."""
    settings, declared = Questionnaires.of(study), study.languages[language]
    if settings.extractor_of(declared) != "imported" or settings.source in ("bundled", "gesis"):
        return settings.source != "none"
    return settings.pdf_dir is not None and (settings.pdf_dir / _name(declared, language)).is_file()


def count_pages(path: Path, name: str) -> int:
    """Number of pages of a PDF.

    Raises:
        PdfError: empty, another kind of file, truncated, encrypted, too long, or too slow to read.
    """
    with open(path, "rb") as stream:
        head = stream.read(1024)
    kind = kind_of(head)
    if kind not in ("a PDF", None) or b"%PDF-" not in head:
        what_to_do = _WHAT_TO_DO.get(kind or "", "name the questionnaire's PDF")
        raise PdfError(f"{name}: not a PDF but {kind or 'another kind of file'}; {what_to_do}")
    return within_limits(lambda _: _count_pages(path, name), name, PRINT_ANEW, PdfError)


def _count_pages(path: Path, name: str) -> int:
    try:
        with open(path, "rb") as stream:  # pdfplumber's own way reads all pages once more
            pdf = pdfplumber.open(stream)
            first = itertools.islice(PDFPage.create_pages(pdf.doc), MOST_PAGES + 1)
            pages = sum(1 for number, page in enumerate(first, 1) if Page(pdf, page, number))
    except MemoryError:
        raise
    except Exception as error:  # pdfminer raises many kinds, none of them documented
        if "password" in repr(error).lower():
            raise PdfError(f"{name}: the PDF is encrypted and asks for a password; save it without one") from None
        raise PdfError(f"{name}: the PDF is truncated or damaged; fetch it again") from None
    if pages == 0:
        raise PdfError(f"{name}: the PDF has no pages; fetch it again")
    if pages > MOST_PAGES:
        raise PdfError(
            f"{name}: the PDF has more than {MOST_PAGES} pages, no questionnaire does (a codebook, a report?); "
            "name the questionnaire's PDF, or cut its pages out of this one"
        )
    return pages


def _name(declared: Language, language: str) -> str:
    return declared.pdf or f"{language}.pdf"


def _read_questionnaire(settings: Questionnaires, declared: Language, language: str) -> tuple[bytes, str]:
    """The content of the questionnaire, and its source."""
    if settings.source == "bundled":
        bundled = resources.files("valuesassets.studies") / "questionnaires" / f"{language}.pdf"
        if not bundled.is_file():
            raise PdfError(f"{language}: no questionnaire is bundled in this language; name a pdf_dir in the study")
        return bundled.read_bytes(), f"bundled questionnaire {language}"
    origin = settings.pdf_dir / _name(declared, language) if settings.pdf_dir else None
    if origin and (settings.source == "folder" or origin.is_file()):
        if not origin.is_file():
            raise PdfError(f"{no_such_file(origin)}; put the questionnaire of {language} there or name it with `pdf`")
        return _pdf_in(origin.read_bytes(), origin.name, declared.pdf), _name(declared, language)
    url = settings.url.format(document=declared.gesis_document)
    return _pdf_in(download(url), public_address(url), declared.pdf), public_address(url)


def _pdf_in(content: bytes, source: str, wanted: str | None) -> bytes:
    """The content itself, or the PDF in a ZIP archive: its only one, or the one wanted."""
    if not content.startswith(b"PK\x03\x04"):
        return content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entry = archive.getinfo(_name_inside(archive.namelist(), source, wanted))
            if entry.file_size > MOST_BYTES:
                raise PdfError(
                    f"{source}: {entry.filename} in the ZIP archive has {entry.file_size:,} bytes, no questionnaire "
                    "has so many; look into it and use pdf_dir"
                )
            return archive.read(entry)
    except DAMAGED:
        raise PdfError(f"{source}: the ZIP archive is damaged or asks for a password; fetch it again") from None


def _name_inside(listed: list[str], source: str, wanted: str | None) -> str:
    names = [name for name in listed if name.lower().endswith(".pdf") and "__MACOSX" not in name]
    named = [name for name in names if wanted and Path(name).name == wanted]
    if not names:
        raise PdfError(f"{source}: the ZIP archive holds no PDF; look into it and use pdf_dir")
    if len(names) > 1 and len(named) != 1:
        raise PdfError(
            f"{source}: the ZIP archive holds {len(names)} PDFs ({', '.join(sorted(names)[:5])}); say which "
            "with `pdf` under the language in the study"
        )
    return (named or names)[0]
