from itertools import product

import pytest

from valuesassets.answers.spoken_language import language_chances, n_letters
from valuesassets.instruments.cultural_robustness.plants.planted_answers import (
    ALIKE,
    FAULTS,
    GROUPS,
    OWN_COUNTRIES,
    QUESTIONS,
    REGIONS,
    SCRIPTS,
    Cell,
    country_shares,
    load_answers,
    planted_faults,
)
from valuesassets.records.errors import StudyError

COUNTRIES = sorted(OWN_COUNTRIES.values())


def test_every_country_answers_every_question_in_every_language_in_its_own_words():
    texts = load_answers()
    assert set(texts) == set(product(OWN_COUNTRIES, QUESTIONS, COUNTRIES))
    assert len(set(texts.values())) == len(texts)


def test_answers_are_long_enough_to_be_told_and_are_in_their_language():
    for (language, *_), text in load_answers().items():
        assert n_letters(text) >= 20, text
        chances = language_chances(text, list(OWN_COUNTRIES))
        assert next(iter(chances)) == language, text
        assert chances[language] > 0.99, text


def test_groups_are_the_languages_of_regions_and_lie_across_scripts():
    assert [sorted(OWN_COUNTRIES[language] for language in group) for group in GROUPS] == [
        sorted(region) for region in REGIONS
    ]
    alone = [languages for languages in SCRIPTS.values() if len(languages) == 1]
    assert all(len(group) > 1 for group in GROUPS if any(set(languages) <= set(group) for languages in alone))
    assert sorted(language for languages in SCRIPTS.values() for language in languages) == sorted(OWN_COUNTRIES)


@pytest.mark.parametrize("family", ["cultures", "no-signal"])
def test_shares_sum_to_one_in_every_cell(family):
    for language, question, country in product(OWN_COUNTRIES, QUESTIONS, [None, *COUNTRIES]):
        assert sum(country_shares(family, Cell(language, question, country)).values()) == pytest.approx(1)


def test_a_named_country_is_answered_for_alike_in_every_language():
    for question, country in product(QUESTIONS, COUNTRIES):
        answered = [country_shares("cultures", Cell(language, question, country)) for language in OWN_COUNTRIES]
        assert all(each == answered[0] and max(each, key=each.get) == country for each in answered)


def test_without_a_country_a_language_answers_for_its_own_but_where_all_answer_alike():
    for language, question in product(OWN_COUNTRIES, QUESTIONS):
        expected = "FR" if question in ALIKE else OWN_COUNTRIES[language]
        assert country_shares("cultures", Cell(language, question)) == country_shares(
            "cultures", Cell("fra", question, expected)
        )


def test_without_a_signal_neither_language_nor_country_makes_a_difference():
    shares = [
        country_shares("no-signal", Cell(language, question, country))
        for language, question, country in product(OWN_COUNTRIES, QUESTIONS, [None, *COUNTRIES])
    ]
    assert all(each == shares[0] for each in shares)
    assert not planted_faults("no-signal")


def test_faults_are_one_of_each_kind_under_countries():
    assert sorted(FAULTS.values()) == ["empty", "truncated", "wrong_language"]
    assert all(cell.country for cell in FAULTS)
    assert planted_faults("cultures") == FAULTS


@pytest.mark.parametrize(
    ("family", "language", "message"),
    [
        ("cultures", "swe", "languages.swe: nothing is planted in it; name some of bul, deu"),
        ("blind", "eng", "families.blind: nothing is planted in it; call it cultures or no-signal"),
    ],
)
def test_what_is_not_planted_is_said(family, language, message):
    with pytest.raises(StudyError, match=message):
        country_shares(family, Cell(language, "1"))
