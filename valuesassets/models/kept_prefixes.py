"""Prefixes that many prompts share: read once, and cached while the trees behind them are read.

The keys and values of a prefix are in memory once. Each layer puts them before the keys and values of a batch's trees
while its attention runs, and keeps nothing of the trees. Whether an architecture can do this is tried on the model
itself (`find_prefix_fault`).
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from transformers import Cache
from transformers.cache_utils import DynamicLayer

from valuesassets.models.cached_text import CachedText
from valuesassets.models.engine import TREE_TOLERANCE, CachedPrefix, read_batch
from valuesassets.models.token_trees import TokenTree, grow_tree
from valuesassets.spelling.tokens import Tokens


class _KeptLayer(DynamicLayer):
    """A layer's keys and values of one prefix, which every row of a batch sees and none changes."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.keys: Tensor = layer.keys
        self.values: Tensor = layer.values
        self.dtype, self.device, self.is_initialized = layer.dtype, layer.device, True

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Keys and values of the prefix followed by those of the trees, (batch, heads, tokens, size)."""
        rows = key_states.shape[0]
        keys = self.keys.expand(rows, -1, -1, -1)
        values = self.values.expand(rows, -1, -1, -1)
        return torch.cat([keys, key_states], 2), torch.cat([values, value_states], 2)


def keep_prefix(model: Any, tokens: Tokens, chunk: int) -> CachedPrefix:
    """Read a prefix into a cache, at most `chunk` tokens at a time; OutOfMemory if it does not fit."""
    text = CachedText(model, 1)
    for start in range(0, len(tokens), chunk):
        text.extend(tokens[start : start + chunk], [])
    return CachedPrefix(tokens, Cache(layers=[_KeptLayer(layer) for layer in text.layers]))


def find_prefix_fault(model: Any) -> str | None:
    """Try whether an architecture can read trees beside a cached prefix: None if so, else the reason in words.

    A branch's output must be independent, to the bit, of other branches, of other trees and of what was read before. It
    must depend on the prefix and on its positions, and must equal the branch read alone.
    """
    vocabulary = model.get_output_embeddings().weight.shape[0]
    ids = tuple(number * 7919 % vocabulary for number in range(1, 121))
    prefix, other_prefix = ids[:48], (*ids[47::-1],)
    branches, neighbours = (ids[48:60], (*ids[48:52], *ids[60:90])), (ids[90:110], ids[110:120])
    tree, others = grow_tree(branches), grow_tree(neighbours)
    elsewhere = grow_tree([neighbours[0][::-1], neighbours[1]])
    everything = range(vocabulary)

    def read(cached_prefix: CachedPrefix | None, *trees: TokenTree) -> Tensor:
        """Probabilities behind the first tree's sequences, (sequences, vocabulary)."""
        token_ids = [everything] * sum(len(each.rows) for each in trees)
        rows = read_batch(model, trees, token_ids, 1, cached_prefix)[: len(trees[0].rows)]
        return torch.tensor([row.log_probs for row in rows]).exp()

    last = tree.rows.index(max(tree.rows))  # the branch that comes after the other
    first_tokens = list(tree.tokens)
    changed_node = min(tree.rows)
    first_tokens[changed_node] = (first_tokens[changed_node] + 1) % vocabulary
    try:
        cached = keep_prefix(model, prefix, chunk=32)
        plain, with_other_tree, again = (
            read(cached, tree, others),
            read(cached, tree, elsewhere),
            read(cached, tree, others),
        )
        with_other_branch = read(cached, replace(tree, tokens=tuple(first_tokens)), others)
        with_other_prefix = read(keep_prefix(model, other_prefix, chunk=32), tree, others)
        with_other_positions = read(cached, replace(tree, depths=tuple(depth + 1 for depth in tree.depths)), others)
        references = torch.cat([read(None, grow_tree([prefix + sequence])) for sequence in branches])
    except Exception as error:  # architectures fail in ways of their own; the plain path names what fails there too
        return f"it fails beside a kept prefix: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
    if not torch.equal(plain, again):
        return "what it keeps of a prefix changes when it is read beside"
    if not torch.equal(plain, with_other_tree) or not torch.equal(plain[last], with_other_branch[last]):
        return "what is read beside a kept prefix changes with what stands beside it"
    if torch.equal(plain, with_other_prefix):
        return "it does not see a prefix that is kept"
    if torch.equal(plain, with_other_positions):
        return "beside a kept prefix it goes by the order of the tokens and not by the positions it is given"
    gap = float((plain - references).abs().sum(dim=1).max()) / 2
    return None if gap <= TREE_TOLERANCE[model.dtype] else f"beside a kept prefix its answers differ by {gap:.1g}"
