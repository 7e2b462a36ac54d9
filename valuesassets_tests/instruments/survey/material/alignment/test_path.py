"""The best way through the master, against every way tried one by one."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valuesassets.instruments.survey.material.alignment.path import FOREIGN, FOREIGN_MORE, LATE, best_path, order_steps


def every_way(evidence, steps, lacking):
    """The log weight of every way: a target for each question, or none of them behind the last target reached."""
    n_questions, n_targets = evidence.shape
    states = [(place, is_match) for place in range(n_targets) for is_match in (True, False)]
    for way in itertools.product(states, repeat=n_questions):
        place, is_match = way[0]
        total = evidence[0, place] - LATE * np.log(1 + place) if is_match else lacking[0] - FOREIGN
        for n in range(1, n_questions):
            (before, was_match), (place, is_match) = way[n - 1], way[n]
            if is_match:
                total += steps[n - 1][before, place] + evidence[n, place]
            elif place != before:
                total = -np.inf
            else:
                total += lacking[n] - (FOREIGN if was_match else FOREIGN_MORE)
        yield way, total


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_path_and_confidence_are_those_of_trying_every_way(seed, n_questions, n_targets):
    draw = np.random.default_rng(seed)
    evidence, lacking = draw.normal(0, 3, (n_questions, n_targets)), draw.normal(0, 1, n_questions)
    order = order_steps(draw.random(n_targets) < 0.7)
    steps = [order + draw.normal(0, 1, (n_targets, n_targets)) for _ in range(n_questions - 1)]
    ways = list(every_way(evidence, steps, lacking))
    best = max(total for _, total in ways)
    weights = np.exp([total - best for _, total in ways])
    path = best_path(evidence, steps, lacking, with_confidence=True)
    totals = [total for way, total in ways if tuple(p if is_match else None for p, is_match in way) == path.places]
    assert max(totals) == pytest.approx(best)
    for n, place in enumerate(path.places):
        same = [
            weight
            for (way, _), weight in zip(ways, weights, strict=True)
            if (way[n][0] if way[n][1] else None) == place
        ]
        assert path.confidence[n] == pytest.approx(sum(same) / weights.sum(), abs=1e-9)


def test_without_any_evidence_a_form_goes_through_the_master_in_order():
    assert best_path(np.zeros((4, 4)), [order_steps(np.ones(4, bool))] * 3).places == (0, 1, 2, 3)


def test_going_on_is_better_than_leaving_out_and_that_better_than_going_back():
    steps = order_steps(np.ones(9, bool))
    assert steps[3, 4] == 0
    assert steps[3, 4] > steps[3, 5] > steps[3, 8] > steps[3, 2] > steps[3, 0]
    assert steps[3, 3] < steps[3, 5]


def test_leaving_out_what_the_master_does_not_ask_costs_nothing():
    steps = order_steps(np.array([True, False, False, True, False, True]))
    assert steps[0, 3] == steps[3, 5] == steps[2, 3] == 0
    assert steps[0, 5] < 0
    assert steps[0, 1] == steps[1, 2] == 0
    assert steps[0, 2] < 0


@pytest.mark.parametrize(("questions", "targets"), [(0, 3), (3, 0), (0, 0)])
def test_no_questions_or_no_master_match_nothing(questions, targets):
    path = best_path(np.zeros((questions, targets)), [np.zeros((targets, targets))] * max(questions - 1, 0))
    assert path.places == (None,) * questions
