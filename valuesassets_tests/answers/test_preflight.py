from dataclasses import replace

import pytest

from valuesassets.answers.preflight import (
    choose_preflight_trials,
    compare_wordings,
    examine_preflight,
    judge_preflight,
    left_out_parts,
)
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.trials import Reading, Status, Trial


def trial(question, k, order="forward", wording=0, values=None):
    labels = tuple(str(n) for n in range(1, k + 1))
    return Trial(
        f"{question}/{wording}/{order}",
        question,
        "eng",
        f"{question} {order}\n{('Answer', 'The answer is')[wording]}:",
        order,
        wording,
        None,
        ScoreLabels(labels, values or tuple(range(1, k + 1))),
    )


DIRECTIONAL = {"v149": "low", "v152": "low"}
TRIALS = [
    trial(f"v{n}", 10 if n in (38, 149) else 4, order)
    for n in [*range(1, 40), 149]
    for order in ("forward", "reversed")
]


def test_trials_of_estimators_are_not_asked_in_the_preflight():
    beside = [replace(t, trial_id=f"{t.trial_id}/content_free", estimator="content_free") for t in TRIALS]
    assert choose_preflight_trials([*beside, *TRIALS], 10, DIRECTIONAL) == choose_preflight_trials(
        TRIALS, 10, DIRECTIONAL
    )


def reading(of, probs, resolution=0.99):
    ten = resolution if len(of.labels) == 10 else None
    return Reading(of.trial_id, tuple(probs), sum(probs), ten, ten, (), Status.OK, None, "k")


def peaked(of, p_valid):
    k = len(of.labels)
    return [p_valid * 0.7] + [p_valid * 0.3 / (k - 1)] * (k - 1)


TOKENIZER = {
    "answers": {f"{lead}{n}": [*(["▁"] if lead else []), *str(n)] for lead in ("", " ") for n in range(1, 11)},
    "terminators": {"\n": "<0x0A>", ".": "."},
    "eos": ["</s>"],
}


def examine(readings, **tokenizer):
    findings = examine_preflight("family", "eng", TRIALS, readings, Thresholds(), TOKENIZER | tokenizer, DIRECTIONAL)
    return {finding.what: finding for finding in findings}


def test_ten_questions_in_every_order_with_ten_point_and_directional_items_among_them():
    chosen = choose_preflight_trials(TRIALS, 10, DIRECTIONAL)
    assert len(chosen) == 20
    assert {"v38", "v149"} <= {t.asked_id for t in chosen}
    assert choose_preflight_trials(TRIALS[:4], 10, DIRECTIONAL) == TRIALS[:4]


def test_a_sound_model_passes_every_gate():
    findings = examine([reading(t, peaked(t, 0.6)) for t in TRIALS])
    assert all(finding.passed for finding in findings.values())
    assert findings["median P_valid"].found == pytest.approx(0.6)


def test_each_gate_fails_for_its_own_reason():
    assert not examine([reading(t, peaked(t, 0.05)) for t in TRIALS])["median P_valid"].passed
    vague = examine([reading(t, peaked(t, 0.6), 0.5) for t in TRIALS])["mean resolution mass"]
    assert (vague.passed, vague.is_gate) == (False, False)  # of two questions of forty: the others can be used
    ten_alone = [reading(t, peaked(t, 0.6), 0.5) for t in TRIALS if len(t.labels) == 10]
    assert examine(ten_alone)["mean resolution mass"].is_gate
    uniform = examine([reading(t, [0.8 / len(t.labels)] * len(t.labels)) for t in TRIALS])
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
    findings = examine([reading(t, [0.0] * len(t.labels)) for t in TRIALS])
    assert findings["median P_valid"].found == 0
    assert not findings["median P_valid"].passed
    assert not {"entropy as a share of uniform", "v149 leans low"} & set(findings)


def test_the_tokenizers_habits_are_findings():
    sound = examine([reading(t, peaked(t, 0.6)) for t in TRIALS])
    assert sound["digits that are one token"].found == 9
    assert sound["tokens that end a 1 where 10 goes on"].found == 3
    two = TOKENIZER["answers"] | {"7": ["<0x37>", "<0x00>"], "1": None}
    spelled = examine([], answers=two)
    assert spelled["digits that are one token"].found == 7
    assert not spelled["digits that are one token"].passed
    assert not spelled["digits that are one token"].is_gate
    assert spelled["answers that change the prompt's tokens"].found == 1
    assert not spelled["answers that change the prompt's tokens"].passed


def test_a_system_prompt_that_the_template_adds_is_for_review():
    added = examine([], own_system="You are a helpful assistant.")["words that the chat template adds"]
    assert (added.found, added.passed, added.is_gate) == (5, False, False)
    assert "words that the chat template adds" not in examine([])


def test_a_ten_that_nothing_can_tell_from_a_one_stops_the_grid():
    what = "tokens that end a 1 where 10 goes on"
    stuck = examine([], terminators={".": None, "\n": None}, eos=[])[what]
    assert (stuck.found, stuck.passed, stuck.is_gate) == (0, False, True)
    whole = {"1": ["1"], " 1": ["Ġ1"], "10": ["10"], " 10": ["Ġ10"]}
    assert what not in examine([], answers=TOKENIZER["answers"] | whole)
    short = [t for t in TRIALS if len(t.labels) < 10]
    named = [
        finding.what for finding in examine_preflight("family", "eng", short, [], Thresholds(), TOKENIZER, DIRECTIONAL)
    ]
    assert what not in named


def test_cues_are_compared_by_p_valid_and_by_how_far_answers_move_under_them():
    there_and_back = [("forward", (1, 2)), ("reversed", (2, 1))]
    trials = [
        trial(question, 2, order, wording, values)
        for question in ("v1", "v2")
        for wording in (0, 1)
        for order, values in there_and_back
    ]
    # v1: .7 and .5 on the first answer, whichever order; v2: .5 in the mean of two biased orders, and .5.
    shares = [(0.7, 0.3), (0.3, 0.7), (0.5, 0.5), (0.5, 0.5), (0.9, 0.1), (0.9, 0.1), (0.5, 0.5), (0.5, 0.5)]
    p_valids = [0.8, 0.8, 0.2, 0.2, 0.6, 0.6, 0.4, 0.4]
    readings = [
        reading(of, [p_valid * share for share in pair])
        for of, pair, p_valid in zip(trials, shares, p_valids, strict=True)
    ]
    first, second = compare_wordings("family", "eng", trials, readings)
    assert (first.cue, second.cue) == ("Answer:", "The answer is:")
    assert first.median_p_valid == pytest.approx(0.7)
    assert second.median_p_valid == pytest.approx(0.3)
    assert first.tvd_to_others == second.tvd_to_others == pytest.approx((0.2 + 0.0) / 2)
    assert first.questions == second.questions == 2


def test_one_cue_is_compared_with_nothing_and_an_unread_one_has_no_numbers():
    assert compare_wordings("family", "eng", TRIALS, [reading(t, peaked(t, 0.6)) for t in TRIALS]) == []
    trials = [trial("v1", 4), trial("v1", 4, wording=1)]
    unread = Reading(trials[1].trial_id, None, None, None, None, (), Status.FAILED, "why", "k")
    first, second = compare_wordings("family", "eng", trials, [reading(trials[0], [0.1] * 4), unread])
    assert (first.median_p_valid, first.tvd_to_others) == (pytest.approx(0.4), None)
    assert (second.questions, second.median_p_valid, second.tvd_to_others) == (0, None, None)


def judged(p_valids, overrides=(), not_asked=()):
    """The verdict on a family whose answers have so much probability, by part."""
    read = {part: [reading(t, peaked(t, p)) for t in TRIALS] for part, p in p_valids.items()}
    trials, tokenizers = dict.fromkeys(p_valids, TRIALS), dict.fromkeys(p_valids, TOKENIZER)
    return judge_preflight(
        "family", trials, read, tokenizers, Thresholds(), dict(overrides), DIRECTIONAL, dict(not_asked)
    )


def test_each_part_is_judged_by_its_own_and_the_others_go_on():
    verdict, failing, _ = judged({"bul": 0.066, "eng": 0.6, "ron": 0.5}, not_asked={"pol": "damaged"})
    assert left_out_parts(verdict, {}) == {"bul": "median P_valid 0.066 (>= 0.2 wanted)", "pol": "damaged"}
    assert {finding.part for finding in failing} == {"bul"}


def test_a_part_without_any_answer_says_why_the_first_was_not_read():
    unread = [
        Reading(t.trial_id, None, None, None, None, (), Status.UNRESOLVED, "in the way is ' '", "k") for t in TRIALS
    ]
    verdict, *_ = judge_preflight(
        "family", {"eng": TRIALS}, {"eng": unread}, {"eng": {}}, Thresholds(), {}, DIRECTIONAL
    )
    n = len(TRIALS)
    said = f"median P_valid none (>= 0.2 wanted); {n} of {n} answers were not read, the first because in the way is ' '"
    assert left_out_parts(verdict, {}) == {"eng": said}


def test_an_override_lets_its_own_part_go_on_and_nothing_that_has_no_trials():
    overrides = {"bul": "by hand", "pol": "by hand"}
    for told, later in ((overrides, {}), ({}, overrides)):
        verdict, *_ = judged({"bul": 0.066, "fra": 0.07}, told, {"pol": "damaged"})
        assert left_out_parts(verdict, later) == {"fra": "median P_valid 0.07 (>= 0.2 wanted)", "pol": "damaged"}


def test_a_family_without_anything_to_ask_has_a_verdict_too():
    verdict, failing, doubtful = judged({}, not_asked={"pol": "damaged"})
    assert (left_out_parts(verdict, {}), failing, doubtful) == ({"pol": "damaged"}, [], [])
