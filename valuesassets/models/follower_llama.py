"""A LLaMA of two layers in torch: its next-token probabilities at chosen places, and its weights for transformers.

Only what is needed is computed: the first layer's projections once per distinct token, and the last layer's queries and
MLP only at the chosen places. With fewer than two layers a model cannot look up earlier answers by their questions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from valuesassets.models.reference_llama import CONFIG as ONE_LAYER
from valuesassets.models.reference_llama import EPSILON, INITIALISER_RANGE, ROPE_BASE

HIDDEN, HEADS, INTERMEDIATE, LAYERS = 64, 4, 128, 2
WIDTH = HIDDEN // HEADS
CONFIG = ONE_LAYER | {
    "hidden_size": HIDDEN,
    "intermediate_size": INTERMEDIATE,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "num_key_value_heads": HEADS,
}
"""The architecture, for `config.json`."""


@dataclass(frozen=True)
class Group:
    """B transcripts, padded: `tokens` (B, T), rows of the embedding, and `places` (B, R), the tokens read behind."""

    tokens: Tensor
    places: Tensor


class Follower:
    """The model's weights, and its output.

    Attributes:
        weights: all weights in one tensor, to be trained.
        shapes: shapes of the parts of `weights`, by name.
        matrices: names of the matrices between the embedding and the head.
    """

    def __init__(self, n_tokens: int, n_answers: int, n_others: int, seed: int) -> None:
        """Draw initial weights; the head's last column stands for each of the `n_others` tokens in no answer."""
        self.shapes = {"embed": (n_tokens, HIDDEN), "head": (HIDDEN, n_answers + 1), "norm": (HIDDEN,)}
        for layer in range(LAYERS):
            layer_shapes = {"before_attention": (HIDDEN,), "before_mlp": (HIDDEN,), "q": (HIDDEN, HIDDEN)}
            layer_shapes |= {"kv": (HIDDEN, 2 * HIDDEN), "o": (HIDDEN, HIDDEN), "gate": (HIDDEN, INTERMEDIATE)}
            layer_shapes |= {"up": (HIDDEN, INTERMEDIATE), "down": (INTERMEDIATE, HIDDEN)}
            self.shapes |= {f"{name}.{layer}": shape for name, shape in layer_shapes.items()}
        self.matrices = tuple(name for name, shape in self.shapes.items() if "." in name and len(shape) == 2)
        generator = torch.Generator().manual_seed(seed)
        parts = [
            torch.ones(shape) if len(shape) == 1 else INITIALISER_RANGE * torch.randn(shape, generator=generator)
            for shape in self.shapes.values()
        ]
        self.weights = torch.cat([each.flatten() for each in parts]).requires_grad_()
        self._others = torch.zeros(n_answers + 1)
        self._others[-1] = math.log(n_others)

    def parts(self) -> dict[str, Tensor]:
        """The weights by name; matrices are multiplied from the right."""
        parts = self.weights.split([math.prod(shape) for shape in self.shapes.values()])
        return {name: part.view(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def log_probs(self, groups: Sequence[Group]) -> Tensor:
        """Log-probabilities, (rows, answer tokens + 1), at the places of all groups; the last column is all others'."""
        w = self.parts()
        tokens = torch.cat([group.tokens.flatten() for group in groups])
        turns = _rotary_factors(max(group.tokens.shape[1] for group in groups))
        turns_of_tokens = torch.cat([turns[: g.tokens.shape[1]].repeat(len(g.tokens), 1, 1) for g in groups])
        projections = torch.cat(
            [w["embed"], _normed(w["embed"], w["before_attention.0"]) @ torch.cat([w["q.0"], w["kv.0"]], dim=1)], dim=1
        )
        rows_of_tokens = functional.embedding(tokens, projections)
        x, queries_keys, values = rows_of_tokens.split([HIDDEN, 2 * HIDDEN, HIDDEN], dim=1)
        queries_keys = _rotate(queries_keys.unflatten(1, (2 * HEADS, WIDTH)), turns_of_tokens)
        attended = []
        for group, qk, v in zip(groups, _split(queries_keys, groups), _split(values, groups), strict=True):
            shape = group.tokens.shape
            q, k = qk.view(*shape, 2, HEADS, WIDTH).permute(2, 0, 3, 1, 4)
            attention = functional.scaled_dot_product_attention(q, k, _heads(v, shape), is_causal=True)
            attended.append(attention.transpose(1, 2).reshape(-1, HIDDEN))
        x = x + torch.cat(attended) @ w["o.0"]
        x = x + _mlp(w, 0, x)
        normed = _normed(x, w["before_attention.1"])
        rows = _rows(groups)
        queries = _rotate((normed[rows] @ w["q.1"]).unflatten(1, (HEADS, WIDTH)), turns_of_tokens[rows])
        keys, values = (normed @ w["kv.1"]).chunk(2, dim=1)
        keys = _rotate(keys.unflatten(1, (HEADS, WIDTH)), turns_of_tokens)
        attended, start = [], 0
        for group, k, v in zip(groups, _split(keys, groups), _split(values, groups), strict=True):
            shape = group.tokens.shape
            q = _heads(queries[start : start + group.places.numel()], group.places.shape)
            is_seen = torch.arange(shape[1]) <= group.places[:, None, :, None]
            attention = functional.scaled_dot_product_attention(
                q, _heads(k, shape), _heads(v, shape), attn_mask=is_seen
            )
            attended.append(attention.transpose(1, 2).reshape(-1, HIDDEN))
            start += group.places.numel()
        x = x[rows] + torch.cat(attended) @ w["o.1"]
        x = x + _mlp(w, 1, x)
        return (_normed(x, w["norm"]) @ w["head"] + self._others).log_softmax(dim=-1)


def as_llama(
    follower: Follower, token_ids: Sequence[int], answers: Sequence[int], size: int, seed: int
) -> dict[str, Any]:
    """The weights as arrays, under the names that transformers gives them.

    Args:
        token_ids, answers: token ids of the rows of the embedding and of the columns of the head.
        size: size of the tokenizer; the other tokens get initial weights, drawn with `seed`.
    """
    w = {name: part.detach() for name, part in follower.parts().items()}
    embed = INITIALISER_RANGE * torch.randn(size, HIDDEN, generator=torch.Generator().manual_seed(seed))
    embed[list(token_ids)] = w["embed"]
    head = w["head"][:, -1].repeat(size, 1)
    head[list(answers)] = w["head"][:, :-1].T
    named = {"lm_head.weight": head, "model.embed_tokens.weight": embed, "model.norm.weight": w["norm"]}
    columns = [h * WIDTH + n for h in range(HEADS) for n in (*range(0, WIDTH, 2), *range(1, WIDTH, 2))]
    for layer in range(LAYERS):
        q, (k, v) = w[f"q.{layer}"], w[f"kv.{layer}"].chunk(2, dim=1)
        matrices = {"self_attn.q_proj": q[:, columns], "self_attn.k_proj": k[:, columns], "self_attn.v_proj": v}
        matrices["self_attn.o_proj"] = w[f"o.{layer}"]
        matrices |= {f"mlp.{name}_proj": w[f"{name}.{layer}"] for name in ("gate", "up", "down")}
        norms = {"input_layernorm": "before_attention", "post_attention_layernorm": "before_mlp"}
        begins = f"model.layers.{layer}."
        named |= {f"{begins}{name}.weight": matrix.T for name, matrix in matrices.items()}
        named |= {f"{begins}{name}.weight": w[f"{ours}.{layer}"] for name, ours in norms.items()}
    return {name: each.contiguous().numpy() for name, each in named.items()}


def _normed(x: Tensor, weight: Tensor) -> Tensor:
    return functional.rms_norm(x, (HIDDEN,), weight, EPSILON)


def _mlp(w: Mapping[str, Tensor], layer: int, x: Tensor) -> Tensor:
    normed = _normed(x, w[f"before_mlp.{layer}"])
    return (functional.silu(normed @ w[f"gate.{layer}"]) * (normed @ w[f"up.{layer}"])) @ w[f"down.{layer}"]


def _rotary_factors(length: int) -> Tensor:
    """Rotary factors (T, 1, head / 2), complex: one per place and pair of numbers."""
    frequencies = ROPE_BASE ** (-torch.arange(0, WIDTH, 2) / WIDTH)
    angles = torch.arange(length)[:, None, None] * frequencies
    return torch.polar(torch.ones_like(angles), angles)


def _rotate(x: Tensor, turns: Tensor) -> Tensor:
    """Rotary embedding of (N, heads, head): two neighbouring numbers are one complex number."""
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turns).flatten(-2)


def _heads(x: Tensor, shape: Sequence[int]) -> Tensor:
    return x.reshape(*shape, HEADS, WIDTH).transpose(1, 2)


def _split(x: Tensor, groups: Sequence[Group]) -> Sequence[Tensor]:
    return x.split([group.tokens.numel() for group in groups])


def _rows(groups: Sequence[Group]) -> Tensor:
    """Indices of the places of all groups among all of their tokens."""
    rows, start = [], 0
    for group in groups:
        size, length = group.tokens.shape
        rows.append((start + torch.arange(size)[:, None] * length + group.places).flatten())
        start += group.tokens.numel()
    return torch.cat(rows)
