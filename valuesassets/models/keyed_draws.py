"""Token sampling seeded by the text so far, so that batching never changes a sample.

A token is the argmax of logit + temperature * Gumbel noise, which is a draw from softmax(logit / temperature). The
noise of a token is an integer hash of the row's key, the step and the token's id, and the same on every machine.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from valuesassets.models.engine import BLOCK, by_block

TWO_LEVELS_ABOVE = 4096
"""Largest vocabulary in which every token gets noise; in a larger one a block is drawn first, then a token in it."""
CANDIDATES = 1024
"""How many of the likeliest tokens of a large vocabulary `top_p` looks at before it sorts all of them."""
TIE = {"float64": 2e-12, "float32": 2.4e-5, "float16": 4e-2, "bfloat16": 0.3}
"""By dtype: the difference of two logits that rounding may cause, as a share of the row's largest (1 at least)."""
STRIDE, FIRST, SECOND = -0x61C8864680B583EB, -0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15
"""Constants of splitmix64 (Steele, Lea and Flood 2014) as signed 64-bit integers, which torch multiplies mod 2**64."""
IN_BLOCKS = 0x5851F42D4C957F2D
"""Makes the noise of blocks independent of the noise of tokens."""


@dataclass(frozen=True)
class Draws:
    """The token drawn for each row, and how far rounding could change it.

    Attributes:
        tokens: token ids.
        gaps: lead of the best score over the second, in units of the logits; 0 or less where rounding decides which
            tokens `top_p` leaves out.
        near: a token whose gap is below this may be another one in another batch.
        is_finite: whether every logit of the row is a finite number; where not, the other fields mean nothing.
    """

    tokens: list[int]
    gaps: list[float]
    near: list[float]
    is_finite: list[bool]


def row_key(seed: int, weights_id: str, prompt_ids: Sequence[int], sample: int) -> int:
    """The key that a row's noise is computed from: 64 bits, as a signed integer."""
    identity = json.dumps([seed, weights_id, list(prompt_ids), sample]).encode()
    return int.from_bytes(hashlib.sha256(identity).digest()[:8], "little", signed=True)


def draw(
    logits: Tensor, keys: Sequence[int], steps: Sequence[int], temperature: Tensor, top_p: Tensor, dtype: str
) -> Draws:
    """Draw a token for each row.

    Args:
        logits: (rows, vocabulary), float32 or float64.
        keys, steps: the key of each row (`row_key`), and how many tokens it has written before.
        temperature, top_p: (rows,) float64, on the device of the logits; temperature 0 gives the likeliest token.
    """
    device, (rows, _) = logits.device, logits.shape
    low, high = logits.amin(1), logits.amax(1)
    is_finite = torch.isfinite(low) & torch.isfinite(high)
    near = torch.maximum(low.abs(), high.abs()).double().clamp_min(1) * TIE[dtype]
    hashes = _mixed(torch.tensor(keys, device=device) + (torch.tensor(steps, device=device) + 1) * STRIDE)
    tokens = torch.zeros(rows, dtype=torch.long, device=device)
    gaps = torch.zeros(rows, dtype=torch.float64, device=device)
    is_cut, is_drawn = top_p < 1, temperature > 0
    methods: list[tuple[Tensor, Callable[..., tuple[Tensor, Tensor]]]] = [
        (~is_drawn, _likeliest),
        (is_drawn & ~is_cut, _by_token if logits.shape[1] <= TWO_LEVELS_ABOVE else _by_block),
        (is_drawn & is_cut, _among_likeliest),
    ]
    for is_concerned, method in methods:
        chosen = (is_concerned & is_finite).nonzero()[:, 0]
        if len(chosen):
            is_every_row = len(chosen) == rows
            chosen_logits = logits if is_every_row else logits[chosen]
            settings = temperature[chosen], top_p[chosen], near[chosen]
            tokens[chosen], gaps[chosen] = method(chosen_logits, hashes[chosen], *settings)
    return Draws(tokens.tolist(), gaps.tolist(), near.tolist(), is_finite.tolist())


def gumbel_noise(keys: Tensor, ids: Tensor) -> Tensor:
    """Gumbel noise (rows, ids), float64, for int64 keys (rows,) and ids, (ids,) or (rows, ids), of tokens or blocks."""
    hashes = _mixed(keys[:, None] + (ids + 1) * STRIDE)
    uniform = (_shift_right(hashes, 12).double() + 0.5) * 2.0**-52  # strictly between 0 and 1
    return uniform.log_().neg_().log_().neg_()


def _mixed(value: Tensor) -> Tensor:
    """The output function of splitmix64."""
    value = (value ^ _shift_right(value, 30)) * FIRST
    value = (value ^ _shift_right(value, 27)) * SECOND
    return value ^ _shift_right(value, 31)


def _shift_right(value: Tensor, bits: int) -> Tensor:
    """Shift the bits right, and fill with zeros from the left."""
    return (value >> bits) & ((1 << (64 - bits)) - 1)


def _likeliest(logits: Tensor, *_: Tensor) -> tuple[Tensor, Tensor]:
    """The token with the largest logit, the first of equals, and its lead over the second."""
    best = logits.argmax(1, keepdim=True)
    value = logits.gather(1, best)
    second = logits.scatter(1, best, -torch.inf).amax(1, keepdim=True)
    return best[:, 0], (value - second)[:, 0].double()


def _by_token(logits: Tensor, keys: Tensor, temperature: Tensor, *_: Tensor) -> tuple[Tensor, Tensor]:
    """A draw with noise for every token of the vocabulary."""
    noise = gumbel_noise(keys, torch.arange(logits.shape[1], device=logits.device))
    return _likeliest(noise.mul_(temperature[:, None]).add_(logits))


def _by_block(logits: Tensor, keys: Tensor, temperature: Tensor, *_: Tensor) -> tuple[Tensor, Tensor]:
    """A draw of a block by its mass, then of a token in it: some hundred numbers each, the same distribution."""
    vocabulary, heat = logits.shape[1], temperature[:, None]
    masses = []
    rows_at_once = 1 if logits.device.type == "cpu" else len(logits)  # a row stays in a CPU's cache
    for rows, heat_of_rows in zip(logits.split(rows_at_once), heat.split(rows_at_once), strict=True):
        scaled = (rows - rows.amax(1, keepdim=True)).div_(heat_of_rows.to(rows.dtype)).exp_()
        masses.append(by_block(scaled, torch.sum).double().log_())
    log_masses = torch.cat(masses)
    numbers = torch.arange(log_masses.shape[1], device=logits.device)
    block, block_gap = _likeliest(heat * (log_masses + gumbel_noise(keys ^ IN_BLOCKS, numbers)))
    ids = block[:, None] * BLOCK + torch.arange(BLOCK, device=logits.device)
    scores = logits.gather(1, ids.clamp_max(vocabulary - 1)) + heat * gumbel_noise(keys, ids)
    place, gap = _likeliest(scores.masked_fill_(ids >= vocabulary, -torch.inf))
    return ids.gather(1, place[:, None])[:, 0], torch.minimum(block_gap, gap)


def _among_likeliest(
    logits: Tensor, keys: Tensor, temperature: Tensor, top_p: Tensor, near: Tensor
) -> tuple[Tensor, Tensor]:
    """A draw among the fewest likeliest tokens with mass `top_p`; gap 0 where rounding decides which they are."""
    heat, share, slack = temperature[:, None], top_p[:, None], (near / temperature)[:, None]
    log_norm = (logits / heat.to(logits.dtype)).logsumexp(1, keepdim=True).double()
    values, ids = _sort_likeliest(logits, CANDIDATES if logits.shape[1] > TWO_LEVELS_ABOVE else logits.shape[1])
    probs = (values.double() / heat - log_norm).exp_()
    if values.shape[1] < logits.shape[1] and bool((probs.sum(1, keepdim=True) < share + slack).any()):
        values, ids = _sort_likeliest(logits, logits.shape[1])
        probs = (values.double() / heat - log_norm).exp_()
    likelier = probs.cumsum(1) - probs
    is_kept, is_sure, is_possible = likelier < share, likelier < share - slack, likelier < share + slack
    is_kept[:, 0] = True  # where `top_p` rounds to 0
    # At the edge of the set, rounding may swap tokens of about the same probability.
    last_in = values.gather(1, is_possible.sum(1, keepdim=True).clamp_min(1) - 1)
    first_out = values.masked_fill(is_sure, -torch.inf).amax(1, keepdim=True)
    is_possible |= values >= last_in - near[:, None]
    is_sure &= values > first_out + near[:, None]
    scores = values + heat * gumbel_noise(keys, ids)
    place = scores.masked_fill(~is_kept, -torch.inf).argmax(1, keepdim=True)
    rivals = scores.masked_fill(~is_possible, -torch.inf).scatter(1, place, -torch.inf)
    gap = scores.gather(1, place) - rivals.amax(1, keepdim=True)
    return ids.gather(1, place)[:, 0], gap.masked_fill(~is_sure.gather(1, place), 0.0)[:, 0]


def _sort_likeliest(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` likeliest tokens of each row, likeliest first: logits and ids."""
    if count < logits.shape[1]:
        top = logits.topk(count)
        return top.values, top.indices
    return logits.sort(stable=True, dim=1, descending=True)
