"""Translates the finish reasons of servers and files: why an answer ended."""

import re
from typing import Literal

End = Literal["end", "length", "filter", "refusal", "broken", "tool"]

_NAMES: dict[End, str] = {
    "end": "stop stopped end ended eos eot eos_token eos_token_id eot_id eos_found end_turn end_of_turn end_of_text "
    "endoftext end_of_sequence end_of_sentence im_end s stop_sequence stop_sequences stop_token stop_word stop_str "
    "stop_string stop_criteria complete completed completion finish finished done success normal "
    "null none nil unspecified",
    "length": "length max_length max_len max_tokens max_new_tokens max_output_tokens max_completion_tokens "
    "max_tokens_reached token_limit token_limit_reached length_limit limit model_length context_length "
    "context_length_exceeded model_context_window_exceeded context_window_exceeded truncated",
    "filter": "content_filter content_filtered content_filtering filter filtered safety recitation blocklist "
    "prohibited_content spii model_armor guardrail_intervened sensitive blocked moderation flagged",
    "refusal": "refusal refused",
    "broken": "error errored failed failure abort aborted cancelled canceled timeout time_limit network_error "
    "overloaded insufficient_system_resource other server_error unavailable load",
    "tool": "tool_call tool_calls tool_use function_call function_calls malformed_function_call unexpected_tool_call "
    "too_many_tool_calls",
}
_END_OF: dict[str, End] = {name: end for end, names in _NAMES.items() for name in names.split()}


def end_of(reason: object) -> End | None:
    """The meaning of a finish reason in any spelling; None if it is unknown. A missing or empty one means `end`.

    >>> end_of("FinishReason.STOP"), end_of("<|eot_id|>"), end_of("endTurn"), end_of(None), end_of("MAX_TOKENS")
    ('end', 'end', 'end', 'end', 'length')
    >>> end_of("vanished") is None
    True
    """
    if reason is None:
        return "end"
    if not isinstance(reason, str):
        return None
    words = re.sub("(?<=[a-z])(?=[A-Z])", "_", reason.rpartition(".")[2])
    name = re.sub("[^a-z]+", "_", words.casefold()).strip("_").removeprefix("finish_reason_")
    return _END_OF.get(name) if name else "end" if not reason.strip() else None
