import numpy as np
import pytest
from scipy import stats

from valuesassets.measure.skewed_means import wilson_interval


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (3, 10), (1, 1), (40, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_agrees_with_scipy(k, n, level):
    oracle = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    assert wilson_interval(k, n, level) == pytest.approx((oracle.low, oracle.high), abs=1e-12)


def test_many_at_once_and_nothing_looked_at_is_no_number():
    low, high = wilson_interval([0, 0, 3], [0, 4, 4])
    assert np.isnan([low[0], high[0]]).all()
    assert low[1] == 0
    assert (low[2], high[2]) == pytest.approx(wilson_interval(3, 4))
