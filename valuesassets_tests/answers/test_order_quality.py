"""What answers in two orders are said to follow: options, options under a pull, position, neither."""

import math

import pytest

from valuesassets.answers.order_quality import (
    MOST_CHANGED,
    OF_NEITHER,
    OF_OPTIONS,
    OF_POSITION,
    UNDER_A_PULL,
    Wording,
    judge_orders,
)
from valuesassets.measure.order_agreement import OrderAgreement

CHOICES = Wording("chooses", "choices", "prefer another option once both are exchanged", "look at means", "dilemmas")


def agreement(changed, value, low=None):
    """Of 40 choices of 20 dilemmas."""
    low = value - 0.1 if low is None else low
    return OrderAgreement(40, 20, changed, 0.3, 0.5, value, low, min(value + 0.1, 1.0))


@pytest.mark.parametrize(
    ("changed", "value", "low", "verdict", "is_evidence"),
    [
        (MOST_CHANGED - 0.01, 0.8, 0.7, OF_OPTIONS, True),
        (MOST_CHANGED, 0.8, 0.7, UNDER_A_PULL, True),
        (MOST_CHANGED, 0.2, 0.1, OF_POSITION, False),
        (MOST_CHANGED - 0.01, 0.2, 0.1, OF_NEITHER, False),
        (MOST_CHANGED, -3.0, 0.0, OF_POSITION, False),
        (0.1, 0.8, 0.0, OF_NEITHER, False),  # as high by chance
    ],
)
def test_what_is_followed_hangs_on_what_changes_and_on_what_comes_back(changed, value, low, verdict, is_evidence):
    quality = judge_orders("gemma", agreement(changed, value, low), 0.6, CHOICES)
    assert (quality.verdict, quality.is_evidence) == (verdict, is_evidence)


def test_position_decides_from_half_of_the_answers_on():
    assert MOST_CHANGED == 0.5


def test_the_sentence_counts_what_changes_and_answers_to_options_need_none():
    assert judge_orders("gemma", agreement(0.25, 0.8), 0.6, CHOICES).sentence is None
    sentence = judge_orders("gemma", agreement(0.7, 0.2), 0.6, CHOICES).sentence
    assert sentence is not None
    assert sentence.startswith(
        "gemma chooses by position: 28 of 40 choices prefer another option once both are exchanged"
    )
    assert "agreement 0.20 [0.10, 0.30], 0.6 is asked for" in sentence


def test_too_few_items_are_no_verdict():
    quality = judge_orders("gemma", OrderAgreement(4, 2, 1.0, 0.3, 0.9, math.nan, math.nan, math.nan), 0.6, CHOICES)
    assert (quality.verdict, quality.is_evidence) == (None, None)
    assert str(quality.sentence).startswith(
        "whether choices of gemma follow position is not known: 2 dilemmas were read"
    )
