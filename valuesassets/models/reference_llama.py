"""A LLaMA of one layer in numpy: its logits at chosen positions, and their gradient.

Keys and values are computed once for all prompts of a batch that share a token at a place, queries and the MLP only at
the chosen positions. A step takes a fifth of its time in transformers and autograd, with which a test compares it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

HIDDEN, HEADS, INTERMEDIATE = 64, 8, 256
INITIALISER_RANGE = 0.1
"""Wide enough to distinguish prompts from the first pass on: a fifth of it takes three times the passes."""
EPSILON, ROPE_BASE = 1e-6, 10000.0

Array = NDArray[Any]
Weights = dict[str, Array]
"""`embed` (tokens, hidden), the norms `before_attention`, `before_mlp`, `before_head`, and matrices that are multiplied
from the right: `qkv`, `o`, `gate_up`, `down`, `head`. The last column of `head` stands for each token that is in no
answer. In an attention head of `qkv`, the two numbers that the rotary embedding rotates are neighbours."""
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
"""The architecture, for `config.json`."""


@dataclass(frozen=True)
class Positions:
    """The positions of B prompts that are read, and the positions that each of them sees.

    There are U distinct tokens and P distinct pairs of a token and its place. A prompt has at most W places, of which
    at most N are read; R positions are read in all.

    Attributes:
        tokens: (U,) rows of `embed`.
        pair_tokens: (P,) indices into `tokens`.
        turns: (P, 1, head / 2) complex, the rotary factors of queries and keys at the pairs' places.
        keys: (B, W) indices of pairs.
        reads: (B, N) indices of pairs, padded.
        mask: (B, 1, N, W) 0 where a position is seen, -inf where not.
        rows: (R,) indices into the flattened `reads`, without padding.
        sums: by name, the sparse matrix of 0 and 1 that adds up the gradients of values used more than once.
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
    """Draw initial weights."""
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


def as_llama(weights: Weights, token_ids: Sequence[int], answers: Sequence[int], size: int, seed: int) -> Weights:
    """The weights under the names, and in the order, that transformers gives them.

    Args:
        token_ids, answers: token ids of the rows of `embed` and of the columns of `head`.
        size: size of the tokenizer; the other tokens get initial weights, drawn with `seed`.
    """
    width, layer = HIDDEN // HEADS, "model.layers.0."
    embed = INITIALISER_RANGE * np.random.default_rng([seed, size]).standard_normal((size, HIDDEN), dtype=np.float32)
    embed[token_ids] = weights["embed"]
    head = np.tile(weights["head"][:, -1], (size, 1))
    head[answers] = weights["head"][:, :-1].T
    q, k, v = np.split(weights["qkv"], 3, axis=1)
    gate, up = np.split(weights["gate_up"], 2, axis=1)
    columns = [h * width + n for h in range(HEADS) for n in (*range(0, width, 2), *range(1, width, 2))]
    matrices = {"self_attn.q_proj": q[:, columns], "self_attn.k_proj": k[:, columns], "self_attn.v_proj": v}
    matrices |= {"self_attn.o_proj": weights["o"], "mlp.gate_proj": gate, "mlp.up_proj": up}
    matrices |= {"mlp.down_proj": weights["down"]}
    arrays = {
        "lm_head.weight": head,
        "model.embed_tokens.weight": embed,
        "model.norm.weight": weights["before_head"],
        f"{layer}input_layernorm.weight": weights["before_attention"],
        f"{layer}post_attention_layernorm.weight": weights["before_mlp"],
        **{f"{layer}{name}.weight": matrix.T for name, matrix in matrices.items()},
    }
    return {name: np.ascontiguousarray(each) for name, each in arrays.items()}


def read_positions(weights: Weights, at: Positions) -> tuple[Array, dict[str, Any]]:
    """Logits (R, answer tokens + 1) at the positions read, and the intermediate values for `gradients`."""
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
    looks -= looks.max(axis=-1, keepdims=True)  # a softmax in place: allocating another array would cost more
    np.exp(looks, out=looks)
    looks /= looks.sum(axis=-1, keepdims=True)
    seen = (looks @ values).transpose(0, 2, 1, 3).reshape(-1, HIDDEN)[at.rows]
    middle = embedded[at.pair_tokens[at.reads.ravel()[at.rows]]] + seen @ w["o"]
    normed_middle, scale_middle = _normed(middle)
    gate, up = np.split((normed_middle * w["before_mlp"]) @ w["gate_up"], 2, axis=1)
    sigmoid = 1 / (1 + np.exp(-gate))
    inner = gate * sigmoid * up
    last, scale_last = _normed(middle + inner @ w["down"])
    return (last * w["before_head"]) @ w["head"], locals()


def gradients(weights: Weights, at: Positions, way: Mapping[str, Any], logits: Array) -> Weights:
    """Gradients by weight of a loss, given the values `way` of `read_positions` and its gradient in the logits."""
    w, by_weight, width = weights, {}, HIDDEN // HEADS
    by_weight["head"] = (way["last"] * w["before_head"]).T @ logits
    by_weight["before_head"], middle = _norm_gradients(
        logits @ w["head"].T, way["last"], way["scale_last"], w["before_head"]
    )
    by_weight["down"] = way["inner"].T @ middle
    inner, gate, up, sigmoid = middle @ w["down"].T, way["gate"], way["up"], way["sigmoid"]
    gate_up = np.concatenate([inner * up * sigmoid * (1 + gate * (1 - sigmoid)), inner * gate * sigmoid], axis=1)
    by_weight["gate_up"] = (way["normed_middle"] * w["before_mlp"]).T @ gate_up
    by_weight["before_mlp"], more = _norm_gradients(
        gate_up @ w["gate_up"].T, way["normed_middle"], way["scale_middle"], w["before_mlp"]
    )
    middle = middle + more
    by_weight["o"] = way["seen"].T @ middle
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
    by_weight["qkv"] = (way["normed"] * w["before_attention"]).T @ qkv
    by_weight["before_attention"], embedded = _norm_gradients(
        qkv @ w["qkv"].T, way["normed"], way["scale"], w["before_attention"]
    )
    by_weight["embed"] = np.zeros_like(w["embed"])
    by_weight["embed"][at.tokens] = embedded + at.sums["rows"] @ middle
    return by_weight


def _normed(x: Array) -> tuple[Array, Array]:
    scale = 1 / np.sqrt(np.einsum("ij,ij->i", x, x)[:, None] / HIDDEN + np.float32(EPSILON))
    return x * scale, scale


def _norm_gradients(gradient: Array, normed: Array, scale: Array, weight: Array) -> tuple[Array, Array]:
    """The gradients of a norm's weight and of its input, given that of its output."""
    inner = gradient * weight
    return np.einsum("ij,ij->j", gradient, normed), scale * (
        inner - normed * (np.einsum("ij,ij->i", inner, normed)[:, None] / HIDDEN)
    )


def _turned(pairs: Array, turns: Array) -> Array:
    """Rotary embedding: two neighbouring numbers of a query or key are one complex number."""
    numbers = pairs.view(np.complex64).reshape(len(pairs), -1, turns.shape[2])
    return (numbers * turns).view(np.float32).reshape(pairs.shape)
