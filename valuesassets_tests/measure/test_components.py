import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from valuesassets.measure.components import fit_components, pairwise_correlations, tucker_congruence, varimax_rotation
from valuesassets.records.errors import MissingData

LOADINGS = np.array([[0.8, 0.7, 0.6, 0.1, 0.0, -0.1], [0.0, -0.1, 0.1, -0.8, -0.7, 0.6]])


def crowd(seed, n=400, loadings=LOADINGS):
    random = np.random.default_rng(seed)
    noise = np.sqrt(1 - (loadings**2).sum(axis=0))
    spread, middle = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 0.7]), np.arange(6.0)
    answers = random.normal(size=(n, 2)) @ loadings + random.normal(size=(n, 6)) * noise
    return answers * spread + middle, random.uniform(0.2, 2, n)


def criterion(loadings):
    """Variance of squared loadings, items brought to length 1."""
    squares = (loadings / np.linalg.norm(loadings, axis=1, keepdims=True)) ** 2
    return float(squares.var(axis=0).sum())


def turned(degrees):
    angle = np.deg2rad(degrees)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def test_varimax_turns_mixed_components_back_by_hand():
    simple = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    mixed = simple @ turned(30)
    back = mixed @ varimax_rotation(mixed)
    assert np.sort(np.abs(back), axis=1) == pytest.approx(np.sort(simple, axis=1), abs=1e-12)


@given(st.integers(0, 10_000))
@pytest.mark.slow
def test_no_other_turn_has_a_larger_varimax_criterion(seed):
    loadings = np.random.default_rng(seed).normal(size=(7, 2))
    best = max(criterion(loadings @ turned(degrees)) for degrees in np.arange(0, 90, 0.25))
    assert criterion(loadings @ varimax_rotation(loadings)) >= best - 1e-4


@given(st.integers(0, 10_000))
def test_scores_of_whole_answers_have_mean_0_variance_1_and_do_not_correlate(seed):
    answers, weights = crowd(seed)
    found = fit_components(answers, weights, 0, 3)
    scores = answers @ found.slopes.T + found.intercepts
    share = weights / weights.sum()
    assert share @ scores == pytest.approx([0, 0], abs=1e-9)
    assert (scores * share[:, None]).T @ scores == pytest.approx(np.eye(2), abs=1e-9)
    z = (answers - found.means) / found.sds
    assert (z * share[:, None]).T @ scores == pytest.approx(found.loadings.T, abs=1e-9)


@given(st.integers(0, 10_000), st.integers(0, 5), st.integers(0, 5))
def test_two_items_pin_signs_whatever_way_they_are_coded(seed, flipped, other):
    answers, weights = crowd(seed)
    answers[:, [flipped, other]] *= -1
    found = fit_components(answers, weights, 0, 3)
    assert found.loadings[0, 0] > 0
    assert found.loadings[1, 3] < 0
    assert abs(found.loadings[0, 0]) > abs(found.loadings[1, 0])


def test_components_span_those_of_scikit_learn():
    answers, _ = crowd(3)
    found = fit_components(answers, np.ones(len(answers)), 0, 3)
    z = (answers - answers.mean(axis=0)) / answers.std(axis=0)
    oracle = PCA(2).fit(z)
    variances = oracle.explained_variance_ * (len(z) - 1) / len(z)
    loadings = oracle.components_.T * np.sqrt(variances)
    assert found.loadings.T @ found.loadings == pytest.approx(loadings @ loadings.T)
    assert found.explained.sum() == pytest.approx(variances.sum() / 6)


def test_a_weight_of_two_is_two_respondents():
    answers, _ = crowd(4, n=60)
    answers[::7, 2] = np.nan
    weights = np.where(np.arange(60) % 2, 2.0, 1.0)
    weighted = fit_components(answers, weights, 0, 3)
    repeated = fit_components(np.repeat(answers, weights.astype(int), axis=0), np.ones(90), 0, 3)
    assert weighted.slopes == pytest.approx(repeated.slopes)


@given(st.integers(0, 10_000))
def test_correlations_with_gaps_are_pandas_pairwise_ones(seed):
    answers, _ = crowd(seed, n=80)
    answers[np.random.default_rng(seed).random(answers.shape) < 0.3] = np.nan
    there = np.isfinite(answers)
    found = pairwise_correlations(np.where(there, answers, 0.0), there, np.ones(80))
    assert found == pytest.approx(pd.DataFrame(answers).corr().to_numpy())


def test_gaps_at_random_hardly_move_the_axes():
    answers, weights = crowd(5, n=8000)
    whole = fit_components(answers, weights, 0, 3)
    answers[np.random.default_rng(5).random(answers.shape) < 0.25] = np.nan
    gappy = fit_components(answers, weights, 0, 3)
    for axis in (0, 1):
        assert tucker_congruence(gappy.loadings[axis], whole.loadings[axis]) > 0.999


def test_what_cannot_carry_components_is_refused():
    answers, weights = crowd(6, n=50)
    alike = answers.copy()
    alike[:, 1] = 4
    with pytest.raises(MissingData, match="item 1 does not vary"):
        fit_components(alike, weights, 0, 3)
    unasked = answers.copy()
    unasked[:, 2] = np.nan
    with pytest.raises(MissingData, match="item 2 has no answer"):
        fit_components(unasked, weights, 0, 3)
    apart = answers.copy()
    apart[:25, 4], apart[25:, 5] = np.nan, np.nan
    with pytest.raises(MissingData, match="items 4 and 5 were never answered together"):
        fit_components(apart, weights, 0, 3)


def test_congruence_is_the_cosine_by_hand():
    assert tucker_congruence([3, 4], [4, 3]) == pytest.approx(24 / 25)
    assert tucker_congruence([1, 2, 3], [-2, -4, -6]) == pytest.approx(-1)
