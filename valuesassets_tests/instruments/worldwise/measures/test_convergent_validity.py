import numpy as np
import pytest

from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.instruments.worldwise.measures.quality_report import convergent_validity

RANDOM = np.random.default_rng(0)
SCENARIOS = np.repeat(["a", "b", "c"], 40)
LEANS = RANDOM.integers(-2, 3, size=(120, 6)).astype(float)
TOPIC = np.repeat(RANDOM.normal(size=(3, 6)) * 10, 40, axis=0)


def test_positions_that_follow_ticks_within_scenarios_converge_whatever_their_topics():
    placed = {axis: LEANS[:, k] + TOPIC[:, k] for k, axis in enumerate(AXES)}
    validity = convergent_validity(placed, LEANS, SCENARIOS)
    assert validity.mean == pytest.approx(1)
    assert validity.discriminant_mean_abs < 0.2


def test_correlations_are_those_of_numpy_after_centring_by_hand():
    placed = {"PDI": RANDOM.normal(size=120), "LTO": RANDOM.normal(size=120)}
    placed["PDI"][:5] = np.nan
    validity = convergent_validity(placed, LEANS, SCENARIOS)

    def centred(values):
        return np.concatenate([values[name == SCENARIOS] - np.nanmean(values[name == SCENARIOS]) for name in "abc"])

    def r(axis, k):
        one, other = centred(placed[axis]), centred(LEANS[:, k])
        expected = np.isfinite(one)
        return np.corrcoef(one[expected], other[expected])[0, 1]

    assert validity.r == pytest.approx({"PDI": r("PDI", 1), "LTO": r("LTO", 4)})
    assert validity.mean == pytest.approx((r("PDI", 1) + r("LTO", 4)) / 2)
    others = [abs(r(axis, k)) for axis in placed for k in range(6) if AXES[k] != axis]
    assert validity.discriminant_mean_abs == pytest.approx(np.mean(others))


def test_nothing_that_varies_and_no_axis_give_no_correlation():
    none = convergent_validity({"IDV": np.ones(120)}, LEANS, SCENARIOS)
    assert (none.r, none.mean, none.discriminant_mean_abs) == ({"IDV": None}, None, None)
    assert convergent_validity({}, LEANS, SCENARIOS).mean is None
