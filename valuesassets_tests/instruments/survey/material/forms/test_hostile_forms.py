"""Forms made to hold up or to break whoever reads them: each ends in time, read or refused in one line of its name."""

import pytest

from valuesassets.instruments.survey.material.extracted_questions import extract_questions
from valuesassets.instruments.survey.material.forms.form_pictures import draw_questions
from valuesassets.instruments.survey.material.forms.imported_questions import read_imported
from valuesassets.records import limited
from valuesassets.records.errors import InputError, PdfError, QuestionError
from valuesassets.records.questions import Question
from valuesassets_tests.instruments.survey.material.forms.hostile_pdfs import PDFS, packed, pdf
from valuesassets_tests.instruments.survey.material.forms.hostile_tables import TABLES

pytestmark = pytest.mark.limited
ANYWHERE = Question.model_validate(
    {"id": "a", "text": "a", "response_type": "binary", "options": [], "page": 1, "box": (0, 0, 9, 9)}
)


@pytest.fixture
def tight(monkeypatch):
    """Limits within which what goes on for ever is ended soon."""
    monkeypatch.setattr(limited, "SECONDS", 1.0)
    monkeypatch.setattr(limited, "MEBIBYTES", 512)


def said_of(action, path):
    """What an action says of a file that it refuses, which names the file; nothing where it does not."""
    prefix = f"{path}: "
    try:
        action()
    except InputError as error:
        prefix = str(error)
    assert prefix.startswith(f"{path}: ")
    assert "\n" not in prefix
    return prefix.removeprefix(f"{path}: ")


@pytest.mark.slow
@pytest.mark.parametrize("name", PDFS)
def test_a_hostile_pdf_is_read_and_drawn_or_refused_in_time(name, tight, tmp_path):
    path = tmp_path / "eng.pdf"
    path.write_bytes(PDFS[name]())
    said_of(lambda: extract_questions(path, "eng"), path)
    said_of(lambda: draw_questions(path, [ANYWHERE]), path)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_a_hostile_table_is_read_or_refused_in_time(name, tight, tmp_path):
    ending, make = TABLES[name]
    path = tmp_path / f"eng.{ending}"
    make(path)
    said_of(lambda: read_imported(path), path)


ANEW = "; print it to a new PDF, or write its questions into a table, which `valuesassets template questions` begins"
OF_PDFS = {
    "references that go round": f"reading took more than 0.3 s{ANEW}",
    "a page of no size": f"page 1 is 0 by 0 points large, as no paper is{ANEW}",
    "a page of 1e30 points": f"page 1 is 1e+30 by 1e+30 points large, as no paper is{ANEW}",
    "words further away than numbers go": "",
}
DAMAGED = "is no spreadsheet (XLSX); save it as XLSX or CSV"
ANEW_TOO = "where no sheet has one; save it anew as XLSX or CSV"
MANY = "more than 1,000 rows, no questionnaire has so many; is it a file of answers?"
OF_TABLES = {
    "a shared string of index -1": "cell B2 is to have text '-1' of 1; save the table anew as XLSX or CSV",
    "a shared string beyond the last": "cell B2 is to have text '1' of 1; save the table anew as XLSX or CSV",
    "a shared string of index text": "cell B2 is to have text 'first' of 1; save the table anew as XLSX or CSV",
    "a shared string of no index": "cell B2 is to have text '' of 1; save the table anew as XLSX or CSV",
    "a row number that is huge": f"a cell stands at 'A{'9' * 19}', {ANEW_TOO}",
    "a row number of 5,000 figures": f"a cell stands at 'A{'9' * 19}', {ANEW_TOO}",
    "a row number 0": f"a cell stands at 'A0', {ANEW_TOO}",
    "a cell twice": "cell A2 stands there twice; save it anew as XLSX or CSV",
    "a cell without a place": f"a cell stands at '', {ANEW_TOO}",
    "20,000 rows": MANY,
    "entities that explode in UTF-16": DAMAGED,
    "XML in an unknown encoding": DAMAGED,
    "XML that breaks off": DAMAGED,
    "a byte order mark and no more": "holds nothing but a byte order mark, a table (CSV) with columns id, text, item, "
    "options was expected; name another file",
    "nothing but NULs": "row 1: holds NULs, a table (CSV) with columns id, text, item, options was expected; save the "
    "file as UTF-8",
    "a field of 200,000 letters": "row 2: a field has more than 131,072 characters; mend the row",
    "a form that is a pipe nobody writes into": "reading took more than 0.3 s; see whether it is the right file, and "
    "save it anew",
}


@pytest.mark.parametrize("name", OF_PDFS)
def test_what_is_said_of_a_hostile_pdf(name, monkeypatch, tmp_path):
    path = tmp_path / "eng.pdf"
    path.write_bytes(PDFS[name]())
    if "0.3 s" in OF_PDFS[name]:
        monkeypatch.setattr(limited, "SECONDS", 0.3)
    assert said_of(lambda: extract_questions(path, "eng"), path) == OF_PDFS[name]


@pytest.mark.parametrize("name", OF_TABLES)
def test_what_is_said_of_a_hostile_table(name, monkeypatch, tmp_path):
    ending, make = TABLES[name]
    path = tmp_path / f"eng.{ending}"
    make(path)
    if "0.3 s" in OF_TABLES[name]:
        monkeypatch.setattr(limited, "SECONDS", 0.3)
    assert said_of(lambda: read_imported(path), path) == OF_TABLES[name]


def test_no_more_of_a_table_is_read_than_its_first_rows(tmp_path):
    head, row = "id,text,item,options\n", "q,How?,,a|b\n"
    path = tmp_path / "answers.csv"
    path.write_bytes((head + row * 1001).encode() + b"\xff")
    with pytest.raises(QuestionError) as caught:
        read_imported(path)
    assert str(caught.value) == f"{path}: {MANY}"
    path.write_bytes((head + row * 1000).encode() + b"\xff")
    with pytest.raises(QuestionError, match=f"byte {len(head) + 1000 * len(row)} is not UTF-8"):
        read_imported(path)


def test_a_form_without_the_memory_to_read_it_is_refused(monkeypatch, tmp_path):
    path = tmp_path / "eng.pdf"
    path.write_bytes(pdf({4: packed(bytes(64 * 2**20))}))
    monkeypatch.setattr(limited, "MEBIBYTES", 32)
    with pytest.raises(PdfError, match=r"eng\.pdf: reading took more memory than there is"):
        extract_questions(path, "eng")
