"""One prompt read in several ways: drawn answers agree with the distribution but for chance, its mode does not."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wasserstein_distance

from valuesassets.instruments.worldvaluesbench.measures.readout_comparison import (
    SCORES,
    beyond_chance,
    compare_prompts,
    derive_readout_comparison,
    ratings_by_readout,
)

PROFILE = "B_COUNTRY=156,Q275=3"
ASKED = ("Q1", f"Q1@{PROFILE}")


def read(probs):
    """Rows of `rating_distributions`: forward as given, reversed the other way round."""
    rows = []
    for asked_as, forward in zip(ASKED, probs, strict=True):
        for value, (one, other) in enumerate(zip(forward, forward[::-1], strict=True), 1):
            row = {"question_id": asked_as, "wording": 0, "response_value": value, "prob_forward": one}
            rows.append(row | {"prob_reversed": other, "prob_averaged": (one + other) / 2})
    return pd.DataFrame(rows)


def drawn(counts, order="forward", wording=0, profile=PROFILE):
    """Rows of `decoded_ratings`: so many of each rating; None counts texts that are none."""
    ratings = [value for value, n in counts.items() for _ in range(n)]
    return pd.DataFrame(
        {
            "trial_id": "t",
            "question_id": "Q1",
            "profile": profile,
            "order": order,
            "wording": wording,
            "sample": range(len(ratings)),
            "rating": pd.array(ratings, dtype="Int64"),
            "is_on_scale": [value is not None and 1 <= value <= 4 for value in ratings],
        }
    )


def test_a_case_worked_by_hand():
    """Half at each end of four answers: the mode is the whole scale off half of the time, 3 to 1 a quarter of it."""
    table = compare_prompts(read([(0.5, 0, 0, 0.5)] * 2), drawn({1: 3, 4: 1, None: 2, 7: 1}), 1)
    one = table[(table.question_id == ASKED[1]) & (table.order == "forward")].set_index("readout")
    assert one.loc["greedy", "w1_unit"] == pytest.approx(0.5)
    assert one.loc["sampled", "w1_unit"] == pytest.approx(0.25)
    assert one.loc["sampled", ["n", "n_unparsed"]].tolist() == [4, 3]
    assert len(table) == 4 + 1


def test_distances_agree_with_scipy():
    probs = np.random.default_rng(3).dirichlet(np.ones(4), 2)
    table = compare_prompts(read(probs), drawn({1: 5, 2: 1, 3: 4}), 1).set_index(["question_id", "order", "readout"])
    values = np.arange(1, 5)
    due = wasserstein_distance(values, [1, 2, 3], probs[1], [5, 1, 4]) / 3
    assert table.loc[(ASKED[1], "forward", "sampled"), "w1_unit"] == pytest.approx(due, abs=1e-9)
    due = wasserstein_distance(values, [values[probs[0].argmax()]], probs[0], [1]) / 3
    assert table.loc[(ASKED[0], "forward", "greedy"), "w1_unit"] == pytest.approx(due, abs=1e-9)


def compared(draws):
    model = read([(0.1, 0.2, 0.3, 0.4)] * 2)
    seen = {}

    def score(ratings):
        seen.update(ratings)
        return {name: dict.fromkeys(SCORES, 0.5) for name in ratings}

    return derive_readout_comparison({"m": (model, draws)}, score, 1)["readouts"].set_index("readout"), seen


def test_answers_drawn_from_the_distribution_are_within_what_chance_allows_and_others_are_not():
    n = np.random.default_rng(5).multinomial(1000, (0.1, 0.2, 0.3, 0.4))
    sound, scored = compared(drawn(dict(enumerate(map(int, n), 1))))
    assert set(scored) == {"exact", "greedy", "sampled"}
    assert beyond_chance(sound.reset_index()) == []
    assert sound.loc["sampled", "w1_expected_unit"] == pytest.approx(0.014, abs=0.006)
    wrong, _ = compared(drawn(dict(enumerate(map(int, n[::-1]), 1))))
    (row,) = beyond_chance(wrong.reset_index())
    assert row["readout"] == "sampled"


def test_what_was_written_to_the_benchmarks_own_prompts_is_compared_with_the_average_over_orders():
    table = compare_prompts(read([(0.5, 0, 0, 0.5)] * 2), drawn({1: 1, 4: 1}, wording=5), 1)
    (own,) = table[table.readout == "figure 5"].to_dict("records")
    assert (own["order"], own["n"], own["w1_unit"]) == ("averaged", 2, 0)


def test_ratings_under_each_readout_are_distributions_over_the_scale():
    readouts = ratings_by_readout(read([(0.4, 0.4, 0.1, 0.1), (0.1, 0.2, 0.3, 0.4)]), drawn({2: 1, 3: 3}))
    for ratings in readouts.values():
        sums = ratings.groupby("question_id")["prob"].sum(min_count=1).dropna()
        assert sums.tolist() == pytest.approx([1.0] * len(sums))
    greedy = readouts["greedy"].set_index(["question_id", "response_value"])["prob"]
    assert greedy[("Q1", 1)] == 1  # of two as likely the first
    assert greedy[(ASKED[1], 1)] == 1  # over both orders all four are as likely
    sampled = readouts["sampled"].set_index(["question_id", "response_value"])["prob"]
    assert sampled.to_dict() == {(ASKED[1], 1): 0, (ASKED[1], 2): 0.25, (ASKED[1], 3): 0.75, (ASKED[1], 4): 0}


def test_orders_weigh_alike_however_many_answers_of_each_could_be_parsed():
    """Forward half and half of 8, reversed 1 twice: 3/4 and 1/4, with the variance of 4/(1/8 + 1/2) draws."""
    both = pd.concat([drawn({1: 4, 2: 4}), drawn({1: 2, None: 6}, "reversed")])
    sampled = ratings_by_readout(read([(0.4, 0.4, 0.1, 0.1)] * 2), both)["sampled"]
    assert sampled["prob"].tolist() == [0.75, 0.25, 0, 0]
    assert sampled["n_draws"].tolist() == pytest.approx([6.4] * 4)


def test_a_readout_of_which_nothing_could_be_parsed_stays_in_the_table_without_a_score():
    model = read([(0.4, 0.4, 0.1, 0.1)] * 2)
    none = pd.concat([drawn({None: 3}), drawn({7: 1}, wording=5)])
    ratings = ratings_by_readout(model, none)
    assert ratings["sampled"]["prob"].isna().all()
    rows = derive_readout_comparison({"m": (model, none)}, lambda ratings: {name: {} for name in ratings}, 1)[
        "readouts"
    ]
    counted = rows.set_index("readout")[["n_answers", "n_unparsed"]]
    assert counted.loc["sampled"].tolist() == [0, 3]
    assert counted.loc["figure 5"].tolist() == [0, 1]


def test_prompts_of_the_paper_are_not_held_against_what_chance_makes_of_another_prompt():
    far = pd.concat([drawn({4: 1}, wording=5), drawn({4: 230}, wording=9, profile=None)])
    rows, scored = compared(far)
    assert rows.loc[["figure 5", "figure 9"], ["w1_expected_unit", "w1_allowed_unit"]].isna().all(axis=None)
    assert beyond_chance(rows.reset_index()) == []
    assert set(scored["figure 9"]["question_id"]) == {"Q1"}
    assert set(scored["figure 5"]["question_id"]) == {ASKED[1]}
