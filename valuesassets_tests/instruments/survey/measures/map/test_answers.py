import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.survey.material.indicators import INDICATORS, answer_codes
from valuesassets.instruments.survey.measures.map.answers import (
    PARTS,
    SLOTS,
    always_first_probs,
    answers_as_array,
    indicator_means,
    uniform_probs,
)
from valuesassets.records.errors import HumanDataError, ScoringError
from valuesassets_tests.instruments.survey.derived_indicators import derive_indicators


def answered(seed, parts=PARTS):
    """One random set of answers, by question and code."""
    random = np.random.default_rng(seed)
    return {
        part: dict(zip(answer_codes(part), random.dirichlet(np.ones(len(answer_codes(part)))), strict=True))
        for part in parts
    }


def as_rows(answers, **label):
    return pd.DataFrame(
        [
            label | {"question_id": part, "response_value": code, "prob": prob}
            for part, probs in answers.items()
            for code, prob in probs.items()
        ]
    )


@given(st.integers(0, 10_000), st.sets(st.sampled_from(PARTS), max_size=5))
@pytest.mark.slow
def test_means_are_those_of_one_set_at_a_time(seed, left_out):
    answers = answered(seed, [part for part in PARTS if part not in left_out])
    _, probs = answers_as_array(as_rows(answers, country="PL"), ["country"], ["prob"], HumanDataError)
    means = dict(zip(INDICATORS, indicator_means(probs)[0, 0], strict=True))
    oracle = derive_indicators(answers)
    assert {name for name, mean in means.items() if np.isnan(mean)} == set(oracle.missing)
    for name, mean in oracle.means.items():
        assert means[name] == pytest.approx(mean)


def test_sets_keep_their_order_and_their_answers():
    rows = pd.concat([as_rows(answered(1), country="PL"), as_rows(answered(2), country="BG")])
    sets, probs = answers_as_array(rows.sample(frac=1, random_state=0), ["country"], ["prob"], HumanDataError)
    for seed, country in ((1, "PL"), (2, "BG")):
        row = sets.index[sets["country"] == country][0]
        assert probs[row, 0] == pytest.approx([answered(seed)[part][code] for part, code in SLOTS])


def test_post_materialism_by_hand():
    probs = np.zeros(len(SLOTS))
    for part, codes in {"v110": {2: 0.5, 1: 0.5}, "v111@v110=2": {4: 0.6, 1: 0.4}, "v111@v110=1": {3: 1.0}}.items():
        for code, prob in codes.items():
            probs[SLOTS.index((part, code))] = prob
    # both material: .5 * 1; neither: .5 * .6
    assert indicator_means(probs)[INDICATORS.index("Y002")] == pytest.approx(2 - 0.5 + 0.3)


def test_answers_without_content_are_uniform_or_at_the_ends():
    for probs in (uniform_probs(), always_first_probs()):
        for part in PARTS:
            own = [prob for (name, _), prob in zip(SLOTS, probs, strict=True) if name == part]
            assert sum(own) == pytest.approx(1)
    ten = [prob for (name, _), prob in zip(SLOTS, always_first_probs(), strict=True) if name == "v63"]
    assert ten == [0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0.5]


def test_a_distribution_that_does_not_sum_to_one_is_named():
    rows = as_rows(answered(1), country="PL")
    rows.loc[rows["question_id"] == "v63", "prob"] *= 0.9
    with pytest.raises(HumanDataError, match=r"country PL, question v63: probabilities sum to 0\.9, expected 1"):
        answers_as_array(rows, ["country"], ["prob"], HumanDataError)
    with pytest.raises(ScoringError, match="question v63: probabilities sum to nan"):
        answers_as_array(
            rows.assign(prob=rows["prob"].where(rows["question_id"] != "v63")), ["country"], ["prob"], ScoringError
        )


def test_an_answer_that_stands_twice_is_named():
    rows = as_rows(answered(1), country="PL")
    with pytest.raises(HumanDataError, match="country PL, question v7: answer 1 stands twice"):
        answers_as_array(pd.concat([rows, rows.head(1)]), ["country"], ["prob"], HumanDataError)


def test_another_scale_is_a_missing_question():
    rows = as_rows(answered(1) | {"v31": {1: 0.5, 2: 0.3, 3: 0.2}}, country="PL")
    _, probs = answers_as_array(rows, ["country"], ["prob"], HumanDataError)
    assert np.isnan(indicator_means(probs)[0, 0]).tolist() == [name == "A165" for name in INDICATORS]


def test_a_set_without_any_question_of_the_map_is_still_a_set():
    rows = pd.concat([as_rows(answered(1), country="PL"), as_rows({"v1": {1: 1.0}}, country="BG")])
    sets, probs = answers_as_array(rows, ["country"], ["prob"], HumanDataError)
    assert sets["country"].tolist() == ["PL", "BG"]
    assert np.isnan(probs[1]).all()
