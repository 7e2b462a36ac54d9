import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from valuesassets.measure.multiple_tests import benjamini_hochberg, holm
from valuesassets.records.errors import MissingData

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_four_tests_by_hand():
    p = [0.01, 0.04, 0.03, 0.005]
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert benjamini_hochberg(p) == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(P_VALUES)
def test_holm_rejects_exactly_what_stepping_down_by_hand_rejects(p):
    alpha, rejected = 0.05, set()
    for step, place in enumerate(sorted(range(len(p)), key=lambda place: p[place])):
        if p[place] * (len(p) - step) > alpha:
            break
        rejected.add(place)
    assert {place for place, each in enumerate(holm(p)) if each <= alpha} == rejected


@given(P_VALUES)
def test_no_correction_makes_a_test_surer_and_holm_is_the_stricter_and_bonferroni_the_strictest(p):
    assert np.all(holm(p) >= np.array(p))
    assert np.all(holm(p) >= benjamini_hochberg(p) - 1e-12)
    assert np.all(holm(p) <= np.minimum(np.array(p) * len(p), 1) + 1e-12)


@given(P_VALUES, st.randoms())
def test_the_order_of_the_tests_does_not_matter(p, random):
    places = list(range(len(p)))
    random.shuffle(places)
    for correct in (holm, benjamini_hochberg):
        assert correct([p[place] for place in places]) == pytest.approx(correct(p)[places])


def test_under_the_null_any_false_rejection_is_as_rare_as_holm_says():
    random = np.random.default_rng(0)
    families = stats.norm.sf(random.normal(size=(4000, 6)))
    assert np.mean([holm(family).min() <= 0.05 for family in families]) == pytest.approx(0.05, abs=0.012)


def test_one_test_stays_as_it_is_and_none_is_nothing():
    assert holm([0.04]) == pytest.approx([0.04])
    assert holm([]).size == benjamini_hochberg([]).size == 0


@pytest.mark.parametrize("p", [[float("nan")], [-0.1], [1.2]])
def test_what_is_no_p_value_is_refused(p):
    with pytest.raises(MissingData, match="between 0 and 1"):
        holm(p)
