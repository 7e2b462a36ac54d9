"""`Usage`: requests and tokens, as a provider counts them, and what they cost."""

import math
from collections.abc import Iterable

import pydantic

from valuesassets.records.settings.endpoints import Prices

CHARACTERS_PER_TOKEN = 3
"""A rule of thumb, on the safe side for most tokenizers and European languages."""
TOKENS_PER_TURN = 16
"""What a provider adds to a turn, at most."""


class Usage(pydantic.BaseModel):
    """Requests to the model and their tokens, as its answers count them; refused requests count no tokens."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Of the prompt's tokens, those that the provider had seen before."""
    output_tokens: int = 0
    thought_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: count + getattr(other, name) for name, count in self})

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(**{name: count - getattr(other, name) for name, count in self})

    @property
    def tokens(self) -> int:
        """Sent and received, thoughts included."""
        return self.prompt_tokens + self.output_tokens + self.thought_tokens

    def cost_usd(self, prices: Prices | None) -> float | None:
        """What it costs at most, None where the prices are not known: tokens that were seen before count in full.

        >>> Usage(prompt_tokens=1_000_000, output_tokens=100_000).cost_usd(Prices(input=0.5, output=3))
        0.8
        """
        if prices is None:
            return None
        return (self.prompt_tokens * prices.input + (self.output_tokens + self.thought_tokens) * prices.output) / 1e6


def most_of(texts: Iterable[str], output_tokens: int) -> Usage:
    """What one request uses up at most: no token is less than a byte."""
    sent = sum(len(text.encode()) + TOKENS_PER_TURN for text in texts)
    return Usage(requests=1, prompt_tokens=sent, output_tokens=output_tokens)


def about_of(texts: Iterable[str], output_tokens: int) -> Usage:
    """What one request uses up by a rule of thumb, all that it may answer included."""
    sent = sum(math.ceil(len(text) / CHARACTERS_PER_TOKEN) + TOKENS_PER_TURN for text in texts)
    return Usage(requests=1, prompt_tokens=sent, output_tokens=output_tokens)
