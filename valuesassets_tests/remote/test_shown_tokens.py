"""Lists of likeliest tokens in all their forms: repeats are summed, and what is no distribution is told."""

import json
import math

import pytest

from valuesassets.remote.failures import WrongAnswer
from valuesassets.remote.shapes import read_response
from valuesassets.remote.shown_tokens import Listed, Token, listed_tokens, require_log_probs, shown_tokens

TWICE = [("1", 0.6), ("2", 0.2), ("1", 0.1), ("3", 0.05), ("2", 0.03), ("4", 0.015), ("x", 0.004)]
"""`▁1` and `1`, both shown as `1`; and `2`."""
SUMMED = {"1": 0.7, "2": 0.23, "3": 0.05, "4": 0.015, "x": 0.004}


def chat(pairs, drawn=("1", -1.0), **more):
    """What a chat's choice has under `logprobs`."""
    listed = [{"token": token, "logprob": value} | more for token, value in pairs]
    return {"content": [{"token": drawn[0], "logprob": drawn[1], "top_logprobs": listed}]}


def logs(pairs):
    return [(token, math.log(prob)) for token, prob in pairs]


def probs(logprobs):
    return {token: math.exp(value) for token, value in shown_tokens(listed_tokens(logprobs)).items()}


def test_tokens_with_one_text_have_their_probabilities_summed():
    assert probs(chat(logs(TWICE))) == pytest.approx(SUMMED, abs=1e-12)
    listed = [{"token": token, "logprob": value} for token, value in logs(TWICE)]
    assert probs({"tokens": ["1"], "token_logprobs": [-0.1], "top_logprobs": [listed]}) == pytest.approx(SUMMED)


def test_an_object_that_names_a_text_twice_is_summed_before_it_is_read():
    entries = ", ".join(f"{json.dumps(token)}: {value}" for token, value in logs(TWICE))
    response = read_response(f'{{"top_logprobs": [{{{entries}}}], "a": 1, "a": 2}}')
    assert probs(response) == pytest.approx(SUMMED, abs=1e-12)
    assert response["a"] == 2
    ids = read_response('{"top_logprobs": [{"token_id:5": -0.5, "token_id:5": -0.5}]}')
    assert probs(ids) == pytest.approx({"token_id:5": math.exp(-0.5)})


def test_one_token_that_is_shown_again_counts_once():
    tokens = [Token("1", math.log(0.6), 16), Token("1", math.log(0.2), 29), Token("1", math.log(0.6), 16)]
    assert math.exp(shown_tokens(Listed(tokens))["1"]) == pytest.approx(0.8)
    named = [Token("token_id:16", -0.5), Token("token_id:16", -0.5)]
    assert shown_tokens(Listed(named)) == {"token_id:16": -0.5}


def test_what_is_shown_once_keeps_its_number_to_the_bit():
    values = {"1": -0.3566749439387324, "2": -1.6094379124341003, "x": -3.912023005428146}
    assert shown_tokens(listed_tokens(chat(values.items()))) == values


@pytest.mark.parametrize(
    ("pairs", "drawn", "reason"),
    [
        ([("1", 0.0), ("2", -math.inf), ("3", -math.inf)], ("1", 0.0), "2 of 3 tokens that are shown have no probab"),
        ([("1", 0.0), ("2", "-Infinity")], ("1", 0.0), "('2': -inf)"),
        ([("1", -1e-7), ("2", -9999.0), ("3", -9999.0)], ("1", -1e-7), "('2': -9999)"),
        ([("1", -0.7), ("2", -0.7), ("3", -1e10)], ("1", -0.7), "1 of 3 tokens that are shown have no probability"),
        ([("1", -0.1), ("2", -100.0), ("3", -100.0), ("4", -100)], ("1", -0.1), "3 of 4 tokens"),
        ([("2", 0.0), ("3", -19.6)], ("1", -9999.0), "the model went on with '1', which has no probability (-9999.0)"),
        ([("2", 0.0), ("3", -19.6)], ("1", "-Infinity"), "which has no probability (-Infinity)"),
        ([("1", math.log(0.7)), ("2", math.log(0.5))], ("1", -0.4), "the probabilities that are shown sum to 1.2"),
        ([("1", math.log(0.6)), ("1", math.log(0.6))], ("1", -0.4), "the probabilities that are shown sum to 1.2"),
        ([("1", 0.6), ("2", 0.3)], ("1", 0.6), "no log-probability (of the token '1': 0.6)"),
        ([("1", math.nan)], ("1", -0.1), "no log-probability"),
        ([("1", True)], ("1", -0.1), "no log-probability"),
        ([(None, -0.5)], ("1", -0.1), "a probability without the token's text"),
        ([], ("1", -0.1), "shows no probabilities"),
    ],
)
def test_what_is_no_distribution_has_its_reason(pairs, drawn, reason):
    with pytest.raises(WrongAnswer) as error:
        shown_tokens(listed_tokens(chat(pairs, drawn)))
    assert reason in str(error.value)


@pytest.mark.parametrize(
    "drawn",
    [("7", -3.0), ("7", -9999.0), ("▁1", -0.5), (None, None), ([], {}), ("1", -9999.0)],
    ids=str,
)
def test_a_likely_list_is_read_whatever_was_drawn(drawn):
    assert probs(chat(logs([("1", 0.6), ("2", 0.3)]), drawn)) == pytest.approx({"1": 0.6, "2": 0.3})


def test_a_sharp_model_is_no_floor():
    values = {"1": -1e-6, "2": -13.9, "3": -55.25, "4": -55.25, "5": -60.0}
    assert shown_tokens(listed_tokens(chat(values.items()))) == values


@pytest.mark.parametrize("logprobs", [None, [], [{"token": "1", "logprob": -0.1}], "1", 7, True, {}, {"content": None}])
def test_logprobs_of_another_shape_show_none(logprobs):
    with pytest.raises(WrongAnswer, match="shows no probabilities"):
        shown_tokens(listed_tokens(logprobs))


def test_an_object_may_have_lost_what_two_tokens_of_one_text_had():
    few = {"tokens": ["1"], "token_logprobs": [-0.4], "top_logprobs": [{"1": -0.4, "2": -1.2}]}
    assert listed_tokens(few).hides(20)
    assert not listed_tokens(few).hides(2)
    assert listed_tokens(few | {"token_logprobs": [-0.2]}).hides(2)  # the one that was drawn is not the one shown
    assert not listed_tokens(chat([("1", -0.4)])).hides(20)


def test_steps_that_stand_for_nothing_are_refused():
    assert require_log_probs({"0": -0.5, "1": 1e-4}) == {"0": -0.5, "1": 0.0}
    with pytest.raises(WrongAnswer, match="have no probability"):
        require_log_probs({"0": -0.5, "1": "-Infinity"})
    with pytest.raises(WrongAnswer, match="no log-probability"):
        require_log_probs({"0": None})
