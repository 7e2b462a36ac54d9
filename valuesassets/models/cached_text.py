"""One text in a model's KV cache: extended in chunks, cropped to what the next text shares, and read beside.

Candidate answers at a span are read as a tree beside the text (`twigs`): a node sees the text before its span and its
own ancestors. The tree's keys are cropped from the cache again. Not every architecture has a cache that can be cropped,
or honours such a mask: `find_cache_fault` tries this on the model itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from valuesassets.models.engine import TREE_TOLERANCE, first_device, read_batch, read_rows, row_logits, within_memory
from valuesassets.models.token_trees import grow_tree
from valuesassets.models.tree_masks import tree_masks
from valuesassets.spelling.tokens import NextToken, Tokens

CHUNK, CHUNK_OF_A_GPU = 512, 2048
"""Most tokens of a text in one pass, on a CPU and on a GPU."""
LARGEST_LOGITS = 2**24
"""Most logits of a pass, rows times vocabulary: 64 MiB in float32."""


@dataclass(frozen=True)
class Ask:
    """One next-token distribution to read: behind the first `at` tokens of a text, followed by `path`."""

    at: int
    path: Tokens
    tokens: tuple[int, ...]
    """The tokens whose probabilities are reported."""


@dataclass
class Cost:
    """What was computed: tokens through a model's body, rows through its head."""

    tokens: int = 0
    rows: int = 0

    def add(self, tokens: int, rows: int) -> None:
        """Add what was computed."""
        self.tokens += tokens
        self.rows += rows


class CachedText:
    """The beginning of a text (`tokens`) in a model's cache; `cost` counts what was computed."""

    def __init__(self, model: Any, n_likeliest: int) -> None:
        self._model, self._n_likeliest = model, n_likeliest
        self._cache, self.tokens = DynamicCache(), ()
        self.cost = Cost()

    @property
    def layers(self) -> list[Any]:
        """The cache of each layer."""
        return self._cache.layers

    def crop(self, length: int) -> None:
        """Keep the first `length` tokens."""
        if length == 0:
            self._cache = DynamicCache()
        elif length < len(self.tokens):
            self._cache.crop(length - len(self.tokens))
        self.tokens: Tokens = self.tokens[:length]

    def extend(self, tokens: Tokens, asks: Sequence[Ask]) -> list[NextToken]:
        """Append tokens in one pass (raises OutOfMemory), and read the next token at asks without a `path`."""
        start = len(self.tokens)
        rows = [ask.at - 1 - start for ask in asks]
        positions = torch.arange(start, start + len(tokens), device=first_device(self._model))[None]
        answers = self._read(tokens, rows, asks, position_ids=positions)
        self.tokens += tokens
        return answers

    def twigs(self, asks: Sequence[Ask]) -> list[NextToken]:
        """Read the next token behind paths beside the text in one pass (raises OutOfMemory); the cache is unchanged."""
        tokens, depths, ends, n_seen = list[int](), list[int](), list[int](), list[int]()
        rows = [0] * len(asks)
        for at in dict.fromkeys(ask.at for ask in asks):
            places_here = [place for place, ask in enumerate(asks) if ask.at == at]
            tree, first = grow_tree([asks[place].path for place in places_here]), len(tokens)
            for place, node in zip(places_here, tree.rows, strict=True):
                rows[place] = first + node
            tokens += tree.tokens
            depths += (at + depth for depth in tree.depths)
            ends += (first + end for end in tree.ends)
            n_seen += [at] * len(tree.tokens)
        device, length = first_device(self._model), len(self.tokens)
        is_text = torch.arange(length, device=device) < torch.tensor(n_seen, device=device)[:, None]
        positions = torch.tensor([depths], device=device)
        masks = tree_masks(self._model, torch.tensor([ends], device=device), positions, is_text[None])
        answers = self._read(tuple(tokens), rows, asks, position_ids=positions, attention_mask=masks)
        self._cache.crop(-len(tokens))
        return answers

    def _read(self, tokens: Tokens, rows: Sequence[int], asks: Sequence[Ask], **inputs: Any) -> list[NextToken]:
        return read_on(self._model, self._cache, tokens, rows, asks, self._n_likeliest, self.cost, **inputs)


def read_on(
    model: Any,
    cache: Any,
    tokens: Tokens,
    rows: Sequence[int],
    asks: Sequence[Ask],
    n_likeliest: int,
    cost: Cost,
    **inputs: Any,
) -> list[NextToken]:
    """Append tokens to a cache in one pass with these inputs, and read the next token at a row for each ask."""
    ids = torch.tensor([tokens], device=first_device(model))

    def read() -> list[NextToken]:
        places = torch.zeros(len(rows), dtype=torch.long), torch.tensor(rows, dtype=torch.long)
        logits = row_logits(model, *places, input_ids=ids, past_key_values=cache, use_cache=True, **inputs)
        return read_rows(logits, [ask.tokens for ask in asks], n_likeliest) if asks else []

    answers = within_memory(read)
    cost.add(len(tokens), len(rows))
    return answers


def find_cache_fault(model: Any) -> str | None:
    """Try whether an architecture's cache can be cropped and read beside: None if so, else the reason in words.

    What is read at a span must not depend in a single bit on the text behind the span, on the twigs of another span, or
    on cropped text. Only the comparison with a text read alone needs a tolerance.
    """
    vocabulary = model.get_output_embeddings().weight.shape[0]
    ids = tuple(number * 7919 % vocabulary for number in range(1, 161))
    text, changed_text, paths = ids[:140], (*ids[:100], *ids[100:140][::-1]), (ids[140:144], ids[144:150], ids[150:160])
    everything = tuple(range(vocabulary))

    def read(whole: Tokens, beside: Tokens, before: Tokens = ()) -> Tensor:
        """Probabilities at the text's end and behind two paths at token 40, (3, vocabulary); `before` is cropped."""
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
        plain, cropped = read(text, paths[2]), read(text, paths[2], before=changed_text)
        beside, other_ending = read(text, paths[2][::-1]), read(changed_text, paths[2])
        with_paths = [(*text[:40], *paths[0]), (*text[:40], *paths[1])]
        expected = [
            read_batch(model, [grow_tree([sequence])], [everything], 1)[0].log_probs for sequence in (text, *with_paths)
        ]
    except Exception as error:  # architectures fail in ways of their own; the plain path names what fails there too
        return f"it fails on a cropped cache: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
    if not torch.equal(plain, cropped):
        return "its cache keeps what was cropped"
    if not torch.equal(plain[1:], beside[1:]) or not torch.equal(plain[1:], other_ending[1:]):
        return "what is read at a span changes with what stands behind it"
    gap = float((plain - torch.tensor(expected).exp()).abs().sum(dim=1).max()) / 2
    return None if gap <= TREE_TOLERANCE[model.dtype] else f"beside a cached text its answers differ by {gap:.1g}"
