import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldwise.answers.model_answers import axis_means, by_scenario, gather_answers
from valuesassets.records.errors import MissingData
from valuesassets_tests.instruments.worldwise.made_tables import choices, chosen, nothing, projections, reasons

AXES = ["IDV", "IDV", "PDI"]


def test_a_lean_is_the_mean_of_both_orders_whatever_the_pull_of_the_first_option():
    means = by_scenario(chosen({"JPN": [0.2, -0.4, 0.6], "placebo": [0.0, 0.0, 0.1]}, AXES, bias=0.15)["choice"])
    np.testing.assert_allclose(means.values, [[0.2, -0.4, 0.6], [0, 0, 0.1]], atol=1e-12)
    np.testing.assert_allclose(means.effects[0], [0.2, -0.4, 0.5], atol=1e-12)
    assert (means.cultures, means.axes.tolist()) == (("JPN",), AXES)


def test_what_was_not_read_stays_missing_and_is_filled_only_for_bounds():
    answers = chosen({"JPN": [0.2, 0.4, 0.6]}, AXES, missing={("JPN", 1)})["choice"]
    assert np.isnan(by_scenario(answers).values[0, 1])
    assert by_scenario(answers, -1.0).values[0, 1] == -1
    np.testing.assert_allclose(by_scenario(answers).values[0, [0, 2]], [0.2, 0.6])


def test_a_condition_that_was_never_asked_has_no_values():
    means = by_scenario(chosen({"JPN": [0.2, 0.4, 0.6]}, AXES)["choice"])
    assert np.isnan(means.of("placebo")).all()
    assert np.isnan(means.effects).all()
    assert means.of().shape == (0, 3)


def test_decisions_are_averaged_over_draws_and_then_over_orders():
    written = reasons(
        [
            ("JPN", 0, "IDV", {"decision": "high", "draw": 0}),
            ("JPN", 0, "IDV", {"decision": "low", "draw": 1}),
            ("JPN", 0, "IDV", {"decision": "high", "order": "reversed"}),
            ("JPN", 1, "PDI", {"decision": "high"}),
            ("JPN", 1, "PDI", {"status": "refused", "order": "reversed"}),
            ("JPN", 2, "PDI", {"decision": "low"}),
            ("JPN", 2, "PDI", {"status": "declined", "draw": 1}),
        ]
    )
    means = by_scenario(gather_answers(choices({}, []), written, projections(written, 0.0))["decision"])
    # 0 and 1: half; one order missing: nothing; a draw missing: the other stands
    np.testing.assert_array_equal(means.values, [[0.5, np.nan, -1]])


def test_positions_are_those_on_the_own_axis_of_answers_that_were_read():
    written = reasons([("JPN", 0, "IDV", {}), ("JPN", 1, "PDI", {"status": "truncated"}), ("JPN", 2, "PDI", {})])
    answers = gather_answers(choices({}, []), written, projections(written, [0.3, 0.4, -1.2]))
    np.testing.assert_array_equal(by_scenario(answers["position_decide"]).values, [[0.3, np.nan, -1.2]])
    assert answers["position_open"].empty
    assert by_scenario(answers["position_open"]).values.shape == (0, 0)


def test_a_reason_that_was_not_projected_has_no_position():
    written = reasons([("JPN", 0, "IDV", {}), ("JPN", 1, "IDV", {})], form="open")
    some = projections(written, [0.5, 0.7]).assign(status=["ok", "refused", "ok", "ok"])
    np.testing.assert_array_equal(
        by_scenario(gather_answers(choices({}, []), written, some)["position_open"]).values, [[0.5, np.nan]]
    )


def test_channels_are_not_pooled():
    entries = pd.concat([choices({"JPN": [0.1]}, ["IDV"]), choices({"USA": [0.1]}, ["IDV"]).assign(channel="drawn")])
    with pytest.raises(MissingData) as entries_here:
        gather_answers(entries, *nothing())
    assert (
        str(entries_here.value)
        == "choices come from the channels drawn, exact, which are not pooled: measure each alone"
    )


def test_values_in_the_scenarios_of_other_answers():
    one = by_scenario(chosen({"JPN": [0.1, 0.2], "USA": [0.3, 0.4]}, ["IDV", "IDV"])["choice"])
    other = by_scenario(chosen({"USA": [0.0, 0.0, 0.0], "MEX": [0.0, 0.0, 0.0]}, AXES)["choice"])
    np.testing.assert_allclose(one.like(other), [[0.3, 0.4, np.nan], [np.nan] * 3])


def test_means_on_axes_leave_out_what_is_missing():
    names, means = axis_means(np.array([[1.0, np.nan, np.nan]]), np.array(AXES))
    assert names == ("IDV", "PDI")
    np.testing.assert_array_equal(means, [[1.0, np.nan]])
