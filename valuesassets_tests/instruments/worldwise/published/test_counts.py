import itertools

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldwise.published.counts import (
    CUES,
    decisions,
    stereotype_score,
    stereotype_scores,
    value_shifts,
)
from valuesassets_tests.instruments.worldwise.made_answer_files import answer


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
    found = value_shifts(ticks([("ab", "aa"), ("cc", "ab")]))
    # culture: a 1, b 1, c 2 of 4; unprompted: a 3, b 1 of 4
    assert found["JPN"]["tvd"] == pytest.approx(50 * (2 / 4 + 0 + 2 / 4))


def test_the_null_is_the_mean_over_every_exchange_of_conditions_within_scenarios():
    listed = [("ab", "aa"), ("cc", "ab"), ("ab", "cb"), ("ca", "bb")]
    found = value_shifts(ticks(listed), draws=20000)["JPN"]

    def shift(pairs):
        one, other = ("".join(side) for side in zip(*pairs, strict=True))
        return 50 * sum(abs(one.count(v) / len(one) - other.count(v) / len(other)) for v in "abc")

    every = [
        shift([pair[::-1] if turn else pair for pair, turn in zip(listed, turns, strict=True)])
        for turns in itertools.product((0, 1), repeat=4)
    ]
    assert found["tvd"] == pytest.approx(every[0])
    assert found["null_mean"] == pytest.approx(np.mean(every), abs=0.5)
    assert found["p"] == pytest.approx(np.mean(np.array(every) >= every[0] - 1e-9), abs=0.02)


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
    found = decisions(frame([{"model": "m", "decision": each} for each in "AAB"] + [{"model": "n", "decision": "B"}]))
    assert found["counts"] == {"A": 2, "B": 2}
    assert found["by_model"]["m"]["commonest_share"] == pytest.approx(2 / 3)
    assert found["by_model"]["m"]["entropy"] == pytest.approx(-(2 / 3) * np.log(2 / 3) - np.log(1 / 3) / 3)
    assert found["by_model"]["n"] == {"commonest_share": 1, "entropy": pytest.approx(0)}
