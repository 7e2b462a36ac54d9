"""Prompts, byte for byte, and which pole comes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.worldwise.material.cultures import Culture
from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.instruments.worldwise.material.scenarios import Scenario, read_scenarios
from valuesassets.instruments.worldwise.trials.prompts import (
    advocate_prompt,
    choice_prompt,
    decide_prompt,
    leading_high,
    open_prompt,
    persona_line,
    shown_poles,
    shown_values,
)
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS, NETHERLANDS

DUTCH = Culture(code="NLD", **NETHERLANDS)
BAND = Scenario(**DILEMMAS[0])
HIGH_FIRST, LOW_FIRST = ("high", "low"), ("low", "high")


@pytest.mark.parametrize(
    ("persona", "lines"),
    [
        (
            DUTCH,
            [
                "You live in the Netherlands and grew up there.",
                "Answer as a person from the Netherlands would.",
                "The person who answers is Dutch.",
            ],
        ),
        (
            "placebo",
            [
                "You live in a city and grew up there.",
                "Answer as a person would.",
                "The person who answers is an adult.",
            ],
        ),
        ("unprompted", [None, None, None]),
    ],
)
def test_persona_lines_are_these(persona, lines):
    assert [persona_line(persona, wording) for wording in range(3)] == lines
    demanded = [line and f"{line} You hold the values that are typical there." for line in lines]
    assert [persona_line(persona, wording, demand=True) for wording in range(3)] == demanded


def test_the_choice_is_asked_so():
    assert choice_prompt(BAND, LOW_FIRST, "You live in a city and grew up there.") == (
        "You live in a city and grew up there.\n"
        "A band that you love plays tonight. You had meant to spend the evening on your tax return. What do you do?\n"
        "A. Stay in and do the return.\n"
        "B. Go and hear the band.\n"
        "Answer:"
    )
    assert choice_prompt(BAND, HIGH_FIRST) == (
        "A band that you love plays tonight. You had meant to spend the evening on your tax return. What do you do?\n"
        "A. Go and hear the band.\n"
        "B. Stay in and do the return.\n"
        "Answer:"
    )


def test_a_decision_with_its_values_and_reason_is_asked_so():
    assert decide_prompt(BAND, HIGH_FIRST, ["Fun", "Duty", "Thrift"], "Answer as a person would.") == (
        "Answer as a person would.\n"
        "A band that you love plays tonight. You had meant to spend the evening on your tax return. What do you do?\n"
        "A. Go and hear the band.\n"
        "B. Stay in and do the return.\n"
        "Values: Fun; Duty; Thrift\n"
        "Answer in three lines, nothing else:\n"
        "DECISION: A, B or NEITHER\n"
        "VALUES: the three from the list that weighed most, separated by semicolons\n"
        "REASON: two to five sentences"
    )


def test_a_reason_alone_is_asked_so():
    assert open_prompt(BAND, "Answer as a person would.") == (
        "Answer as a person would.\n"
        "A band that you love plays tonight. You had meant to spend the evening on your tax return. What do you do?\n"
        "Answer in two to five sentences: what do you do, and why?"
    )


def test_advocates_are_asked_so():
    assert advocate_prompt(BAND, "low") == (
        "A band that you love plays tonight. You had meant to spend the evening on your tax return.\n"
        "Give two to five sentences in favour of this: Stay in and do the return."
    )


def test_values_are_shown_in_an_order_of_the_dilemma_and_of_the_seed():
    values = [str(number) for number in range(24)]
    drawn = [shown_values(values, name, seed) for name in ("IDV-1", "IDV-2") for seed in (0, 1)]
    assert all(sorted(each) == sorted(values) for each in drawn)
    assert len(set(map(tuple, drawn))) == 4
    assert shown_values(values, "IDV-1") == drawn[0]
    assert drawn[0][:4] == ["3", "16", "6", "18"]  # on every machine


@given(st.lists(st.sampled_from(AXES), min_size=2, max_size=40), st.integers(0, 5))
def test_the_high_pole_leads_in_half_of_the_dilemmas_and_of_each_axis(axes, seed):
    entries = [Scenario(**(DILEMMAS[0] | {"id": f"d{n}", "axis": axis})) for n, axis in enumerate(axes)]
    leading = leading_high(entries, seed)
    assert abs(2 * len(leading) - len(entries)) <= 1
    for axis in AXES:
        of_axis = {each.id for each in entries if each.axis == axis}
        assert abs(2 * len(of_axis & leading) - len(of_axis)) <= 1
    assert leading_high(entries[::-1], seed) == leading


def test_which_half_leads_hangs_on_the_seed():
    halves = {leading_high(read_scenarios(), seed) for seed in range(8)}
    assert len(halves) == 8


def test_both_orders_are_each_other_reversed():
    for leads in (True, False):
        assert shown_poles("forward", leads) == shown_poles("reversed", leads)[::-1]
