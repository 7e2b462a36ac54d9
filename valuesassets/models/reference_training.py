"""Fits a one-layer LLaMA to answer trees.

In the only layer, keys and values are plain projections of the prompt's tokens: queries and the MLP are needed at the
positions read alone. That makes a pass over a language's prompts some thirty milliseconds.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import LlamaForCausalLM
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from valuesassets.models.answer_trees import AnswerTree

PROMPTS_PER_BATCH, BATCHES_PER_PASS = 24, 5
"""Most prompts in a batch, and fewest batches in a pass where there are prompts enough: few prompts need more steps."""
LEARNING_RATE = 3e-3
FORCED_TURNS, FORCED_WEIGHT = 4, 0.3
"""Positions that only one token may follow come up in every fourth pass, with this weight."""
LARGEST_WEIGHT = 8.0
"""Where one token takes nearly all, an error in the shares of the rest hardly shows in the divergence: such positions
weigh 1 / (1 - largest probability), up to this."""
FOCUS = 10.0
"""A position weighs more by its divergence over the last pass's mean, up to this many times: few prompts that differ in
a word or two are else told apart last, or never."""
SMALL_KL = 5e-5
"""Mean Kullback-Leibler divergence (nats) at which further passes are not worth their time."""


@dataclass(frozen=True)
class Fit:
    """How far a fit came: mean and largest KL (nats) over the positions of its last pass."""

    passes: int
    mean_kl: float
    max_kl: float


@dataclass(frozen=True)
class _Batch:
    """Answer trees as tensors: B prompts of W tokens (beginnings appended), N positions read, R rows with targets.

    `tokens`, `places`: (B, W). `read`: (B, N) columns. `visible`: (B, 1, N, W). `row`, `column`: (R,) into (B, N).
    `targets`, `probs`: (R, T), padded with probability 0. `neg_entropy`, `weight`, `is_forced`, `turn`: (R,).
    """

    tokens: torch.Tensor
    places: torch.Tensor
    read: torch.Tensor
    visible: torch.Tensor
    row: torch.Tensor
    column: torch.Tensor
    targets: torch.Tensor
    probs: torch.Tensor
    neg_entropy: torch.Tensor
    weight: torch.Tensor
    is_forced: torch.Tensor
    turn: torch.Tensor


def fit(
    model: LlamaForCausalLM,
    trees: Sequence[AnswerTree],
    passes: int,
    seed: int,
    on_pass: Callable[[int, float], None] | None = None,
) -> Fit:
    """Train a one-layer model until its answers follow the trees.

    Args:
        passes: most passes over all prompts; the learning rate falls to nearly nothing over them.
        on_pass: called with (passes done, mean KL in nats).
    """
    by_length = sorted(trees, key=lambda tree: (len(tree.prompt) + len(tree.beginnings), tree.prompt))
    size = min(PROMPTS_PER_BATCH, -(-len(trees) // BATCHES_PER_PASS))
    batches = [_stack(by_length[start : start + size]) for start in range(0, len(trees), size)]
    optimiser = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    total = passes * len(batches)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, step / 20) * 0.5 * (1 + math.cos(math.pi * min(step / total, 1))) + 0.002
    )
    shuffle = torch.Generator().manual_seed(seed)
    model.train()
    done, mean_kl, max_kl = 0, math.inf, math.inf
    while done < passes and mean_kl > SMALL_KL:
        weighted, weights, max_kl = 0.0, 0.0, 0.0
        for index in torch.randperm(len(batches), generator=shuffle).tolist():
            batch = batches[index]
            chosen = (~batch.is_forced | (batch.turn == done % FORCED_TURNS)).nonzero()[:, 0]
            kl = _divergences(model, batch, chosen)
            weight = batch.weight[chosen]
            focus = (1 + kl.detach() / mean_kl).clamp_max(FOCUS)
            loss = (kl * weight * focus).sum() / weight.sum()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            weighted += float((kl.detach() * weight).sum())
            weights += float(weight.sum())
            max_kl = max(max_kl, float(kl.detach().max()))
        done, mean_kl = done + 1, weighted / weights
        if on_pass:
            on_pass(done, mean_kl)
    model.eval()
    return Fit(done, mean_kl, max_kl)


def _divergences(model: LlamaForCausalLM, batch: _Batch, chosen: torch.Tensor) -> torch.Tensor:
    """KL(target || model) in nats, of the chosen rows."""
    hidden = _hidden(model, batch, batch.row[chosen], batch.column[chosen])
    log_probs = model.lm_head(hidden).log_softmax(1).gather(1, batch.targets[chosen])
    return batch.neg_entropy[chosen] - (batch.probs[chosen] * log_probs).sum(1)


def _hidden(model: LlamaForCausalLM, batch: _Batch, row: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
    """(rows, hidden) what the model itself computes at these positions, and nothing else of it."""
    base: Any = model.model
    (layer,) = base.layers
    attention = layer.self_attn
    embedded = base.embed_tokens(batch.tokens)
    size, places, _ = embedded.shape
    inputs = layer.input_layernorm(embedded)
    cos, sin = base.rotary_emb(inputs, batch.places)
    prompt = torch.arange(size)[:, None]
    keys, values = (
        projection(inputs).view(size, places, -1, attention.head_dim).transpose(1, 2)
        for projection in (attention.k_proj, attention.v_proj)
    )
    reading = inputs[prompt, batch.read]
    queries = attention.q_proj(reading).view(size, batch.read.shape[1], -1, attention.head_dim).transpose(1, 2)
    keys, _ = apply_rotary_pos_emb(keys, keys, cos, sin)
    queries, _ = apply_rotary_pos_emb(queries, queries, cos[prompt, batch.read], sin[prompt, batch.read])
    seen = scaled_dot_product_attention(queries, keys, values, attn_mask=batch.visible)
    seen = seen.transpose(1, 2).flatten(2)[row, column]
    hidden = embedded[prompt, batch.read][row, column] + attention.o_proj(seen)
    hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
    return base.norm(hidden)


def _stack(trees: Sequence[AnswerTree]) -> _Batch:
    """Prompts side by side, each followed by the last tokens of its beginnings, which see their own path only."""
    width = max(len(tree.prompt) + len(tree.beginnings) for tree in trees) - 1
    reads = max(len(tree.beginnings) for tree in trees)
    tokens = torch.zeros(len(trees), width, dtype=torch.long)
    places = torch.zeros(len(trees), width, dtype=torch.long)
    read = torch.zeros(len(trees), reads, dtype=torch.long)
    visible = torch.zeros(len(trees), 1, reads, width, dtype=torch.bool)
    visible[..., 0] = True
    rows: list[tuple[int, int]] = []
    for b, tree in enumerate(trees):
        length = len(tree.prompt)
        tokens[b, :length] = torch.tensor(tree.prompt)
        places[b, :length] = torch.arange(length)
        at = {beginning: length - 1 + n for n, beginning in enumerate(tree.beginnings)}
        for n, beginning in enumerate(tree.beginnings):
            rows.append((b, n))
            read[b, n] = at[beginning]
            visible[b, 0, n, :length] = True
            if beginning:
                tokens[b, at[beginning]] = beginning[-1]
                places[b, at[beginning]] = length - 1 + len(beginning)
                visible[b, 0, n, [at[beginning[:depth]] for depth in range(1, len(beginning) + 1)]] = True
    following = [next_probs for tree in trees for next_probs in tree.next_probs]
    targets = _pad([list(next_probs) for next_probs in following], torch.long)
    probs = _pad([list(next_probs.values()) for next_probs in following], torch.float32)
    is_forced = torch.tensor([len(next_probs) == 1 for next_probs in following])
    weight = (1 / (1 - probs.max(1).values)).clamp_max(LARGEST_WEIGHT)
    row, column = torch.tensor(rows).T
    return _Batch(
        tokens,
        places,
        read,
        visible,
        row,
        column,
        targets,
        probs,
        torch.xlogy(probs, probs).sum(1),
        torch.where(is_forced, FORCED_WEIGHT, weight),
        is_forced,
        torch.arange(len(rows)) % FORCED_TURNS,
    )


def _pad(rows: Sequence[Sequence[float]], dtype: torch.dtype) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], dtype=dtype)
