"""What a model says under each readout: the gap between two is the readout's alone."""

import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.measures.readout_comparison import ratings_by_readout


def read_of(forward, backward):
    """One prompt with a profile, read in both orders; its answers do not stand in their order."""
    both = [(one + other) / 2 for one, other in zip(forward, backward, strict=True)]
    columns = {"prob_forward": forward, "prob_reversed": backward, "prob_averaged": both}
    frame = pd.DataFrame({"question_id": "Q7@B_COUNTRY=156", "wording": 0, "response_value": [1, 2]} | columns)
    return frame.iloc[::-1]


def drawn_of(ratings):
    columns = {"trial_id": "t", "question_id": "Q7", "profile": "B_COUNTRY=156", "order": "forward", "wording": 0}
    return pd.DataFrame({"rating": pd.array(ratings, "Int64"), "is_on_scale": True}).assign(**columns)


def probs_of(ratings, readout):
    return ratings[readout].sort_values("response_value")["prob"].tolist()


def test_a_mode_is_that_of_both_orders_and_the_lowest_of_several():
    ratings = ratings_by_readout(read_of([0.6, 0.4], [0.2, 0.8]), drawn_of([1]))
    assert probs_of(ratings, "exact") == pytest.approx([0.4, 0.6])
    assert probs_of(ratings, "greedy") == [0, 1]
    assert probs_of(ratings_by_readout(read_of([0.6, 0.4], [0.4, 0.6]), drawn_of([1])), "greedy") == [1, 0]


def test_drawn_answers_say_of_how_many_they_are_and_others_are_not_drawn():
    ratings = ratings_by_readout(read_of([0.6, 0.4], [0.2, 0.8]), drawn_of([1, 2, 2, 2]))
    assert probs_of(ratings, "sampled") == [0.25, 0.75]
    assert ratings["sampled"]["n_draws"].tolist() == [4, 4]
    assert "n_draws" not in ratings["exact"]
    assert "n_draws" not in ratings["greedy"]
