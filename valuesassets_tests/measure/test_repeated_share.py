"""Shares that replicate: by hand, as alpha, and intervals that hold what is true."""

import numpy as np
import pytest

from valuesassets.measure.internal_consistency import cronbach_alpha
from valuesassets.measure.repeated_share import repeated_share
from valuesassets.records.errors import MissingData


def share_of(values, seed=0):
    return repeated_share(values, 0.95, np.random.default_rng(seed))


def made(random, share, n_wordings, n_languages, is_shifted, n_items=40):
    def parts(sd, shape):
        shift, apart = random.normal(0, sd, (*shape, 1)), random.normal(0, sd, (*shape, n_items))
        return (shift + apart) / np.sqrt(2) if is_shifted else apart

    repeated = np.sqrt(share / (1 - share) / n_wordings)
    return parts(repeated, (1, n_languages)) + parts(1.0, (n_wordings, n_languages))


def test_of_one_item_it_is_alpha_with_wordings_in_place_of_items():
    values = np.random.default_rng(1).normal(size=(3, 8, 1)) + np.random.default_rng(2).normal(size=(1, 8, 1))
    assert share_of(values)[0] == pytest.approx(cronbach_alpha(values[..., 0].T))


def test_below_0_it_is_the_mirror_image():
    values = np.array([[[1.0], [0.0], [0.2]], [[-1.0], [0.1], [0.0]]])
    alpha = cronbach_alpha(values[..., 0].T)
    assert alpha < 0
    assert share_of(values)[0] == pytest.approx(1 / (1 - alpha) - 1)


def test_gaps_of_a_language_leave_its_items_out():
    values = made(np.random.default_rng(3), 0.5, 3, 6, False)
    values[1, 2, :20] = np.nan
    gone = values.copy()
    gone[:, 2, :20] = np.nan
    assert share_of(values) == share_of(gone)


def test_without_any_difference_there_is_no_interval():
    assert np.isnan(share_of(np.zeros((2, 4, 5)))[1:]).all()
    with pytest.raises(MissingData, match="two conditions"):
        share_of(np.zeros((1, 4, 5)))


@pytest.mark.slow
@pytest.mark.parametrize("is_shifted", [False, True])
@pytest.mark.parametrize(("n_languages", "n_wordings"), [(6, 2), (6, 3), (22, 3)])
def test_intervals_hold_what_is_true_and_have_a_width(n_languages, n_wordings, is_shifted):
    random, held = np.random.default_rng(4), []
    for world in range(240):
        share = (0.0, 0.2, 0.5, 0.8)[world % 4]
        _, low, high = share_of(made(random, share, n_wordings, n_languages, is_shifted), world)
        assert low < high
        held.append(low <= share <= high)
    assert np.mean(held) == pytest.approx(0.955, abs=0.035)
