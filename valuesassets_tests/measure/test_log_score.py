import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from valuesassets.measure.log_score import gain, log_score, participant_means, sign_flip_p
from valuesassets.records.errors import MissingData


def random(seed=0):
    return np.random.default_rng(seed)


def of_people(values):
    return pd.Series(values, index=[f"p{number}" for number in range(len(values))], dtype=float)


def test_two_people_by_hand():
    # a: q = 1/2 and 1/8 of two candidates; b: q = 1 of four, read once
    people, logs = ["a", "a", "b", "b"], np.log([1 / 2, 1 / 8, 1, np.nan])
    scores, most = participant_means(logs, people), participant_means(np.log([2, 2, 4, np.nan]), people)
    assert scores.to_dict() == pytest.approx({"a": -2 * math.log(2), "b": 0})
    found = log_score(scores, most)
    assert (found.mean, found.n) == (pytest.approx(-math.log(2)), 2)
    assert found.skill == pytest.approx(1 - math.log(2) / (1.5 * math.log(2)))


@given(st.lists(st.integers(2, 50), min_size=2, max_size=30))
@pytest.mark.slow
def test_even_chances_have_no_skill_and_certainty_all(n_candidates):
    log_k = of_people(np.log(n_candidates))
    even = log_score(-log_k, log_k)
    sure = log_score(0 * log_k, log_k)
    assert even.skill == pytest.approx(0, abs=1e-12)
    assert (sure.mean, sure.skill) == (0, 1)


def test_a_person_of_many_marks_counts_as_one_of_few():
    values, people = [-1.0] * 9 + [-3.0], ["a"] * 9 + ["b"]
    assert participant_means(values, people).mean() == -2


def test_intervals_of_many_people_agree_with_scipys_bootstrap():
    score, log_k = of_people(-random(1).gamma(2, 0.5, 300)), of_people(np.log(random(2).integers(2, 8, 300)))
    found = log_score(score, log_k)
    data = (score.to_numpy(), log_k.to_numpy())

    def skill(score, most, axis=-1):
        return 1 + score.mean(axis=axis) / most.mean(axis=axis)

    for name, statistic, low, high in (
        ("l", lambda score, _, axis=-1: score.mean(axis=axis), found.low, found.high),
        ("skill", skill, found.skill_low, found.skill_high),
    ):
        oracle = stats.bootstrap(
            data, statistic, paired=True, method="percentile", n_resamples=4000, rng=random(4)
        ).confidence_interval
        assert [low, high] == pytest.approx([oracle.low, oracle.high], abs=0.012), name


def test_what_is_likeliest_is_the_proper_score_on_average():
    true = np.array([0.5, 0.3, 0.2])
    answered = random(5).choice(3, size=5000, p=true)
    said = {"true": true, "bolder": np.array([0.8, 0.1, 0.1]), "flatter": np.full(3, 1 / 3)}
    scores = {name: np.log(probs[answered]).mean() for name, probs in said.items()}
    assert max(scores, key=lambda name: scores[name]) == "true"


def test_an_impossible_answer_is_no_number_and_unread_ones_are_left_out():
    with pytest.raises(MissingData, match="1 of 3 answers had probability 0"):
        participant_means([-1.0, -math.inf, -2.0], ["a", "a", "b"])
    assert participant_means([-1.0, math.nan], ["a", "b"]).to_dict() == {"a": -1}
    with pytest.raises(MissingData, match="no mark was read"):
        participant_means([math.nan], ["a"])
    with pytest.raises(MissingData, match="one candidate alone"):
        log_score(of_people([0.0, 0.0]), of_people([0.0, 0.0]))


def test_a_gain_is_over_those_who_have_both():
    after, before = of_people([-1.0, -2.0, -1.0]), of_people([-2.0, -2.5])
    found = gain(after, before)
    assert (found.mean, found.n) == (0.75, 2)
    assert found.low < 0.5 < 1 < found.high
    assert (found.p, found.reason) == (
        None,
        "2 participants, 30 or more are needed for a test of a mean that may be skewed",
    )
    with pytest.raises(MissingData, match="no participant has both"):
        gain(after, before.rename(index=str.upper))


@given(st.integers(0, 10_000), st.integers(2, 60))
@pytest.mark.slow
def test_turned_round_a_gain_is_a_loss_of_the_same_size(seed, n):
    one, other = (of_people(random(seed + step).normal(size=n)) for step in (0, 1))
    there, back = gain(one, other), gain(other, one)
    assert [there.mean, there.low, there.high] == pytest.approx([-back.mean, -back.high, -back.low], abs=1e-9)
    assert there.p == pytest.approx(back.p)


def test_flipped_signs_by_hand_and_by_scipy():
    # of eight choices of signs for 1, 2, 4 only the observed sum, 5, and its opposite, and 7 and -7, reach as far
    assert sign_flip_p([-1.0, 2.0, 4.0], 0, random()) == 4 / 8
    for n in (5, 12):
        differences = random(n).normal(0.4, 1, n)
        oracle = stats.permutation_test(
            (differences,), np.mean, permutation_type="samples", n_resamples=10_000, alternative="two-sided"
        )
        assert sign_flip_p(differences, 0, random()) == pytest.approx(oracle.pvalue, abs=1e-12)


def test_with_more_people_random_signs_come_near_to_all_of_them():
    differences = random(8).normal(0.4, 1, 13)
    choices = 2.0 * (np.arange(2**13)[:, None] >> np.arange(13) & 1) - 1
    exact = np.mean(np.abs(choices @ differences) >= abs(differences.sum()) - 1e-12)
    assert sign_flip_p(differences, 20_000, random(1)) == pytest.approx(exact, abs=0.01)


def test_no_difference_is_no_evidence_and_nobody_is_refused():
    assert sign_flip_p(np.zeros(5), 0, random()) == 1
    assert sign_flip_p(np.zeros(50), 99, random()) == 1
    assert sign_flip_p([3.0], 0, random()) == 1
    with pytest.raises(MissingData, match="at least one"):
        sign_flip_p([], 0, random())


def test_under_chance_p_is_below_a_tenth_about_a_tenth_of_the_time():
    draws = random(9)
    ps = [sign_flip_p(draws.normal(size=20), 199, draws) for _ in range(1000)]
    assert np.mean(np.array(ps) <= 0.1) == pytest.approx(0.1, abs=0.03)
