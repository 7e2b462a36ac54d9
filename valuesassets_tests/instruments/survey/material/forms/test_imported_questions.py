"""Extractions made elsewhere: what can be told without guessing is mended and recorded, the rest is refused."""

import json

import pytest

from valuesassets.instruments.survey.material.forms.imported_questions import import_questions, read_imported
from valuesassets.instruments.survey.material.normalisation import normalise_questions
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import ResponseType
from valuesassets_tests.needs import shared_file

LANGUAGES = ["bul", "dan", "deu", "ell", "eng", "est", "fin", "fra", "ita", "pol", "slk", "spa"]
FOUR = [{"value": n, "label": label} for n, label in enumerate(["very", "rather", "hardly", "not"], 1)]


def row(**changes):
    return {"id": "v1", "text": "How important is work?", "response_type": "likert4", "options": FOUR} | changes


def one(**changes):
    (question,), changed = import_questions([row(**changes)], "eng.json")
    return question, [change.field for change in changed]


def test_a_sound_record_is_taken_as_it_is_with_keys_that_are_not_ours():
    question, changed = one(note=[1, 2])
    assert (question.id, question.values, question.model_extra, changed) == ("v1", (1, 2, 3, 4), {"note": [1, 2]}, [])


@pytest.mark.parametrize(
    ("changes", "field", "expected"),
    [
        ({"id": 38}, "id", "38"),
        ({"id": None}, "id", ""),
        ({"text": None}, "text", ""),
        ({"text": "How\n important\tis it?"}, "text", "How important is it?"),
        ({"response_type": "confidence"}, "response_type", ResponseType.LIKERT4),
        ({"response_type": "likert7"}, "response_type", ResponseType.LIKERT4),
        ({"response_type": None}, "response_type", ResponseType.LIKERT4),
        ({"response_type": " Likert4"}, "response_type", ResponseType.LIKERT4),
        ({"options": None}, "options", ()),
    ],
)
def test_what_can_be_told_without_guessing_is_mended_and_recorded(changes, field, expected):
    question, changed = one(**changes)
    assert getattr(question, field) == expected
    assert field in changed


@pytest.mark.parametrize(
    ("value", "label", "code", "text"),
    [
        ("1", "yes", 1, "yes"),
        ("-1", "?", -1, "?"),
        (1.0, "yes", 1, "yes"),
        ("A", "yes", 1, "yes"),
        (1, 7, 1, "7"),
        (1, None, 1, ""),
    ],
)
def test_codes_and_labels_of_other_kinds_become_numbers_and_text(value, label, code, text):
    question, changed = one(options=[{"value": value, "label": label}, {"value": 2, "label": "no"}])
    assert (question.options[0].value, question.options[0].label) == (code, text)
    assert changed == ([] if (value, label) == (1, None) else ["options"])


def test_a_type_goes_by_the_answers_that_are_offered():
    many = [*FOUR, {"value": 8, "label": "don't know"}, {"value": 9, "label": "no answer"}]
    assert one(options=many, response_type="opinion")[0].response_type is ResponseType.LIKERT4


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "an empty array, questions were expected; extract the questionnaire again"),
        ("", "empty"),
        ("<html><body>504 Gateway Time-out</body></html>", "HTML"),
        ('[{"id": "v1",}]', "not JSON (Expecting property name enclosed in double quotes); mend the file there"),
        ('{"questions": []}', "an array of questions was expected, found an object"),
        ("[[{}]]", "question 1: an object with id, text, response_type and options was expected, found an array"),
        ('[{"options": {"1": "yes"}}]', "question 1: key 'options': an array was expected"),
        ('[{"options": ["yes", "no"]}]', "question 1: entry 1 of 'options'"),
        (
            '[{"id": "v1", "options": [{"value": NaN, "label": "?"}]}]',
            "question 1 (v1): key 'value' in entry 1 of 'options'",
        ),
        ('[{"id": {"a": 1}}]', "question 1 ({'a': 1}): key 'id': text in quotes was expected"),
        ('[{"id": "v1", "options": [{"value": "B", "label": "?"}]}]', "a whole number was expected"),
    ],
)
def test_what_cannot_be_a_question_is_refused_with_its_place(tmp_path, content, said):
    file = tmp_path / "eng.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(QuestionError) as error:
        read_imported(file)
    assert said in str(error.value)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


def test_a_byte_order_mark_is_no_content(tmp_path):
    file = tmp_path / "eng.json"
    file.write_text(json.dumps([row()]), encoding="utf-8-sig")
    assert read_imported(file)[0][0].id == "v1"


def test_ten_thousand_options_are_taken_in_and_named_by_the_checks():
    options = [{"value": n, "label": str(n)} for n in range(10_000)]
    question, _ = one(options=options, response_type="a number")
    assert len(question.options) == 10_000


@pytest.mark.published
@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_real_extraction_comes_in_whole(language):
    """Uses ../shared."""
    path = shared_file("data", "evs_extractions", f"{language}.json")
    questions, _ = read_imported(path)
    rows = json.loads(path.read_text(encoding="utf-8"))
    assert len(questions) == len(rows)
    normalised = normalise_questions(questions, language, load_variables())
    placed = [
        place for each in (normalised.positions, normalised.foreign_positions) for places in each for place in places
    ]
    assert sorted(placed) == list(range(len(rows)))
    scales = [question for question in normalised.questions if question.response_type is ResponseType.LIKERT10]
    assert scales
    assert {len(question.options) for question in scales} <= {10, 9, 7, 4, 2}
    assert not any(question.options == () for question in scales)
