"""Sequences of token ids, and a model's answer about the next token."""

from dataclasses import dataclass

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class NextToken:
    """A model's next-token distribution at one place, as far as it is needed.

    Attributes:
        log_probs: log-probabilities (nats) of the requested tokens.
        likeliest: the likeliest tokens and their probabilities.
        is_finite: whether all logits are finite numbers; where not, the other fields mean nothing.
    """

    log_probs: tuple[float, ...]
    likeliest: tuple[tuple[int, float], ...]
    is_finite: bool
