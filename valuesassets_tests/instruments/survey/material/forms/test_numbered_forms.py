"""Forms whose question numbers are the variables' codes, as those of the World Values Survey."""

import pytest

from valuesassets.instruments.survey.material.extracted_questions import extract_questions
from valuesassets.instruments.survey.material.forms.layout.checks import extraction_faults
from valuesassets.instruments.survey.material.forms.layout.scales import answer_values
from valuesassets.people.variables import load_variables
from valuesassets_tests.instruments.survey.material.forms.paper_forms import PaperForm
from valuesassets_tests.needs import shared_file

NOTE = "(Read out and code one answer for each of them, please)"
IMPORTANCE = ("Very important", "Rather important", "Not very", "Not at all")
COLUMNS = (260, 340, 430, 500)


@pytest.fixture(scope="module")
def form(tmp_path_factory):
    paper = PaperForm(tmp_path_factory.mktemp("numbered") / "numbered.pdf")
    heading(paper, "LIFE AND WORK")
    said(paper, "For each of the following, say how important it is in your life.", NOTE)
    items = [f"Q{number}" for number in range(1, 7)]
    words = ("Family", "Friends", "Leisure time", "Politics", "Work that one|does for others", "Religion")
    grid(paper, IMPORTANCE, zip(items, words, strict=True), "1234")
    said(paper, "Now a list. Are you an active member, an inactive member, or none?", NOTE)
    clubs = [(f"Q{number}", f"Club number {number}") for number in range(94, 100)]
    grid(paper, ("Active", "Inactive", "None"), clubs, "210")
    asked(paper, "Q46", "Taking all things together, would you say you are", NOTE)
    for value, label in enumerate(("Very happy", "Rather happy", "Not very happy", "Not at all happy"), 1):
        paper.text(85, f"{value}")
        paper.text(105, label)
        paper.down()
    asked(paper, "Q151", "Would you be willing to fight for your country?", NOTE)
    for x, written in ((85, "1"), (105, "Yes"), (200, "2"), (220, "No")):
        paper.text(x, written)
    paper.down()
    asked(paper, "Q254", "How proud are you of it?", NOTE)
    for row in (((85, "1. Very"), (200, "3. Not very")), ((85, "2. Quite"), (200, "4. Not at all"))):
        for x, written in row:
            paper.text(x, written)
        paper.down()
    asked(paper, "Q119", "Do you agree that this is so?")
    paper.framed([[(120, "1"), (220, "2"), (320, "3"), (420, "4"), (500, "0")]])
    paper.y -= 12
    for x, written in (
        (95, "Strongly agree"),
        (210, "Agree"),
        (305, "Disagree"),
        (390, "Strongly disagree"),
        (485, "Hard to say"),
    ):
        paper.text(x, written)
    paper.down()
    paper.new_page()
    heading(paper, "SECURITY")
    asked(paper, "Q131", "How secure do you feel these days?")
    labels = ("Very secure", "Quite secure", "Not very secure", "Not at all secure")
    paper.framed([[(150, label), (260, str(value))] for value, label in enumerate(labels, 1)])
    said(paper, "Now some statements. 1 means you disagree, 10 that you agree.", NOTE)
    for code, statement in (("Q158", "Science makes our lives healthier."), ("Q159", "There will be more of it.")):
        asked(paper, code, statement)
        paper.framed([[(60, "Disagree completely"), (400, "Agree completely")], ten(60)])
    said(paper, "Now your views. 1 means you agree with the left.", NOTE)
    paper.framed([[(50, "Q106"), (80, "Incomes should be"), (350, "There should be")],
                  [(80, "more equal"), (350, "greater incentives")], ten(60)])  # fmt: skip
    asked(paper, "Q152", "Which of these is most important?", NOTE)
    asked(paper, "Q153", "And which would be the next?", NOTE)
    paper.framed([
        [(350, "Q152"), (430, "Q153")],
        [(350, "First"), (430, "Second")],
        [(60, "1. A high level of growth"), (355, "1"), (435, "1")],
        [(60, "2. Strong defence forces"), (355, "2"), (435, "2")],
        [(60, "3. Seeing that people have more say"), (355, "3"), (435, "3")],
        [(60, "at their jobs")],
        [(60, "4. Beautiful cities"), (355, "4"), (435, "4")],
    ])  # fmt: skip
    asked(paper, "Q172", "How often do you pray?", NOTE)
    for value in range(1, 9):
        paper.text(85, f"{value} Answer number {'abcdefgh'[value - 1]}")
        paper.down()
    asked(paper, "Q260", "What are you?")
    for written in ("1 Male", "2 Female"):
        paper.text(85, written)
        paper.down()
    paper.canvas.save()
    return paper.path


def heading(paper, words):
    paper.down(10)
    paper.text(220, words, bold=True)
    paper.down(18)


def said(paper, text, note=""):
    width = paper.text(50, text, bold=True)
    paper.text(54 + width, note, italic=True, size=7)
    paper.down(14)


def asked(paper, code, text, note=""):
    said(paper, f"{code}. {text}", note)


def grid(paper, heads, rows, codes):
    lines = [list(zip(COLUMNS, heads, strict=False))]
    for code, item in rows:
        first, _, second = item.partition("|")
        lines.append([(50, code), (80, first), *((x + 8, value) for x, value in zip(COLUMNS, codes, strict=False))])
        lines += [[(80, second)]] if second else []
    paper.framed(lines)


def ten(left):
    return [(left + 45 * number, str(number + 1)) for number in range(10)]


@pytest.fixture(scope="module")
def by_id(form):
    return {question.id: question for question in extract_questions(form, "eng")}


def labels_of(question):
    return {option.value: option.label for option in question.options if option.label}


def test_every_question_is_read_in_order_and_demographics_are_not(by_id):
    assert list(by_id) == [
        "Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q94", "Q95", "Q96", "Q97", "Q98", "Q99",
        "Q46", "Q151", "Q254", "Q119", "Q131", "Q158", "Q159", "Q106", "Q152", "Q153", "Q172",
    ]  # fmt: skip
    assert by_id["Q1"].section == "LIFE AND WORK"
    assert by_id["Q131"].section == "SECURITY"


def test_the_text_above_a_table_is_the_stem_of_its_items_and_notes_in_italics_are_not(by_id):
    assert by_id["Q1"].stem == "For each of the following, say how important it is in your life."
    assert by_id["Q5"].item == "Work that one does for others"
    assert labels_of(by_id["Q5"]) == dict(enumerate(IMPORTANCE, 1))
    assert labels_of(by_id["Q99"]) == {2: "Active", 1: "Inactive", 0: "None"}


def test_options_are_read_below_each_other_and_side_by_side(by_id):
    assert labels_of(by_id["Q46"]) == {1: "Very happy", 2: "Rather happy", 3: "Not very happy", 4: "Not at all happy"}
    assert labels_of(by_id["Q151"]) == {1: "Yes", 2: "No"}
    assert list(labels_of(by_id["Q254"]).items()) == [(1, "Very"), (2, "Quite"), (3, "Not very"), (4, "Not at all")]


def test_codes_in_a_row_take_the_labels_below_them_and_codes_behind_labels_those(by_id):
    assert labels_of(by_id["Q119"]) == {1: "Strongly agree", 2: "Agree", 3: "Disagree", 4: "Strongly disagree"}
    assert labels_of(by_id["Q131"]) == {
        1: "Very secure",
        2: "Quite secure",
        3: "Not very secure",
        4: "Not at all secure",
    }


def test_a_text_leads_the_statements_that_follow_it(by_id):
    assert [by_id[code].stem for code in ("Q158", "Q159")] == [
        "Now some statements. 1 means you disagree, 10 that you agree."
    ] * 2
    assert by_id["Q159"].item == "There will be more of it."
    assert labels_of(by_id["Q159"]) == {1: "Disagree completely", 10: "Agree completely"}
    assert labels_of(by_id["Q106"]) == {1: "Incomes should be more equal", 10: "There should be greater incentives"}


def test_choices_take_their_own_question_and_whole_labels(by_id):
    assert by_id["Q153"].text == "And which would be the next?"
    assert labels_of(by_id["Q152"])[1] == "A high level of growth"
    assert labels_of(by_id["Q153"])[3] == "Seeing that people have more say at their jobs"


def test_eight_answers_stay_eight_where_the_codes_for_missing_ones_are_negative(by_id):
    assert by_id["Q172"].values == tuple(range(1, 9))
    assert answer_values([1, 2, 3, 4, 5, 6, 7, 8]) == [1, 2, 3, 4, 5, 6, 7]


def test_every_string_is_found_again(form, by_id):
    assert [fault.message for fault in extraction_faults(list(by_id.values()), form, "eng")] == []


@pytest.mark.published
@pytest.mark.slow
def test_the_master_of_wave_seven_gives_every_opinion_item_complete():
    pdf = shared_file("data", "questionnaires", "F00010738-WVS-7_Master_Questionnaire_2017-2020_English.pdf")
    variables = load_variables()
    questions = extract_questions(pdf, "eng")
    wanted = {code for code in variables.opinion_items if code.startswith("Q")}
    assert {question.id for question in questions} == wanted
    assert [q.id for q in questions if len(q.options) != variables.option_count(q.id)] == []
    faults = extraction_faults(questions, pdf, "eng")
    assert {fault.check for fault in faults} == {"answers_without_code", "lost_line"}
    assert {fault.question_id for fault in faults if fault.check == "lost_line"} == {
        "Q238"
    }  # the row below has no code
