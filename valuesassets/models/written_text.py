"""What tokens that a model has written say: no half of a character at the end."""

from collections.abc import Sequence

from valuesassets.spelling.prompt_tokenizer import UNFINISHED, PromptTokenizer

CHARACTER_BYTES = 4
"""Most bytes, and so most tokens, of a character."""


def whole_text(tokenizer: PromptTokenizer, prompt_ids: Sequence[int], tokens: Sequence[int]) -> str:
    """The text that tokens add to a prompt; a character that is cut off at their end is left out.

    Some tokenizers give up the whole characters before it too: what fewer tokens say is then the longer text.
    """
    text = tokenizer.continuation_text(prompt_ids, tokens)
    if not text.endswith(UNFINISHED):
        return text
    fewer = (tokens[: len(tokens) - n] for n in range(1, min(CHARACTER_BYTES, len(tokens) + 1)))
    texts = [text, *(tokenizer.continuation_text(prompt_ids, part) for part in fewer)]
    return max((text.rstrip(UNFINISHED) for text in texts), key=len)


def has_stop(tokenizer: PromptTokenizer, tokens: Sequence[int], stops: Sequence[str]) -> bool:
    """Whether the last tokens, by themselves, hold a stop text: cheap, and a hint to look at the whole text."""
    longest = max(len(stop.encode()) for stop in stops)
    end = tokenizer.decode(tokens[-longest - CHARACTER_BYTES :])
    return any(stop in end for stop in stops)


def is_open_before(text: str, place: int, stops: Sequence[str]) -> bool:
    """Whether a stop text that begins before a place may become whole behind the text's end.

    >>> is_open_before("so it is. Q", 9, [".", "is. Q: "]), is_open_before("so it is. A", 9, [".", "is. Q: "])
    (True, False)
    """
    begun = ((stop, size) for stop in stops for size in range(1, len(stop)))
    return any(len(text) - size < place and text.endswith(stop[:size]) for stop, size in begun)


def count_tokens(tokenizer: PromptTokenizer, prompt_ids: Sequence[int], tokens: Sequence[int], text: str) -> int:
    """The fewest of the tokens that say all of a text which they begin with."""
    count = len(tokens)
    while count and len(whole_text(tokenizer, prompt_ids, tokens[: count - 1])) >= len(text):
        count -= 1
    return count


def count_before(tokenizer: PromptTokenizer, prompt_ids: Sequence[int], tokens: Sequence[int], text: str) -> int:
    """The most of the tokens that come before a text which they end with."""
    count = len(tokens)
    while count and not whole_text(tokenizer, (*prompt_ids, *tokens[:count]), tokens[count:]).endswith(text):
        count -= 1
    return count
