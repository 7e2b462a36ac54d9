"""Ends of answers have many names."""

import pytest

from valuesassets.records.ends import end_of


@pytest.mark.parametrize(
    "name",
    [
        *("stop", "STOP", "eos", "eos_token", "eos_token_id", "end", "stop_sequence", "end_turn", "endTurn", "null"),
        *("FinishReason.STOP", "FINISH_REASON_STOP", "FINISH_REASON_UNSPECIFIED", "<|eot_id|>", "<|im_end|>", "</s>"),
        *("COMPLETE", "completed", "stop-sequence", "stop sequence", "end_of_turn", "", " ", None, "None"),
    ],
)
def test_an_ordinary_end_is_one_by_any_name(name):
    assert end_of(name) == "end"


@pytest.mark.parametrize(
    ("name", "end"),
    [
        *((name, "length") for name in ("length", "MAX_TOKENS", "max_new_tokens", "maxTokens", "model_length")),
        *((name, "filter") for name in ("content_filter", "SAFETY", "guardrail_intervened", "content-filtered")),
        *((name, "tool") for name in ("tool_calls", "function_call", "tool_use")),
        *((name, "broken") for name in ("error", "abort", "insufficient_system_resource", "OTHER")),
        *((name, None) for name in ("vanished", "stopped_by_moon", 7, True, ["stop"], {"type": "eos"})),
        ("refusal", "refusal"),
    ],
)
def test_other_ends_are_told_apart_and_unknown_ones_are_no_end(name, end):
    assert end_of(name) == end
