import functools
import io
import tomllib
import zipfile

import pytest

from valuesassets.instruments.survey.material.forms.download import download
from valuesassets.instruments.survey.material.questionnaire_pdf import count_pages, fetch_questionnaire
from valuesassets.records.errors import PdfError, StorageError, StudyError
from valuesassets.records.study import load_study, parse_study, study_path
from valuesassets_tests.bad_inputs.test_stopped_writing import disk_full_after
from valuesassets_tests.instruments.survey.material.forms.loopback_files import answer, file, loopback


def study_of(tmp_path, **questionnaires):
    content = tomllib.loads(study_path("demo_survey").read_text())
    content["questionnaires"] |= questionnaires
    content["languages"] = {"eng": content["languages"]["eng"] | {"gesis_document": 7}}
    return parse_study(content, "test.toml")


@pytest.fixture
def served():
    with loopback() as server:
        yield server


@pytest.fixture
def pauses(monkeypatch):
    """How long downloads would have waited; nobody waits."""
    waited = []
    patient = functools.partial(download, pause=waited.append)
    monkeypatch.setattr("valuesassets.instruments.survey.material.questionnaire_pdf.download", patient)
    return waited


@pytest.fixture
def english_pdf(tmp_path):
    pdf = fetch_questionnaire(load_study("demo_survey"), "eng", tmp_path / "eng.pdf")
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
    fetched = fetch_questionnaire(study, "eng", tmp_path / "out" / "eng.pdf")
    assert (fetched.sha256, fetched.source) == (pdf.sha256, path.name)


def linked(tmp_path, served, **language):
    """A study whose English questionnaire lies behind a link."""
    study = study_of(tmp_path, source="gesis", url=served.url + "/dbk/{document}")
    changed = study.languages["eng"].model_copy(update=language)
    return study.model_copy(update={"languages": {"eng": changed}})


def zipped(entries, method=zipfile.ZIP_DEFLATED):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as bundle:
        for name, content in entries.items():
            bundle.writestr(name, content)
    return archive.getvalue()


def spoilt(archive):
    """An archive with wrong bytes in the middle of its content."""
    return archive[:60] + bytes(byte ^ 0xFF for byte in archive[60:90]) + archive[90:]


def bomb():
    """An archive whose index says that its PDF has 201 MiB."""
    archive = zipped({"form.pdf": b"%PDF-"})
    size_field = archive.index(b"PK\x01\x02") + 24
    return archive[:size_field] + (201 * 2**20).to_bytes(4, "little") + archive[size_field + 4 :]


def test_a_zip_from_the_server_gives_the_pdf_inside(tmp_path, english_pdf, served, pauses):
    path, pdf = english_pdf
    archive = zipped({"readme.txt": "x", "form.PDF": path.read_bytes()})
    served.replies = [answer(503, b"busy"), answer(429, b"slow"), file(archive)]
    fetched = fetch_questionnaire(linked(tmp_path, served), "eng", tmp_path / "out.pdf")
    assert fetched.sha256 == pdf.sha256
    assert served.asked == ["/dbk/7"] * 3
    assert pauses == [2, 4]


def test_a_download_that_was_cut_off_leaves_nothing_and_comes_whole_at_the_next_fetch(
    tmp_path, english_pdf, served, pauses
):
    path, pdf = english_pdf
    content, out = path.read_bytes(), tmp_path / "out" / "eng.pdf"
    served.replies = [file(content, cut=20_000)]
    study = linked(tmp_path, served)
    with pytest.raises(PdfError, match=r"not to be had in 4 attempts \(.+broke off\); try later"):
        fetch_questionnaire(study, "eng", out)
    assert list(out.parent.iterdir()) == []
    served.replies = [file(content)]
    assert fetch_questionnaire(study, "eng", out).sha256 == pdf.sha256
    assert [entry.name for entry in out.parent.iterdir()] == ["eng.pdf"]
    assert pauses == [2, 4, 8]


def test_a_download_that_fails_leaves_the_last_whole_pdf(tmp_path, english_pdf, served):
    path, _ = english_pdf
    before = path.read_bytes()
    served.replies = [file(before[:-300])]
    with pytest.raises(PdfError, match="truncated or damaged; fetch it again"):
        fetch_questionnaire(linked(tmp_path, served), "eng", path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["eng.pdf"]


def test_a_full_disk_keeps_no_part_of_a_download(tmp_path, english_pdf, served):
    served.replies = [file(english_pdf[0].read_bytes())]
    with disk_full_after(10_000), pytest.raises(StorageError, match=r"eng.pdf: cannot be written: File too large"):
        fetch_questionnaire(linked(tmp_path, served), "eng", tmp_path / "out" / "eng.pdf")
    assert list((tmp_path / "out").iterdir()) == []
    assert len(served.asked) == 1


def test_a_password_in_the_link_is_not_recorded(tmp_path, english_pdf, served):
    served.replies = [file(english_pdf[0].read_bytes())]
    study = study_of(tmp_path, source="gesis", url=served.url.replace("//", "//me:secret@"))
    assert fetch_questionnaire(study, "eng", tmp_path / "out.pdf").source == served.url


@pytest.mark.parametrize("source", ["bundled", "folder", "gesis", "zip"])
def test_the_pdf_must_have_the_checksum_that_the_study_names(tmp_path, english_pdf, served, source):
    path, pdf = english_pdf
    content = path.read_bytes()
    served.replies = [file(zipped({"form.pdf": content}) if source == "zip" else content)]
    settings = {"source": "gesis" if source == "zip" else source, "url": served.url}
    study = study_of(tmp_path, **settings, **({"pdf_dir": str(tmp_path)} if source == "folder" else {}))

    def asking_for(digest):
        language = study.languages["eng"].model_copy(update={"sha256": digest})
        return study.model_copy(update={"languages": {"eng": language}})

    out = tmp_path / "out" / "eng.pdf"
    with pytest.raises(PdfError) as error:
        fetch_questionnaire(asking_for("0" * 64), "eng", out)
    assert str(error.value).endswith(
        f": the PDF has the sha256 {pdf.sha256}, languages.eng.sha256 in the study asks for {'0' * 64}; see whether "
        "it is the right edition, then put the right PDF into pdf_dir or correct the study"
    )
    assert list(out.parent.iterdir()) == []
    assert fetch_questionnaire(asking_for(pdf.sha256.upper()), "eng", out).sha256 == pdf.sha256


@pytest.mark.parametrize("digest", ["", "0" * 63, "0" * 65, "g" * 64, 7])
def test_a_checksum_in_the_study_has_64_hexadecimal_digits(digest):
    content = tomllib.loads(study_path("demo_survey").read_text())
    content["languages"]["eng"]["sha256"] = digest
    with pytest.raises(StudyError, match=r"key 'languages.eng.sha256'"):
        parse_study(content, "test.toml")


def zip_of_two(path):
    return zipped(
        {
            "forms/english.pdf": path.read_bytes(),
            "forms/russian.pdf": b"%PDF-1.5 another form",
            "__MACOSX/._english.pdf": b"x",
        }
    )


def test_of_a_zip_with_two_pdfs_the_study_says_which(tmp_path, english_pdf, served):
    path, pdf = english_pdf
    served.replies = [answer(200, zip_of_two(path))]
    study = linked(tmp_path, served)
    with pytest.raises(PdfError, match=r"holds 2 PDFs \(forms/english.pdf, forms/russian.pdf\); say which with `pdf`"):
        fetch_questionnaire(study, "eng", tmp_path / "out.pdf")
    assert not (tmp_path / "out.pdf").exists()
    named = linked(tmp_path, served, pdf="english.pdf")
    assert fetch_questionnaire(named, "eng", tmp_path / "out.pdf").sha256 == pdf.sha256


def test_a_folder_may_hold_a_zip_with_the_pdf_inside(tmp_path, english_pdf):
    path, _ = english_pdf
    path.write_bytes(zip_of_two(path))
    study = study_of(tmp_path, source="folder", pdf_dir=str(tmp_path))
    with pytest.raises(PdfError, match="holds 2 PDFs"):
        fetch_questionnaire(study, "eng", tmp_path / "out" / "eng.pdf")


@pytest.mark.parametrize(
    ("archive", "word"),
    [
        (zipped({"readme.txt": "x"}), "the ZIP archive holds no PDF"),
        (bomb(), "form.pdf in the ZIP archive has 210,763,776 bytes"),
        (zipped({"form.pdf": b"%PDF-" * 99})[:-30], "the ZIP archive is damaged"),
        (zipped({"form.pdf": b"%PDF-" * 99}).replace(b"%", b"&"), "the ZIP archive is damaged"),
        (b"PK\x03\x04" + bytes(99), "the ZIP archive is damaged"),
        (zipped({"form.pdf": b"%PDF-"})[:-6] + b"\xff\xff\0\0" + bytes(2), "the ZIP archive is damaged"),
        (zipped({"förm.pdf": b"%PDF-"}).replace("ö".encode(), b"\xff\xff"), "the ZIP archive is damaged"),
        *(
            (spoilt(zipped({"form.pdf": bytes(range(256)) * 9}, method)), "the ZIP archive is damaged")
            for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
        ),
    ],
    ids=[
        "no PDF",
        "bomb",
        "truncated",
        "wrong bytes",
        "zeros",
        "index elsewhere",
        "name",
        "stored",
        "deflated",
        "bzip2",
        "lzma",
    ],
)
def test_a_zip_without_a_usable_pdf_is_refused_in_one_line(tmp_path, served, archive, word):
    served.replies = [file(archive)]
    with pytest.raises(PdfError, match=word) as error:
        fetch_questionnaire(linked(tmp_path, served), "eng", tmp_path / "out" / "eng.pdf")
    assert "\n" not in str(error.value)
    assert list((tmp_path / "out").iterdir()) == []


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
    served.replies = [answer(200, content)]
    with pytest.raises(PdfError, match=word) as error:
        fetch_questionnaire(linked(tmp_path, served), "eng", tmp_path / "out" / "eng.pdf")
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
