"""Changes that repeat in other wordings."""

import numpy as np
import pytest

from valuesassets.measure.repeated_moves import repeated_move, repeated_square
from valuesassets.records.errors import MissingData
from valuesassets_tests.simulations.survey.shift import BATTERIES, N_ITEMS, by_battery

INTERACTION = 0.04


def rejected(repeating, wordings, n=150):
    random = np.random.default_rng(0)
    p = []
    for _ in range(n):
        change = by_battery(repeating, 0.36, (1,), random) + random.normal(0, INTERACTION, (wordings, N_ITEMS))
        p.append(repeated_move(change + random.normal(0, 0.05, (wordings, 1)), BATTERIES, 199, random)[1])
    return np.mean(np.array(p) <= 0.05)


def test_products_of_pairs_of_wordings_by_brute_force():
    change = np.random.default_rng(0).normal(size=(4, 7))
    centred = change - change.mean(axis=1, keepdims=True)
    pairs = [np.mean(centred[a] * centred[b]) for a in range(4) for b in range(4) if a != b]
    assert repeated_square(change) == pytest.approx(np.mean(pairs))


def test_it_estimates_the_variance_that_repeats():
    random = np.random.default_rng(0)
    change = random.normal(0, 0.03, 20_000) + random.normal(0, 0.05, (3, 20_000))
    assert np.sqrt(repeated_square(change)) == pytest.approx(0.03, rel=0.05)


def test_what_does_not_repeat_is_rarely_taken_for_a_move():
    assert rejected(0.0, 3) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


def test_a_drift_of_three_hundredths_is_found():
    assert rejected(0.03, 3) > 0.8


def test_one_wording_is_refused():
    with pytest.raises(MissingData, match="one wording"):
        repeated_move(np.zeros((1, 5)), list("abcde"), 99, np.random.default_rng(0))
