"""The best order-preserving way through a form: which target each of its questions is, all of them at once.

A hidden Markov model: the state is the target reached, or a question of the form that the master lacks behind it. A
form goes on to the next target; it may leave some out, ask its own questions in between, and jump back, where an
extraction begins again. Items of one list stay together.

Source: Rabiner (1989), "A tutorial on hidden Markov models", sections III.A (forward-backward) and III.B (Viterbi).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

SKIP, SKIP_MORE = 1.5, 0.5
"""Costs (nats) of leaving targets out: once, and for each e-fold more of them."""
STAY = 3.0
"""Cost of two questions in a row that are the same target."""
BACK, BACK_MORE = 7.0, 0.3
"""Costs of a jump back, likewise."""
FOREIGN, FOREIGN_MORE = 2.0, 0.5
"""Costs of a question that the master lacks: the first, and each that follows."""
LATE = 0.5
"""Cost of beginning later in the master, for each e-fold."""


@dataclass(frozen=True)
class Path:
    """Which target each question is.

    Attributes:
        places: by question, the target's place, or None where the master lacks it.
        confidence: by question, the probability of that under the model, all other ways considered.
    """

    places: tuple[int | None, ...]
    confidence: tuple[float, ...]


def order_steps(is_asked: NDArray[np.bool_]) -> Matrix:
    """Log weights of going from each target (row) to each (column), by their order alone.

    Args:
        is_asked: which targets the master asks; leaving out what it does not ask costs nothing.
    """
    place = np.arange(len(is_asked))
    ahead = place[None] - place[:, None]
    passed = np.cumsum(is_asked)
    left_out = (passed - is_asked)[None] - passed[:, None]  # of the targets between, those that the master asks
    skipped = -(SKIP + SKIP_MORE * np.log(np.maximum(left_out, 0) + 1))
    back = -(BACK + BACK_MORE * np.log(np.maximum(-ahead, 0) + 1))
    is_next = (ahead == 1) | ((ahead > 1) & (left_out == 0) & is_asked[None])
    return np.select([is_next, ahead > 0, ahead == 0], [0.0, skipped, -STAY], back)


def best_path(
    evidence: Matrix, steps: Sequence[Matrix], lacking: Vector | None = None, with_confidence: bool = False
) -> Path:
    """The most likely way, and how sure each of its matches is.

    Args:
        evidence: log odds of each question (row) being each target (column).
        steps: log weights of the step to each question but the first, from each target (row) to each (column).
        lacking: log odds of each question being none of the targets; none where not given.
        with_confidence: a second pass; without it confidence is empty.
    """
    n_questions, n_targets = evidence.shape
    if n_questions == 0 or n_targets == 0:
        return Path((None,) * n_questions, (1.0,) * n_questions if with_confidence else ())
    lacking = np.zeros(n_questions) if lacking is None else lacking
    first = evidence[0] - LATE * np.log(1.0 + np.arange(n_targets))
    start = np.concatenate([first, np.full(n_targets, lacking[0] - FOREIGN)])
    places = tuple(state if state < n_targets else None for state in _viterbi(evidence, start, steps, lacking))
    if not with_confidence:
        return Path(places, ())
    sure = _posterior(evidence, start, steps, lacking)
    none = sure[:, n_targets:].sum(axis=1)
    return Path(places, tuple(float(none[n] if at is None else sure[n, at]) for n, at in enumerate(places)))


def _viterbi(evidence: Matrix, start: Vector, steps: Sequence[Matrix], lacking: Vector) -> list[int]:
    size = evidence.shape[1]
    score, came_from = start, []
    for n, step in enumerate(steps, 1):
        reached = np.maximum(score[:size], score[size:])
        last = np.where(score[:size] >= score[size:], np.arange(size), np.arange(size) + size)
        ways = reached[:, None] + step
        best = ways.argmax(axis=0)
        matched = ways[best, np.arange(size)] + evidence[n]
        first, more = score[:size] - FOREIGN, score[size:] - FOREIGN_MORE
        came_from.append(np.concatenate([last[best], np.where(first >= more, np.arange(size), np.arange(size) + size)]))
        score = np.concatenate([matched, np.maximum(first, more) + lacking[n]])
    states = [int(score.argmax())]
    for previous in reversed(came_from):
        states.append(int(previous[states[-1]]))
    return states[::-1]


def _posterior(evidence: Matrix, start: Vector, steps: Sequence[Matrix], lacking: Vector) -> Matrix:
    """Probability of each state at each question; rows sum to one."""
    size = evidence.shape[1]
    forward = [start]
    for n, step in enumerate(steps, 1):
        score = forward[-1]
        reached = np.logaddexp(score[:size], score[size:])
        matched = _log_sum(reached[:, None] + step, axis=0) + evidence[n]
        none = np.logaddexp(score[:size] - FOREIGN, score[size:] - FOREIGN_MORE) + lacking[n]
        forward.append(np.concatenate([matched, none]))
    behind = np.zeros(2 * size)
    posterior = [forward[-1] + behind]
    for n in range(len(steps), 0, -1):
        onward = _log_sum(steps[n - 1] + (evidence[n] + behind[:size])[None], axis=1)
        none = behind[size:] + lacking[n]
        behind = np.concatenate([np.logaddexp(onward, none - cost) for cost in (FOREIGN, FOREIGN_MORE)])
        posterior.append(forward[n - 1] + behind)
    together = np.array(posterior[::-1])
    return np.exp(together - _log_sum(together, axis=1)[:, None])


def _log_sum(values: Matrix, axis: int) -> Vector:
    """The logarithm of the sum of exponentials of finite values; scipy's, for all kinds of input, takes four times as
    long, and was a third of an alignment."""
    largest = values.max(axis=axis, keepdims=True)
    return np.log(np.exp(values - largest).sum(axis=axis)) + largest.squeeze(axis)
