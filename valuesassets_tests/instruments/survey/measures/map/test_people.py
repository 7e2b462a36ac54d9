import numpy as np
import pytest

from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.measures.map.answers import mean_of_known
from valuesassets.instruments.survey.measures.map.people import people_of
from valuesassets.records.errors import HumanDataError
from valuesassets_tests.comparing.planted_grid import demo, human, no_human
from valuesassets_tests.instruments.survey.crowds import respondents
from valuesassets_tests.instruments.survey.derived_indicators import derive_indicators


@pytest.mark.slow
def test_respondents_means_and_resamples_are_those_of_their_country():
    crowd = respondents(("PL", "BG"), n=400)
    people = people_of(human(), crowd, demo())
    assert [(each.country, each.language, each.source) for each in people] == [
        ("PL", "pol", "made-up.sav"),
        ("BG", "bul", "made-up.sav"),
    ]
    for each in people:
        own = crowd[crowd["country"] == each.country]
        there = own["F063"].notna()
        mean = np.average(own.loc[there, "F063"], weights=own.loc[there, "weight"])
        at = INDICATORS.index("F063")
        assert each.means[at] == pytest.approx(mean)
        assert each.drawn.shape == (demo().inference.resamples, 10)
        error = own["F063"].std() / np.sqrt(there.sum() / 1.09)
        assert each.drawn[:, at].std() == pytest.approx(error, rel=0.1)


def test_distributions_are_redrawn_with_the_effective_number_of_respondents():
    people = {each.country: each for each in people_of(human(), None, demo())}
    own = human().query("country == 'PL' and question_id == 'v63'")
    probs, values = own["prob"].to_numpy(), own["response_value"].to_numpy(dtype=float)
    mean = probs @ values
    error = np.sqrt(probs @ (values - mean) ** 2 / (own["n"].iloc[0] / own["design_effect"].iloc[0]))
    at = INDICATORS.index("F063")
    assert people["PL"].means[at] == pytest.approx(mean)
    assert people["PL"].drawn[:, at].std() == pytest.approx(error, rel=0.08)


def test_distributions_give_the_indicators_of_one_country_at_a_time():
    rows = human().query("country == 'GR'")
    answers = {
        question: dict(zip(part["response_value"].astype(int), part["prob"], strict=True))
        for question, part in rows.groupby("question_id")
    }
    oracle = derive_indicators(answers).means
    (greece,) = people_of(rows, None, demo())
    assert greece.means == pytest.approx([oracle[name] for name in INDICATORS])


def test_an_indicator_that_a_country_was_not_asked_has_no_mean_there():
    crowd = respondents(("PL", "BG"), n=100)
    crowd.loc[crowd["country"] == "PL", "F118"] = np.nan
    people = people_of(no_human(), crowd, demo())
    at = INDICATORS.index("F118")
    assert np.isnan(people[0].means[at])
    assert np.isnan(people[0].drawn[:, at]).all()
    assert mean_of_known(np.array([each.means for each in people]))[at] == people[1].means[at]


def test_every_country_counts_the_same_in_the_pool():
    crowd = respondents(("PL", "BG"), n=300)
    small = crowd.groupby("country").head(300).iloc[:400]
    people = people_of(no_human(), small, demo())
    pooled = mean_of_known(np.array([each.means for each in people]))
    assert pooled == pytest.approx((people[0].means + people[1].means) / 2)


def test_an_indicator_that_few_people_of_a_country_answered_is_missing_there():
    crowd, least, at = respondents(("PL", "BG"), n=300), demo().thresholds.respondents, INDICATORS.index("F118")
    crowd["weight"] = 1.0
    polish = crowd.index[crowd["country"] == "PL"]
    crowd.loc[polish[least:], "F118"] = np.nan
    assert np.isfinite(people_of(no_human(), crowd, demo())[0].means[at])
    crowd.loc[polish[least - 1], "F118"] = np.nan
    polish_people, others = people_of(no_human(), crowd, demo())
    assert np.isnan(polish_people.means).tolist() == [place == at for place in range(len(INDICATORS))]
    assert np.isfinite(others.means).all()


def test_a_question_that_few_people_of_a_country_answered_is_missing_in_its_distributions():
    rows = human()
    is_few = (rows["country"] == "PL") & (rows["question_id"] == "v63")
    rows.loc[is_few, "n"], rows.loc[is_few, "design_effect"] = demo().thresholds.respondents - 1, 1.0
    people = {each.country: each for each in people_of(rows, None, demo())}
    at = INDICATORS.index("F063")
    assert np.isnan(people["PL"].means[at])
    assert np.isfinite(people["BG"].means[at])


def test_nobody_asked_gives_nobody():
    assert people_of(no_human(), None, demo()) == []


def test_a_country_whose_answers_do_not_sum_to_one_is_named():
    rows = human()
    rows.loc[(rows["country"] == "PL") & (rows["question_id"] == "v7"), "prob"] *= 2
    with pytest.raises(HumanDataError, match="country PL, language pol, question v7: probabilities sum to 2"):
        people_of(rows, None, demo())
