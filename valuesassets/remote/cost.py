"""`Usage`: the requests and tokens that a provider counts, and their cost."""

import math
from collections.abc import Iterable

import pydantic

from valuesassets.records.settings.endpoints import Prices

CHARACTERS_PER_TOKEN = 3
"""A rule of thumb that overestimates tokens for most tokenizers and European languages."""
TOKENS_PER_TURN = 16
"""Most tokens that a provider adds to a turn."""


class Usage(pydantic.BaseModel):
    """Number of requests, and of their tokens as the responses give them; refused requests have no tokens."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Tokens of the prompt that the provider read from its cache."""
    output_tokens: int = 0
    thought_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: count + getattr(other, name) for name, count in self})

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(**{name: count - getattr(other, name) for name, count in self})

    @property
    def tokens(self) -> int:
        """Tokens sent and received, thoughts included."""
        return self.prompt_tokens + self.output_tokens + self.thought_tokens

    def cost_usd(self, prices: Prices | None) -> float | None:
        """Most that it costs, None without prices; tokens read from a cache count in full.

        >>> usage = Usage(prompt_tokens=1_000_000, output_tokens=60_000, thought_tokens=40_000)
        >>> usage.cost_usd(Prices(input=0.5, output=3))
        0.8
        """
        if prices is None:
            return None
        return (self.prompt_tokens * prices.input + (self.output_tokens + self.thought_tokens) * prices.output) / 1e6


def most_of(texts: Iterable[str], output_tokens: int) -> Usage:
    """Most that one request can use up: no token is shorter than a byte."""
    prompt_tokens = sum(len(text.encode()) + TOKENS_PER_TURN for text in texts)
    return Usage(requests=1, prompt_tokens=prompt_tokens, output_tokens=output_tokens)


def about_of(texts: Iterable[str], output_tokens: int) -> Usage:
    """Rough estimate of what one request uses up, with the longest possible answer."""
    prompt_tokens = sum(math.ceil(len(text) / CHARACTERS_PER_TOKEN) + TOKENS_PER_TURN for text in texts)
    return Usage(requests=1, prompt_tokens=prompt_tokens, output_tokens=output_tokens)
