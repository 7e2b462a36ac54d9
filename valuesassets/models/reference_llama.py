"""A LLaMA of one layer, as arrays: what it answers at the positions that are read, and the gradient of that.

In the only layer, keys and values are plain projections of tokens at places: they are computed once for all prompts of
a batch that have a token in common; queries and the MLP at the positions read alone. Written out in numpy, a step costs
a fifth of what it costs through transformers and autograd, where most of the time goes into managing small tensors, and
nothing has to be imported that takes seconds. A test holds the arrays against transformers, and the gradient against
autograd.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

HIDDEN, HEADS, INTERMEDIATE = 64, 8, 256
INITIALISER_RANGE = 0.1
"""Wide enough that prompts are told apart from the first pass on: a fifth of it takes three times the passes."""
EPSILON, ROPE_BASE = 1e-6, 10000.0

Array = NDArray[Any]
Weights = dict[str, Array]
"""`embed` (tokens, hidden), the norms `before_attention`, `before_mlp`, `before_head`, and matrices to be multiplied
from the right: `qkv`, `o`, `gate_up`, `down`, `head`. The last of `head`'s columns is that of all tokens that are in no
answer; in a head of `qkv`, the two numbers that the rotary embedding turns lie side by side."""
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "dtype": "float32",
    "hidden_act": "silu",
    "hidden_size": HIDDEN,
    "initializer_range": INITIALISER_RANGE,
    "intermediate_size": INTERMEDIATE,
    "max_position_embeddings": 4096,
    "num_attention_heads": HEADS,
    "num_hidden_layers": 1,
    "num_key_value_heads": HEADS,
    "rms_norm_eps": EPSILON,
    "rope_parameters": {"rope_theta": ROPE_BASE, "rope_type": "default"},
    "tie_word_embeddings": False,
}
"""What `config.json` says of the architecture."""


@dataclass(frozen=True)
class Positions:
    """Which positions of B prompts are read, and what each of them sees.

    U tokens that occur, P pairs of a token and its place; W places at most in a prompt, N of them at most read; R read.

    Attributes:
        tokens: (U,) rows of `embed`, each once.
        pair_tokens: (P,) into `tokens`.
        turns: (P, 1, head / 2) complex, by which the rotary embedding multiplies queries and keys at the pairs' places.
        keys: (B, W) into the pairs.
        reads: (B, N) into the pairs.
        mask: (B, 1, N, W) 0 where a position is seen, -inf where not.
        rows: (R,) into the flattened `reads`, which are padded.
        sums: by name, the matrix (of 0 and 1, sparse) that adds up gradients of what was looked up more than once.
    """

    tokens: Array
    pair_tokens: Array
    turns: Array
    keys: Array
    reads: Array
    mask: Array
    rows: Array
    sums: Mapping[str, Any]


def new_weights(n_tokens: int, n_answer_tokens: int, random: np.random.Generator) -> Weights:
    """Weights as they are before training."""
    shapes = {
        "embed": (n_tokens, HIDDEN),
        "qkv": (HIDDEN, 3 * HIDDEN),
        "o": (HIDDEN, HIDDEN),
        "gate_up": (HIDDEN, 2 * INTERMEDIATE),
        "down": (INTERMEDIATE, HIDDEN),
        "head": (HIDDEN, n_answer_tokens + 1),
    }
    matrices = {
        name: (INITIALISER_RANGE * random.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()
    }
    norms = ("before_attention", "before_mlp", "before_head")
    return matrices | {name: np.ones(HIDDEN, dtype=np.float32) for name in norms}


def as_llama(weights: Weights, known: Sequence[int], answers: Sequence[int], size: int, seed: int) -> Weights:
    """The weights under the names, and in the order, that transformers gives them.

    Args:
        known, answers: token ids of the rows of `embed` and of the columns of `head`.
        size: of the tokenizer; tokens that are not known keep what they would have begun with, drawn from `seed`.
    """
    width, layer = HIDDEN // HEADS, "model.layers.0."
    embed = INITIALISER_RANGE * np.random.default_rng([seed, size]).standard_normal((size, HIDDEN), dtype=np.float32)
    embed[known] = weights["embed"]
    head = np.tile(weights["head"][:, -1], (size, 1))
    head[answers] = weights["head"][:, :-1].T
    q, k, v = np.split(weights["qkv"], 3, axis=1)
    gate, up = np.split(weights["gate_up"], 2, axis=1)
    halves = [h * width + n for h in range(HEADS) for n in (*range(0, width, 2), *range(1, width, 2))]
    matrices = {"self_attn.q_proj": q[:, halves], "self_attn.k_proj": k[:, halves], "self_attn.v_proj": v}
    matrices |= {"self_attn.o_proj": weights["o"], "mlp.gate_proj": gate, "mlp.up_proj": up}
    matrices |= {"mlp.down_proj": weights["down"]}
    named = {
        "lm_head.weight": head,
        "model.embed_tokens.weight": embed,
        "model.norm.weight": weights["before_head"],
        f"{layer}input_layernorm.weight": weights["before_attention"],
        f"{layer}post_attention_layernorm.weight": weights["before_mlp"],
        **{f"{layer}{name}.weight": matrix.T for name, matrix in matrices.items()},
    }
    return {name: np.ascontiguousarray(each) for name, each in named.items()}


def read_positions(weights: Weights, at: Positions) -> tuple[Array, dict[str, Any]]:
    """(R, answer tokens + 1) logits at the positions read, and what `gradients` needs of the way there."""
    w, width = weights, HIDDEN // HEADS
    n_prompts, n_reads, n_places = len(at.keys), at.reads.shape[1], at.keys.shape[1]
    embedded = w["embed"][at.tokens]
    normed, scale = _normed(embedded)
    qkv = (normed * w["before_attention"]) @ w["qkv"]
    turned = _turned(qkv[:, : 2 * HIDDEN].take(at.pair_tokens, axis=0), at.turns)
    queries = turned[:, :HIDDEN].take(at.reads, axis=0).reshape(n_prompts, n_reads, HEADS, width).transpose(0, 2, 1, 3)
    keys, values = (
        each.take(places, axis=0).reshape(n_prompts, n_places, HEADS, width).transpose(0, 2, 1, 3)
        for each, places in ((turned[:, HIDDEN:], at.keys), (qkv[:, 2 * HIDDEN :], at.pair_tokens[at.keys]))
    )
    looks = queries @ keys.swapaxes(2, 3)
    looks *= np.float32(width**-0.5)
    looks += at.mask
    _softmax_in_place(looks)
    seen = (looks @ values).transpose(0, 2, 1, 3).reshape(-1, HIDDEN)[at.rows]
    middle = embedded[at.pair_tokens[at.reads.ravel()[at.rows]]] + seen @ w["o"]
    normed_middle, scale_middle = _normed(middle)
    gate, up = np.split((normed_middle * w["before_mlp"]) @ w["gate_up"], 2, axis=1)
    sigmoid = 1 / (1 + np.exp(-gate))
    inner = gate * sigmoid * up
    last, scale_last = _normed(middle + inner @ w["down"])
    return (last * w["before_head"]) @ w["head"], locals()


def gradients(weights: Weights, at: Positions, way: Mapping[str, Any], logits: Array) -> Weights:
    """By weight, the gradient of something whose gradient in the logits, (R, answer tokens + 1), is given.

    Args:
        way: what `read_positions` gave beside the logits.
    """
    w, found, width = weights, {}, HIDDEN // HEADS
    found["head"] = (way["last"] * w["before_head"]).T @ logits
    found["before_head"], middle = _through_norm(logits @ w["head"].T, way["last"], way["scale_last"], w["before_head"])
    found["down"] = way["inner"].T @ middle
    inner, gate, up, sigmoid = middle @ w["down"].T, way["gate"], way["up"], way["sigmoid"]
    gate_up = np.concatenate([inner * up * sigmoid * (1 + gate * (1 - sigmoid)), inner * gate * sigmoid], axis=1)
    found["gate_up"] = (way["normed_middle"] * w["before_mlp"]).T @ gate_up
    found["before_mlp"], more = _through_norm(
        gate_up @ w["gate_up"].T, way["normed_middle"], way["scale_middle"], w["before_mlp"]
    )
    middle = middle + more
    found["o"] = way["seen"].T @ middle
    seen = np.zeros((at.reads.size, HIDDEN), dtype=np.float32)
    seen[at.rows] = middle @ w["o"].T
    seen = seen.reshape(*at.reads.shape, HEADS, width).transpose(0, 2, 1, 3)
    looks, queries, keys = way["looks"], way["queries"], way["keys"]
    looked = seen @ way["values"].swapaxes(2, 3)
    looked -= (looked * looks).sum(axis=3, keepdims=True)
    looked *= looks
    looked *= np.float32(width**-0.5)
    of_queries, of_keys, of_values = (
        each.transpose(0, 2, 1, 3).reshape(-1, HIDDEN)
        for each in (looked @ keys, looked.swapaxes(2, 3) @ queries, looks.swapaxes(2, 3) @ seen)
    )
    turned = np.concatenate([at.sums["reads"] @ of_queries, at.sums["keys"] @ of_keys], axis=1)
    turned = _turned(turned, at.turns.conj())
    qkv = np.concatenate([at.sums["pairs"] @ turned, at.sums["values"] @ of_values], axis=1)
    found["qkv"] = (way["normed"] * w["before_attention"]).T @ qkv
    found["before_attention"], embedded = _through_norm(
        qkv @ w["qkv"].T, way["normed"], way["scale"], w["before_attention"]
    )
    found["embed"] = np.zeros_like(w["embed"])
    found["embed"][at.tokens] = embedded + at.sums["rows"] @ middle
    return found


def _normed(x: Array) -> tuple[Array, Array]:
    scale = 1 / np.sqrt(np.einsum("ij,ij->i", x, x)[:, None] / HIDDEN + np.float32(EPSILON))
    return x * scale, scale


def _through_norm(given: Array, normed: Array, scale: Array, weight: Array) -> tuple[Array, Array]:
    """The gradients of a norm's weight and of what went into it."""
    inner = given * weight
    return np.einsum("ij,ij->j", given, normed), scale * (
        inner - normed * (np.einsum("ij,ij->i", inner, normed)[:, None] / HIDDEN)
    )


def _turned(pairs: Array, turns: Array) -> Array:
    """Rotary embedding: two neighbouring numbers of a query or key are one complex number."""
    numbers = pairs.view(np.complex64).reshape(len(pairs), -1, turns.shape[2])
    return (numbers * turns).view(np.float32).reshape(pairs.shape)


def _softmax_in_place(logits: Array) -> None:
    """Overwrite logits by their softmax: these are the largest arrays, and a new one costs more than its sum."""
    logits -= logits.max(axis=-1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=-1, keepdims=True)
