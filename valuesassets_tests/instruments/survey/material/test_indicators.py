import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.survey.material.indicators import (
    AIMS,
    INDICATORS,
    answer_codes,
    components,
    indicator_mean,
)
from valuesassets.instruments.survey.published.axes import indicator_ranges
from valuesassets.people.variables import load_variables
from valuesassets_tests.instruments.survey.derived_indicators import derive_indicators

EVERY_PART = {part: answer_codes(part) for indicator in INDICATORS for part in components(indicator)}


def random_answers(seed):
    random = np.random.default_rng(seed)
    return {
        part: dict(zip(codes, random.dirichlet(np.ones(len(codes))), strict=True)) for part, codes in EVERY_PART.items()
    }


def test_autonomy_by_hand():
    # faith and obedience always mentioned (1 + 1), independence and determination never (2 + 2)
    answers = {"v86": {1: 0, 2: 1}, "v92": {1: 0, 2: 1}, "v93": {1: 1, 2: 0}, "v95": {1: 1, 2: 0}}
    assert indicator_mean("Y003", answers) == -2


def test_postmaterialism_by_hand():
    answers = {"v110": {1: 0.5, 2: 0.5, 3: 0, 4: 0}}
    answers |= {f"v111@v110={aim}": {other: 0 for other in AIMS if other != aim} for aim in AIMS}
    answers["v111@v110=1"][3] = 1  # half of all: order, then prices
    answers["v111@v110=2"] |= {4: 0.5, 1: 0.5}  # a quarter: both post-materialist; a quarter: mixed
    assert indicator_mean("Y002", answers) == 2 - 0.5 + 0.25


def test_respect_for_authority_puts_dont_mind_in_the_middle():
    assert indicator_mean("E018", {"v114": {1: 0, 2: 1, 3: 0}}) == 3


@given(st.integers(0, 100_000))
def test_means_stay_on_the_scale_of_the_slopes(seed):
    means, ranges = derive_indicators(random_answers(seed)), indicator_ranges()
    assert list(means.means) == list(INDICATORS)
    assert not means.missing
    for name, mean in means.means.items():
        assert ranges.at[name, "low"] <= mean <= ranges.at[name, "high"]


@given(st.integers(0, 100_000))
def test_postmaterialism_agrees_with_drawing_every_pair(seed):
    answers = random_answers(seed)
    joint = {
        (first, second): answers["v110"][first] * answers[f"v111@v110={first}"][second]
        for first, second in itertools.permutations(AIMS, 2)
    }
    scores = {pair: {0: 1, 1: 2, 2: 3}[sum(aim in (2, 4) for aim in pair)] for pair in joint}
    assert indicator_mean("Y002", answers) == pytest.approx(sum(joint[pair] * scores[pair] for pair in joint))


@pytest.mark.parametrize("part", list(EVERY_PART))
def test_an_indicator_with_a_part_missing_is_missing_whole(part):
    answers = random_answers(0)
    del answers[part]
    means = derive_indicators(answers)
    assert len(means.missing) == 1
    assert part in components(means.missing[0])


def test_a_question_with_other_codes_does_not_count():
    assert "A165" in derive_indicators({"v31": {1: 0.5, 3: 0.5}}).missing


def test_they_are_made_of_the_questions_that_the_facts_name():
    named = {each.code: set(each.evs) for each in load_variables().indicators}
    assert named == {name: {part.partition("@")[0] for part in components(name)} for name in INDICATORS}
