"""Surveys of Qualtrics: five small ones of our own, with the questions that come of them."""

import json

import pytest

from valuesassets.instruments.survey.material.forms.imported_questions import read_imported, read_with_left_out
from valuesassets.records.errors import QuestionError
from valuesassets_tests.instruments.survey.material.forms.exchange.reading import left_out, read, source_codes, unfit
from valuesassets_tests.needs import shared_file

YES_NO = {"1": {"Display": "Yes"}, "2": {"Display": "No"}}
AGREE = {"1": {"Display": "Agree"}, "2": {"Display": "Neither"}, "3": {"Display": "Disagree"}}


def question(tag, text="Are you happy?", kind="MC", selector="SAVR", choices=YES_NO, **more):
    keys = {"DataExportTag": tag, "QuestionText": text, "QuestionType": kind, "Selector": selector, "Choices": choices}
    return {"SubSelector": "TX", **keys, **more}


def matrix(tag, items, answers=AGREE, **more):
    more = {"SubSelector": "SingleAnswer", "Answers": answers} | more
    choices = {str(n): {"Display": item} for n, item in enumerate(items, 1)}
    return question(tag, "How much do you agree?", "Matrix", "Likert", choices, **more)


def survey(tmp_path, *questions, flow=None, blocks=None, language="EN"):
    listed = blocks or {"BL_1": ["Values", range(len(questions))]}
    block_list = [
        {"ID": name, "Type": "Trash" if title == "Trash" else "Standard", "Description": title}
        | {"BlockElements": [{"Type": "Question", "QuestionID": f"QID{n}"} for n in places]}
        for name, (title, places) in listed.items()
    ]
    steps = flow or [{"Type": "Block", "ID": name} for name in listed]
    elements = [
        {"Element": "BL", "Payload": block_list},
        {"Element": "FL", "Payload": {"Type": "Root", "Flow": steps}},
        *({"Element": "SQ", "PrimaryAttribute": f"QID{n}", "Payload": each} for n, each in enumerate(questions)),
    ]
    path = tmp_path / "survey.qsf"
    path.write_text(json.dumps({"SurveyEntry": {"SurveyLanguage": language}, "SurveyElements": elements}))
    return path


def logic(*descriptions):
    parts = {str(n): {"Type": "Expression", "Description": each} for n, each in enumerate(descriptions)}
    return {"0": parts | {"Type": "If"}, "Type": "BooleanExpression"}


def test_a_question_has_its_answers_in_the_forms_order_without_its_missing_codes(tmp_path):
    choices = {
        "1": {"Display": "<b>Very</b>&nbsp;much"},
        "2": {"Display": "Somewhat"},
        "4": {"Display": "Not"},
        "5": {"Display": "No opinion"},
        "6": {"Display": "It varies by day"},
    }
    codes = {"1": "3", "2": "2", "4": "1", "5": "-1", "6": "-2"}
    record = question("like", "How much do<br>you like it?", choices=choices, ChoiceOrder=[1, 2, "4", 5, 6])
    path = survey(tmp_path, record | {"RecodeValues": codes})
    answers = {3: "Very much", 2: "Somewhat", 1: "Not"}
    missing = {-1: "No opinion", -2: "It varies by day"}
    assert read(path) == [("like", None, "How much do you like it?", answers, missing, None)]
    assert [list(row[3]) for row in read(path)] == [[3, 2, 1]]


def test_a_matrix_gives_an_item_for_each_row_with_its_own_condition(tmp_path):
    record = matrix("m", ["Work matters", "Leisure matters"], AGREE | {"4": {"Display": "Don't know"}})
    record["Choices"]["2"]["DisplayLogic"] = logic("If Work <b>Yes</b> Is Selected")
    record["ChoiceDataExportTags"] = {"1": "m_work", "2": "m_leisure"}
    answers = {1: "Agree", 2: "Neither", 3: "Disagree"}
    assert read(survey(tmp_path, record)) == [
        ("m_work", "How much do you agree?", "Work matters", answers, {4: "Don't know"}, None),
        ("m_leisure", "How much do you agree?", "Leisure matters", answers, {4: "Don't know"}, WHEN),
    ]


WHEN = "If Work Yes Is Selected"


def test_conditions_of_questions_and_branches_are_kept_in_the_flows_order(tmp_path):
    questions = [question("a", "Are you a?"), question("b", "Are you b?"), question("c", "Are you c?")]
    questions[1]["DisplayLogic"] = logic("If a Yes Is Selected", "Or a Is Empty")
    branch = {"Type": "Branch", "BranchLogic": logic("If Age Is Less Than 18")}
    flow = [
        branch | {"Flow": [{"Type": "Block", "ID": "two"}]},
        {"Type": "Group", "Flow": [{"Type": "Block", "ID": "one"}]},
    ]
    path = survey(tmp_path, *questions, flow=flow, blocks={"one": ["One", [0, 2]], "two": ["Two", [1]]})
    both = "(If Age Is Less Than 18) and (If a Yes Is Selected Or a Is Empty)"
    assert [(row[0], row[5]) for row in read(path)] == [("b", both), ("a", None), ("c", None)]


def test_parts_of_a_condition_stand_apart_and_groups_are_joined_as_the_editor_says(tmp_path):
    parts = [{"Description": f"<span>If</span><span>{each}</span><span>Is</span><span>Empty</span>"} for each in "AB"]
    groups = {"0": {"0": parts[0], "Type": "If"}, "1": {"0": parts[1], "Type": "AndIf"}}
    records = [
        question("a", DisplayLogic=groups),
        question("b", DisplayLogic=groups | {"1": {"0": parts[1], "Type": "ElseIf"}}),
    ]
    rows = read(survey(tmp_path, *records))
    assert [row[5] for row in rows] == ["If A Is Empty And If B Is Empty", "If A Is Empty Or If B Is Empty"]


def test_an_answer_keeps_the_condition_on_which_it_is_offered(tmp_path):
    choices = YES_NO | {"3": {"Display": "It depends", "DisplayLogic": logic("If a Is Selected")}}
    (only,) = read_imported(survey(tmp_path, question("q", choices=choices)))[0]
    conditions = [(option.model_extra or {}).get("when") for option in only.options]
    assert conditions == [None, None, "If a Is Selected"]


def test_codes_around_0_are_a_scale_and_no_missing_answers(tmp_path):
    labels = ("Much less", "Less", "The same", "More", "Much more")
    choices = {str(n): {"Display": label} for n, label in enumerate(labels, 1)}
    codes = {str(n): str(n - 3) for n in range(1, 6)}
    (row,) = read(survey(tmp_path, question("q", choices=choices, RecodeValues=codes)))
    assert row[3:5] == (dict(zip(range(-2, 3), labels, strict=True)), {})


def test_answers_that_are_pictures_are_unfit(tmp_path):
    pictures = {str(n): {"Display": "<img src='face.png'>"} for n in (1, 2)}
    path = survey(tmp_path, question("q", choices=pictures), question("r"))
    assert unfit(path) == {"q": "fewer than two of its answers have words, such as answers that are pictures"}


def test_figures_of_a_scale_need_no_translation(tmp_path):
    points = {str(n): {"Display": str(n)} for n in range(3)}
    german = {"QuestionText": "Wie gut?", "Choices": []}
    path = survey(tmp_path, question("q", "How well?", choices=points, Language={"DE": german}))
    (only,) = read_with_left_out(path, "deu")[0]
    assert (only.text, [option.label for option in only.options]) == ("Wie gut?", ["0", "1", "2"])


def test_what_is_no_closed_question_is_left_out_with_the_reason(tmp_path):
    path = survey(
        tmp_path,
        question("yes"),
        question("several", selector="MAVR"),
        question("open", kind="TE", selector="SL"),
        question("carried", DynamicChoices={"Locator": "q://QID0"}),
        matrix("many", ["One"], SubSelector="MultipleAnswer"),
        question("bin"),
        question("one", choices={"1": {"Display": "Yes"}}),
        blocks={"BL_1": ["Values", [0, 1, 2, 3, 4, 6]], "BL_2": ["Trash", [5]]},
    )
    assert left_out(path) == {
        "several": "several answers may be chosen (MAVR)",
        "open": "an open question, no closed question with one answer",
        "carried": "its answers or items are carried over from another question",
        "many": "a matrix (Likert, MultipleAnswer) that is not one answer a row",
        "bin": "the survey's flow does not reach it",
        "one": "1 answer, at least two were expected",
    }
    assert [row[0] for row in read(path)] == ["yes"]


def test_a_text_that_quotes_an_answer_is_unfit(tmp_path):
    quoting = question("b", "You said ${q://QID0/ChoiceGroup/SelectedChoices}. Are you sure?")
    path = survey(tmp_path, question("a"), quoting)
    assert unfit(path) == {
        "b": "its text quotes what each respondent answered or is called: ${q://QID0/ChoiceGroup/SelectedChoices}"
    }


def test_a_translation_is_chosen_by_its_code_or_by_the_language_of_the_questions(tmp_path):
    german = {"QuestionText": "Sind Sie froh?", "Choices": {"1": {"Display": "Ja"}, "2": {"Display": "Nein"}}}
    path = survey(tmp_path, question("a", Language={"DE": german}), question("b", "Are you b?", Language=[]))
    expected = [("a", None, "Sind Sie froh?", {1: "Ja", 2: "Nein"}, {}, None)]
    assert read(path, "DE") == expected
    assert read(path, language="deu") == expected
    assert [each.reason for each in read_with_left_out(path, None, "de")[2]] == ["it is not translated into DE"]
    assert [row[0] for row in read(path)] == ["a", "b"]
    with pytest.raises(QuestionError, match=r"has no language FR; name one of EN, DE with --form-language$"):
        read(path, "FR")


def test_answers_coded_by_words_are_numbered_and_keep_their_codes(tmp_path):
    path = survey(tmp_path, question("a", RecodeValues={"1": "y", "2": "n"}))
    assert read(path)[0][3] == {1: "Yes", 2: "No"}
    assert source_codes(path) == [["y", "n"]]


def test_arrays_of_php_stand_for_objects_with_the_keys_0_to_n(tmp_path):
    points = [{"Display": str(n)} for n in range(11)]
    path = survey(tmp_path, question("nps", "Would you tell a friend?", selector="NPS", choices=points))
    (question_read,) = read_imported(path)[0]
    assert question_read.values == tuple(range(11))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "no SurveyElements, a survey of Qualtrics"),
        ("[]", "no SurveyElements, a survey of Qualtrics"),
        ("{", "not JSON"),
    ],
)
def test_no_survey_is_one_line(tmp_path, content, message):
    (tmp_path / "survey.qsf").write_text(content)
    with pytest.raises(QuestionError, match=message):
        read_imported(tmp_path / "survey.qsf")


def test_a_name_twice_is_refused(tmp_path):
    with pytest.raises(QuestionError, match="the name a stands twice; give each question its own in the form"):
        read(survey(tmp_path, question("a"), question("a", "Are you sad?")))


def test_a_survey_without_closed_questions_is_refused(tmp_path):
    with pytest.raises(QuestionError, match=r"no closed question with one answer among 1 entry of the form \(open: an"):
        read(survey(tmp_path, question("open", kind="TE")))


@pytest.mark.published
def test_a_public_survey_gives_all_its_items():
    path = shared_file("data", "forms", "Single_Answer_Matrix_Questions.qsf")
    rows = read(path)
    assert len(rows) == 15
    assert not left_out(path)
    assert {tuple(row[3]) for row in rows} == {(1, 2, 3, 4), (10, 11, 12, 13)}
    assert [row[5] for row in rows if row[5]] == ["If - Click to write Scale point 1 Is Displayed"]
