"""What checks look at: a fault is found, and what is sound has none."""

import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.soundness import (
    answer_faults,
    describe_questions,
    people_faults,
    question_faults,
)
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion, load_value_questions

SOUND = ValueQuestion(id="Q7", category="", text="?", lo=1, hi=2, labels=("yes", "no"))


def test_all_239_questions_fit_their_codes():
    questions = list(load_value_questions().values())
    assert question_faults(questions) == []
    assert len(describe_questions(questions)) == 239


def test_labels_recodes_and_missing_codes_that_do_not_fit_are_named():
    wrong = {"labels": ("yes",)}, {"recodes": {5: 9}}, {"recodes": {5: 1}, "missing": (5,)}
    faults = question_faults([SOUND, *(SOUND.model_copy(update=change) for change in wrong)])
    messages = ["1 labels for 2 answers", "a recode to 9, which is off the scale", "code 5 is both recoded and missing"]
    assert [fault["found"] for fault in faults] == messages


def test_shared_ids_and_codes_without_a_level_are_counted():
    people = pd.DataFrame(
        {
            "participant_id": ["1", "1", "2", "3"],
            "B_COUNTRY": [156, 999, 999, 276],
            "Q275": pd.array([3, -1, None, 12], dtype="Int64"),
            "continent": ["Asia", None, None, "Europe"],
            "education": ["lower_secondary", None, None, None],
        }
    )
    assert people_faults(people) == {
        "ids": [{"participant_id": "1", "people": 2}],
        "continent": [{"B_COUNTRY": 999, "people": 2}],
        "education": [{"Q275": 12, "people": 1}],
    }


def test_a_question_nobody_answered_and_an_answer_off_the_scale_are_found():
    answers = pd.DataFrame(
        {"Q7": pd.array([1, 3, -2, None], dtype="Int16"), "Q8": pd.array([-1, -2, None, -4], dtype="Int16")}
    )
    faults = answer_faults(answers, [SOUND, SOUND.model_copy(update={"id": "Q8"})])
    assert [(fault["question_id"], fault["found"]) for fault in faults] == [
        ("Q7", "1 answers off 1 to 2"),
        ("Q8", "nobody's answer"),
    ]
