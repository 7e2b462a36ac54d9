"""Choices of personas who are told to be typical: those of these trials, and of no others."""

from valuesassets.instruments.worldwise.answers.choices import derive_choices
from valuesassets.instruments.worldwise.answers.demand_choices import derive_demand_choices
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.trials.trials import is_demand, write_trials
from valuesassets.records.trials import Reading, Status
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS

TWO = [Scenario(**each) for each in DILEMMAS]


def answered(trial):
    """A for those who are told to be typical, B for the others."""
    probs = (0.6, 0.2) if is_demand(trial.condition) else (0.2, 0.6)
    return Reading(trial.trial_id, probs, 0.8, None, None, (), Status.OK, None, trial.trial_id)


def test_each_table_has_its_own_trials_of_those_read_together():
    plain, demanded = (write_trials(TWO, ["placebo"], demand=demand) for demand in (False, True))
    trials = [*plain, *demanded]
    choice_rows = derive_demand_choices(TWO, trials, map(answered, trials), "org/m", "m")
    assert choice_rows == derive_choices(TWO, demanded, map(answered, demanded), "org/m", "m")
    assert [row["position_bias"] for row in choice_rows] == [0.25, 0.25]
    assert [row["culture"] for row in choice_rows] == ["placebo", "placebo"]


def test_unprompted_nobody_is_told_so():
    trials = write_trials(TWO, ["unprompted"])
    assert derive_demand_choices(TWO, trials, map(answered, trials), "org/m", "m") == []
