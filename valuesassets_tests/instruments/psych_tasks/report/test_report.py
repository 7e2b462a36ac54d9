"""The page says what its tables support and what they do not, shows every one that is there, and why others are not."""

import html
import re

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.analyses import ANALYSES
from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.report import gates as gates_of
from valuesassets.instruments.psych_tasks.report import report
from valuesassets.instruments.psych_tasks.report.alignment_section import calibration_gaps
from valuesassets.instruments.psych_tasks.report.claims import claims
from valuesassets.instruments.psych_tasks.report.gates import cell_counts, gates
from valuesassets.instruments.psych_tasks.report.lost_section import STATUSES
from valuesassets.instruments.psych_tasks.report.methods import methods, sources
from valuesassets.reporting.report import render_report
from valuesassets.reporting.run import reading_origin
from valuesassets_tests.instruments.psych_tasks.made_up import every_table
from valuesassets_tests.reporting.runs import run_of

ANCHORS = [
    "answer",
    "claims",
    "lost",
    "keying",
    "alignment",
    "consistency",
    "published-score",
    "layouts",
    "calibration",
    "methods",
    "origins",
]
IDENTITY = {"model": '"/somewhere/on/disk/follower"', "revision": "null", "weights_id": '"abc123"', "road": "cache"}
PAGE = {
    "has_planted_people": True,
    "provenance": [reading_origin("model-a/task-a", IDENTITY)],
    "versions": {"Python": "3.11.7"},
}


def render(frames):
    return render_report(run_of(frames, ANALYSES, **PAGE), report)


@pytest.fixture(scope="module")
def frames():
    return every_table()


@pytest.fixture(scope="module")
def page(frames):
    return render(frames)


def sentences(is_supported, frames):
    changed_framesrted_and_not = claims(frames, is_planted=False)
    return " | ".join(
        f"{each.sentence} {each.because}" for each in changed_framesrted_and_not if each.is_supported == is_supported
    )


def with_gain(frames, **changed):
    gains = frames["prediction/gains"]
    is_it = (gains.gain == "content") & (gains.model == "model-a")
    return {"prediction/gains": gains.assign(**{name: gains[name].where(~is_it, new) for name, new in changed.items()})}


CONTENT = (
    "In task-a, what a person answered to which item helps to predict them, beyond how they use the scale (model-a"
)


def test_content_above_0_that_counts_after_correction_supports_that_a_model_knows_the_person(frames):
    assert f"{CONTENT}). model-a +0.150 [+0.120, +0.180] nats, p\xa00.001" in sentences(True, frames)
    assert "model-b +0.000 [-0.030, +0.030] nats" in sentences(False, frames)


@pytest.mark.parametrize("changed", [{"low": -0.01}, {"is_rejected": False}, {"low": None}, {"estimate": None}])
def test_it_is_not_supported_where_the_interval_the_test_or_the_gain_is_wanting(frames, changed):
    changed_frames = with_gain(frames, **changed)
    assert CONTENT not in sentences(True, changed_frames)
    assert CONTENT in sentences(False, changed_frames)


def test_where_only_all_of_a_history_can_be_taken_away_no_person_is_claimed(frames):
    assert "In feedback, a model knows the person whose history it reads (model-a and model-b)." in sentences(
        False, frames
    )
    assert "what is gained may be its format" in sentences(False, frames)
    assert "In feedback, a model knows" not in sentences(True, frames)


def test_where_content_cannot_be_had_the_person_is_what_counts(frames):
    gains = frames["prediction/gains"]
    changed_frames = {"prediction/gains": gains[~gains.gain.isin(["content", "style"])]}
    assert "In task-a, a person's own history predicts them better than another's" in sentences(True, changed_frames)


def test_each_scale_measures_a_trait_a_label_or_cannot_be_told(frames):
    assert "Differences between models on trait (task-a) and trait (feedback) are more in what they say" in sentences(
        True, frames
    )
    assert "share of the label 0.03 [0.01, 0.06], 2 models of 2 lines, p\xa00.002" in sentences(True, frames)
    not_so = sentences(False, frames)
    assert "Any score of a model on label (task-a)" in not_so
    assert "share of the label 0.98 [0.97, 0.99]" in not_so
    assert "a liking for labels is measured by open (task-a) and open (feedback): it cannot be told" in not_so
    assert "all 6 items are forward-keyed" in not_so


@pytest.mark.parametrize("null", ["uniform", "place", "crowd", "counting"])
def test_a_model_predicts_people_only_where_its_interval_lies_above_every_null(frames, null):
    gains = frames["prediction/gains"]
    better = "In task-a, answers are predicted better than by even chances, a liking for places, others' answers and "
    better += "counting answers ({})."
    assert better.format("model-a and model-b") in sentences(True, {"prediction/gains": gains})
    assert "over counting answers +0.200 [+0.170, +0.230]" in sentences(True, {"prediction/gains": gains})
    is_it = (gains["gain"] == f"over {null}") & (gains["model"] == "model-b")
    for worse in (gains.assign(low=gains["low"].where(~is_it, -0.01)), gains[~is_it]):
        assert better.format("model-a") in sentences(True, {"prediction/gains": worse})
        assert better.format("model-b") in sentences(False, {"prediction/gains": worse})


def test_a_gain_within_what_reading_may_be_off_by_is_none(frames):
    gains = frames["prediction/gains"]
    tiny = gains.assign(estimate=2e-5, low=1e-5, high=3e-5)
    assert "predicted better" not in sentences(True, {"prediction/gains": tiny})


def test_whose_history_it_is_counts_where_the_corrected_test_rejects(frames):
    changed_frames = {"prediction/identification": frames["prediction/identification"]}
    assert "model-a in task-a 0.850 [0.770, 0.930], p\xa00.001" in sentences(True, changed_frames)
    assert "model-b in task-a 0.550 [0.470, 0.630], p\xa00.400" in sentences(False, changed_frames)
    few = frames["prediction/identification"].assign(
        p=None, p_corrected=None, is_rejected=None, reason="12 participants"
    )
    assert "history, be it how" not in sentences(True, {"prediction/identification": few})
    assert "model-a in task-a 0.850 [0.770, 0.930], 12 participants" in sentences(
        False, {"prediction/identification": few}
    )


def test_consistency_and_alignment_are_never_claimed_as_one(frames):
    assert "or one number for both" in sentences(False, frames)
    assert "or one number for both" not in sentences(True, frames)


def test_alpha_beyond_chance_is_no_trait_where_labels_alone_give_as_much(frames):
    assert "label (task-a) alpha 0.86 [0.78, 0.92] over 2 lines of models, by chance up to 0.33" in sentences(
        True, frames
    )
    assert "That they go together because models have a trait. label (task-a) alpha 0.86" in sentences(False, frames)
    assert "trait (task-a) alpha 0.20 [0.12, 0.26] over 2 lines of models, by chance up to 0.33" in sentences(
        False, frames
    )
    scales = frames["published_scores/scales"]
    assert "because models have a trait" not in sentences(
        False, {"published_scores/scales": scales.assign(alpha_label=0.1)}
    )
    unknown = scales.assign(null_high=None, alpha_random_high=None)
    assert "go together" not in sentences(True, {"published_scores/scales": unknown})


def test_a_layout_counts_where_a_corrected_test_rejects(frames):
    effects = frames["layout_effect/effects"]
    sentence = "How transcripts are laid out changes how well people are predicted."
    assert sentence in sentences(True, {"layout_effect/effects": effects})
    unsure = effects.assign(p_corrected=0.3, is_rejected=False)
    assert f"{sentence} no test rejects" in sentences(False, {"layout_effect/effects": unsure})


def test_gates_follow_calibration_and_ledger(frames):
    outcomes = {gate.sentence: gate.outcome for gate in gates(frames)}
    assert outcomes == {
        gates_of.RECOVERED: "passed",
        gates_of.GAINED: "passed",
        gates_of.ACCOUNTED: "passed",
        gates_of.FEW_LOST: "failed",
        gates_of.MEANT: "missing",
        gates_of.MOVED: "missing",
    }
    assert all(gate.outcome == "missing" for gate in gates({}))


def test_a_history_that_lost_a_mark_and_a_law_that_did_not_come_back_fail_their_gates(frames):
    ledger = frames["mark_ledger"].assign(p_valid=0.9)
    recovery = frames["calibration/recovery"]
    changed_frames = frames | {
        "mark_ledger": ledger.drop(index=0),
        "calibration/recovery": recovery.assign(is_recovered=[False, *recovery.is_recovered[1:]]),
    }
    outcomes = {gate.sentence: gate for gate in gates(changed_frames)}
    assert outcomes[gates_of.ACCOUNTED].found == "model-a in task-a after alone: 4"
    assert outcomes[gates_of.RECOVERED].found == "1 of 5 not: model-a in task-a after alone"
    assert outcomes[gates_of.MEANT].outcome == "passed"
    low = {"mark_ledger": ledger.assign(p_valid=0.3)}
    assert {gate.sentence: gate.outcome for gate in gates(low)}[gates_of.MEANT] == "failed"


def test_a_model_that_goes_by_place_or_says_something_else_is_named_in_a_gate_and_a_sentence(frames):
    ledger = frames["mark_ledger"]
    is_weak = ledger["model"] == "model-b"
    weak = ledger.assign(p_valid=np.where(is_weak, 0.14, 0.9), moved_by_item=np.where(is_weak, 0.004, 0.5))
    outcomes = {gate.sentence: gate for gate in gates({"mark_ledger": weak})}
    assert outcomes[gates_of.MOVED].found == "model-b by 0.004 nats"
    assert outcomes[gates_of.MOVED].outcome == outcomes[gates_of.MEANT].outcome == "failed"
    other, place = gates_of.weaknesses({"mark_ledger": weak})
    assert other.startswith(
        "model-b would mostly say something else: what may be answered has a median P_valid of 0.14"
    )
    assert place.startswith(
        "model-b goes by place: in task-a after alone what is asked moves its answers by 0.004 nats"
    )
    fine = ledger.assign(p_valid=0.9, moved_by_item=0.5)
    assert gates_of.weaknesses({"mark_ledger": fine}) == []
    assert other in html.unescape(render({"mark_ledger": weak}))


def test_a_family_that_failed_its_preflight_or_was_not_asked_is_named(frames):
    failed = {"reason": "median P_valid 0.07, 0.1 or more wanted", "override": "try"}
    fine = {"task-a": {"reason": None, "override": None}}
    verdicts = {"model-a": {"parts": fine}, "model-c": {"parts": {"task-a": failed}}}
    wanted = pd.DataFrame({"model": ["model-a", "model-c"], "task": ["task-a", "task-a"]})
    changed_frames = frames | {"preflight": gates_of.preflight_rows(verdicts), "cells": wanted}
    outcomes = {gate.sentence: gate for gate in gates(changed_frames)}
    assert outcomes[gates_of.PASSED].found == (
        "model-c in task-a: median P_valid 0.07, 0.1 or more wanted (overridden: try)"
    )
    assert outcomes[gates_of.ASKED].found == "1 of 2 cells; not model-c in task-a"
    assert gates_of.weaknesses(changed_frames)[0].startswith("model-c failed its preflight in task-a (overridden: try)")
    assert gates_of.ASKED not in {gate.sentence for gate in gates(frames)}


def test_what_a_history_cannot_have_is_not_lost():
    row = {"task": "t", "model": "m", "history": "own", "draw": None, "layout": None}
    frame = pd.DataFrame([row | {"status": s, "marks": n} for s, n in {"read": 6, "empty": 2, "not_asked": 92}.items()])
    (cell,) = cell_counts(frame).to_dict("records")
    assert (cell["marks"], cell["asked"], cell["lost"], cell["share_lost"]) == (100, 8, 2, 0.02)


def test_the_gap_of_calibration_is_weighted_by_answers():
    bins = pd.DataFrame(
        {"task": "t", "model": "m", "n_marks": [30, 10], "foretold": [0.5, 0.9], "observed": [0.4, 1.0]}
    )
    (row,) = calibration_gaps(bins).to_dict("records")
    assert row["mean_gap"] == pytest.approx(0.1)
    assert row["too_sure_by"] == pytest.approx((30 * 0.1 - 10 * 0.1) / 40)


@pytest.mark.slow
def test_the_page_holds_its_sections_in_order_each_id_once_and_fetches_nothing(page):
    assert re.findall(r'<section id="([\w-]+)"', page) == ANCHORS
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert page.count("<img ") == 7
    assert "Planted." in page


@pytest.mark.slow
def test_the_page_says_where_keying_takes_the_place_of_scores_and_shows_no_trait_there(page):
    assert "In label (task-a) and label (feedback) the interval lies above .5: there this table stands in place" in page
    rows = re.findall(r"<tr><th[^>]*>label \(task-a\)</th><td[^>]*>model-a</td>(.*?)</tr>", page)
    assert any("not available" in row for row in rows)


@pytest.mark.slow
def test_histories_and_statuses_are_explained(page):
    for words in ("permuted: this person&#39;s answers at each other&#39;s places", "alone: the instructions and this"):
        assert words in page
    assert set(STATUSES) == set(MarkStatus)


@pytest.mark.slow
def test_sources_are_those_that_the_tables_rest_on(frames, page):
    assert {"gneiting2007", "mcfadden1974", "feldt1965", "cronbach1951", "holm1979", "brennan2001", "meyer2026"} <= set(
        sources(frames)
    )
    assert "2606.20205" in page
    assert "u7z4t" in page
    assert sources({}) == ("valuesassets",)
    assert "feldt1965" not in sources({"prediction/scores": frames["prediction/scores"]})


def test_the_methods_have_this_pages_numbers(frames):
    text = " ".join(methods(frames, is_planted=False))
    assert "Two models (model-a and model-b) were shown the transcripts of people in two tasks" in text
    assert "asked at 800 answers" in text
    assert "100 of 8,000 could not be read" in text
    assert "gave it back in 5 of 5 histories" in text
    assert methods({}, is_planted=False) == []


def test_refused_analyses_show_their_reason_and_missing_ones_are_named():
    reason = "no task of the study has scales; add [scales.<name>] to a task file"
    text = render({"keying/refused": pd.DataFrame({"reason": [reason]})})
    assert text.count("add [scales.&lt;name&gt;] to a task file") == 2, "in its section and among the claims"
    assert "What was lost?: this analysis was not handed to the report" in text
    assert re.findall(r'<section id="([\w-]+)"', text) == ANCHORS


def test_reasons_of_single_numbers_are_shown(frames):
    scores = frames["prediction/scores"]
    is_it = (scores.history == "human") & (scores.model == "model-a") & (scores.task == "task-a")
    why = "3 of 400 answers had probability 0: their log score has no end"
    names = ["log_score", "log_score_low", "log_score_high", "skill", "skill_low", "skill_high"]
    lacking = scores.assign(
        reason=pd.Series([why] * len(scores)).where(is_it), **{n: scores[n].where(~is_it) for n in names}
    )
    text = render(frames | {"prediction/scores": lacking})
    assert why in text


def test_names_are_escaped_and_folders_lose_their_path(frames):
    ledger = frames["mark_ledger"].assign(model="<script>alert(1)</script>")
    text = render({"mark_ledger": ledger})
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "/somewhere/on" not in text
    assert "disk/follower" in text


@pytest.mark.parametrize("n", [0, 1])
def test_tables_of_a_row_or_none_make_a_page(n):
    short = {name: frame.head(n) for name, frame in every_table().items()}
    assert re.findall(r'<section id="([\w-]+)"', render(short)) == ANCHORS


@pytest.mark.slow
def test_the_same_tables_give_the_same_page(frames):
    assert render(frames) == render(frames)
