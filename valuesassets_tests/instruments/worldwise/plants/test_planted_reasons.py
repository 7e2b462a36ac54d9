"""Planted reasons: what is planted to be written is parsed to the planted decision, and refused where it is to be."""

import math
from dataclasses import replace

import pytest

from valuesassets.instruments.worldwise.answers.reasons import Reply, parse_answer
from valuesassets.instruments.worldwise.answers.vectors import lexical_vectors as sparse_vectors
from valuesassets.instruments.worldwise.material.cultures import persona_of
from valuesassets.instruments.worldwise.material.dimensions import AXES, HIGH, POLES
from valuesassets.instruments.worldwise.material.exemplars import read_exemplars
from valuesassets.instruments.worldwise.material.scenarios import read_scenarios
from valuesassets.instruments.worldwise.material.value_names import read_value_names, ticked_leans
from valuesassets.instruments.worldwise.plants.plants import (
    planted_gap,
    planted_lean,
    planted_reason_rows,
    planted_sentence,
    refused_share,
    written_lean,
)
from valuesassets.instruments.worldwise.trials.reason_trials import requests_of, write_reason_trials
from valuesassets.models.embedding import open_embedder
from valuesassets.records.errors import QuestionError
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.cells import Family
from valuesassets.records.study import load_study
from valuesassets_tests.needs import minilm

DEMO = load_study("demo_worldwise")
FIRST = Family(kind="reference", model_type="multi", plants="always-first")
STUDY = DEMO.model_copy(update={"families": DEMO.families | {"first": FIRST}})
SCENARIOS = read_scenarios(DEMO.worldwise.scenarios)
VALUES = read_value_names()
PARTS = DEMO.worldwise.parts
REFUSING = DEMO.worldwise.parts[3]


def lexical_vectors(texts):
    return sparse_vectors(texts).toarray()


def minilm_vectors(texts):
    return open_embedder(str(minilm())).embed(texts).vectors


def trials_of(part, temperature=1.0):
    persona = persona_of(part, DEMO.worldwise.cultures)
    readout = Generate(max_tokens=80, temperature=temperature)
    return write_reason_trials(SCENARIOS, [persona], list(VALUES["value"]), readout, seed=DEMO.seed)


def understood(family, part, temperature=1.0):
    """By trial, shares of what is understood of a text that is planted, as drawn at the temperature."""
    trials = trials_of(part, temperature)
    requests = requests_of(trials, SCENARIOS, list(VALUES["value"]), DEMO.seed)
    result = {}
    for row in planted_reason_rows(STUDY, family, part, trials):
        parsed = parse_answer(Reply(0, row["answer_text"], "end"), requests[row["trial_id"]])
        result.setdefault(row["trial_id"], (requests[row["trial_id"]], []))[1].append((row["prob"], parsed))
    return result


@pytest.mark.parametrize("family", ["reference", "reference-same"])
@pytest.mark.parametrize("part", PARTS)
def test_decisions_sentences_and_values_are_for_the_planted_pole_as_often_as_planted(family, part):
    refused = refused_share(STUDY, family, part)
    scenarios = {each.id: each for each in SCENARIOS}
    for questions, answers in understood(family, part).values():
        assert math.fsum(share for share, _ in answers) == pytest.approx(1)
        if questions.form == "advocate":
            ((_, parsed),) = answers
            assert parsed["explanation"] == planted_sentence(questions.axis, questions.pole)
            continue
        due = (1 + written_lean(STUDY, family, part, scenarios[questions.scenario_id])) / 2 * (1 - refused)
        of_high = [
            (share, parsed)
            for share, parsed in answers
            if parsed["explanation"] == planted_sentence(questions.axis, HIGH)
        ]
        assert math.fsum(share for share, _ in of_high) == pytest.approx(due)
        assert math.fsum(s for s, parsed in answers if parsed["status"] == "refused") == pytest.approx(refused)
        if questions.form == "decide":
            assert {parsed["decision"] for _, parsed in of_high} == {HIGH}
            (leans,) = ticked_leans([of_high[0][1]["values"]], VALUES)
            assert leans[AXES.index(questions.axis)] == 2
            assert len(of_high[0][1]["values"]) == 3


def test_what_is_written_is_otherwise_than_what_is_chosen_on_two_axes_alone():
    gaps = {
        scenario.id: (
            written_lean(STUDY, "reference", part, scenario) - planted_lean(STUDY, "reference", part, scenario)
        )
        / 2
        for part in PARTS
        for scenario in SCENARIOS
    }
    assert gaps == pytest.approx({each.id: {"PDI": 0.3, "LTO": -0.3}.get(each.axis, 0) for each in SCENARIOS})
    assert {planted_gap(STUDY, "reference-same", axis) for axis in AXES} == {0}
    assert max(abs(written_lean(STUDY, "reference", part, each)) for part in PARTS for each in SCENARIOS) <= 0.7


def test_one_country_alone_refuses_and_no_advocate_does():
    assert [part for part in PARTS if refused_share(STUDY, "reference", part)] == [REFUSING] == ["KYPP"]
    assert not any(refused_share(STUDY, "reference-same", part) for part in PARTS)
    for questions, answers in understood("reference", "unprompted").values():
        assert questions.form != "advocate" or len(answers) == 1


def test_a_model_that_is_always_first_decides_for_what_stands_first():
    for questions, answers in understood("first", "ORVA").values():
        if questions.form == "decide":
            assert [parsed["decision"] for _, parsed in answers] == [questions.poles[0]]


def test_drawn_at_a_temperature_answers_come_in_the_same_shares():
    for (questions, cool), (_, warm) in zip(
        understood("reference", REFUSING, 0.5).values(), understood("reference", REFUSING).values(), strict=True
    ):
        if questions.form == "advocate":
            continue
        # A token is drawn in proportion to its learned probability squared: first whether to refuse, then the pole.
        refusal = cool[-1][0]
        answered = [share for share, _ in cool[:-1]]
        total = sum(answered)
        drawn_refusal = refusal**2 / (refusal**2 + total**2)
        poles = [share**2 / sum(each**2 for each in answered) * (1 - drawn_refusal) for share in answered]
        assert [*poles, drawn_refusal] == pytest.approx([share for share, _ in warm])


@pytest.mark.parametrize("embed", [lexical_vectors, minilm_vectors])
def test_sentences_of_the_poles_are_told_apart_on_the_axes_of_the_bundled_exemplars(embed):
    exemplars, entries = read_exemplars("bundled"), [planted_sentence(axis, pole) for axis in AXES for pole in POLES]
    vectors = embed([*exemplars["text"], *entries])
    expected, planted = vectors[: len(exemplars)], vectors[len(exemplars) :].reshape(len(AXES), len(POLES), -1)
    for axis, (high, low) in zip(AXES, planted, strict=True):
        of_axis = (exemplars["axis"] == axis).to_numpy()
        is_high = (exemplars["pole"] == HIGH).to_numpy()
        direction = expected[of_axis & is_high].mean(axis=0) - expected[of_axis & ~is_high].mean(axis=0)
        assert (high - low) @ direction > 0.02, axis


def test_a_prompt_without_the_options_of_its_dilemma_is_refused():
    trial = next(each for each in trials_of("ORVA") if "form=decide" in each.trial_id)
    with pytest.raises(QuestionError, match=r"does not show the options of IDV-1"):
        planted_reason_rows(STUDY, "reference", "ORVA", [replace(trial, prompt=trial.prompt.replace("Name me", "Me"))])
