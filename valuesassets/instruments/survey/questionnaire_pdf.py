"""`survey/questionnaire_pdf`: one language's questionnaire as a PDF that was looked into, and where it came from."""

import io
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pdfplumber

from valuesassets.records.errors import PdfError
from valuesassets.records.files import sha256_file, whole_file
from valuesassets.records.found_files import kind_of, no_such_file
from valuesassets.records.study import Study

ATTEMPTS = 4
"""Downloads are tried so often, with doubling pauses."""
MOST_PAGES = 400
"""No questionnaire has more pages; codebooks and reports do."""

NAME_THE_PDF = "name the questionnaire's PDF"
_WHAT_TO_DO = {
    "an empty file": "fetch it again",
    "an HTML page": "open the link in a browser, log in where it asks for it, and save the PDF itself",
    "a ZIP archive or an Office document": "unpack the archive, or save the document as PDF",
    "a picture": "print all pages into one PDF and run text recognition on it",
}
"""By the kind of file that was found."""


@dataclass(frozen=True)
class QuestionnairePdf:
    """A questionnaire file: where it lies, its hash, how many pages, where it came from."""

    path: str
    sha256: str
    pages: int
    source: str


def fetch_questionnaire(
    study: Study, language: str, destination: Path, pause: Callable[[float], None] = time.sleep
) -> QuestionnairePdf:
    """Put a language's questionnaire at `destination`, from the package, the study's folder or GESIS.

    Args:
        pause: waits so many seconds between download attempts.

    Raises:
        PdfError: absent, not to be had, or not a readable PDF; nothing is left at `destination`.
    """
    settings = study.questionnaires
    name = study.languages[language].pdf or f"{language}.pdf"
    with whole_file(destination) as temporary:
        if settings.source == "bundled":
            source = f"bundled questionnaire {language}"
            bundled = resources.files("valuesassets.studies") / "questionnaires" / f"{language}.pdf"
            if not bundled.is_file():
                raise PdfError(f"{language}: no questionnaire is bundled in this language; name a pdf_dir in the study")
            temporary.write_bytes(bundled.read_bytes())
        elif settings.pdf_dir is not None and (settings.source == "folder" or (settings.pdf_dir / name).is_file()):
            origin = settings.pdf_dir / name
            source = name
            if not origin.is_file():
                raise PdfError(
                    f"{no_such_file(origin)}; put the questionnaire of {language} there or name it with `pdf`"
                )
            temporary.write_bytes(_pdf_inside(origin.read_bytes(), source, study.languages[language].pdf))
        else:
            source = settings.url.format(document=study.languages[language].gesis_document)
            temporary.write_bytes(_pdf_inside(download(source, pause), source, study.languages[language].pdf))
        pages = count_pages(temporary, source)
        digest = sha256_file(temporary)
    return QuestionnairePdf(str(destination), digest, pages, source)


def count_pages(path: Path, name: str) -> int:
    """Number of pages of a PDF.

    Raises:
        PdfError: empty, another kind of file, truncated, encrypted, or far too long.
    """
    with open(path, "rb") as stream:
        head = stream.read(1024)
    kind = kind_of(head)
    if kind not in ("a PDF", None) or b"%PDF-" not in head:
        raise PdfError(
            f"{name}: not a PDF but {kind or 'another kind of file'}; {_WHAT_TO_DO.get(kind or '', NAME_THE_PDF)}"
        )
    try:
        with pdfplumber.open(path) as pdf:
            pages = len(pdf.pages)
    except Exception as error:  # pdfminer raises many kinds, none of them documented
        if "password" in repr(error).lower():
            raise PdfError(f"{name}: the PDF is encrypted and asks for a password; save it without one") from None
        raise PdfError(f"{name}: the PDF is truncated or damaged; fetch it again") from None
    if pages == 0:
        raise PdfError(f"{name}: the PDF has no pages; fetch it again")
    if pages > MOST_PAGES:
        raise PdfError(
            f"{name}: the PDF has {pages} pages, no questionnaire has more than {MOST_PAGES} (a codebook, a report?); "
            "name the questionnaire's PDF, or cut its pages out of this one"
        )
    return pages


def download(url: str, pause: Callable[[float], None] = time.sleep) -> bytes:
    """The bytes behind an address; busy servers (429, 5xx) and lost connections are tried again.

    Raises:
        PdfError: still not to be had, or refused; names address and answer.
    """
    if not url.startswith(("https://", "http://127.0.0.1")):
        raise PdfError(f"{url}: only https addresses are fetched")
    reason = ""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310  # scheme checked above
                return answer.read()
        except urllib.error.HTTPError as error:
            reason = f"the server answers {error.code}"
            if error.code != 429 and error.code < 500:
                raise PdfError(f"{url}: {reason}; check the document number or use pdf_dir") from None
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            reason = str(getattr(error, "reason", error))
        if attempt < ATTEMPTS:
            pause(2.0**attempt)
    raise PdfError(f"{url}: not to be had in {ATTEMPTS} attempts ({reason}); try later, or put the PDF into pdf_dir")


def _pdf_inside(content: bytes, source: str, wanted: str | None) -> bytes:
    """The PDF itself, or that of a ZIP archive: its only one, or the one wanted."""
    if not content.startswith(b"PK\x03\x04"):
        return content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [name for name in archive.namelist() if name.lower().endswith(".pdf") and "__MACOSX" not in name]
            named = [name for name in names if wanted and Path(name).name == wanted]
            if not names:
                raise PdfError(f"{source}: the ZIP archive holds no PDF; look into it and use pdf_dir")
            if len(names) > 1 and len(named) != 1:
                raise PdfError(
                    f"{source}: the ZIP archive holds {len(names)} PDFs ({', '.join(sorted(names)[:5])}); say which "
                    "with `pdf` under the language in the study"
                )
            return archive.read((named or names)[0])
    except (zipfile.BadZipFile, RuntimeError, EOFError, zlib.error):  # RuntimeError: encrypted, or packed otherwise
        raise PdfError(f"{source}: the ZIP archive is damaged or asks for a password; fetch it again") from None
