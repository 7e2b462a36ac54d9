"""Ratings in written answers: read where they are plain, kept as text where they are not."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.worldvaluesbench.answers.decoded_ratings import derive_decoded_ratings, parse_rating
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.tables import DECODED_RATINGS
from valuesassets.records.errors import MissingData
from valuesassets.records.parquet import read_frame, write_frame
from valuesassets.records.readouts import Generate, ScoreLabels
from valuesassets.records.trials import Answer, Status, Trial

QUESTIONS = load_value_questions()


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ('{"thoughtful explanation": "They have 2 children.", "answer as a score": "1"}', 1),
        ('{"thoughtful explanation": "...", "answer as a score": 3}', 3),
        ('{"answer as a score": 3.0}', 3),
        ('{"answer as a score": "2 (Rather important)"}', 2),
        ('{"answer as a score": "Very important"}', 1),
        ('Sure! {"thoughtful explanation": "a", "answer as a score": "4"} I hope that this helps.', 4),
        ('"thoughtful explanation": "Family, friends", "answer as a score": "2"', 2),
        ('{"thoughtful explanation": "cut off, "answer as a score": "2', 2),
        ("thoughtful explanation: because\nanswer as a score: 4", 4),
        ("Score: 3", 3),
        (" 2\n", 2),
        ("2. quite important", 2),
        ("3 - not so important", 3),
        ("(4)", 4),
        ("very important", 1),
        (" Not so important.", 3),
        ("9", 9),
        ("-1", -1),
    ],
)
def test_a_plain_rating_is_read(text, rating):
    assert parse_rating(text, QUESTIONS["Q1"]) == rating


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "\n",
            "hm",
            "I would say 3",
            "2.5",
            "2,5",
            "2 or 3",
            "1-4",
            "3/4",
            "3 out of 4",
            "3rd",
            "very",
            "important",
        ),
        *(
            '{"answer as a score": "2 to 3"}',
            '{"answer as a score": 2.5}',
            '{"answer as a score": null}',
            "{}",
            "{1",
        ),
        '{"answer as a score": true}',
        '{"first score": 1, "second score": 2}',
        "score: 1, score: 2",
        "It is not so important, but quite important to some",
        "A person of 34 years.\n\n2",
    ],
)
def test_what_may_mean_several_things_is_no_rating(text):
    assert parse_rating(text, QUESTIONS["Q1"]) is None


def test_shown_numbers_stand_for_the_codes_behind_them():
    reversed_codes = (2, 1, 0)
    assert [parse_rating(text, QUESTIONS["Q94"], reversed_codes) for text in ("1", "3", "4", "0", "no")] == [
        *(2, 0, None, None, 0)
    ]


@given(st.sampled_from(list(QUESTIONS)), st.integers(-20, 20), st.text(alphabet=st.characters(codec="ascii")))
def test_a_score_in_json_comes_back_whatever_the_reason_says(name, score, reason):
    text = json.dumps({"reason": reason, "answer as a score": str(score)})
    assert parse_rating(text, QUESTIONS[name]) == score


@given(st.text(max_size=60))
def test_any_text_gives_a_whole_number_or_nothing(text):
    assert isinstance(parse_rating(text, QUESTIONS["Q1"]), int | None)


def trial(name: str, question_id: str, readout: ScoreLabels | Generate) -> Trial:
    return Trial(name, question_id, "eng", "?", "forward", 0, "B_COUNTRY=156", readout)


def answer(name: str, sample: int, text: str | None) -> Answer:
    if text is None:
        return Answer(name, sample, None, None, None, Status.FAILED, "out of memory", "k")
    return Answer(name, sample, text, "end", 2, Status.OK, None, "k")


SEED = trial("a", "Q94", Generate(20))
LISTED = trial("b", "Q94", ScoreLabels(("1", "2", "3"), (0, 1, 2)))


def test_ratings_worked_by_hand(tmp_path):
    answers = [answer("b", 0, "1"), answer("a", 1, "7"), answer("a", 0, "hm"), answer("a", 2, None)]
    ratings = derive_decoded_ratings([SEED, LISTED], answers, QUESTIONS)
    assert ratings["trial_id"].tolist() == ["a", "a", "a", "b"]
    assert ratings["rating"].tolist() == [pd.NA, 7, pd.NA, 0]
    assert ratings["is_on_scale"].tolist() == [False, False, False, True]
    assert ratings["text"].tolist() == ["hm", "7", None, "1"]
    assert ratings["reason"].tolist() == ["no rating in the text", None, "out of memory", None]
    write_frame(tmp_path / "decoded.parquet", ratings, DECODED_RATINGS)
    assert read_frame(tmp_path / "decoded.parquet", DECODED_RATINGS)["rating"].isna().tolist() == [
        True,
        False,
        True,
        False,
    ]


def test_answers_without_a_trial_and_trials_without_an_answer_are_told():
    with pytest.raises(MissingData, match=r"^answers: z is no trial; let the model answer again$"):
        derive_decoded_ratings([SEED], [answer("z", 0, "1")], QUESTIONS)
    with pytest.raises(MissingData, match=r"^answers: b \(and 0 more\) has none; let the model answer again$"):
        derive_decoded_ratings([SEED, LISTED], [answer("a", 0, "1")], QUESTIONS)
