"""Plants: what is planted is what a faultless reading gives back, and what a study says is alike is alike."""

import pytest

from valuesassets.answers.calibration import compare_with_plants
from valuesassets.answers.plants import planted_answers
from valuesassets.answers.reference_models import answer_texts
from valuesassets.instruments.worldwise.answers.choices import derive_choices
from valuesassets.instruments.worldwise.material.cultures import persona_of
from valuesassets.instruments.worldwise.material.scenarios import read_scenarios
from valuesassets.instruments.worldwise.plants.plants import (
    MOST_LEAN,
    MOST_MOVED,
    choice_distributions,
    plant_choices,
    planted_lean,
)
from valuesassets.instruments.worldwise.tables import CHOICES
from valuesassets.instruments.worldwise.trials.trials import write_trials
from valuesassets.records.settings.cells import Family
from valuesassets.records.study import load_study
from valuesassets.records.trials import Reading, Status

DEMO = load_study("demo_worldwise")
FIRST = Family(kind="reference", model_type="multi", plants="always-first")
STUDY = DEMO.model_copy(update={"families": DEMO.families | {"first": FIRST}})
SCENARIOS = read_scenarios(DEMO.worldwise.scenarios)
PARTS = DEMO.worldwise.parts


def trials_of(part):
    return write_trials(SCENARIOS, [persona_of(part, DEMO.worldwise.cultures)], seed=DEMO.seed)


def read(trials, plants):
    """Readings of a model that writes exactly what is planted."""
    for trial in trials:
        texts = answer_texts(trial.prompt, plants[trial.asked_id][0], trial.trial_id)
        probs = tuple(texts[f"{label}\n"] + texts[f" {label}\n"] for label in trial.labels)
        yield Reading(trial.trial_id, probs, sum(probs), None, None, (), Status.OK, None, trial.trial_id)


def choices(family, part):
    trials = trials_of(part)
    plants = plant_choices(STUDY, family, part, trials)
    return CHOICES.frame(derive_choices(SCENARIOS, trials, read(trials, plants), family, family)), plants


@pytest.mark.parametrize("family", ["reference", "reference-same", "first"])
@pytest.mark.parametrize("part", PARTS)
def test_a_faultless_reading_gives_back_what_was_planted(family, part):
    result, plants = choices(family, part)
    due = planted_answers({(family, part): plants})
    compared = compare_with_plants(choice_distributions(result), due)
    assert len(compared) == len(SCENARIOS)
    for error in ("w1_unit_error", "averaged_w1_unit_error", "p_valid_error", "position_bias_error"):
        assert compared[error].to_numpy() == pytest.approx(0, abs=1e-12)


def test_a_reading_of_the_wrong_pole_is_off():
    result, plants = choices("reference", "KYPP")
    turned = result.assign(p_high_forward=1 - result.p_high_forward)
    compared = compare_with_plants(choice_distributions(turned), planted_answers({("reference", "KYPP"): plants}))
    assert compared["w1_unit_error"].mean() > 0.1


def test_choices_over_both_orders_are_the_planted_lean_and_the_pull_is_the_position_bias():
    result, _ = choices("reference", "MULD")
    due = [planted_lean(STUDY, "reference", "MULD", scenario) for scenario in SCENARIOS]
    assert result["lean"].to_list() == pytest.approx(due, abs=1e-12)
    assert result["position_bias"].to_list() == pytest.approx([0.05] * len(SCENARIOS), abs=1e-12)
    assert result["p_valid"].between(0.3, 0.95).all()


def test_a_model_that_is_always_first_leans_nowhere():
    result, _ = choices("first", "MULD")
    assert result["lean"].to_list() == pytest.approx([0] * len(SCENARIOS), abs=1e-12)
    assert result["position_bias"].to_list() == pytest.approx([0.5] * len(SCENARIOS), abs=1e-12)


def leans(family, part):
    return [planted_lean(STUDY, family, part, scenario) for scenario in SCENARIOS]


def test_the_first_two_cultures_are_alike_and_unprompted_is_the_last_one_and_no_others_are():
    assert leans("reference", "ORVA") == leans("reference", "TESK")
    assert leans("reference", "unprompted") == leans("reference", "KYPP")
    different = [leans("reference", part) for part in ("ORVA", "MULD", "KYPP", "placebo")]
    apart = [
        sum(abs(a - b) for a, b in zip(one, other, strict=True)) / len(SCENARIOS)
        for n, one in enumerate(different)
        for other in different[:n]
    ]
    assert min(apart) > 0.1


def test_without_signal_all_are_alike():
    same = [leans("reference-same", part) for part in PARTS]
    assert same == [same[0]] * 6


def test_no_lean_is_beyond_what_the_pull_leaves_room_for():
    result = [abs(lean) for part in PARTS for lean in leans("reference", part)]
    assert 0.3 < max(result) <= MOST_LEAN + MOST_MOVED
