"""Bad PDFs and corrections for `extract`."""

from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import FORMS, QUESTIONS, Make, all_of, files, folders, form, good_questions
from valuesassets_tests.bad_inputs.pdf_forms import codebook, encrypted, from_right_to_left, letter, pdf, scan, zipped

COMMAND = "extract form.pdf --language eng --output eng.json"
NO_KEY = (
    "GEMINI_API_KEY is not set, the gemini extractor needs it; set it to a key from "
    "https://aistudio.google.com/apikey, "
    "or use the layout extractor"
)
WHOLE = (FORMS / "eng.pdf").read_bytes()


def bad(name: str, make: Make, message: str, command: str = COMMAND, **more: object) -> Case:
    return Case(name, command, message, make, **more)


def corrected(name: str, overrides: bytes | None, message: str) -> Case:
    """An extraction with corrections that cannot be used."""
    made = all_of(form("eng", "form.pdf"), files({"eng.toml": overrides} if overrides is not None else {}))
    return bad(name, made, message, f"{COMMAND} --overrides eng.toml")


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
        "form.pdf: no question was read: the form is set in no layout that is known (1 page, 8 words, 0 variable codes "
        "such as v39, 0 lines that begin with a question number; page 1 has 'Dear colleagues, the questionnaire will "
        "follow next week.'); write its questions into a table, which `valuesassets template questions` begins",
    ),
    bad(
        "a PDF of 2,000 pages",
        codebook,
        "form.pdf: the PDF has more than 400 pages, no questionnaire does (a codebook, a report?); name the "
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
        "answers.csv: row 1: no column id (found v1, v2); a table (CSV) with columns id, text, item, options was "
        "expected; add it",
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
        f"{COMMAND} --extractor ocr",
        code=2,
    ),
    bad(
        "gemini without a key",
        form("eng", "form.pdf"),
        NO_KEY,
        f"{COMMAND} --extractor gemini",
        environment={"GEMINI_API_KEY": ""},
    ),
    bad(
        "a model for the layout",
        form("eng", "form.pdf"),
        "--model and --gemini-url are for --extractor gemini (found layout); leave them out",
        f"{COMMAND} --model gemini-9",
    ),
    bad(
        "a dry run of the layout",
        form("eng", "form.pdf"),
        "--dry-run: only the gemini extractor sends anything; add --extractor gemini",
        f"{COMMAND} --dry-run",
    ),
    bad(
        "an address that would get the key unencrypted",
        form("eng", "form.pdf"),
        "--gemini-url: key 'base_url': an https address was expected (found http://example.org): the key travels with "
        "every request",
        f"{COMMAND} --extractor gemini --gemini-url http://example.org",
    ),
    bad(
        "the review page over the questions",
        form("eng", "form.pdf"),
        "eng.json: is --output as well; choose another name for --review",
        f"{COMMAND} --review eng.json",
    ),
    bad(
        "the review page over the PDF",
        form("eng", "form.pdf"),
        "form.pdf: is there already and not an HTML page; choose another name for the output",
        f"{COMMAND} --review form.pdf",
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
]
