import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from valuesassets.measure.keying import keyed_means, label_preference, trait_and_bias
from valuesassets.records.errors import MissingData

REVERSED = np.arange(20) >= 10
MIDPOINT = 3.0


def answers(seed, trait_sd, label_sd, n=46):
    """Answers of models, 1 to 5 as the labels have them, that come of a trait, of a liking for labels, and of noise."""
    random = np.random.default_rng(seed)
    trait, liking = random.normal(0, trait_sd, (n, 1)), random.normal(0, label_sd, (n, 1))
    return MIDPOINT + np.where(REVERSED, -trait, trait) + liking + random.normal(0, 0.2, (n, REVERSED.size))


def test_one_model_by_hand():
    # it says 4 to what is forward-keyed and 3 to the opposite: half a point of trait, and half a point too high
    forward, reverse = keyed_means([[5, 3, 3]], [False, False, True])
    assert (forward.tolist(), reverse.tolist()) == ([4], [3])
    trait, bias = trait_and_bias(forward, reverse, MIDPOINT)
    assert (trait.tolist(), bias.tolist()) == ([3.5], [0.5])


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_trait_and_bias_come_back_as_they_were_planted(trait, bias):
    forward, reverse = keyed_means([np.where(REVERSED, MIDPOINT - trait, MIDPOINT + trait) + bias], REVERSED)
    found = trait_and_bias(forward, reverse, MIDPOINT)
    assert [each.item() for each in found] == pytest.approx([MIDPOINT + trait, bias], abs=1e-9)


@pytest.mark.parametrize(("trait_sd", "label_sd", "share"), [(1, 0, 0), (0, 1, 1), (1, 1, 0.5)])
def test_the_share_of_the_label_is_that_of_the_planted_variances(trait_sd, label_sd, share):
    found = label_preference(*keyed_means(answers(1, trait_sd, label_sd, n=4000), REVERSED))
    assert found.pi_bias == pytest.approx(share, abs=0.03)
    assert found.pi_bias_low <= found.pi_bias <= found.pi_bias_high


@given(st.integers(0, 10_000), st.integers(5, 60))
def test_the_interval_is_scipys_or_the_wider_one_that_leaves_lines_out(seed, n):
    forward, reverse = keyed_means(answers(seed, 1, 0.7, n), REVERSED)
    found, oracle = label_preference(forward, reverse), stats.pearsonr(forward, reverse)
    low, high = oracle.confidence_interval(0.95)
    kept = [np.arange(n) != out for out in range(n)]
    zs = np.arctanh([stats.pearsonr(forward[each], reverse[each]).statistic for each in kept])
    reach = stats.t.ppf(0.975, n - 2) * np.sqrt((n - 1) * zs.var())
    wide = np.tanh(np.arctanh(oracle.statistic) + reach * np.array([-1, 1]))
    ends = min(low, wide[0]), max(high, wide[1])
    assert [found.rho, found.rho_low, found.rho_high] == pytest.approx([oracle.statistic, *ends])
    shares = [found.pi_bias, found.pi_bias_low, found.pi_bias_high]
    assert shares == pytest.approx([(1 + r) / 2 for r in (oracle.statistic, *ends)])


@pytest.mark.parametrize("n", [5, 7, 8, 40])
def test_the_rank_test_is_scipys_and_counts_every_order_of_few_lines(n):
    forward, reverse = keyed_means(answers(n, 0.3, 0.5, n), REVERSED)
    if n <= 7:
        oracle = stats.permutation_test(
            (forward,), lambda x: abs(stats.spearmanr(x, reverse).statistic), permutation_type="pairings",
            n_resamples=10_000, alternative="greater",
        ).pvalue  # fmt: skip
    else:
        oracle = stats.spearmanr(forward, reverse).pvalue
    assert label_preference(forward, reverse).p == pytest.approx(oracle)


def test_models_of_a_line_count_as_one():
    values = answers(4, 1, 0.7, n=8)
    forward, reverse = keyed_means(values, REVERSED)
    alone = label_preference(forward, reverse)
    copied = label_preference(np.repeat(forward, 3), np.repeat(reverse, 3), lines=np.repeat(np.arange(8), 3))
    assert (copied.n, copied.lines) == (24, 8)
    for name in ("rho", "rho_low", "rho_high", "p"):
        assert getattr(copied, name) == pytest.approx(getattr(alone, name)), name
    taken_alone = label_preference(np.repeat(forward, 3), np.repeat(reverse, 3))
    assert taken_alone.rho_high - taken_alone.rho_low < alone.rho_high - alone.rho_low


@given(st.integers(0, 10_000))
def test_turning_the_keying_round_changes_no_share_and_turns_the_trait(seed):
    values = answers(seed, 1, 1, n=8)
    forward, reverse = keyed_means(values, REVERSED)
    one, other = label_preference(forward, reverse), label_preference(reverse, forward)
    assert (one.rho, one.rho_low, one.rho_high) == pytest.approx((other.rho, other.rho_low, other.rho_high))
    (trait, bias), (turned, same) = (
        trait_and_bias(*each, MIDPOINT) for each in ((forward, reverse), (reverse, forward))
    )
    assert turned == pytest.approx(2 * MIDPOINT - trait)
    assert same == pytest.approx(bias)


def test_models_that_agree_exactly_have_an_interval_all_the_same():
    found = label_preference([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0, 6.0])
    assert found.pi_bias == pytest.approx(1)
    assert 0.99 < found.pi_bias_low <= found.pi_bias_high <= 1


def test_what_cannot_be_told_apart_is_refused():
    values = answers(3, 1, 1, n=5)
    with pytest.raises(MissingData, match="3 models of 3 lines: 5 lines or more are needed"):
        label_preference(*keyed_means(values[:3], REVERSED))
    with pytest.raises(MissingData, match="5 models of 4 lines: 5 lines or more are needed"):
        label_preference(*keyed_means(values, REVERSED), lines=["a", "b", "c", "d", "d"])
    with pytest.raises(MissingData, match="all 20 items are forward-keyed"):
        keyed_means(values, np.zeros(20))
    with pytest.raises(MissingData, match="all 20 items are reverse-keyed"):
        keyed_means(values, np.ones(20))
    with pytest.raises(MissingData, match="one mean on the reverse-keyed items"):
        label_preference([1.0, 2.0, 3.0, 4.0, 5.0], [0.3, 0.1 + 0.2, 0.3, 0.3, 0.3])
    values[1, 2] = np.nan
    with pytest.raises(MissingData, match="1 of 100 answers are missing"):
        keyed_means(values, REVERSED)
