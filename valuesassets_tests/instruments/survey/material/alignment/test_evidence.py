"""Each kind of evidence for itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.survey.material.alignment.evidence import (
    MOST_WORDS,
    length_evidence,
    name_evidence,
    question_numbers,
    shape_evidence,
    word_evidence,
)
from valuesassets.instruments.survey.material.alignment.targets import Target
from valuesassets_tests.instruments.survey.asked import ask


def target(code="v1", n_options=4, topic=None, question=None, number=None):
    return Target(code, number, code, n_options, topic, question)


def test_the_number_of_answers_speaks_for_a_target_and_ten_most_of_all():
    targets = [target(n_options=n) for n in (2, 4, 5, 10, None)]
    four, ten, none = shape_evidence([ask("a"), ask("b", 10), ask("c", options=[])], targets)
    assert four[1] > 0 > four[2] > four[0] > four[3]
    assert ten[3] > four[1]
    assert ten[1] == four[3]
    assert list(none) == [0] * 5
    assert (four[4], ten[4]) == (0, 0)


def test_two_answers_may_be_the_ends_of_a_scale():
    ((two, three),) = shape_evidence([ask("a", 2)], [target(n_options=10), target(n_options=2)])
    assert shape_evidence([ask("a", 3)], [target(n_options=10)])[0, 0] < two < 0 < three


def test_a_wording_of_the_same_length_is_likelier_than_one_of_another():
    texts = ["Work", "A job is all right, but most women want a home and children of their own"]
    questions = [ask(f"a{n}", text=text) for n, text in enumerate(texts)]
    log_odds = length_evidence(questions, [target(question=question) for question in questions])
    assert log_odds[0, 0] == log_odds[1, 1] > log_odds[0, 1] == log_odds[1, 0]
    assert length_evidence(questions, [target(topic="work")])[0, 0] == 0


@pytest.mark.parametrize(
    "text", ["Homosexualität", "Хомосексуалност", "Ομοφυλοφιλία και ομοσεξουαλικότητα", "homoseksualizm"]
)
def test_words_that_languages_share_are_found_in_every_script(text):
    masters = [ask("v153", text="Homosexuality"), ask("v154", text="Abortion"), ask("v155", text="Divorce")]
    log_odds = word_evidence([ask("a", text=text)], [target(question=question) for question in masters])[0]
    assert log_odds[0] > 0 > log_odds[1]
    assert log_odds[0] > 2 * max(log_odds[1:])
    assert log_odds.max() <= MOST_WORDS


def test_a_topic_stands_for_a_question_that_the_master_lacks():
    targets = [target("v57", topic="belief in God"), target("v59", topic="belief in hell"), target("v60")]
    log_odds = word_evidence([ask("a", text="Do you believe in hell?")], targets)[0]
    assert log_odds[1] > log_odds[0]
    assert log_odds[2] == 0


@given(st.floats(0.01, 0.99), st.integers(2, 50))
def test_a_name_says_by_bayes_rule_what_it_is_worth(right, distinct):
    wanted = [f"v{n}" for n in range(distinct)]
    (log_odds,) = name_evidence(["v0"], wanted, right)
    posterior = np.exp(log_odds) / np.exp(log_odds).sum()
    assert posterior[0] == pytest.approx(right)
    assert posterior[1:] == pytest.approx((1 - right) / (distinct - 1))


def test_no_name_says_nothing():
    assert not name_evidence([None, "v1"], [None, None], 0.9).any()
    assert not name_evidence([None], ["v1", "v2"], 0.9).any()
    assert name_evidence(["v1"], ["v1", None, "v2"], 0.9)[0, 1] == 0


def test_ids_of_another_letter_are_no_question_numbers():
    printed = ["Q1", "Q1", "Q2_v7", "[Q3][v8]", "Q33a", "SK4", "v39", "12", "P5"]
    numbers = question_numbers([ask(each) for each in printed])
    assert numbers == ["1", "1", "2", "3", "33a", None, None, None, None]
