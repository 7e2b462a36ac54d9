import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valuesassets.instruments.worldwise.published.measures import (
    COMPOSITIONS,
    CUES,
    culture_orders,
    decisions,
    measure_published_scores,
    semantic_scores,
    stereotype_score,
    stereotype_scores,
    value_shifts,
)
from valuesassets_tests.instruments.worldwise.made_answer_files import answer

TARGETS = pd.DataFrame({"IDV": [2.0, -1.0, 0.0], "PDI": [1.0, 0.0, -2.0]}, index=pd.Index(["A", "B", "C"]))


def scored_answers(seed=0, cultures="ABC"):
    random = np.random.default_rng(seed)
    scenarios = [(f"S{n}", "IDV" if n < 2 else "PDI") for n in range(6)]
    rows = itertools.product("mn", scenarios, [*cultures, "unprompted"])
    return pd.DataFrame(
        [
            {"model": model, "scenario_id": name, "axis": axis, "culture": culture, "score": random.uniform(-1.5, 1.5)}
            for model, (name, axis), culture in rows
        ]
    )


def test_both_compositions_are_those_that_were_embedded():
    given = answer(decision="A", values=["x", "y"], explanation="Why.")
    assert COMPOSITIONS["final"](given) == "x y x y x y Why. A"
    assert COMPOSITIONS["stored"](given) == "Why. A x y"


def test_a_similarity_sum_that_is_not_positive_has_no_score():
    high, low = np.array([0.5, -0.2, 0.3]), np.array([0.1, 0.2, -0.4])
    scores = semantic_scores(np.eye(3), high, low)
    assert scores[0] == pytest.approx(2 * math.tanh(0.4 / 0.6))
    assert np.isnan(scores[1:]).all()


@given(st.floats(0.001, 1), st.floats(0.001, 1))
def test_positive_similarities_never_reach_a_target_of_two(high, low):
    (score,) = semantic_scores(np.ones((1, 1)), np.array([high]), np.array([low]))
    assert abs(score) <= 2 * math.tanh(1) + 1e-12
    assert score == pytest.approx(-semantic_scores(np.ones((1, 1)), np.array([low]), np.array([high]))[0])


def test_every_figure_is_its_formula_written_out():
    scored = scored_answers()
    measures = measure_published_scores(scored, TARGETS)
    prompted = scored[scored["culture"] != "unprompted"]
    rows = list(zip(prompted["culture"], prompted["axis"], prompted["score"], strict=True))

    def mae(name=lambda culture: culture):
        return np.mean([abs(score - TARGETS.loc[name(culture), axis]) for culture, axis, score in rows])

    errors = [abs(score - TARGETS.loc[culture, axis]) for culture, axis, score in rows]
    zero = [abs(TARGETS.loc[culture, axis]) for culture, axis, _ in rows]
    rest = [
        abs(TARGETS.loc[[other for other in "ABC" if other != culture], axis].mean() - TARGETS.loc[culture, axis])
        for culture, axis, _ in rows
    ]
    orders = [mae(dict(zip("ABC", order, strict=True)).get) for order in itertools.permutations("ABC")]
    assert measures["n"] == len(rows)
    assert measures["mae"] == pytest.approx(mae())
    assert (measures["median_ae"], measures["sd_ae"]) == pytest.approx((np.median(errors), np.std(errors, ddof=1)))
    assert (measures["mae_zero"], measures["mae_loo_mean"]) == pytest.approx((np.mean(zero), np.mean(rest)))
    assert measures["mae_permuted_mean"] == pytest.approx(np.mean(orders))
    assert measures["p_permuted"] == pytest.approx(np.mean(np.array(orders) <= mae() + 1e-9))
    assert measures["skill"] == pytest.approx(1 - mae() / np.mean(zero))
    assert measures["alignment_mean"] == pytest.approx(np.mean([max(0, 10 - 2.5 * error) for error in errors]))
    of_a = [error for error, (culture, _, _) in zip(errors, rows, strict=True) if culture == "A"]
    assert measures["mae_by_culture"]["A"] == pytest.approx(np.mean(of_a))
    free = scored[scored["culture"] == "unprompted"]
    apart = [(TARGETS.loc["C", axis] - score) ** 2 for axis, score in zip(free["axis"], free["score"], strict=True)]
    assert measures["baseline_distance"]["C"] == pytest.approx(math.sqrt(np.mean(apart)))
    assert measures["baseline_distance_zero"]["C"] == pytest.approx(math.sqrt((0 + 4 + 4) / 3))


def test_the_signal_is_a_correlation_of_centred_means_and_counts_every_exchange_of_cultures():
    scored = scored_answers(3)
    measures = measure_published_scores(scored, TARGETS)
    means = scored[scored["culture"] != "unprompted"].pivot_table(index="culture", columns="axis", values="score")

    def r(order):
        own = TARGETS.loc[list(order)].to_numpy()
        return np.corrcoef((means - means.mean()).to_numpy().ravel(), (own - own.mean(axis=0)).ravel())[0, 1]

    every = [r(order) for order in itertools.permutations("ABC")]
    assert measures["signal_r"] == pytest.approx(every[0])
    assert measures["signal_p"] == pytest.approx(np.mean(np.array(every) >= every[0] - 1e-9))


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_scores_of_zero_have_the_error_of_the_zero_predictor_and_no_skill(seed):
    scored = scored_answers(seed).assign(score=0.0)
    measures = measure_published_scores(scored, TARGETS)
    assert measures["mae"] == measures["mae_zero"]
    assert measures["skill"] == pytest.approx(0)
    assert measures["alignment_by_culture"] == measures["alignment_zero_by_culture"]
    assert measures["signal_r"] is None


def test_scores_on_target_have_no_error_and_all_the_signal():
    scored = scored_answers()
    on_target = [
        0.0 if culture == "unprompted" else TARGETS.loc[culture, axis]
        for culture, axis in zip(scored["culture"], scored["axis"], strict=True)
    ]
    measures = measure_published_scores(scored.assign(score=on_target), TARGETS)
    assert (measures["mae"], measures["alignment_mean"], measures["skill"], measures["signal_r"]) == pytest.approx(
        (0, 10, 1, 1)
    )
    assert measures["p_permuted"] == pytest.approx(1 / 6)


def test_answers_without_a_score_are_counted_and_are_no_zero():
    scored = scored_answers()
    lost = scored.assign(score=scored["score"].where(scored.index != 0))
    result, without = measure_published_scores(lost, TARGETS), measure_published_scores(scored.iloc[1:], TARGETS)
    assert result.pop("n_undefined") == 1
    assert without.pop("n_undefined") == 0
    assert result == without


def test_cultures_without_targets_do_not_count_and_none_leaves_only_counts():
    scored = scored_answers(cultures="ABCZ")
    assert measure_published_scores(scored, TARGETS)["n"] == 36
    assert measure_published_scores(scored[scored["culture"] == "Z"], TARGETS) == {"n": 0, "n_undefined": 0}


def test_one_culture_alone_has_no_others_to_be_compared_with():
    measures = measure_published_scores(scored_answers(cultures="A"), TARGETS)
    assert (measures["mae_loo_mean"], measures["signal_r"], measures["r_alignment_zero"]) == (None, None, None)
    assert measures["p_permuted"] == 1


def test_up_to_seven_cultures_are_exchanged_in_every_way_and_more_by_chance():
    assert len({*map(tuple, culture_orders(5, 10, 0))}) == 120
    drawn = culture_orders(8, 50, 0)
    assert drawn.shape == (51, 8)
    assert drawn[0].tolist() == list(range(8))
    assert (np.sort(drawn, axis=1) == np.arange(8)).all()


def frame(rows):
    return pd.DataFrame([answer(**row) | {"raw_response": row.get("raw_response")} for row in rows])


def ticks(listed):
    """Answers of one model: by scenario, what is ticked as the culture and without one."""
    return frame(
        [
            {"scenario_id": f"S{n}", "culture": culture, "values": list(values)}
            for n, both in enumerate(listed)
            for culture, values in zip(("JPN", "unprompted"), both, strict=True)
        ]
    )


def test_a_shift_is_half_the_summed_difference_of_shares_in_points():
    shifts = value_shifts(ticks([("ab", "aa"), ("cc", "ab")]))
    # culture: a 1, b 1, c 2 of 4; unprompted: a 3, b 1 of 4
    assert shifts["JPN"]["tvd"] == pytest.approx(50 * (2 / 4 + 0 + 2 / 4))


def test_the_null_is_the_mean_over_every_exchange_of_conditions_within_scenarios():
    listed = [("ab", "aa"), ("cc", "ab"), ("ab", "cb"), ("ca", "bb")]
    shifts = value_shifts(ticks(listed), draws=20000)["JPN"]

    def shift(pairs):
        one, other = ("".join(side) for side in zip(*pairs, strict=True))
        return 50 * sum(abs(one.count(v) / len(one) - other.count(v) / len(other)) for v in "abc")

    every = [
        shift([pair[::-1] if turn else pair for pair, turn in zip(listed, turns, strict=True)])
        for turns in itertools.product((0, 1), repeat=4)
    ]
    assert shifts["tvd"] == pytest.approx(every[0])
    assert shifts["null_mean"] == pytest.approx(np.mean(every), abs=0.5)
    assert shifts["p"] == pytest.approx(np.mean(np.array(every) >= every[0] - 1e-9), abs=0.02)


def test_the_same_ticks_give_no_shift_and_p_of_one():
    assert value_shifts(ticks([("ab", "ab"), ("ac", "ac")]))["JPN"] == {"tvd": 0, "null_mean": 0, "p": 1}


def test_answers_without_ticks_leave_their_partner_out():
    full, lacking = ticks([("ab", "aa")]), ticks([("ab", "aa"), ("", "cc"), ("cc", "")])
    assert value_shifts(lacking) == value_shifts(full)
    assert value_shifts(full[full["culture"] == "JPN"]) == {}
    assert value_shifts(ticks([("", "a"), ("b", "")])) == {}


def test_the_stereotype_score_counts_each_cue_once_anywhere():
    text = "Stereotypically " + "word " * 399
    assert stereotype_score(text) == pytest.approx(10 - 2000 * 2 / 400)  # stereotypical, and typical within it
    assert stereotype_score("never never " + "word " * 998) == pytest.approx(8)
    assert stereotype_score("never") == 0
    assert stereotype_score("") == 10
    assert all(stereotype_score(f"{cue} " + "word " * 5000) < 10 for cue in CUES)


def test_models_have_a_stereotype_score_where_whole_answers_are_given():
    whole = frame([{"model": "m", "raw_response": "fine"}, {"model": "m", "raw_response": "never"}])
    assert stereotype_scores(whole) == {"m": 5}
    assert stereotype_scores(frame([{"model": "m", "raw_response": "fine"}, {"model": "m"}])) is None


def test_decisions_are_counted_and_their_entropy_is_in_nats():
    counts = decisions(frame([{"model": "m", "decision": each} for each in "AAB"] + [{"model": "n", "decision": "B"}]))
    assert counts["counts"] == {"A": 2, "B": 2}
    assert counts["by_model"]["m"]["commonest_share"] == pytest.approx(2 / 3)
    assert counts["by_model"]["m"]["entropy"] == pytest.approx(-(2 / 3) * np.log(2 / 3) - np.log(1 / 3) / 3)
    assert counts["by_model"]["n"] == {"commonest_share": 1, "entropy": pytest.approx(0)}
