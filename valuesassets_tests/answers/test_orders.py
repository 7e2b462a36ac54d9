import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.answers.orders import averaged_orders, option_orders
from valuesassets.answers.probe_distributions import Cell, derive_probe_distributions
from valuesassets.answers.reference_models import shown_options
from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.people.variables import load_variables
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.trials import Reading, Status
from valuesassets_tests.instruments.survey.asked import ask

ASKED = st.sampled_from(["both", "all", "cyclic", 1, 3, 7, 200])


@given(ASKED, st.integers(2, 6))
def test_every_order_shows_every_option_once_forward_and_reversed_first(asked, n):
    orders = option_orders(ask("v1", n), asked, seed=1)
    assert list(orders)[:2] == ["forward", "reversed"]
    assert all(sorted(order) == list(range(n)) for order in orders.values())
    assert len(set(orders.values())) == len(orders)
    rotations = n + 1 if n > 2 else 2
    expected = {"both": 2, "cyclic": rotations, "all": {2: 2, 3: 6, 4: 24}.get(n, rotations)}
    assert len(orders) == expected.get(asked, min(2 + asked, math.factorial(n)) if isinstance(asked, int) else None)


@pytest.mark.parametrize("asked", ["all", "cyclic", 5])
def test_scales_with_unlabelled_points_know_two_orders(asked):
    assert list(option_orders(ask("v1", 10), asked, seed=1)) == ["forward", "reversed"]


@given(ASKED, st.integers(2, 6), st.data())
def test_whatever_order_an_answer_was_given_in_it_is_mapped_back_to_its_own_option(asked, n, data):
    question = ask("v1", n, options=[{"value": 7 + 3 * k, "label": f"option {k}"} for k in range(n)])
    wanted = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=n, max_size=n)))
    of_text = dict(zip((option.label for option in question.options), wanted / wanted.sum() * 0.8, strict=True))
    trials = write_trials([question], "eng", load_lexicon("eng"), load_variables(), Elicitation(orders=asked), 1)
    # What is read follows the texts that the prompt shows, not what the trial says of its order.
    probs = [tuple(of_text[text] for _, text in shown_options(trial.prompt, "doc")) for trial in trials]
    readings = [
        Reading(trial.trial_id, shown, sum(shown), None, None, (), Status.OK, None, "k")
        for trial, shown in zip(trials, probs, strict=True)
    ]
    rows = derive_probe_distributions(trials, readings, Cell("m", "mono", "m", "eng"), {"v1": "categorical"})
    assert [row["response_value"] for row in rows] == list(question.values)
    for column in ("prob_forward", "prob_reversed", "prob_averaged"):
        assert [row[column] for row in rows] == pytest.approx(list(wanted / wanted.sum()), abs=1e-12)
    assert rows[0]["position_bias_magnitude"] == pytest.approx(0, abs=1e-12)


@given(st.sampled_from(["cyclic", "all"]), st.integers(2, 6))
def test_cyclic_and_all_orders_average_over_every_option_at_every_place_alike(asked, n):
    orders = option_orders(ask("v1", n), asked, seed=1)
    places = np.array([orders[name] for name in averaged_orders(orders)])
    counts = [np.bincount(column, minlength=n).tolist() for column in places.T]
    assert counts == [[len(places) // n] * n] * n


@given(st.sampled_from(["both", 1, 3, 7]), st.integers(2, 6))
def test_other_orders_are_averaged_as_they_were_asked(asked, n):
    orders = option_orders(ask("v1", n), asked, seed=1)
    shifts_alone = option_orders(ask("v1", n), "cyclic", seed=1)
    if set(orders.values()) != set(shifts_alone.values()):
        assert averaged_orders(orders) == list(orders)


def test_seeded_orders_are_the_same_under_every_hash_seed():
    code = (
        "from valuesassets_tests.instruments.survey.asked import ask\n"
        "from valuesassets.answers.orders import option_orders\n"
        "print(option_orders(ask('v1', 5), 4, seed=3))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1")
    }
    assert len(printed) == 1
    other = option_orders(ask("v1", 5), 4, seed=4)
    assert list(other.values())[2:] != list(option_orders(ask("v1", 5), 4, seed=3).values())[2:]
