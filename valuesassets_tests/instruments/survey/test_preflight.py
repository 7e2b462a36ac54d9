from dataclasses import replace

import pytest

from valuesassets.instruments.survey.preflight import choose_preflight_trials, examine_preflight
from valuesassets.records.readings import Reading, Status
from valuesassets.records.study import Thresholds
from valuesassets.records.trials import ScoreLabels, Trial


def trial(question, k, order="forward"):
    labels = tuple(str(n) for n in range(1, k + 1))
    return Trial(
        f"{question}/0/{order}",
        question,
        "eng",
        f"{question} {order}:",
        order,
        0,
        None,
        ScoreLabels(labels, tuple(range(1, k + 1))),
    )


TRIALS = [
    trial(f"v{n}", 10 if n in (38, 149) else 4, order)
    for n in [*range(1, 40), 149]
    for order in ("forward", "reversed")
]


def test_trials_of_estimators_are_not_asked_in_the_preflight():
    beside = [replace(t, trial_id=f"{t.trial_id}/content_free", estimator="content_free") for t in TRIALS]
    assert choose_preflight_trials([*beside, *TRIALS], 10) == choose_preflight_trials(TRIALS, 10)


def reading(of, probs, resolution=0.99):
    ten = resolution if len(of.readout.labels) == 10 else None
    return Reading(of.trial_id, tuple(probs), sum(probs), ten, ten, (), Status.OK, None, "k")


def peaked(of, p_valid):
    k = len(of.readout.labels)
    return [p_valid * 0.7] + [p_valid * 0.3 / (k - 1)] * (k - 1)


def examine(readings):
    findings = examine_preflight("family", "eng", TRIALS, readings, Thresholds())
    return {finding.what: finding for finding in findings}


def test_ten_questions_in_every_order_with_ten_point_and_directional_items_among_them():
    chosen = choose_preflight_trials(TRIALS, 10)
    assert len(chosen) == 20
    assert {"v38", "v149"} <= {t.asked_id for t in chosen}
    assert choose_preflight_trials(TRIALS[:4], 10) == TRIALS[:4]


def test_a_sound_model_passes_every_gate():
    findings = examine([reading(t, peaked(t, 0.6)) for t in TRIALS])
    assert all(finding.passed for finding in findings.values())
    assert findings["median P_valid"].found == pytest.approx(0.6)


def test_each_gate_fails_for_its_own_reason():
    assert not examine([reading(t, peaked(t, 0.05)) for t in TRIALS])["median P_valid"].passed
    assert not examine([reading(t, peaked(t, 0.6), 0.5) for t in TRIALS])["mean resolution mass"].passed
    uniform = examine([reading(t, [0.8 / len(t.readout.labels)] * len(t.readout.labels)) for t in TRIALS])
    assert not uniform["entropy as a share of uniform"].passed
    assert not uniform["entropy as a share of uniform"].is_gate
    justified = examine([reading(t, peaked(t, 0.6)[::-1]) for t in TRIALS])
    assert not justified["v149 leans low"].passed


def test_trials_that_could_not_be_read_fail_the_first_gate():
    failed = [Reading(t.trial_id, None, None, None, None, (), Status.FAILED, "why", "k") for t in TRIALS]
    findings = examine(failed)
    assert not findings["share of trials read"].passed
    assert findings["median P_valid"].found is None


def test_an_answer_at_the_very_end_of_the_scale_counts_like_any_other():
    low = [t for t in TRIALS if t.asked_id == "v149"]
    ends = [[0.6] + [0.0] * 9, [0.0] * 7 + [0.6] + [0.0] * 2]
    found = examine([reading(t, probs) for t, probs in zip(low, ends, strict=True)])["v149 leans low"]
    assert found.found == pytest.approx((0 + 7 / 9) / 2)
    assert found.passed


def test_no_mass_on_any_answer_leaves_no_entropy_and_no_leaning():
    findings = examine([reading(t, [0.0] * len(t.readout.labels)) for t in TRIALS])
    assert findings["median P_valid"].found == 0
    assert not findings["median P_valid"].passed
    assert not {"entropy as a share of uniform", "v149 leans low"} & set(findings)
