import itertools
from math import factorial

import numpy as np
import pytest

from valuesassets.instruments.worldvaluesbench.measures.figure_tables import derive_perfect_shares
from valuesassets_tests.instruments.worldvaluesbench.small_probe import ANSWERS, small_probe


def enumerated_share(shares, n, threshold):
    """Probability that the W1 of n people drawn from shares is at most a threshold, over all counts there are."""
    total, k = 0.0, len(shares)
    for counts in itertools.product(range(n + 1), repeat=k):
        if sum(counts) == n:
            w1 = np.abs(np.cumsum(np.array(counts) / n - shares)[:-1]).sum() / (k - 1)
            ways = factorial(n) / np.prod([float(factorial(c)) for c in counts])
            total += (w1 <= threshold + 1e-9) * ways * np.prod(np.array(shares) ** np.array(counts))
    return total


def test_shares_of_a_perfect_model_agree_with_all_draws_enumerated():
    probe = small_probe()
    simulated = derive_perfect_shares(probe, seed=1, draws=4000, subsets=["all"]).set_index("threshold")["share"]
    answers = np.array(ANSWERS["Q1"])
    q1 = np.bincount(answers[np.isfinite(answers)].astype(int) - 1, minlength=4) / 7
    q106 = np.bincount(np.array(ANSWERS["Q106"]) - 1, minlength=10) / 8
    # Q106 has three answers that anybody gave; the others never come up
    for threshold in (0.1, 0.2):
        steps = enumerated_share(q1, 7, threshold)
        used = np.flatnonzero(q106)
        expected = 0.0
        for counts in itertools.product(range(9), repeat=3):
            if sum(counts) == 8:
                drawn = np.zeros(10)
                drawn[used] = np.array(counts) / 8
                w1 = np.abs(np.cumsum(drawn - q106)[:-1]).sum() / 9
                ways = factorial(8) / np.prod([float(factorial(c)) for c in counts])
                expected += (w1 <= threshold + 1e-9) * ways * np.prod(q106[used] ** np.array(counts))
        assert simulated[threshold] == pytest.approx((steps + expected) / 2, abs=0.02)


def test_drawing_the_models_ratings_too_takes_it_further_away():
    exact, drawn = (
        derive_perfect_shares(small_probe(), seed=1, is_decoded=is_decoded)["share"] for is_decoded in (False, True)
    )
    assert (drawn <= exact + 0.02).all()
    assert drawn.mean() < exact.mean()


def test_a_band_rises_with_the_threshold_and_there_is_none_of_subsets_that_nobody_is_in():
    table = derive_perfect_shares(small_probe(), seed=1, subsets=["all", "urban", "nowhere"])
    assert set(table["subset"]) == {"all", "urban"}
    assert (table.share_low <= table.share_high).all()
    for _, part in table.groupby("subset"):
        assert (part[["share_low", "share", "share_high"]].diff().dropna() >= 0).all(axis=None)
