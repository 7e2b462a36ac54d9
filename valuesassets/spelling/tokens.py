"""Token ids in a row, and what a model says comes next behind them."""

from dataclasses import dataclass

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class NextToken:
    """What a model says comes next at one row: log-probabilities (nats) of the tokens asked for, and likeliest tokens.

    Where `is_finite` is False, some logit of the row is no number, and the others mean nothing.
    """

    log_probs: tuple[float, ...]
    likeliest: tuple[tuple[int, float], ...]
    is_finite: bool
