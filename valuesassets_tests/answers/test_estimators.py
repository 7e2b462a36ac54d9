import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from valuesassets.answers.estimators import (
    COLUMNS,
    position_prior,
    share_over_baseline,
    share_per_token,
)
from valuesassets.answers.probe_distributions import Cell, derive_probe_distributions
from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.models.loading import load_model
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import MissingData
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.trials import Reading, Status
from valuesassets_tests.instruments.survey.asked import ask
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.scored import score_trials
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

ALL = ("label_likelihood", "content_free", "pride")
SHARES = st.lists(st.floats(0.05, 1), min_size=4, max_size=4).map(lambda mass: np.array(mass) / sum(mass))


def asked(questions, *estimators):
    elicitation = Elicitation(orders="cyclic", estimators=estimators)
    return write_trials(questions, "eng", load_lexicon("eng"), load_variables(), elicitation)


def read(trial, probs, tokens=None):
    probs = tuple(map(float, probs))
    return Reading(trial.trial_id, probs, sum(probs), None, None, (), Status.OK, None, "k", tokens)


def unread(trial, reason):
    return Reading(trial.trial_id, None, None, None, None, (), Status.FAILED, reason, "k")


def derive(trials, readings, *estimators):
    kinds = {trial.question_id: "likert4" for trial in trials}
    rows = derive_probe_distributions(trials, readings, Cell("m", "mono", "m", "eng"), kinds, frozenset(), estimators)
    items = {}
    for row in rows:
        items.setdefault(row["question_id"], []).append(row)
    return items


def column(rows, name):
    return [row[name] for row in rows]


def chosen(content, pull=(1, 1, 1, 1)):
    """Answers of a model that weighs each option's content by the pull of the position at which it stands."""

    def probs(trial):
        mass = np.array([content[value - 1] for value in trial.values]) * pull
        return mass / mass.sum()

    return probs


def by_hand(trials, answers, tokens=None):
    """Readings of one question whose main, content-free and text trials each answer in their own way."""
    return [read(trial, answers[trial.estimator](trial), tokens) for trial in trials]


def test_each_estimate_by_hand():
    assert share_per_token(np.array([0.09, 0.1, 0.008]), [2, 1, 3]) == pytest.approx(np.array([0.3, 0.1, 0.2]) / 0.6)
    assert share_over_baseline(np.array([0.4, 0.1, 0.1]), np.array([0.8, 0.1, 0.1])) == pytest.approx([0.2, 0.4, 0.4])
    assert position_prior(np.array([[0.8, 0.2], [0.2, 0.8]])) == pytest.approx([0.5, 0.5])
    assert position_prior(np.array([[0.9, 0.1], [0.5, 0.5]])) == pytest.approx([0.75, 0.25])  # sqrt(.45) to sqrt(.05)


@given(SHARES, SHARES, st.permutations(range(4)), st.floats(0.01, 100))
def test_estimates_move_with_their_options_and_not_with_the_scale_of_what_they_are_made_of(p, b, order, factor):
    order = list(order)
    tokens = np.array([1, 2, 3, 5])
    assert share_over_baseline(p[order], factor * b[order]) == pytest.approx(share_over_baseline(p, b)[order])
    assert share_per_token(p[order], tokens[order]) == pytest.approx(share_per_token(p, tokens)[order])
    shares = np.array([p, b])
    assert position_prior(shares[:, order]) == pytest.approx(position_prior(shares)[order])


@given(SHARES, SHARES)
def test_estimates_agree_with_scipy_in_log_space(p, b):
    assert share_over_baseline(p, b) == pytest.approx(softmax(np.log(p) - np.log(b)))
    assert share_per_token(p, [3, 1, 2, 7]) == pytest.approx(softmax(np.log(p) / [3, 1, 2, 7]))
    assert position_prior(np.array([p, b])) == pytest.approx(softmax((np.log(p) + np.log(b)) / 2))


def test_a_baseline_next_to_nothing_gives_a_share_and_no_infinity():
    assert share_over_baseline(np.array([0.5, 0.5]), np.array([5e-324, 1.0])) == pytest.approx([1, 0])


def test_no_mass_is_never_shared_out():
    with pytest.raises(MissingData, match="no probability on any answer"):
        share_per_token(np.zeros(2), [1, 1])
    with pytest.raises(MissingData, match="answer 2 of those shown"):
        share_over_baseline(np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    with pytest.raises(MissingData, match="position 1 has no probability in some order"):
        position_prior(np.array([[0.5, 0.5], [0.0, 1.0]]))


@given(SHARES, SHARES)
def test_a_model_that_says_nothing_without_the_question_is_not_changed_by_calibration(content, pull):
    trials = asked([ask("v1")], "content_free")
    answers = {None: chosen(content, pull), "content_free": lambda trial: [0.2] * 4}
    (rows,) = derive(trials, by_hand(trials, answers), "content_free").values()
    assert column(rows, "prob_content_free") == pytest.approx(column(rows, "prob_averaged"))
    assert rows[0]["estimator_disagreement"] == pytest.approx(0, abs=1e-12)
    assert rows[0]["estimator_reason"] is None


@given(SHARES, SHARES)
def test_what_a_model_says_without_the_question_too_is_taken_out(content, pull):
    trials = asked([ask("v1")], "content_free")
    answers = {None: chosen(content, pull), "content_free": chosen([1] * 4, pull)}
    (rows,) = derive(trials, by_hand(trials, answers), "content_free").values()
    assert column(rows, "prob_content_free") == pytest.approx(list(content))


@given(st.lists(SHARES, min_size=4, max_size=4), SHARES)
@pytest.mark.slow
def test_a_pull_of_positions_is_removed_exactly_by_pride_under_cyclic_orders(contents, pull):
    trials = asked([ask(f"v{n}") for n in (1, 5, 6, 7)], "pride")
    answer = dict(zip(("v1", "v5", "v6", "v7"), contents, strict=True))
    readings = [read(trial, chosen(answer[trial.question_id], pull)(trial)) for trial in trials]
    for name, rows in derive(trials, readings, "pride").items():
        assert column(rows, "prob_pride") == pytest.approx(list(answer[name]))
        moved = sum(abs(row["prob_pride"] - row["prob_averaged"]) for row in rows) / 2
        assert rows[0]["estimator_disagreement"] == pytest.approx(moved)


def test_a_question_lends_nothing_to_its_own_prior():
    trials = asked([ask(f"v{n}") for n in (1, 5, 6, 7)], "pride")
    plain = chosen([0.4, 0.3, 0.2, 0.1], [4, 1, 1, 1])
    odd = chosen([0.4, 0.3, 0.2, 0.1], [1, 1, 1, 9])
    is_odd = {trial.trial_id for trial in trials if trial.question_id == "v1" and trial.order != "forward"}
    before = derive(trials, [read(trial, plain(trial)) for trial in trials], "pride")
    readings = [read(trial, odd(trial) if trial.trial_id in is_odd else plain(trial)) for trial in trials]
    after = derive(trials, readings, "pride")
    assert column(after["v1"], "prob_pride") == pytest.approx(column(before["v1"], "prob_pride"))
    assert column(after["v5"], "prob_pride") != pytest.approx(column(before["v5"], "prob_pride"), abs=0.02)


def test_the_items_of_one_dependent_question_count_once_and_lend_each_other_nothing():
    trials = asked([ask("v110", response_type="categorical"), ask("v111", response_type="categorical")], "pride")
    assert {trial.asked_id for trial in trials} == {"v110", *(f"v111@v110={n}" for n in (1, 2, 3, 4))}
    readings = [read(trial, [1 / len(trial.labels)] * len(trial.labels)) for trial in trials]
    items = derive(trials, readings, "pride")
    assert items["v111@v110=1"][0]["estimator_reason"] == "pride: 0 other questions with 3 options, 3 are needed"


def test_pride_is_null_with_a_reason_where_positions_cannot_be_told_from_options():
    trials = asked([ask("v1"), ask("v5"), ask("v6"), ask("v39", 10)], "pride")
    readings = [read(trial, [0.05] * len(trial.labels)) for trial in trials]
    items = derive(trials, readings, "pride")
    assert column(items["v1"], "prob_pride") == [None] * 4
    assert items["v1"][0]["estimator_reason"] == "pride: 2 other questions with 4 options, 3 are needed"
    assert items["v39"][0]["estimator_reason"] == "pride: asked in 2 orders, not in all 10 cyclic ones"
    assert items["v39"][0]["estimator_disagreement"] is None
    assert items["v39"][0]["status"] == "ok"


def test_label_likelihood_is_the_mean_of_both_orders_with_and_without_the_length():
    trials = asked([ask("v31", 2)], "label_likelihood")
    texts = {"forward": (0.04, 0.1), "reversed": (0.3, 0.01)}  # the reversed one shows the second option first
    readings = [read(t, texts[t.order] if t.estimator else (0.5, 0.5), (2, 1)) for t in trials]
    (rows,) = derive(trials, readings, "label_likelihood").values()
    first = (0.04 / 0.14 + 0.01 / 0.31) / 2
    assert column(rows, "prob_label_likelihood") == pytest.approx([first, 1 - first])
    per_token = (0.2 / 0.3 + 0.01 / (0.01 + 0.3**0.5)) / 2
    assert column(rows, "prob_label_likelihood_per_token") == pytest.approx([per_token, 1 - per_token])
    assert rows[0]["estimator_disagreement"] == pytest.approx(0.5 - first)


def test_an_estimate_that_cannot_be_made_is_null_and_says_why_and_the_main_one_stays():
    trials = asked([ask("v1"), ask("v39", 10)], "label_likelihood", "content_free")
    mute = {"v1/0/1-2-3-0/content_free": [0.1, 0.0, 0.1, 0.1]}
    readings = [read(t, mute.get(t.trial_id, [0.05] * len(t.labels))) for t in trials]
    items = derive(trials, readings, "label_likelihood", "content_free")
    (four, *_), (ten, *_) = items["v1"], items["v39"]
    assert (four["prob_averaged"], four["prob_label_likelihood"]) == pytest.approx((0.25, 0.25))
    assert (four["prob_label_likelihood_per_token"], four["prob_content_free"]) == (None, None)
    assert four["estimator_reason"] == (
        "label_likelihood_per_token: v1/0/forward/label_likelihood: it is not known how many tokens its labels have; "
        "read it again; content_free: v1/0/1-2-3-0/content_free: the baseline has no probability on answer 2 of "
        "those shown"
    )
    assert ten["estimator_reason"] == (
        "label_likelihood, label_likelihood_per_token: not every option has a text of its own"
    )
    assert ten["prob_content_free"] == pytest.approx(0.1)


def test_an_unread_trial_of_an_estimator_takes_that_estimate_only():
    trials = asked([ask("v1")], "label_likelihood", "content_free")
    readings = [
        unread(t, "the prompt is cut") if t.trial_id == "v1/0/forward/content_free" else read(t, [0.1] * 4, (1,) * 4)
        for t in trials
    ]
    (rows,) = derive(trials, readings, "label_likelihood", "content_free").values()
    assert column(rows, "prob_label_likelihood") == pytest.approx([0.25] * 4)
    assert column(rows, "prob_content_free") == [None] * 4
    assert rows[0]["estimator_reason"] == "content_free: v1/0/forward/content_free: the prompt is cut"
    assert rows[0]["status"] == "ok"


def test_nothing_is_estimated_beside_an_unread_question():
    trials = asked([ask("v1")], *ALL[:2])
    readings = [unread(t, "too long") if t.trial_id == "v1/0/forward" else read(t, [0.1] * 4, (1,) * 4) for t in trials]
    (rows,) = derive(trials, readings, *ALL[:2]).values()
    assert {row[name] for row in rows for name in (*COLUMNS, "estimator_disagreement")} == {None}
    assert rows[0]["estimator_reason"] == "the question itself was not read"


def test_where_none_is_asked_for_the_columns_are_null_and_no_reason_is_needed():
    trials = asked([ask("v1")])
    (rows,) = derive(trials, [read(t, [0.1] * 4) for t in trials]).values()
    assert {row[name] for row in rows for name in (*COLUMNS, "estimator_disagreement", "estimator_reason")} == {None}


def test_every_estimate_of_a_real_model_is_what_brute_force_gives(tmp_path):
    questions = [*(ask(f"v{n}") for n in (1, 5, 6, 7)), ask("v31", 2), ask("v39", 10)]
    trials = asked(questions, *ALL)
    folder = write_model(tmp_path / "m", sentencepiece_like([trial.prompt for trial in trials]), spread=0.1)
    scored = score_trials(load_model(str(folder), dtype="float32", device="cpu"), trials)
    items = derive(trials, scored.readings, *ALL)
    assert {row["status"] for rows in items.values() for row in rows} == {"ok"}
    oracle = BruteForce(folder)

    def probs(trial):
        found = oracle.label_probs(trial.prompt, list(trial.labels))
        return np.array(found)[np.argsort(trial.values)]

    of_v5 = [trial for trial in trials if trial.question_id == "v5"]
    texts = [probs(trial) for trial in of_v5 if trial.estimator == "label_likelihood"]
    expected = np.mean([text / text.sum() for text in texts], axis=0)
    assert column(items["v5"], "prob_label_likelihood") == pytest.approx(list(expected), abs=1e-5)
    shifts = [trial for trial in of_v5 if trial.order != "reversed"]
    main, free = ([probs(t) for t in shifts if t.estimator == name] for name in (None, "content_free"))
    ratios = [one / other for one, other in zip(main, free, strict=True)]
    expected = np.mean([ratio / ratio.sum() for ratio in ratios], axis=0)
    assert column(items["v5"], "prob_content_free") == pytest.approx(list(expected), abs=1e-5)
    assert sum(column(items["v5"], "prob_label_likelihood_per_token")) == pytest.approx(1)
    assert sum(column(items["v5"], "prob_pride")) == pytest.approx(1)
    assert items["v5"][0]["estimator_reason"] is None
    assert 0 < items["v5"][0]["estimator_disagreement"] < 1
    assert items["v31"][0]["estimator_reason"] == "pride: 0 other questions with 2 options, 3 are needed"
