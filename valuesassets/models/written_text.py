"""The text of tokens that a model has written, without half a character at the end."""

from collections.abc import Sequence

from valuesassets.spelling.prompt_tokenizer import UNFINISHED, PromptTokenizer

CHARACTER_BYTES = 4
"""Most bytes, and so most tokens, of a character."""


def whole_text(tokenizer: PromptTokenizer, prompt_ids: Sequence[int], tokens: Sequence[int]) -> str:
    """The text that tokens add to a prompt, without a character that is incomplete at their end.

    Some tokenizers drop the whole characters before it too: fewer tokens then give a longer text.
    """
    text = tokenizer.continuation_text(prompt_ids, tokens)
    if not text.endswith(UNFINISHED):
        return text
    fewer = (tokens[: len(tokens) - n] for n in range(1, min(CHARACTER_BYTES, len(tokens) + 1)))
    texts = [text, *(tokenizer.continuation_text(prompt_ids, part) for part in fewer)]
    return max((text.rstrip(UNFINISHED) for text in texts), key=len)


def has_stop(tokenizer: PromptTokenizer, tokens: Sequence[int], stops: Sequence[str]) -> bool:
    """Whether the last tokens alone hold a stop text: a cheap hint that the whole text is worth a search."""
    longest = max(len(stop.encode()) for stop in stops)
    end = tokenizer.decode(tokens[-longest - CHARACTER_BYTES :])
    return any(stop in end for stop in stops)


def is_open_before(text: str, place: int, stops: Sequence[str]) -> bool:
    """Whether a stop text that begins before a place may be completed by further text.

    >>> is_open_before("so it is. Q", 9, [".", "is. Q: "]), is_open_before("so it is. A", 9, [".", "is. Q: "])
    (True, False)
    """
    beginnings = ((stop, size) for stop in stops for size in range(1, len(stop)))
    return any(len(text) - size < place and text.endswith(stop[:size]) for stop, size in beginnings)


def count_tokens(tokenizer: PromptTokenizer, prompt_ids: Sequence[int], tokens: Sequence[int], text: str) -> int:
    """How many of the first tokens it takes to spell a text that all tokens begin with."""
    count = len(tokens)
    while count and len(whole_text(tokenizer, prompt_ids, tokens[: count - 1])) >= len(text):
        count -= 1
    return count


def count_before(tokenizer: PromptTokenizer, prompt_ids: Sequence[int], tokens: Sequence[int], text: str) -> int:
    """Most first tokens after which the others still end with a text that all tokens end with."""
    count = len(tokens)
    while count and not whole_text(tokenizer, (*prompt_ids, *tokens[:count]), tokens[count:]).endswith(text):
        count -= 1
    return count
