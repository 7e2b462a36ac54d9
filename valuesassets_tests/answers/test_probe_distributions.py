from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.answers import drawn_columns
from valuesassets.answers.probe_distributions import Cell, derive_probe_distributions, doubtful_questions
from valuesassets.answers.quality_report import report_quality, usable_answers
from valuesassets.orchestration.checks import PROBE
from valuesassets.records.errors import MissingData
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.tables import PROBE_DISTRIBUTIONS
from valuesassets.records.trials import Reading, Status, Trial

CELL = Cell("some/model", "mono", "family", "eng")


def trial(order, values, question="v1", condition=None):
    asked = question if condition is None else f"{question}@{condition}"
    labels = tuple(str(n) for n in range(1, len(values) + 1))
    readout = ScoreLabels(labels, tuple(values))
    return Trial(f"{asked}/0/{order}", question, "eng", f"{asked} {order}:", order, 0, condition, readout)


def reading(of, probs, resolution=None):
    return Reading(of.trial_id, tuple(probs), sum(probs), resolution, resolution, (), Status.OK, None, "k")


def derive(pairs):
    trials, readings = zip(*pairs, strict=True)
    return derive_probe_distributions(trials, readings, CELL, {"v1": "likert3"})


def test_a_reversed_order_is_mapped_back_before_anything_else():
    forward, backward = trial("forward", [1, 2, 3]), trial("reversed", [3, 2, 1])
    rows = derive([(forward, reading(forward, [0.4, 0.2, 0.2])), (backward, reading(backward, [0.1, 0.1, 0.3]))])
    assert [row["response_value"] for row in rows] == [1, 2, 3]
    assert [row["prob_forward"] for row in rows] == pytest.approx([0.5, 0.25, 0.25])
    assert [row["prob_reversed"] for row in rows] == pytest.approx([0.6, 0.2, 0.2])
    assert [row["prob_averaged"] for row in rows] == pytest.approx([0.55, 0.225, 0.225])
    assert rows[0]["position_bias_magnitude"] == pytest.approx(0.1)
    assert (rows[0]["p_valid_forward"], rows[0]["p_valid_reversed"]) == pytest.approx((0.8, 0.5))
    assert rows[0]["p_valid"] == pytest.approx(0.65)


@given(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), st.permutations([1, 2, 3, 4]))
def test_a_model_without_position_bias_answers_the_same_in_every_order(mass, order):
    share = np.array(mass) / sum(mass) * 0.9
    shown = [trial("forward", [1, 2, 3, 4]), trial("reversed", [4, 3, 2, 1]), trial("x", order)]
    rows = derive([(t, reading(t, [share[v - 1] for v in t.values])) for t in shown])
    assert [row["prob_averaged"] for row in rows] == pytest.approx(list(share / 0.9))
    assert rows[0]["position_bias_magnitude"] == pytest.approx(0, abs=1e-12)


def test_the_reversed_order_beside_the_cyclic_ones_counts_for_the_position_bias_alone():
    shares = {(1, 2, 3): [0.4, 0.2, 0.2], (2, 3, 1): [0.3, 0.3, 0.3], (3, 1, 2): [0.2, 0.2, 0.4]}
    shown = [(trial(f"{values[0]}", values), probs) for values, probs in shares.items()]
    shown[0] = trial("forward", (1, 2, 3)), shown[0][1]
    reversed_ = trial("reversed", (3, 2, 1)), [0.1, 0.1, 0.3]
    rows = derive([(each, reading(each, probs)) for each, probs in [*shown, reversed_]])
    averaged = [(0.5 + 1 / 3 + 0.25) / 3, (0.25 + 1 / 3 + 0.5) / 3, (0.25 + 1 / 3 + 0.25) / 3]
    assert [row["prob_averaged"] for row in rows] == pytest.approx(averaged)
    assert rows[0]["p_valid"] == pytest.approx((0.8 + 0.9 + 0.8) / 3)
    assert rows[0]["p_valid_reversed"] == pytest.approx(0.5)
    assert rows[0]["position_bias_magnitude"] == pytest.approx(0.1)


def test_a_trial_that_could_not_be_read_leaves_null_and_a_reason_never_a_number():
    forward, backward = trial("forward", [1, 2, 3]), trial("reversed", [3, 2, 1])
    failed = Reading(backward.trial_id, None, None, None, None, (), Status.FAILED, "the prompt is cut", "k")
    rows = derive([(forward, reading(forward, [0.4, 0.2, 0.2])), (backward, failed)])
    assert len(rows) == 3
    for row in rows:
        assert row["prob_averaged"] is None
        assert row["p_valid"] is None
        assert row["status"] == "failed"
        assert row["reason"] == "v1/0/reversed: the prompt is cut"


def test_no_mass_on_any_answer_is_unresolved():
    forward, backward = trial("forward", [1, 2, 3]), trial("reversed", [3, 2, 1])
    rows = derive([(forward, reading(forward, [0.0, 0, 0])), (backward, reading(backward, [0.1, 0.1, 0.3]))])
    assert rows[0]["status"] == "unresolved"
    assert rows[0]["prob_forward"] is None


def test_a_condition_is_filed_under_its_own_id():
    pair = [trial("forward", [2, 3, 4], condition="v110=1"), trial("reversed", [4, 3, 2], condition="v110=1")]
    rows = derive([(t, reading(t, [0.2, 0.2, 0.2])) for t in pair])
    assert {row["question_id"] for row in rows} == {"v1@v110=1"}
    assert [row["response_value"] for row in rows] == [2, 3, 4]


def test_a_missing_reading_is_an_error_that_names_it():
    with pytest.raises(MissingData, match=r"family/eng: no reading of v1/0/forward"):
        derive_probe_distributions([trial("forward", [1, 2])], [], CELL, {"v1": "binary"})


def test_questions_unread_seldom_answered_or_biased_are_named_and_a_low_median_stands_in_front():
    once = pd.DataFrame(
        {
            "question_id": ["v1", "v2", "v3"],
            "wording": 0,
            "status": ["ok", "ok", "unresolved"],
            "reason": [None, None, "no stop"],
            "p_valid": [0.9, 0.02, np.nan],
            "position_bias_magnitude": [0.5, 0.01, np.nan],
        }
    )
    found = doubtful_questions(once, Thresholds(p_valid_question=0.1, p_valid_cell=0.6, position_bias=0.3))
    assert [row["question_id"] for row in found["every_question_is_read"]] == ["v3"]
    assert [row["question_id"] for row in found["p_valid_is_sufficient"]] == ["(median of the cell)", "v2"]
    assert [row["question_id"] for row in found["position_bias_is_small"]] == ["v1"]
    assert found.keys() == {sentence.name for sentence in PROBE}


def drawn(of, counts, n):
    probs = tuple(count / n for count in counts)
    read = Reading(of.trial_id, probs, sum(probs), None, None, (), Status.OK, None, "k")
    return replace(read, label_counts=tuple(counts), n_drawn=n)


DRAWN = ((trial("forward", [1, 2, 3]), [10, 20, 10]), (trial("reversed", [3, 2, 1]), [6, 18, 12]))


def test_drawn_answers_have_their_counts_their_noise_and_the_interval_of_their_mean():
    rows = derive([(each, drawn(each, counts, 40)) for each, counts in DRAWN])
    row, shares = rows[0], (np.array([10, 20, 10]) / 40, np.array([12, 18, 6]) / 36)
    assert (row["n_drawn"], row["n_read"], row["n_read_forward"], row["n_read_reversed"]) == (80, 76, 40, 36)
    assert [each["prob_averaged"] for each in rows] == pytest.approx(np.mean(shares, axis=0).tolist())
    unit, n = np.array([0, 0.5, 1]), (40, 36)
    variances = [(share @ unit**2 - (share @ unit) ** 2) / (m - 1) for share, m in zip(shares, n, strict=True)]
    assert row["draw_noise"] == pytest.approx(sum(variances) / 4)
    below = [np.cumsum(share)[:-1] for share in shares]
    noise = [0.5 * np.sum(each * (1 - each)) / (m - 1) for each, m in zip(below, n, strict=True)]
    assert row["cramer_noise"] == pytest.approx(sum(noise) / 4)
    mean = np.mean([share @ unit for share in shares])
    assert row["mean_unit_low"] < mean < row["mean_unit_high"]
    assert row["mean_unit_high"] - row["mean_unit_low"] == pytest.approx(4 * np.sqrt(row["draw_noise"]), rel=0.05)
    assert row["position_bias_p"] > 0.1


def test_only_where_answers_are_drawn_are_there_columns_of_draws():
    exact = [(each, reading(each, [0.4, 0.2, 0.2])) for each, _ in DRAWN]
    assert not set(derive(exact)[0]) & set(drawn_columns.COLUMNS)
    trials, readings = zip(*exact, strict=True)
    row = derive_probe_distributions(trials, readings, CELL, {"v1": "likert3"}, with_draws=True)[0]
    assert [row[name] for name in drawn_columns.COLUMNS] == [0] * 4 + [None] * 5
    assert PROBE_DISTRIBUTIONS.where_used == set(drawn_columns.COLUMNS)


def test_an_order_with_four_options_among_its_draws_is_unresolved_with_its_counts():
    (forward, counts), (backward, _) = DRAWN
    rows = derive([(forward, drawn(forward, counts, 40)), (backward, drawn(backward, [1, 2, 1], 40))])
    assert {row["status"] for row in rows} == {"unresolved"}
    assert rows[0]["reason"] == "v1/0/reversed: 4 of 40 drawn answers are an option, 5 or more are needed"
    assert (rows[0]["prob_averaged"], rows[0]["draw_noise"], rows[0]["n_drawn"], rows[0]["n_read"]) == (
        None,
        None,
        80,
        44,
    )
    five = derive([(forward, drawn(forward, counts, 40)), (backward, drawn(backward, [1, 3, 1], 40))])
    assert {row["status"] for row in five} == {"ok"}


def test_categories_have_noise_of_their_shares_and_no_mean():
    trials, readings = zip(*((each, drawn(each, counts, 40)) for each, counts in DRAWN), strict=True)
    row = derive_probe_distributions(trials, readings, CELL, {"v1": "categorical"})[0]
    shares, n = (np.array([10, 20, 10]) / 40, np.array([12, 18, 6]) / 36), (40, 36)
    noise = [np.sum(share * (1 - share)) / 2 / (m - 1) for share, m in zip(shares, n, strict=True)]
    assert row["cramer_noise"] == pytest.approx(sum(noise) / 4)
    assert (row["draw_noise"], row["mean_unit_low"]) == (None, None)


def test_the_noise_follows_the_analysis_scale_and_not_the_codes():
    trials, readings = zip(*((each, drawn(each, counts, 40)) for each, counts in DRAWN), strict=True)
    places = {1: 2, 2: 1, 3: 3}
    rows = derive_probe_distributions(
        trials, readings, CELL, {"v1": "likert3"}, analysis_value=lambda _, value: places[value]
    )
    moved = ((trial("forward", [2, 1, 3]), [10, 20, 10]), (trial("reversed", [3, 1, 2]), [6, 18, 12]))
    same = derive([(each, drawn(each, counts, 40)) for each, counts in moved])
    for name in ("draw_noise", "cramer_noise", "mean_unit_low"):
        assert rows[0][name] == pytest.approx(same[0][name])


def test_shares_of_draws_are_biased_towards_a_position_only_beyond_chance():
    rules = Thresholds()
    few = derive([(DRAWN[0][0], drawn(DRAWN[0][0], [3, 4, 3], 10)), (DRAWN[1][0], drawn(DRAWN[1][0], [4, 1, 5], 10))])
    many = derive(
        [(DRAWN[0][0], drawn(DRAWN[0][0], [9, 20, 11], 40)), (DRAWN[1][0], drawn(DRAWN[1][0], [30, 5, 5], 40))]
    )
    for rows, n_biased in ((few, 0), (many, 1)):
        once = pd.DataFrame(rows[:1])
        assert once["position_bias_magnitude"].iloc[0] > rules.position_bias
        assert len(doubtful_questions(once, rules)["position_bias_is_small"]) == n_biased
        quality = report_quality(pd.DataFrame(rows), [("family", "eng")], rules)
        assert quality.readings["is_position_biased"].tolist() == [bool(n_biased)]
        usable = usable_answers(pd.DataFrame(rows), quality)
        assert usable["n_read"].iloc[0] == rows[0]["n_read"]
    both = pd.DataFrame([*many, *(row | {"wording": 1} for row in many)])
    usable = usable_answers(both, report_quality(both, [("family", "eng")], rules))
    assert usable["cramer_noise"].iloc[0] == pytest.approx(many[0]["cramer_noise"] / 2)
    assert usable["n_read_forward"].iloc[0] == 2 * many[0]["n_read_forward"]
