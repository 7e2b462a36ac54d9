"""Bad PDFs for `extract`, and bad files for `align`."""

import io
import zipfile
from pathlib import Path

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from valuesassets.records.questions import questions_to_rows
from valuesassets.studies.questionnaires.content import expected_questions
from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import FORMS, QUESTIONS, Make, all_of, files, folders, form, good_questions

ENGLISH = questions_to_rows(expected_questions("eng"))
NO_KEY = (
    "GEMINI_API_KEY is not set, the gemini extractor needs it; set it to a key from "
    "https://aistudio.google.com/apikey, "
    "or use the layout extractor"
)
FONT = FORMS.parent / "fonts" / "DejaVuSansCondensed.ttf"
WHOLE = (FORMS / "eng.pdf").read_bytes()


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


def bad(name: str, make: Make, message: str, command: str = "", **more: object) -> Case:
    return Case(name, command or "extract form.pdf --language eng --output eng.json", message, make, **more)


def corrected(name: str, overrides: bytes | None, message: str) -> Case:
    """An extraction with corrections that cannot be used."""
    made = all_of(form("eng", "form.pdf"), files({"eng.toml": overrides} if overrides is not None else {}))
    return bad(name, made, message, "extract form.pdf --language eng --output eng.json --overrides eng.toml")


ALIGN = "align eng.json deu.json --output aligned"
BOTH = files({"eng.json": QUESTIONS, "deu.json": QUESTIONS})

CASES = [
    bad("an empty PDF", pdf(b""), "form.pdf: not a PDF but an empty file; fetch it again"),
    bad("a truncated PDF", pdf(WHOLE[:20_000]), "form.pdf: the PDF is truncated or damaged; fetch it again"),
    bad("a PDF without its end", pdf(WHOLE[:-300]), "form.pdf: the PDF is truncated or damaged; fetch it again"),
    bad(
        "a PDF header and nothing else", pdf(b"%PDF-1.5\n"), "form.pdf: the PDF is truncated or damaged; fetch it again"
    ),
    bad(
        "a PDF with a password",
        encrypted,
        "form.pdf: the PDF is encrypted and asks for a password; save it without one",
    ),
    bad(
        "an HTML page named .pdf",
        pdf(b"<!DOCTYPE html><html><body>Log in</body></html>"),
        "form.pdf: not a PDF but an HTML page; open the link in a browser, log in where it asks for it, "
        "and save the PDF itself",
    ),
    bad(
        "a scan without text",
        scan,
        "form.pdf: no text layer on any of its 2 pages (a scan?); run text recognition (OCR) on it and "
        "extract the result",
    ),
    bad(
        "a ZIP archive",
        pdf(zipped(form__pdf=WHOLE)),
        "form.pdf: not a PDF but a ZIP archive or an Office document; unpack the archive, or save the document as PDF",
    ),
    bad(
        "a Word document",
        pdf(zipped(**{"word/document__xml": b"<w/>", "[Content_Types]__xml": b""})),
        "form.pdf: not a PDF but a ZIP archive or an Office document; unpack the archive, or save the document as PDF",
    ),
    bad(
        "a picture",
        pdf(b"\x89PNG\r\n\x1a\n" + bytes(64)),
        "form.pdf: not a PDF but a picture; print all pages into one PDF and run text recognition on it",
    ),
    bad(
        "a letter without questions",
        letter,
        "form.pdf: no question was read: questions are found by numbers such as Q12 at the left margin "
        "and variable codes such as v39; name a field questionnaire, or write its questions by hand "
        "(docs/files.md)",
    ),
    bad(
        "a PDF of 2,000 pages",
        codebook,
        "form.pdf: the PDF has 2000 pages, no questionnaire has more than 400 (a codebook, a report?); name the "
        "questionnaire's PDF, or cut its pages out of this one",
    ),
    bad(
        "a form written from right to left",
        from_right_to_left,
        "form.pdf: only 0% of the form's letters are Latin, as eng is written; name the language of the form, or the "
        "right file",
    ),
    bad("no such PDF", files({}), "form.pdf: no such file; check the path"),
    bad("a folder", folders("form.pdf"), "form.pdf: is a folder, a PDF was expected; name the PDF in it"),
    bad(
        "a question file in place of the PDF",
        good_questions,
        "questions.json: not a PDF but JSON; name the questionnaire's PDF",
        "extract questions.json --language eng --output x.json",
    ),
    bad(
        "a table of numbers",
        files({"answers.csv": "v1,v2\n1,2\n"}),
        "answers.csv: not a PDF but another kind of file; name the questionnaire's PDF",
        "extract answers.csv --language eng --output x.json",
    ),
    bad(
        "a Greek form declared as Bulgarian",
        form("ell", "form.pdf"),
        "form.pdf: only 0% of the form's letters are Cyrillic, as bul is written; name the language of "
        "the form, or the right file",
        "extract form.pdf --language bul --output bul.json",
    ),
    bad(
        "an English form declared as German",
        form("eng", "form.pdf"),
        "form.pdf: 7 of the form's 7 pages are not in deu, most of them in eng; name the language of the form, or the "
        "right file",
        "extract form.pdf --language deu --output deu.json",
    ),
    bad(
        "an unknown language",
        form("eng", "form.pdf"),
        "language xyz: unknown; an ISO 639-3 code was expected, one of [...]",
        "extract form.pdf --language xyz --output eng.json",
    ),
    bad(
        "a two-letter language",
        form("eng", "form.pdf"),
        "language en: unknown; an ISO 639-3 code was expected, one of [...]",
        "extract form.pdf --language en --output eng.json",
    ),
    bad(
        "a language by its name",
        form("eng", "form.pdf"),
        "language English: unknown; an ISO 639-3 code was expected, one of [...]",
        "extract form.pdf --language English --output eng.json",
    ),
    bad(
        "a blank behind the PDF's name",
        form("eng", "form.pdf"),
        "'form.pdf ': no such file; there is form.pdf: leave out the blanks or quotes",
        "extract 'form.pdf ' --language eng --output eng.json",
    ),
    bad(
        "~ that the shell did not expand",
        files({}),
        "~/form.pdf: no such file; ~ stands for the home folder only where the shell expands it: leave "
        "out the quotes or write it in full",
        "extract '~/form.pdf' --language eng --output eng.json",
    ),
    bad(
        "a Windows path",
        files({}),
        "C:\\Users\\me\\form.pdf: no such file; it looks like a Windows path: write the path as it is on "
        "this machine, with / between folders",
        r"extract 'C:\Users\me\form.pdf' --language eng --output eng.json",
    ),
    bad(
        "two arguments swapped",
        form("eng", "form.pdf"),
        "form.pdf: is there already and not JSON; choose another name for the output",
        "extract eng.json --language eng --output form.pdf",
    ),
    bad(
        "output is a folder",
        all_of(form("eng", "form.pdf"), folders("out")),
        "out: is a folder, a file name was expected; add one",
        "extract form.pdf --language eng --output out",
    ),
    bad(
        "output below a file",
        form("eng", "form.pdf"),
        "form.pdf/eng.json: cannot be written: form.pdf is a file, not a folder; choose another folder",
        "extract form.pdf --language eng --output form.pdf/eng.json",
    ),
    bad(
        "output over the PDF itself",
        form("eng", "form.pdf"),
        "form.pdf: is there already and not JSON; choose another name for the output",
        "extract form.pdf --language eng --output form.pdf",
    ),
    bad(
        "an unknown extractor",
        form("eng", "form.pdf"),
        "Invalid value for '--extractor': 'ocr' is not one of 'layout', 'gemini'; see `valuesassets extract --help`",
        "extract form.pdf --language eng --output eng.json --extractor ocr",
        code=2,
    ),
    bad(
        "gemini without a key",
        form("eng", "form.pdf"),
        NO_KEY,
        "extract form.pdf --language eng --output eng.json --extractor gemini",
        environment={"GEMINI_API_KEY": ""},
    ),
    bad(
        "a model for the layout",
        form("eng", "form.pdf"),
        "--model and --gemini-url are for --extractor gemini (found layout); leave them out",
        "extract form.pdf --language eng --output eng.json --model gemini-9",
    ),
    bad(
        "a dry run of the layout",
        form("eng", "form.pdf"),
        "--dry-run: only the gemini extractor sends anything; add --extractor gemini",
        "extract form.pdf --language eng --output eng.json --dry-run",
    ),
    bad(
        "an address that would get the key unencrypted",
        form("eng", "form.pdf"),
        "--gemini-url: key 'base_url': an https address was expected (found http://example.org): the key travels with "
        "every request",
        "extract form.pdf --language eng --output eng.json --extractor gemini --gemini-url http://example.org",
    ),
    bad(
        "the review page over the questions",
        form("eng", "form.pdf"),
        "eng.json: is --output as well; choose another name for --review",
        "extract form.pdf --language eng --output eng.json --review eng.json",
    ),
    bad(
        "the review page over the PDF",
        form("eng", "form.pdf"),
        "form.pdf: is there already and not an HTML page; choose another name for the output",
        "extract form.pdf --language eng --output eng.json --review form.pdf",
    ),
    corrected("no overrides file", None, "eng.toml: no such file; check the path"),
    corrected("overrides that are questions", QUESTIONS, "eng.toml: not TOML: [...]; mend the file there"),
    corrected(
        "an override without a reason",
        b'[v1]\nitem = "Toil"\n',
        "eng.toml: override of v1: key 'reason' is missing; add it",
    ),
    corrected(
        "an override with a misspelt key",
        b'[v1]\nreason = "x"\nitme = "Toil"\n',
        "eng.toml: override of v1: unknown key 'itme' (did you mean 'item'?)",
    ),
    corrected(
        "an override that changes nothing",
        b'[v1]\nreason = "x"\n',
        "eng.toml: override of v1: it changes nothing; name a field (id, text, item, options, labels), say drop = "
        "true, or say by `of` which record it confirms",
    ),
    corrected(
        "an override with half an option",
        b'[v1]\nreason = "x"\noptions = [{ label = "very" }]\n',
        "eng.toml: override of v1: key 'value' in entry 1 of 'options' is missing; add it",
    ),
    bad(
        "align: a file not named after its language",
        files({"english.json": QUESTIONS}),
        "english.json: a name such as eng.json was expected (ISO 639-3 code); rename the file",
        "align english.json --output aligned",
    ),
    bad(
        "align: one language twice",
        files({"eng.json": QUESTIONS, "more/eng.json": QUESTIONS}),
        "more/eng.json: a second file for eng; give one file per language",
        "align eng.json more/eng.json --output aligned",
    ),
    bad(
        "align: no file of the master",
        files({"deu.json": QUESTIONS}),
        "no file eng.json among the 1 given; it makes the master list: add it, or name another language with --master",
        "align deu.json --output aligned",
    ),
    bad(
        "align: a file that is not there",
        files({"eng.json": QUESTIONS}),
        "deu.json: no such file; check the path",
        ALIGN,
    ),
    bad(
        "align: the files would be overwritten",
        BOTH,
        "eng.json: would be overwritten; choose another folder for --output",
        "align eng.json deu.json --output .",
    ),
    bad(
        "align: a file where the folder shall be",
        BOTH,
        "deu.json: cannot be written: deu.json is a file, not a folder; choose another folder",
        "align eng.json --output deu.json",
    ),
    bad(
        "align: a PDF in place of questions",
        files({"eng.json": WHOLE}),
        "eng.json: is a PDF, a JSON file was expected; name another file",
        "align eng.json --output aligned",
    ),
    bad(
        "align: no sound question in the master",
        files({"eng.json": [QUESTIONS[0] | {"options": []}]}),
        "eng.json makes the master list: none of its 1 questions can be used, the first because: no "
        "options, at least two were expected; mend the file, or extract the questionnaire again",
        "align eng.json --output aligned",
    ),
    bad(
        "align: no questions in the master",
        files({"eng.json": []}),
        "eng.json: an empty array, questions were expected; extract the questionnaire again",
        "align eng.json --output aligned",
    ),
    bad(
        "align: an error page in place of an extraction",
        files({"eng.json": b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"}),
        "eng.json: is an HTML page, a JSON file was expected; name another file",
        "align eng.json --output aligned",
    ),
    bad(
        "align: an extraction that was cut off",
        files({"eng.json": b'[{"id": "v1", "text": "How'}),
        "eng.json: line 1, column 23: not JSON (Unterminated string starting at); mend the file there",
        "align eng.json --output aligned",
    ),
    bad(
        "align: lists in lists",
        files({"eng.json": [QUESTIONS]}),
        "eng.json: question 1: an object with id, text, response_type and options was expected, found an array",
        "align eng.json --output aligned",
    ),
    bad(
        "align: options that are text",
        files({"eng.json": [QUESTIONS[0] | {"options": ["yes", "no"]}]}),
        "eng.json: question 1 (v1): entry 1 of 'options': a table of keys and values was expected (found \"yes\"); "
        "entry 2 of 'options': a table of keys and values was expected (found \"no\")",
        "align eng.json --output aligned",
    ),
    bad(
        "align: a code that is no number",
        files({"eng.json": b'[{"id": "v1", "text": "?", "options": [{"value": NaN, "label": "yes"}]}]'}),
        "eng.json: question 1 (v1): key 'value' in entry 1 of 'options': a whole number was expected (found NaN)",
        "align eng.json --output aligned",
    ),
    bad(
        "align: an id that is a list",
        files({"eng.json": [QUESTIONS[0] | {"id": ["v1"]}]}),
        "eng.json: question 1 (['v1']): key 'id': text in quotes was expected (found [\"v1\"])",
        "align eng.json --output aligned",
    ),
    bad(
        "align: ten thousand options in every question",
        files({"eng.json": [QUESTIONS[0] | {"options": [{"value": n, "label": f"{n}"} for n in range(10_000)]}]}),
        "eng.json makes the master list: none of its 1 questions can be used, the first because: "
        "9991 options, at most 100 can be asked; is the answer a number?; likert4 has 9991 options, 4 were expected; "
        "mend the file, or extract the questionnaire again",
        "align eng.json --output aligned",
    ),
    bad(
        "align: another language than the name says",
        files({"eng.json": QUESTIONS, "fra.json": ENGLISH}),
        "fra.json: 29 of 31 questions are not in fra, most of them in eng; name the language of the questions, or the "
        "right file",
        "align eng.json fra.json --output aligned",
    ),
    bad(
        "align: another script than the language's",
        files({"eng.json": QUESTIONS, "bul.json": ENGLISH}),
        "bul.json: only 0% of the questions' letters are Cyrillic, as bul is written; name the language of the "
        "questions, or the right file",
        "align eng.json bul.json --output aligned",
    ),
    bad(
        "align: a folder in place of its files",
        all_of(folders("forms"), files({"forms/eng.json": QUESTIONS})),
        "forms: is a folder, question files were expected; name the files in it",
        "align forms --output aligned",
    ),
    bad(
        "align: a pattern that matched nothing",
        files({}),
        "forms/*.json: no such file; there is no folder forms either; check the path",
        "align 'forms/*.json' --output aligned",
    ),
    bad(
        "align: no files",
        files({}),
        "Missing argument 'FILE...'; see `valuesassets align --help`",
        "align --output aligned",
        code=2,
        in_own_process=True,
    ),
    bad(
        "align: no folder for the output",
        BOTH,
        "Missing option '--output'; see `valuesassets align --help`",
        "align eng.json deu.json",
        code=2,
    ),
]
