import gzip
import json

import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.measures.repeated_answers import repeated_answers
from valuesassets_tests.needs import shared_file


def answers_of(*texts, language="eng", question="1", persona=None):
    """Anchored answers of one question: (country, sample, text)."""
    return [
        {
            "language": language,
            "kind": "specific",
            "id": f"{question}-{number}",
            "question_id": question,
            "country": country,
            "persona": persona,
            "sample": sample,
            "text": text,
        }
        for number, (country, sample, text) in enumerate(texts, 1)
    ]


def test_an_answer_counts_where_another_country_has_its_very_words():
    answered = pd.DataFrame(answers_of(("AT", 0, "soup"), ("DE", 0, "soup"), ("FR", 0, "Soup"), ("GR", 0, None)))
    assert repeated_answers(answered).to_dict("records") == [
        {"language": "eng", "question_id": "1", "n": 3, "n_repeated": 2}
    ]


def test_the_same_words_of_one_country_or_in_another_question_language_or_persona_are_no_repetition():
    answered = pd.DataFrame(
        [
            *answers_of(("AT", 0, "soup"), ("AT", 1, "soup"), ("DE", 0, "tea")),
            *answers_of(("DE", 0, "soup"), question="2"),
            *answers_of(("DE", 0, "soup"), language="deu"),
            *answers_of(("DE", 0, "soup"), persona=2),
        ]
    )
    assert repeated_answers(answered)["n_repeated"].sum() == 0


def test_answers_that_do_not_count_neither_repeat_nor_are_repeated():
    answered = pd.DataFrame(answers_of(("AT", 0, "soup"), ("DE", 0, "soup"), ("FR", 0, "tea")))
    usable = answered.iloc[[0, 2]]
    assert repeated_answers(answered, usable)[["n", "n_repeated"]].to_numpy().tolist() == [[2, 0]]


@pytest.mark.published
def test_the_published_run_repeats_as_often_as_published():
    countries = 36
    for code, share in (("en", 0.47), ("fr", 0.42)):
        path = shared_file("data", "robustness", "answers", "mistral-nemo-nationality", f"{code}_specific.jsonl.gz")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            answers = [json.loads(line) for line in lines]
        rows = []
        for each in answers:
            question, anchor = each["id"].split("-")
            persona, country = divmod(int(anchor) - 1, countries)
            rows += answers_of((str(country), 0, each["answer"]), question=question, persona=persona)
        counted = repeated_answers(pd.DataFrame(rows))
        assert counted["n"].sum() == 4140
        assert counted["n_repeated"].sum() / 4140 == pytest.approx(share, abs=0.005)
