import json

import pytest

from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import (
    is_missing_code,
    parse_questions,
    question_faults,
    read_questions,
    require_sound,
    write_questions,
)

GOOD = {
    "id": "v1",
    "section": None,
    "text": "How important is work?",
    "stem": None,
    "item": None,
    "response_type": "likert3",
    "options": [{"value": 1, "label": "very"}, {"value": 2, "label": "rather"}, {"value": 3, "label": "not"}],
    "answer_cue": None,
}


def question(**changes):
    return parse_questions([GOOD | changes], "q.json")[0]


def test_what_is_written_is_read_back_with_keys_that_are_not_ours(tmp_path):
    questions = parse_questions([GOOD | {"wave": 5, "page": 3, "box": [1, 2, 3, 4]}], "q.json")
    write_questions(tmp_path / "q.json", questions)
    assert read_questions(tmp_path / "q.json") == questions
    assert json.loads((tmp_path / "q.json").read_text())[0]["wave"] == 5


def test_a_ten_point_scale_with_anchors_only_is_completed():
    ends = [{"value": 1, "label": "never"}, {"value": 10, "label": "always"}]
    completed = question(response_type="likert10", options=ends)
    assert completed.values == tuple(range(1, 11))
    assert [o.label for o in completed.options] == ["never", *[""] * 8, "always"]
    assert question_faults(completed) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"options": []}, "no options"),
        ({"options": GOOD["options"][:1]}, "1 option,"),
        ({"options": GOOD["options"][:2]}, "likert3 has 2 options, 3 were expected"),
        ({"options": [GOOD["options"][0], *GOOD["options"][:2]]}, "values repeat"),
        ({"options": [*GOOD["options"][:2], {"value": 3, "label": " "}]}, "option 3 has no label"),
        ({"options": [*GOOD["options"][:2], {"value": 3, "label": "Very"}]}, "labels repeat"),
        ({"options": [*GOOD["options"][:2], {"value": 8, "label": "8"}]}, "a code for don't know"),
        (
            {"response_type": "likert10", "options": [{"value": k, "label": "x" * k} for k in range(1, 12)]},
            "11 options",
        ),
        ({"response_type": "likert10", "options": [{"value": k} for k in range(1, 11)]}, "label on 1 and on 10"),
        ({"text": "  "}, "text is empty"),
        ({"id": "a@b"}, "the id has an @"),
    ],
)
def test_a_faulty_question_says_what_is_wrong(changes, fault):
    faulty = question(**changes)
    assert any(fault in found for found in question_faults(faulty))
    with pytest.raises(QuestionError, match=r"q.json: question 1 \((v1|a@b)\)"):
        require_sound([faulty], "q.json")


def test_ids_that_stand_twice_and_empty_files_are_refused():
    with pytest.raises(QuestionError, match="question 2: id v1 stands twice"):
        require_sound([question(), question()], "q.json")
    with pytest.raises(QuestionError, match="no questions"):
        require_sound([], "q.json")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[{]", "line 1, column 3: not JSON"),
        (b'[{"id": "v1", "text": "\xe4"}]', "not UTF-8"),
        (b'{"id": "v1"}', "array of questions"),
        (b"[3]", "question 1: an object"),
        (b'[{"id": "v1"}]', r"question 1 \(v1\): key 'text'"),
        (json.dumps([GOOD | {"response_type": "likert7"}]).encode(), "key 'response_type'.*likert7"),
        (json.dumps([GOOD | {"options": [{"value": "one"}]}]).encode(), "key 'value' in entry 1 of 'options'"),
    ],
)
def test_a_file_that_holds_no_questions_is_refused_in_one_line(tmp_path, content, words):
    (tmp_path / "q.json").write_bytes(content)
    with pytest.raises(QuestionError, match=words) as error:
        read_questions(tmp_path / "q.json")
    assert "\n" not in str(error.value)
    assert "q.json" in str(error.value)


@pytest.mark.parametrize(
    ("value", "n", "missing"), [(8, 4, True), (8, 10, False), (9, 7, True), (88, 10, True), (7, 7, False)]
)
def test_codes_for_no_answer_depend_on_the_length_of_the_scale(value, n, missing):
    assert is_missing_code(value, n) is missing
