"""Fits a follower to lessons, in batches of transcripts of similar length, on one core."""

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from valuesassets.models.follower_lessons import Lessons
from valuesassets.models.follower_llama import Follower, Group
from valuesassets.models.follower_steps import make_stepper

TRANSCRIPTS, GROUPS = 32, 2
"""Transcripts per batch, and groups of similar length into which a batch is split."""
STEPS_TO_WARM = 20
LAST_STEPS = 20
"""Number of last batches whose divergences describe the fit."""


def fit(
    lessons: Lessons, n_tokens: int, steps: int, seed: int, on_step: Callable[[int, float], None] | None = None
) -> tuple[Follower, NDArray[np.float32]]:
    """Train on `steps` batches; `on_step` gets (batches, mean KL). Also returns all KLs (nats) of the last batches."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        n_answers = len(lessons.answers)
        follower = Follower(len(lessons.token_ids), n_answers, n_tokens - n_answers, seed)
        step = make_stepper(follower.weights, follower.shapes, follower.matrices)
        tiny = np.finfo(np.float32).tiny  # so that 0 log 0 = 0
        entropy = -(lessons.targets * np.log(np.maximum(lessons.targets, tiny))).sum(axis=1)
        last_kls: list[NDArray[np.float32]] = []
        for done, batch in enumerate(_batches(len(lessons.tokens), steps, np.random.default_rng(seed)), 1):
            groups, numbers = stack(lessons, batch)
            is_taught = numbers >= 0
            targets = torch.from_numpy(np.where(is_taught[:, None], lessons.targets[numbers], 0))
            losses = -(targets * follower.log_probs(groups)).sum(dim=1)
            (gradient,) = torch.autograd.grad(losses.sum() / int(is_taught.sum()), follower.weights)
            step(gradient, min(1.0, done / STEPS_TO_WARM) * math.sin(math.pi / 2 * (1 - done / steps)) ** 2 + 0.002)
            kl = losses.detach().numpy()[is_taught] - entropy[numbers[is_taught]]
            if done > steps - LAST_STEPS:
                last_kls.append(kl)
            if on_step:
                on_step(done, float(kl.mean()))
        return follower, np.concatenate(last_kls)
    finally:
        torch.set_num_threads(threads)


def stack(lessons: Lessons, batch: Iterable[int]) -> tuple[list[Group], NDArray[np.int64]]:
    """Transcripts in groups of similar length, and for each place its row of `targets`; -1 at padding."""
    ordered = sorted(batch, key=lambda n: len(lessons.tokens[n]))
    size = -(-len(ordered) // GROUPS)
    groups, numbers = [], []
    for part in (ordered[start : start + size] for start in range(0, len(ordered), size)):
        tokens = np.zeros((len(part), max(len(lessons.tokens[n]) for n in part)), dtype=np.int64)
        places = np.zeros((len(part), max(len(lessons.places[n]) for n in part)), dtype=np.int64)
        rows = np.full(places.shape, -1)
        for row, n in enumerate(part):
            n_lessons = len(lessons.places[n])
            tokens[row, : len(lessons.tokens[n])] = lessons.tokens[n]
            places[row, :n_lessons] = lessons.places[n]
            rows[row, :n_lessons] = lessons.first[n] + np.arange(n_lessons)
        groups.append(Group(torch.from_numpy(tokens), torch.from_numpy(places)))
        numbers.append(rows.ravel())
    return groups, np.concatenate(numbers)


def _batches(n: int, steps: int, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Batches of transcript numbers: all of them in random order, then again in another order."""
    waiting = np.zeros(0, dtype=np.int64)
    for _ in range(steps):
        while len(waiting) < min(n, TRANSCRIPTS):
            waiting = np.concatenate([waiting, random.permutation(n)])
        yield waiting[:TRANSCRIPTS]
        waiting = waiting[TRANSCRIPTS:]
