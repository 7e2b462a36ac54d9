"""One text in a model's cache: extended in chunks, cropped to what the next one shares, and read beyond where it ends.

What follows a span is read as a tree beside the text (`twigs`): a node sees the text before its span and the nodes that
lead to it. Its keys are cut off the cache again. Not every architecture has a cache that can be cut, or heeds such a
mask: `find_cache_fault` tries, on the model itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from valuesassets.models.engine import (
    TREE_TOLERANCE,
    first_device,
    read_batch,
    read_rows,
    row_logits,
    within_memory,
)
from valuesassets.models.token_trees import grow_tree
from valuesassets.models.tree_masks import tree_masks
from valuesassets.spelling.tokens import NextToken, Tokens

CHUNK, CHUNK_OF_A_GPU = 512, 2048
"""Most tokens of a text that go through together."""

LARGEST_LOGITS = 2**24
"""Most logits of a pass: rows times vocabulary, 64 MiB in float32."""


@dataclass(frozen=True)
class Ask:
    """One distribution to be read: what comes next behind the first `at` tokens of a text and then `path`."""

    at: int
    path: Tokens
    tokens: tuple[int, ...]
    """Whose probabilities are wanted."""


@dataclass
class Cost:
    """What has gone through a model: tokens through its body, rows through its head."""

    tokens: int = 0
    rows: int = 0

    def add(self, tokens: int, rows: int) -> None:
        """Count what has just gone through."""
        self.tokens += tokens
        self.rows += rows


class CachedText:
    """The beginning of a text in a model's cache: `tokens`; `cost` counts what that has taken."""

    def __init__(self, model: Any, n_likeliest: int) -> None:
        self._model, self._n_likeliest = model, n_likeliest
        self._cache, self.tokens = DynamicCache(), ()
        self.cost = Cost()

    @property
    def layers(self) -> list[Any]:
        """What each layer of the model holds of the text."""
        return self._cache.layers

    def crop(self, length: int) -> None:
        """Keep the first `length` tokens."""
        if length == 0:
            self._cache = DynamicCache()
        elif length < len(self.tokens):
            self._cache.crop(length - len(self.tokens))
        self.tokens: Tokens = self.tokens[:length]

    def extend(self, tokens: Tokens, asks: Sequence[Ask]) -> list[NextToken]:
        """Append tokens in one pass, and read what comes next at rows of them (`path` empty).

        Raises:
            OutOfMemory: they do not fit.
        """
        start = len(self.tokens)
        rows = [ask.at - 1 - start for ask in asks]
        positions = torch.arange(start, start + len(tokens))[None]
        found = self._read(tokens, positions, None, rows, asks)
        self.tokens += tokens
        return found

    def twigs(self, asks: Sequence[Ask]) -> list[NextToken]:
        """What comes next behind beginnings of the text and their paths, in one pass that leaves the cache as it was.

        Raises:
            OutOfMemory: they do not fit.
        """
        tokens: list[int] = []
        depths: list[int] = []
        ends: list[int] = []
        seen: list[int] = []
        rows = [0] * len(asks)
        for at in dict.fromkeys(ask.at for ask in asks):
            own = [place for place, ask in enumerate(asks) if ask.at == at]
            tree, first = grow_tree([asks[place].path for place in own]), len(tokens)
            for place, node in zip(own, tree.rows, strict=True):
                rows[place] = first + node
            tokens += tree.tokens
            depths += (at + depth for depth in tree.depths)
            ends += (first + end for end in tree.ends)
            seen += [at] * len(tree.tokens)
        device, length = first_device(self._model), len(self.tokens)
        is_text = torch.arange(length, device=device) < torch.tensor(seen, device=device)[:, None]
        positions = torch.tensor([depths], device=device)
        masks = tree_masks(self._model, torch.tensor([ends], device=device), positions, is_text[None])
        found = self._read(tuple(tokens), positions, masks, rows, asks)
        self._cache.crop(-len(tokens))
        return found

    def _read(
        self,
        tokens: Tokens,
        positions: Tensor,
        masks: Tensor | dict[str, Tensor] | None,
        rows: Sequence[int],
        asks: Sequence[Ask],
    ) -> list[NextToken]:
        device = first_device(self._model)
        inputs: dict[str, Any] = {"input_ids": torch.tensor([tokens]), "position_ids": positions}
        inputs = {name: tensor.to(device) for name, tensor in inputs.items()}
        if masks is not None:
            inputs["attention_mask"] = masks
        inputs |= {"past_key_values": self._cache, "use_cache": True}

        def read() -> list[NextToken]:
            logits = row_logits(
                self._model, torch.zeros(len(rows), dtype=torch.long), torch.tensor(rows, dtype=torch.long), **inputs
            )
            return read_rows(logits, [ask.tokens for ask in asks], self._n_likeliest) if asks else []

        found = within_memory(read)
        self.cost.add(len(tokens), len(rows))
        return found


def find_cache_fault(model: Any) -> str | None:
    """Why an architecture's cache cannot be cropped or read beside, in words; None where it can. Found by trying.

    What stands behind a span, and the twigs of another, must not change a bit of what is read at it; no more must what
    was cropped. Only the comparison with a text that is read alone needs a tolerance.
    """
    vocabulary = model.get_output_embeddings().weight.shape[0]
    ids = tuple(number * 7919 % vocabulary for number in range(1, 161))
    text, other, paths = ids[:140], (*ids[:100], *ids[100:140][::-1]), (ids[140:144], ids[144:150], ids[150:160])
    everything = tuple(range(vocabulary))

    def read(whole: Tokens, beside: Tokens, before: Tokens = ()) -> Tensor:
        """What two paths at token 40 and the text's end say: (3, vocabulary) probabilities; `before` was cropped."""
        cached = CachedText(model, 1)
        cached.extend(whole[:100], [])
        if before:
            cached.extend(before[100:], [])
            cached.crop(100)
        end = cached.extend(whole[100:], [Ask(len(whole), (), everything)])
        asks = [Ask(40, paths[0], everything), Ask(40, paths[1], everything), Ask(90, beside, everything)]
        cached.twigs(asks)  # leaves the cache as it was
        rows = [*end, *cached.twigs(asks)[:2]]
        return torch.tensor([row.log_probs for row in rows]).exp()

    try:
        plain, cropped = read(text, paths[2]), read(text, paths[2], before=other)
        beside, behind = read(text, paths[2][::-1]), read(other, paths[2])
        alone = [(*text[:40], *paths[0]), (*text[:40], *paths[1])]
        expected = [
            read_batch(model, [grow_tree([sequence])], [everything], 1)[0].log_probs for sequence in (text, *alone)
        ]
    except Exception as error:  # architectures fail in ways of their own; the plain path names what fails there too
        return f"it fails on a cropped cache: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
    if not torch.equal(plain, cropped):
        return "its cache keeps what was cropped"
    if not torch.equal(plain[1:], beside[1:]) or not torch.equal(plain[1:], behind[1:]):
        return "what is read at a span changes with what stands behind it"
    apart = float((plain - torch.tensor(expected).exp()).abs().sum(dim=1).max()) / 2
    return None if apart <= TREE_TOLERANCE[model.dtype] else f"beside a cached text its answers differ by {apart:.1g}"
