import http.server
import io
import threading
import zipfile

import pytest

from valuesassets.instruments.survey.questionnaire_pdf import count_pages, download, fetch_questionnaire
from valuesassets.records.errors import PdfError
from valuesassets.records.study import load_study, parse_study, study_path


def study_of(tmp_path, **questionnaires):
    import tomllib

    content = tomllib.loads(study_path("demo").read_text())
    content["questionnaires"] |= questionnaires
    content["languages"] = {"eng": content["languages"]["eng"] | {"gesis_document": 7}}
    return parse_study(content, "test.toml")


@pytest.fixture
def served():
    """A loopback server: gives its answers in turn, the last one for ever."""
    answers: list[tuple[int, bytes]] = []
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            status, body = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", answers, asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def english_pdf(tmp_path):
    pdf = fetch_questionnaire(load_study("demo"), "eng", tmp_path / "eng.pdf")
    return tmp_path / "eng.pdf", pdf


def test_the_bundled_form_is_copied_with_hash_pages_and_source(english_pdf):
    path, pdf = english_pdf
    assert len(pdf.sha256) == 64
    assert pdf.pages >= 5
    assert pdf.source == "bundled questionnaire eng"
    assert path.read_bytes().startswith(b"%PDF")


def test_a_folder_serves_in_place_of_the_network(tmp_path, english_pdf):
    path, pdf = english_pdf
    study = study_of(tmp_path, source="gesis", pdf_dir=str(tmp_path))
    found = fetch_questionnaire(study, "eng", tmp_path / "out" / "eng.pdf")
    assert (found.sha256, found.source) == (pdf.sha256, path.name)


def test_a_zip_from_the_server_gives_the_pdf_inside(tmp_path, english_pdf, served):
    path, pdf = english_pdf
    url, answers, asked = served
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as bundle:
        bundle.writestr("readme.txt", "x")
        bundle.writestr("form.PDF", path.read_bytes())
    answers += [(503, b"busy"), (429, b"slow"), (200, archive.getvalue())]
    pauses = []
    study = study_of(tmp_path, source="gesis", url=url + "/dbk/{document}")
    found = fetch_questionnaire(study, "eng", tmp_path / "out.pdf", pauses.append)
    assert found.sha256 == pdf.sha256
    assert asked == ["/dbk/7"] * 3
    assert pauses == [2, 4]


def zip_of_two(path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as bundle:
        bundle.writestr("forms/english.pdf", path.read_bytes())
        bundle.writestr("forms/russian.pdf", b"%PDF-1.5 another form")
        bundle.writestr("__MACOSX/._english.pdf", b"x")
    return archive.getvalue()


def test_of_a_zip_with_two_pdfs_the_study_says_which(tmp_path, english_pdf, served):
    path, pdf = english_pdf
    url, answers, _ = served
    answers += [(200, zip_of_two(path))] * 2
    study = study_of(tmp_path, source="gesis", url=url + "/dbk/{document}")
    with pytest.raises(PdfError, match=r"holds 2 PDFs \(forms/english.pdf, forms/russian.pdf\); say which with `pdf`"):
        fetch_questionnaire(study, "eng", tmp_path / "out.pdf")
    assert not (tmp_path / "out.pdf").exists()
    language = study.languages["eng"].model_copy(update={"pdf": "english.pdf"})
    named = study.model_copy(update={"languages": {"eng": language}})
    assert fetch_questionnaire(named, "eng", tmp_path / "out.pdf").sha256 == pdf.sha256


def test_a_folder_may_hold_a_zip_with_the_pdf_inside(tmp_path, english_pdf):
    path, _ = english_pdf
    path.write_bytes(zip_of_two(path))
    study = study_of(tmp_path, source="folder", pdf_dir=str(tmp_path))
    with pytest.raises(PdfError, match="holds 2 PDFs"):
        fetch_questionnaire(study, "eng", tmp_path / "out" / "eng.pdf")


@pytest.mark.parametrize(("status", "tries", "word"), [(404, 1, "answers 404"), (503, 4, "in 4 attempts")])
def test_a_refusal_is_not_repeated_and_a_busy_server_is_not_asked_for_ever(served, status, tries, word):
    url, answers, asked = served
    answers.append((status, b""))
    with pytest.raises(PdfError, match=word):
        download(url, lambda _: None)
    assert len(asked) == tries


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "not a PDF but an empty file"),
        (b"<!DOCTYPE html><html>", "an HTML page"),
        (b"\x89PNG" + b"x" * 100, "not a PDF but a picture"),
        (b"%PDF-1.5\n garbage", "truncated or damaged"),
    ],
)
def test_what_is_no_readable_pdf_is_refused_in_one_line_and_leaves_nothing(tmp_path, served, content, word):
    url, answers, _ = served
    answers.append((200, content))
    study = study_of(tmp_path, source="gesis", url=url + "/{document}")
    with pytest.raises(PdfError, match=word) as error:
        fetch_questionnaire(study, "eng", tmp_path / "out" / "eng.pdf")
    assert "\n" not in str(error.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_an_encrypted_pdf_is_called_encrypted(tmp_path):
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "locked.pdf"), encrypt=StandardEncryption("secret", canPrint=0))
    canvas.drawString(100, 100, "Q1")
    canvas.save()
    with pytest.raises(PdfError, match="encrypted"):
        count_pages(tmp_path / "locked.pdf", "locked.pdf")


def test_an_absent_file_is_named_with_its_folder(tmp_path):
    study = study_of(tmp_path, source="folder", pdf_dir=str(tmp_path))
    with pytest.raises(PdfError, match=r"eng.pdf: no such file"):
        fetch_questionnaire(study, "eng", tmp_path / "out.pdf")
