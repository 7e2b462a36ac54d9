"""What choices follow, in simulations: leans, a pull of position, both, noise; and what analyses then withhold."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from valuesassets.instruments.worldwise.answers.model_answers import ModelAnswers
from valuesassets.instruments.worldwise.measures.alignment import derive_alignment
from valuesassets.instruments.worldwise.measures.cultural_profiles import derive_cultural_profiles
from valuesassets.instruments.worldwise.measures.persona_shift import derive_persona_shift
from valuesassets.instruments.worldwise.measures.reliability import choice_orders, derive_reliability
from valuesassets.instruments.worldwise.measures.say_do_gap import derive_say_do_gap
from valuesassets.instruments.worldwise.tables import CHOICE_ORDERS, CHOICES
from valuesassets.records.settings.measuring import Inference, Thresholds
from valuesassets.records.study import load_study
from valuesassets_tests.instruments.worldwise.made_tables import reasons

CONDITIONS = ("JPN", "USA", "IND", "MEX", "placebo", "unprompted")
AXES = ["IDV"] * 8 + ["PDI"] * 8
NO_DOMAINS = pd.DataFrame(columns=pd.Index(["scenario_id", "domain"]))
HOW = Inference(resamples=199)
SIMULATIONS = {
    "lean": {"lean": 0.8, "effect": 0.6},
    "lean and pull": {"lean": 0.8, "effect": 0.6, "pull": 3.0},
    "position": {"pull": 3.0},
    "position of its own in every dilemma": {"pull": 3.0, "pull_apart": 0.5},
    "noise": {"noise": 0.8},
}


def choices_with(seed=0, lean=0.0, effect=0.0, pull=0.0, pull_apart=0.0, noise=0.1, p_valid=0.6):
    """Choices of one model, in log odds: leans of dilemmas, effects of cultures, pulls, and noise of an order alone."""
    random = np.random.default_rng(seed)
    leans, pulls = random.normal(0, lean, len(AXES)), pull + random.normal(0, pull_apart, len(AXES))
    rows = []
    for number, culture in enumerate(CONDITIONS):
        moved = effect * (number - 2) if number < 4 else 0.0
        for at, axis in enumerate(AXES):
            first, last = (leans[at] + moved + sign * pulls[at] + random.normal(0, noise) for sign in (1, -1))
            orders = (first, last) if at % 2 else (last, first)
            row = {"p_high_forward": expit(orders[0]), "p_high_reversed": expit(orders[1]), "p_valid": p_valid}
            row |= {"p_high_log_odds": expit((first + last) / 2), "position_pull": (first - last) / 2}
            rows.append(row | {"culture": culture, "scenario_id": f"s{at}", "axis": axis, "wording": 0, "status": "ok"})
    return CHOICES.frame(rows).assign(model="m", model_id="m", channel="exact")


def row_of(**planted):
    return choice_orders("m", choices_with(**planted), Thresholds())


@pytest.mark.parametrize(
    ("kind", "follow", "is_evidence"),
    [
        ("lean", "options", True),
        ("lean and pull", "options under a pull", True),
        ("position", "position", False),
        ("position of its own in every dilemma", "position", False),
        ("noise", "neither", False),
    ],
)
def test_each_world_is_told_for_what_it_is(kind, follow, is_evidence):
    result = [row_of(seed=seed, **SIMULATIONS[kind]) for seed in range(20)]
    agreeing = [(row["follow"] == follow or {row["follow"], follow} == {"position", "neither"}) for row in result]
    assert np.mean([row["is_evidence"] is is_evidence for row in result]) >= 0.95
    assert np.mean(agreeing) >= 0.95
    CHOICE_ORDERS.frame(result)


def test_the_sentences_say_what_was_counted_and_what_to_read_instead():
    assert row_of(**SIMULATIONS["lean"])["reason"] is None
    pulled = row_of(**SIMULATIONS["lean and pull"])["reason"]
    assert pulled.startswith("position decides most single choices of m (")
    assert pulled.endswith("read p_high_log_odds: p_high is shrunk")
    alone = row_of(**SIMULATIONS["position"])["reason"]
    assert alone.startswith("m chooses by position: 96 of 96 choices prefer the other option once both are exchanged, ")
    assert alone.endswith("0.5 is asked for); its choices are no evidence of what it prefers")
    seldom = row_of(p_valid=0.14, **SIMULATIONS["lean"])["reason"]
    assert seldom.startswith("m seldom answers what was asked: the median P_valid of its choices is 0.14, 0.2 is asked")


def test_of_few_dilemmas_it_is_not_known_what_choices_follow():
    few = choices_with(**SIMULATIONS["position"]).query("scenario_id in ['s0', 's1', 's2']")
    row = choice_orders("m", few, Thresholds())
    assert (row["is_evidence"], row["follow"]) == (None, None)
    assert (
        row["reason"]
        == "whether choices of m follow position is not known: 3 dilemmas were read in both orders, 6 are needed"
    )


@pytest.mark.parametrize(("kind", "is_shown"), [("lean", True), ("lean and pull", True), ("position", False)])
def test_analyses_say_nothing_of_choices_that_follow_position_and_all_of_others(kind, is_shown):
    written = reasons(
        [(culture, at, axis, {"decision": "high"}) for culture in CONDITIONS for at, axis in enumerate(AXES)]
    )
    answered = {"m": ModelAnswers(choices_with(**SIMULATIONS[kind]), written)}
    reliability = derive_reliability(answered, load_study("demo_worldwise"), HOW)
    z = pd.DataFrame(
        np.random.default_rng(0).normal(size=(4, 2)), index=pd.Index(CONDITIONS[:4]), columns=pd.Index(["IDV", "PDI"])
    )
    aligned = derive_alignment(answered, reliability, NO_DOMAINS, z, HOW)
    frames = {
        "lean": derive_cultural_profiles(answered, reliability, z, HOW)["profiles"],
        "p_corrected": aligned["culture_pairs"],
        "r": aligned["agreement"],
        "slope": aligned["flattening"],
        "p_nearest": derive_persona_shift(answered, reliability, HOW)["nearest_persona"],
    }
    drawn = {name: frame.query("readout == 'choice'")[name] for name, frame in frames.items()}
    gaps = derive_say_do_gap(answered, reliability, NO_DOMAINS, HOW)["gaps"].query("measure == 'decision'")
    drawn["gap"] = gaps["gap"]
    for name, numbers in drawn.items():
        assert len(numbers), name
        assert numbers.notna().all() == is_shown, name
        assert numbers.isna().all() != is_shown, name
    if not is_shown:
        verdicts = aligned["verdicts"].query("readout == 'choice'")
        assert verdicts["reason"].str.startswith("m chooses by position").all()
        assert gaps["p_corrected"].isna().all()


def test_a_persona_that_moves_the_pull_alone_is_told_apart_by_the_mean_of_probabilities_and_not_by_log_odds():
    """Why nothing is said of differences between cultures where position decides: a mistaken effect, planted."""
    flat, pulled = choices_with(lean=0.8, pull=0.0, noise=0.02), choices_with(lean=0.8, pull=4.0, noise=0.02)
    mean, log_odds = (
        np.abs(each(pulled) - each(flat)).mean()
        for each in (
            lambda frame: (frame["p_high_forward"] + frame["p_high_reversed"]).astype(float) / 2,
            lambda frame: frame["p_high_log_odds"].astype(float),
        )
    )
    assert log_odds < 0.01 < 0.1 < mean
