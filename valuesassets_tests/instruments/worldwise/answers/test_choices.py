"""Choices: by hand, against the definition, and what could not be read."""

from math import log

import pytest
from scipy.special import expit, logit

from valuesassets.instruments.worldwise.answers.choices import derive_choices
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.tables import CHOICES
from valuesassets.instruments.worldwise.trials.trials import write_trials
from valuesassets.records.errors import MissingData
from valuesassets.records.parquet import read_frame, write_table
from valuesassets.records.trials import Reading, Status
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS

TWO = [Scenario(**each) for each in DILEMMAS]
TRIALS = write_trials(TWO, ["placebo"])
SELDOM = [(0.03, 0.01), (0.05, 0.03), *[(0.3, 0.1)] * 2]
"""Probabilities of A and B: of the first dilemma little, of the second enough."""


def reading(trial, probs, status=Status.OK, reason=None, high=None):
    """What a model answers with these probabilities on A and B; none where it was not read."""
    valid = None if probs is None else sum(probs)
    return Reading(trial.trial_id, probs, valid, None, None, (), status, reason, trial.trial_id, label_probs_high=high)


def choices(*probs):
    """The rows of the two dilemmas, of what is read of each forward and reversed."""
    return derive_choices(TWO, TRIALS, [reading(t, p) for t, p in zip(TRIALS, probs, strict=True)], "org/m", "m")


def by_pole(trial, high, low):
    """Probabilities of A and B from those of the poles."""
    return (high, low) if trial.values == (1, 0) else (low, high)


def test_by_hand():
    row, _ = choices(by_pole(TRIALS[0], 0.3, 0.1), by_pole(TRIALS[1], 0.2, 0.2), (0.5, 0.5), (0.5, 0.5))
    first_is_high = TRIALS[0].values == (1, 0)
    assert row == pytest.approx(
        {
            "model_id": "org/m",
            "model": "m",
            "culture": "placebo",
            "scenario_id": "IVR-x1",
            "axis": "IVR",
            "wording": 0,
            "p_high_forward": 0.75,
            "p_high_reversed": 0.5,
            "p_high": 0.625,
            "p_high_log_odds": 3**0.5 / (1 + 3**0.5),
            "position_pull": log(3) / 2 if first_is_high else -log(3) / 2,
            "follows": "position",
            "p_valid_forward": 0.4,
            "p_valid_reversed": 0.4,
            "p_valid": 0.4,
            "lean": 0.25,
            "position_bias": 0.125 if first_is_high else -0.125,
            "channel": "exact",
            "status": "ok",
            "reason": None,
        }
    )


def test_a_model_that_always_says_a_has_no_lean_and_all_the_bias_there_is():
    for row in choices(*[(0.8, 0.0)] * 4):
        assert (row["p_high"], row["lean"], row["position_bias"]) == (0.5, 0.0, 0.5)


def test_a_model_that_always_takes_the_high_pole_has_no_bias():
    for row in choices(*[by_pole(trial, 0.4, 0.0) for trial in TRIALS]):
        assert (row["p_high"], row["lean"], row["position_bias"]) == (1.0, 1.0, 0.0)


def test_what_is_preferred_follows_the_option_or_the_position():
    by_option, by_position = (
        choices(*[by_pole(trial, *probs) for trial in TRIALS]) if is_option else choices(*[probs] * 4)
        for probs, is_option in (((0.3, 0.1), True), ((0.3, 0.1), False))
    )
    assert [row["follows"] for row in (*by_option, *by_position)] == ["option"] * 2 + ["position"] * 2


def test_a_pull_that_adds_in_log_odds_leaves_a_lean_as_it_is_and_shrinks_the_mean_of_probabilities():
    lean, pull = 0.7, 3.0
    first = [expit(lean + pull if trial.values == (1, 0) else lean - pull) for trial in TRIALS]
    for row in choices(*[by_pole(trial, p, 1 - p) for trial, p in zip(TRIALS, first, strict=True)]):
        assert logit(row["p_high_log_odds"]) == pytest.approx(lean)
        assert row["position_pull"] == pytest.approx(pull)
        assert 0.5 < row["p_high"] < 0.55 < 0.66 < row["p_high_log_odds"]


def test_an_option_without_any_probability_has_no_log_odds_and_the_preference_is_known():
    (row, _) = choices(*[(0.8, 0.0)] * 4)
    assert (row["p_high_log_odds"], row["position_pull"], row["follows"]) == (None, None, "position")


def test_a_choice_that_is_seldom_an_option_has_a_status_and_keeps_its_numbers():
    readings = [reading(trial, probs) for trial, probs in zip(TRIALS, SELDOM, strict=True)]
    low, enough = derive_choices(TWO, TRIALS, readings, "m", "m", least_p_valid=0.1)
    assert (low["status"], enough["status"]) == ("low_p_valid", "ok")
    assert low["reason"] == "P_valid is 0.06, 0.1 is asked for: it answers something else than an option"
    assert low["p_high"] is not None


def test_what_could_not_be_read_is_null_with_its_reason_and_the_other_order_stands(tmp_path):
    failed = reading(TRIALS[1], None, Status.FAILED, "too long")
    empty = [reading(TRIALS[2], (0.0, 0.0)), reading(TRIALS[3], (0.0, 0.0))]
    rows = derive_choices(TWO, TRIALS, [reading(TRIALS[0], (0.2, 0.2)), failed, *empty], "m", "m")
    write_table(tmp_path / "choices.parquet", rows, CHOICES)
    frame = read_frame(tmp_path / "choices.parquet", CHOICES)
    one, other = frame.to_dict("records")
    assert (one["p_high_forward"], one["p_valid_forward"]) == (0.5, 0.4)
    assert (one["status"], one["reason"]) == ("failed", "IVR-x1@culture=placebo/0/reversed: too long")
    lacking = frame[["p_high_reversed", "p_high", "p_valid_reversed", "p_valid", "lean", "position_bias"]]
    assert lacking.iloc[0].isna().all()
    assert (other["status"], other["p_valid"]) == ("unresolved", 0.0)
    assert other["reason"] == "IVR-x2@culture=placebo/0/forward: no probability on any option"
    assert frame[["p_high_forward", "p_high_reversed", "p_high", "lean", "position_bias"]].iloc[1].isna().all()


def test_where_bounds_are_known_alone_the_channel_says_so():
    bounded = [reading(trial, (0.5, 0.3), high=(0.6, 0.4)) for trial in TRIALS[:2]]
    exact = [reading(trial, (0.5, 0.3)) for trial in TRIALS[2:]]
    rows = derive_choices(TWO, TRIALS, [*bounded, *exact], "m", "m")
    assert [row["channel"] for row in rows] == ["top", "exact"]


def test_a_trial_without_a_reading_and_a_dilemma_in_one_order_are_refused():
    readings = [reading(trial, (0.5, 0.5)) for trial in TRIALS]
    with pytest.raises(MissingData, match="m: no reading of IVR-x2@culture=placebo/0/reversed; read the trials again"):
        derive_choices(TWO, TRIALS, readings[:3], "m", "m")
    with pytest.raises(MissingData, match="m: IVR-x2 was not asked reversed; write the trials again"):
        derive_choices(TWO, TRIALS[:3], readings, "m", "m")
