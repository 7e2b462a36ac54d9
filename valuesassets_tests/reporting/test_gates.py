import pandas as pd

from valuesassets.instruments.survey.report.report import gates as derive_gates
from valuesassets.reporting.parts import Refused
from valuesassets_tests.figures.made_up import controls_frame
from valuesassets_tests.instruments.survey.whole_report import everything, made

NOTHING = {"calibration": Refused("none")}


def test_gates_on_the_negative_controls_pass_only_where_every_pair_failed():
    study, parts = everything()
    calibration, quality = parts["calibration"], parts["quality"]

    def gate(controls, study=study):
        found = derive_gates(made(study, calibration=calibration, quality=quality, negative_controls=controls))
        return next((one for one in found if "another language" in one.sentence), None)

    assert gate(controls_frame()).is_passed
    wrong = gate(controls_frame().assign(fails=[True, False]))
    assert (wrong.is_passed, wrong.is_missing) == (False, False)
    assert "deu answered by fra" in wrong.found
    assert gate(Refused("not run")).is_missing
    untried = {name: each.model_copy(update={"kind": "huggingface"}) for name, each in study.families.items()}
    assert gate(None, study.model_copy(update={"families": untried})) is None


def test_a_gate_that_was_never_looked_at_is_missing_and_not_failed():
    study, parts = everything()
    gates = derive_gates(
        made(study, **NOTHING, quality=parts["quality"], extraction_faults={"eng": [], "deu": ["a fault"]})
    )
    by_sentence = {gate.sentence: gate for gate in gates}
    missing = {name for name, gate in by_sentence.items() if gate.is_missing}
    assert "The questions of fra were extracted without a fault." in missing
    assert "Every cell of reference-mono passed its preflight." in missing
    assert "Planted answers were recovered." in missing
    assert by_sentence["The questions of eng were extracted without a fault."].is_passed
    failed = by_sentence["The questions of deu were extracted without a fault."]
    assert (failed.is_passed, failed.is_missing) == (False, False)


def test_reliability_passes_fails_or_was_never_measured():
    study, parts = everything()
    rows = [
        {"model": "sure", "generalizability": 0.9, "generalizability_low": 0.8, "generalizability_high": 0.95},
        {"model": "vague", "generalizability": 0.3, "generalizability_low": 0.1, "generalizability_high": 0.5},
        {"model": "unasked", "generalizability": float("nan"), "reason": "asked in one wording"},
    ]
    frames = {"families": pd.DataFrame(rows)}
    found = {
        gate.sentence.split()[5]: gate
        for gate in derive_gates(made(study, **NOTHING, quality=parts["quality"], reliability=frames))
        if "other wordings" in gate.sentence
    }
    assert {name: (gate.is_passed, gate.is_missing) for name, gate in found.items()} == {
        "sure": (True, False),
        "vague": (False, False),
        "unasked": (False, True),
    }
    assert "generalizability 0.30 [0.10, 0.50]; at least 0.5 is required" in found["vague"].found
    assert found["unasked"].found == "asked in one wording"


def test_worlds_pass_or_say_what_is_off():
    study, parts = everything()

    def gate(coverage):
        nothing = pd.DataFrame()
        rows = [{"interval": "r", "coverage": coverage, "monte_carlo_se": 0.001, "n_worlds": 1000}]
        notes = pd.DataFrame({"note": ["1000 worlds"]})
        worlds = {"coverage": pd.DataFrame(rows), "rejections": pd.DataFrame({"kind": []}), "verdicts": nothing}
        worlds |= {"errors": nothing, "p_values": nothing, "notes": notes}
        found = derive_gates(made(study, **NOTHING, quality=parts["quality"], simulated_worlds=worlds))
        return next(one for one in found if "simulated data" in one.sentence)

    assert (gate(0.95).is_passed, gate(0.95).found) == (True, "1000 worlds")
    assert not gate(0.80).is_passed
    assert "0.800 of the intervals hold the truth" in gate(0.80).found


def test_where_nothing_was_read_no_gate_on_questions_passes():
    study, parts = everything()
    empty = {name: frame.iloc[:0] for name, frame in parts["quality"].items()}
    found = {gate.sentence: gate for gate in derive_gates(made(study, **NOTHING, quality=empty))}
    dropped = found["No question was dropped."]
    assert (dropped.is_passed, dropped.is_missing) == (False, True)


def test_a_family_passes_where_its_answers_follow_the_options_in_every_cell():
    study, parts = everything()
    good, bad = study.families
    cells = [
        (good, "eng", "options"),
        (good, "deu", "options under a pull"),
        (bad, "eng", "position"),
        (bad, "deu", None),
    ]
    follows = pd.DataFrame(cells, columns=["model", "language", "follows"]).assign(share_changed=0.5, note=None)
    gates = derive_gates(made(study, **NOTHING, quality=parts["quality"], position_bias={"cells": follows}))
    by_family = {
        family: next(gate for gate in gates if gate.sentence.startswith(f"The answers of {family} follow"))
        for family in study.families
    }
    assert by_family[good].is_passed
    not_measured = "too few answers in both orders to tell in one cell"
    assert by_family[bad].found == f"0 of 1 cells; not: eng (position); {not_measured}"
    unread = derive_gates(made(study, **NOTHING, quality=parts["quality"]))
    assert all(gate.is_missing for gate in unread if "follow the options" in gate.sentence)
