"""XLSForms: five small ones of our own, with the questions that come of them."""

import zipfile
from xml.sax.saxutils import escape

import pytest

from valuesassets.instruments.survey.material.forms.imported_questions import read_imported
from valuesassets.records.errors import QuestionError
from valuesassets_tests.instruments.survey.material.forms.exchange.reading import left_out, read, source_codes, unfit
from valuesassets_tests.needs import shared_file

SURVEY = "type", "name", "label", "relevant", "appearance"
CHOICES = [
    ("list_name", "name", "label"),
    ("yn", "yes", "Yes"),
    ("yn", "no", "No"),
    ("agree", "1", "Agree"),
    ("agree", "2", "Neither"),
    ("agree", "3", "Disagree"),
    ("agree", "-99", "Don't know"),
]
AGREE, MISSING = {1: "Agree", 2: "Neither", 3: "Disagree"}, {-99: "Don't know"}


def sheet(rows):
    cells = (
        "".join(
            f'<c r="{chr(65 + place)}{number}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'
            for place, text in enumerate(row)
            if text
        )
        for number, row in enumerate(rows, 1)
    )
    body = "".join(f'<row r="{number}">{each}</row>' for number, each in enumerate(cells, 1))
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>'


def workbook(path, more=(), **sheets):
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    numbered = [*enumerate(sheets, 1)]
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in numbered)
    targets = "".join(
        f'<Relationship Id="rId{n}" Type="{office}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n, _ in numbered
    )
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{kind}.worksheet+xml"/>' for n, _ in numbered
    )
    root = f'<Relationship Id="rId1" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
    content = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{kind}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">{root}</Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{targets}</Relationships>',
        **{f"xl/worksheets/sheet{n}.xml": sheet(sheets[name]) for n, name in numbered},
        **dict(more),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return path


def form(tmp_path, *rows, header=SURVEY, choices=CHOICES, **sheets):
    return workbook(tmp_path / "form.xlsx", survey=[header, *rows], choices=choices, **sheets)


def test_answers_coded_by_words_are_numbered_and_missing_ones_are_known_by_their_words(tmp_path):
    path = form(tmp_path, ("select_one yn", "well", "Are you **well**?"), ("select_one agree", "so", "Is it so?"))
    assert read(path) == [
        ("well", None, "Are you well?", {1: "Yes", 2: "No"}, {}, None),
        ("so", None, "Is it so?", AGREE, MISSING, None),
    ]
    assert source_codes(path) == [["yes", "no"], ["1", "2", "3", "-99"]]


@pytest.mark.parametrize(
    "kind", ["select_one yn", "select one yn", "select one from yn", "select1 yn", "select_one yn or_other"]
)
def test_the_earlier_spellings_are_read(tmp_path, kind):
    assert [row[0] for row in read(form(tmp_path, (kind, "q", "Well?")))] == ["q"]


def test_a_table_list_is_a_stem_and_other_groups_are_headings_with_conditions(tmp_path):
    path = form(
        tmp_path,
        ("begin_group", "work", "Work", "${age} > 17"),
        ("begin group", "table", "Do you agree?", "", "table-list"),
        ("select_one agree", "a", "Work matters", "${job} = 'yes'"),
        ("select_one agree", "b", "Pay matters"),
        ("end group",),
        ("select_one yn", "c", "Do you work?"),
        ("end_group",),
        ("select_one yn", "d", "Are you well?"),
    )
    assert read(path) == [
        ("a", "Do you agree?", "Work matters", AGREE, MISSING, "(${age} > 17) and (${job} = 'yes')"),
        ("b", "Do you agree?", "Pay matters", AGREE, MISSING, "${age} > 17"),
        ("c", None, "Do you work?", {1: "Yes", 2: "No"}, {}, "${age} > 17"),
        ("d", None, "Are you well?", {1: "Yes", 2: "No"}, {}, None),
    ]
    assert [question.section for question in read_imported(path)[0]] == ["Work", "Work", "Work", None]


def test_a_rating_matrix_of_kobotoolbox_is_a_list_of_items(tmp_path):
    path = form(
        tmp_path,
        ("begin_score", "trust", "Do you agree?", "${age} > 17", "", "agree"),
        ("score__row", "a", "Work matters"),
        ("score__row", "b", "Pay matters"),
        ("end_score",),
        ("select_one yn", "c", "Are you well?"),
        header=(*SURVEY, "kobo--score-choices"),
    )
    assert read(path) == [
        ("a", "Do you agree?", "Work matters", AGREE, MISSING, "${age} > 17"),
        ("b", "Do you agree?", "Pay matters", AGREE, MISSING, "${age} > 17"),
        ("c", None, "Are you well?", {1: "Yes", 2: "No"}, {}, None),
    ]


def test_words_without_a_language_stand_for_those_that_lack_in_one(tmp_path):
    path = form(
        tmp_path,
        ("select_one yn", "a", "Are you well?"),
        ("select_one yn", "b", "", "Do you work?"),
        header=("type", "name", "label::english", "label"),
        choices=[("List_Name", "Name", "Label", "label::french"), ("yn", "y", "Yes", "Oui"), ("yn", "n", "No", "Non")],
    )
    yes_no = {1: "Yes", 2: "No"}
    assert [row[2:4] for row in read(path)] == [("Are you well?", yes_no), ("Do you work?", yes_no)]


def test_pictures_are_unfit_and_searched_answers_are_in_another_file(tmp_path):
    path = form(
        tmp_path,
        ("select_one faces", "face", "Which one?"),
        ("select_one yn", "town", "Which town?", "", "minimal search('towns')"),
        choices=[*CHOICES, ("faces", "happy", ""), ("faces", "sad", "")],
    )
    assert list(unfit(path)) == ["face"]
    assert left_out(path) == {"town": "its answers are in another file"}


def test_words_stay_as_the_form_has_them_but_for_the_number_before_them(tmp_path):
    words = [
        "Is (NAME) the head of the household?",
        "Have you been away (>6 months) or not?",
        "In 2020, were you well?",
        "Does the pump house know how to begin?",
        "Does the pump house know how to end?",
        "Is it on A4 paper?",
        "A4 paper is good.",
        "Does the EU AND NATO matter?",
        "Q1",
    ]
    rows = [("select_one yn", f"n_{chr(97 + place)}", each) for place, each in enumerate(words)]
    path = form(tmp_path, *rows, ("select_one yn", "n_z", "Q12b. What is it?"), ("select_one yn", "n_y", "B3 Ist es?"))
    assert [row[1:3] for row in read(path)] == [(None, each) for each in (*words, "What is it?", "Ist es?")]


def test_rows_below_a_row_of_labels_share_its_words(tmp_path):
    path = form(
        tmp_path,
        ("select_one agree", "head", "Do you agree?", "", "label"),
        ("select_one agree", "a", "Work matters", "", "list-nolabel"),
        ("select_one yn", "b", "Are you well?"),
    )
    assert [row[:3] for row in read(path)] == [("a", "Do you agree?", "Work matters"), ("b", None, "Are you well?")]
    assert left_out(path) == {"head": "the heading of a list of items"}


def test_what_is_no_closed_question_is_left_out_and_what_depends_on_answers_is_unfit(tmp_path):
    path = form(
        tmp_path,
        ("start", "start"),
        ("text", "name", "Your name?"),
        ("select_multiple yn", "several", "Which?"),
        ("select_one_from_file towns.csv", "town", "Where?"),
        ("select_one yn", "quoting", "Are you ${name}?"),
        ("select_one yn", "filtered", "Which?", "", "", "list = ${name}"),
        ("rank yn", "rank", "Which first?"),
        header=(*SURVEY, "choice_filter"),
    )
    assert left_out(path) == {
        "name": "type text, no closed question with one answer",
        "several": "several answers may be chosen",
        "town": "its answers are in another file",
        "rank": "type rank, no closed question with one answer",
    }
    assert unfit(path) == {
        "quoting": "its text quotes what each respondent answered or is called: ${name}",
        "filtered": "its answers depend on a condition: list = ${name}",
    }


def test_a_language_is_chosen_by_name_or_code(tmp_path):
    path = form(
        tmp_path,
        ("select_one yn", "q", "Well?", "Geht es gut?"),
        header=("type", "name", "label::English (en)", "label : Deutsch (de)"),
        choices=[
            ("list name", "name", "label::English (en)", "label::Deutsch (de)"),
            ("yn", "1", "Yes", "Ja"),
            ("yn", "2", "No", "Nein"),
        ],
        settings=[("default_language",), ("English (en)",)],
    )
    german = [("q", None, "Geht es gut?", {1: "Ja", 2: "Nein"}, {}, None)]
    assert read(path, "de", "deu") == read(path, "Deutsch", "deu") == read(path, language="deu") == german
    assert read(path)[0][2] == "Well?"
    with pytest.raises(QuestionError, match=r"has no language fr; name one of English \(en\), Deutsch \(de\)"):
        read(path, "fr")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [("select_one towns", "q", "Where?")],
            "sheet survey, row 2: q: the list towns has no choices; add them to the",
        ),
        (
            [("select_one yn", "q", "Well?"), ("select_one yn", "q", "Ill?")],
            "sheet survey, row 3: the name q stands in row 2 too; give each question its own",
        ),
        ([("text", "q", "Who?")], r"no closed question with one answer among 1 entry of the form \(q: type text"),
    ],
)
def test_a_bad_form_is_one_line(tmp_path, rows, message):
    with pytest.raises(QuestionError, match=message) as fault:
        read(form(tmp_path, *rows))
    assert "\n" not in str(fault.value)


def test_questions_of_one_name_in_two_groups_are_distinguished(tmp_path):
    groups = [
        [("begin_group", name, name), ("select_one yn", "q", f"Well in {name}?"), ("end_group",)] for name in "ab"
    ]
    assert [row[0] for row in read(form(tmp_path, *groups[0], *groups[1]))] == ["a/q", "b/q"]


def test_an_archive_that_unpacks_to_much_or_declares_entities_is_refused(tmp_path):
    rows = {"survey": [SURVEY, ("select_one yn", "q", "Well?")], "choices": CHOICES}
    big = workbook(tmp_path / "big.ods", {"media/picture.bin": b"0" * (51 * 2**20)}, **rows)
    with pytest.raises(QuestionError, match="unpacks to more than 50 MiB"):
        read(big)
    declaring = workbook(tmp_path / "form.ods", {"xl/more.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"}, **rows)
    with pytest.raises(QuestionError, match="holds XML with a DOCTYPE"):
        read(declaring)


@pytest.mark.parametrize("ending", ["xls", "ods"])
def test_a_workbook_that_is_none_is_one_line(tmp_path, ending):
    path = tmp_path / f"form.{ending}"
    path.write_bytes(b"PK\x03\x04 damaged" if ending == "ods" else b"no workbook")
    with pytest.raises(QuestionError, match=r"is damaged, or is not a spreadsheet|is no spreadsheet"):
        read(path)
    with pytest.raises(QuestionError, match="no such file"):
        read(tmp_path / f"absent.{ending}")


def test_a_workbook_without_the_sheet_survey_stays_a_table_of_questions(tmp_path):
    rows = [("id", "text", "item", "options"), ("q", "Well?", "", "1 = yes | 2 = no")]
    (question,) = read_imported(workbook(tmp_path / "table.xlsx", questions=rows))[0]
    assert (question.id, question.values, "missing" in (question.model_extra or {})) == ("q", (1, 2), False)


@pytest.mark.published
@pytest.mark.parametrize(("name", "questions", "others"), [("xlsform_testA.xlsx", 14, 10), ("ict_survey.xls", 1, 0)])
def test_public_forms_give_their_closed_questions(name, questions, others):
    path = shared_file("data", "forms", name)
    assert (len(read(path, language="deu")), len(left_out(path))) == (questions, others)
