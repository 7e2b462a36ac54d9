"""Fits a follower to lessons: batches of transcripts of like length side by side, on one core."""

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from valuesassets.models.follower_lessons import Lessons
from valuesassets.models.follower_llama import Follower, Group
from valuesassets.models.follower_steps import steps_of

TRANSCRIPTS, GROUPS = 32, 2
"""In a batch; and the groups of like length that it is read in."""
STEPS_TO_WARM = 20
LAST_STEPS = 20
"""Batches at the end that the fit is told from."""


def fit(
    lessons: Lessons, n_tokens: int, steps: int, seed: int, on_step: Callable[[int, float], None] | None = None
) -> tuple[Follower, NDArray[np.float32]]:
    """A model that has read `steps` batches, and the KL (nats) of what was taught in the last of them.

    Args:
        n_tokens: of the tokenizer.
        on_step: called with (batches done, mean KL of the last in nats).
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _fit(lessons, n_tokens, steps, seed, on_step)
    finally:
        torch.set_num_threads(threads)


def _fit(
    lessons: Lessons, n_tokens: int, steps: int, seed: int, on_step: Callable[[int, float], None] | None
) -> tuple[Follower, NDArray[np.float32]]:
    n_answers = len(lessons.answers)
    follower = Follower(len(lessons.known), n_answers, n_tokens - n_answers, seed)
    step = steps_of(follower.weights, follower.shapes, follower.matrices)
    entropy = _entropy(lessons.laws)
    last: list[NDArray[np.float32]] = []
    for done, batch in enumerate(_batches(len(lessons.tokens), steps, np.random.default_rng(seed)), 1):
        groups, numbers = stack(lessons, batch)
        is_taught = numbers >= 0
        laws = torch.from_numpy(np.where(is_taught[:, None], lessons.laws[numbers], 0))
        losses = -(laws * follower.log_probs(groups)).sum(dim=1)
        (gradient,) = torch.autograd.grad(losses.sum() / int(is_taught.sum()), follower.weights)
        step(gradient, min(1.0, done / STEPS_TO_WARM) * math.sin(math.pi / 2 * (1 - done / steps)) ** 2 + 0.002)
        kl = losses.detach().numpy()[is_taught] - entropy[numbers[is_taught]]
        if done > steps - LAST_STEPS:
            last.append(kl)
        if on_step:
            on_step(done, float(kl.mean()))
    return follower, np.concatenate(last)


def stack(lessons: Lessons, batch: Iterable[int]) -> tuple[list[Group], NDArray[np.int64]]:
    """Transcripts in groups of like length, and for each place read its row of `laws`; -1 where it is padded."""
    ordered = sorted(batch, key=lambda n: len(lessons.tokens[n]))
    size = -(-len(ordered) // GROUPS)
    groups, numbers = [], []
    for part in (ordered[start : start + size] for start in range(0, len(ordered), size)):
        tokens = np.zeros((len(part), max(len(lessons.tokens[n]) for n in part)), dtype=np.int64)
        places = np.zeros((len(part), max(len(lessons.places[n]) for n in part)), dtype=np.int64)
        rows = np.full(places.shape, -1)
        for row, n in enumerate(part):
            taught = len(lessons.places[n])
            tokens[row, : len(lessons.tokens[n])] = lessons.tokens[n]
            places[row, :taught] = lessons.places[n]
            rows[row, :taught] = lessons.first[n] + np.arange(taught)
        groups.append(Group(torch.from_numpy(tokens), torch.from_numpy(places)))
        numbers.append(rows.ravel())
    return groups, np.concatenate(numbers)


def _batches(n: int, steps: int, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Numbers of transcripts, all of them in an order drawn anew before any comes again."""
    waiting = np.zeros(0, dtype=np.int64)
    for _ in range(steps):
        while len(waiting) < min(n, TRANSCRIPTS):
            waiting = np.concatenate([waiting, random.permutation(n)])
        yield waiting[:TRANSCRIPTS]
        waiting = waiting[TRANSCRIPTS:]


def _entropy(laws: NDArray[np.float32]) -> NDArray[np.float32]:
    """Nats, of each row; the logarithm of 0 counts for nothing."""
    return -(laws * np.log(np.maximum(laws, np.finfo(np.float32).tiny))).sum(axis=1)
