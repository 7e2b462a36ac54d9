import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.measure.projection import fit_intercepts
from valuesassets.records.errors import MissingData


def test_two_countries_by_hand():
    # offsets 1 and 3 on the first axis, 0 and 0 on the second
    projector = fit_intercepts(("a",), [[1], [2]], [[0], [1]], [[1, 0], [4, 2]])
    assert projector.intercepts.tolist() == [2, 0]
    assert projector.residual_sd == pytest.approx([2**0.5, 0])
    assert projector.place({"a": 10}) == (12, 20)


@given(st.integers(0, 10_000), st.integers(2, 8))
def test_intercepts_are_those_of_least_squares(seed, n):
    random = np.random.default_rng(seed)
    slopes, means, positions = random.normal(size=(2, 3)), random.normal(size=(n, 3)), random.normal(size=(n, 2))
    projector = fit_intercepts(("a", "b", "c"), slopes, means, positions)
    oracle, *_ = np.linalg.lstsq(np.ones((n, 1)), positions - means @ slopes.T, rcond=None)
    assert projector.intercepts == pytest.approx(oracle[0])


@given(st.integers(0, 10_000))
def test_the_point_of_a_mixture_is_the_mixture_of_the_points(seed):
    random = np.random.default_rng(seed)
    projector = fit_intercepts(("a", "b"), random.normal(size=(2, 2)), random.normal(size=(3, 2)), np.zeros((3, 2)))
    p, q = random.normal(size=(2, 2))
    middle = projector.place(dict(zip("ab", (p + q) / 2, strict=True)))
    ends = np.array([projector.place(dict(zip("ab", end, strict=True))) for end in (p, q)])
    assert middle == pytest.approx(ends.mean(axis=0))


def test_a_missing_indicator_is_named():
    projector = fit_intercepts(("a", "b"), np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)))
    for means in ({"a": 1.0}, {"a": 1.0, "b": float("nan")}):
        with pytest.raises(MissingData, match="indicator b"):
            projector.place(means)


def test_incomplete_countries_are_refused():
    with pytest.raises(MissingData, match="complete countries"):
        fit_intercepts(("a",), [[1], [1]], [[1], [np.nan]], np.zeros((2, 2)))


@given(st.integers(0, 10_000))
def test_many_points_at_once_are_the_points_one_by_one(seed):
    random = np.random.default_rng(seed)
    projector = fit_intercepts(("a", "b"), random.normal(size=(2, 2)), random.normal(size=(3, 2)), np.zeros((3, 2)))
    means = random.normal(size=(4, 5, 2))
    single = projector.place(dict(zip("ab", means[3, 1], strict=True)))
    assert projector.place_all(means)[3, 1] == pytest.approx(single)
