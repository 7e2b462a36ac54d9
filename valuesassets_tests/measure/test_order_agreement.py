"""Agreement over orders: by hand, laws, and simulated answers with a lean, a pull, both, or neither."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from valuesassets.measure.order_agreement import FEWEST_ITEMS, order_agreement

ITEMS, CONDITIONS, WORLDS = 48, 5, 60
NAMES = np.repeat([f"s{number}" for number in range(ITEMS)], CONDITIONS)


def world(seed, lean=0.0, pull=0.0, pull_apart=0.0, noise=0.2):
    """Log odds of an option shown first and last: leans and pulls of items, and what is of an order alone."""
    random = np.random.default_rng(seed)
    leans, pulls = (np.repeat(random.normal(0, size, ITEMS), CONDITIONS) for size in (lean, pull_apart))
    alone = [
        np.repeat(random.normal(0, noise, ITEMS), CONDITIONS) + random.normal(0, noise / 3, NAMES.size)
        for _ in range(2)
    ]
    return leans, leans + pull + pulls + alone[0], leans - pull - pulls + alone[1]


def share_taken_for_evidence(**planted):
    """In how many worlds of a kind leans are taken for the options' own."""
    found = [order_agreement(*world(seed, **planted)[1:], NAMES) for seed in range(WORLDS)]
    return np.mean([each.is_evidence(0.5) is True for each in found]), found


def test_two_answers_by_hand():
    """Leans 1 and -1, pulls 2 and 0: their mean square is 1, the pulls' variance 2."""
    found = order_agreement(np.array([3.0, -1.0] * 3), np.array([-1.0, -1.0] * 3), list("abcdef"))
    assert (found.changed, found.pull, found.pull_share) == (0.5, 1.0, pytest.approx(4 / 6))
    assert found.agreement == pytest.approx(1 - 6 / 5)


@pytest.mark.slow
def test_a_lean_is_evidence_and_position_alone_and_noise_are_not():
    for planted in ({"lean": 0.8}, {"lean": 0.8, "pull": 3.0}, {"lean": 0.8, "pull": 3.0, "pull_apart": 0.4}):
        assert share_taken_for_evidence(**planted)[0] == 1
    for planted in ({"pull": 3.0}, {"pull": 3.0, "pull_apart": 0.4}, {"noise": 0.5}, {}):
        assert share_taken_for_evidence(**planted)[0] <= 0.05


def test_a_strong_pull_changes_every_preference_and_leaves_agreement_as_it_is():
    _, found = share_taken_for_evidence(lean=0.8, pull=4.0)
    assert min(each.changed for each in found) > 0.99
    assert np.median([each.agreement for each in found]) > 0.9
    assert np.median([each.pull_share for each in found]) > 0.9


def test_a_model_that_takes_the_first_option_always_has_no_lean_to_come_back():
    first = np.full(12, 3.0)
    found = order_agreement(first, -first, [f"s{number}" for number in range(12)])
    assert (found.changed, found.pull_share, found.agreement, found.is_evidence(0.5)) == (1.0, 1.0, 0.0, False)


def test_of_too_few_items_nothing_is_measured_however_many_answers_there_are():
    items = [f"s{number % (FEWEST_ITEMS - 1)}" for number in range(60)]
    found = order_agreement(np.linspace(-2, 2, 60), np.linspace(-2, 2, 60), items)
    assert np.isnan(found.agreement)
    assert found.is_evidence(0.5) is None
    assert found.changed == 0
    assert order_agreement(np.array([np.nan]), np.array([1.0]), ["a"]).n == 0


@given(st.floats(-5, 5), st.floats(0.1, 10), st.integers(0, 99))
def test_neither_a_pull_alike_everywhere_nor_the_unit_changes_the_agreement(pull, unit, seed):
    _, first, last = world(seed, lean=0.5)
    found = order_agreement(first, last, NAMES).agreement
    assert order_agreement(unit * (first + pull), unit * (last - pull), NAMES).agreement == pytest.approx(found)


def test_without_a_middle_of_its_own_what_is_alike_everywhere_is_no_lean():
    first, last = np.full(12, 0.3), np.full(12, 0.9)
    noise = np.random.default_rng(0).normal(0, 0.01, 12)
    items = [f"q{number}" for number in range(12)]
    assert order_agreement(first + noise, last - noise, items, centre=0.5).is_evidence(0.5)
    assert not order_agreement(first + noise, last - noise, items, centre=None).is_evidence(0.5)


@pytest.mark.parametrize(
    ("pulled", "of_mean", "of_log_odds"),
    [
        (lambda p, g: (expit(logit(p) + g), expit(logit(p) - g)), (0.45, 0.55), (0.999, 1.001)),
        (lambda p, g: ((1 - np.tanh(g / 2)) * p + np.tanh(g / 2), (1 - np.tanh(g / 2)) * p), (0.2, 0.3), (0.5, 0.7)),
        (lambda p, g: (np.minimum(p + g / 10, 0.999), np.maximum(p - g / 10, 0.001)), (0.9, 1.0), (1.2, 1.4)),
    ],
    ids=[
        "a pull that adds in log odds",
        "a share of answers that go to the first option",
        "a pull that adds in probability",
    ],
)
def test_log_odds_bring_back_more_of_a_lean_than_the_mean_and_too_much_where_pulls_add_in_probability(
    pulled, of_mean, of_log_odds
):
    """The slope of what comes back on what was planted, under a pull of two units of log odds."""
    planted = expit(np.random.default_rng(0).normal(0, 0.8, 4000))
    first, last = pulled(planted, 2.0)
    for found, (low, high) in (((first + last) / 2, of_mean), (expit((logit(first) + logit(last)) / 2), of_log_odds)):
        assert low < np.polyfit(planted - 0.5, found - 0.5, 1)[0] < high
