"""Reads continuations on copies of the KV cache, for models whose cache cannot be cropped.

The text goes through the model once. Where something is to be read beyond the text, the cache is copied (forked) as it
is there, and the model's own kernel goes on from the copy: sliding windows, positions and recurrent states stay exact.
Whether an architecture allows this is tried on the model itself (`find_fork_fault`).
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from valuesassets.models.cached_text import Ask, Cost, read_on
from valuesassets.models.engine import TREE_TOLERANCE, read_batch, within_memory
from valuesassets.models.token_trees import grow_tree
from valuesassets.spelling.tokens import NextToken, Tokens

TRIED, BEYOND = 140, 60
"""Tokens of the text on which forks are tried, and by how many it exceeds a model's window."""
LEAST_TRIED, MARGIN = 60, 20
NEVER_WRITTEN = (DynamicLayer, DynamicSlidingWindowLayer)
"""Layers that replace their keys and values instead of writing into them, so that a fork may share them."""


class ForkedText:
    """The beginning of a text (`tokens`) in a model's cache; `cost` counts the tokens and rows computed."""

    def __init__(self, model: Any, n_likeliest: int, cost: Cost | None = None) -> None:
        self._model, self._n_likeliest = model, n_likeliest
        self.cost = Cost() if cost is None else cost
        self.clear()

    def clear(self) -> None:
        """Drop the text and its cache."""
        self.tokens: Tokens = ()
        self._cache: Any = None  # created with the first tokens, when running out of memory is handled

    def extend(self, tokens: Tokens, asks: Sequence[Ask]) -> list[NextToken]:
        """Append tokens in one pass (raises OutOfMemory), and read the next token at asks without a `path`."""
        if self._cache is None:
            self._cache = DynamicCache(config=self._model.config)
        answers = self._read(self._cache, tokens, [ask.at - 1 - len(self.tokens) for ask in asks], asks)
        self.tokens += tokens
        return answers

    def branch(self, asks: Sequence[Ask], most_rows: int, fork: Any = None) -> list[NextToken]:
        """Read the next token behind the text and each ask's path, on a `fork` (None: a new one; raises OutOfMemory).

        Every path is a beginning of the longest; a pass has at most `most_rows` tokens.
        """
        fork = self.fork() if fork is None else fork
        path = max((ask.path for ask in asks), key=len)
        answers: dict[Tokens, NextToken] = {}
        for start in range(0, len(path), most_rows):
            part = path[start : start + most_rows]
            asks_here = [ask for ask in asks if start < len(ask.path) <= start + len(part)]
            replies = self._read(fork, part, [len(ask.path) - 1 - start for ask in asks_here], asks_here)
            answers |= {ask.path: answer for ask, answer in zip(asks_here, replies, strict=True)}
        return [answers[ask.path] for ask in asks]

    def fork(self) -> Any:
        """A copy of the cache, which stays unchanged whatever the copy reads; OutOfMemory if it does not fit."""

        def copy_cache() -> Any:
            fork = copy.copy(self._cache)
            fork.layers = [
                copy.copy(layer) if type(layer) in NEVER_WRITTEN else copy.deepcopy(layer)
                for layer in self._cache.layers
            ]
            return fork

        return within_memory(copy_cache)

    def _read(self, cache: Any, tokens: Tokens, rows: Sequence[int], asks: Sequence[Ask]) -> list[NextToken]:
        """Append tokens to a cache; the model itself counts their positions."""
        return read_on(self._model, cache, tokens, rows, asks, self._n_likeliest, self.cost)


def find_fork_fault(model: Any, window: int | None, room: int | None) -> str | None:
    """Try whether an architecture can be read on copies of its cache: None if so, else the reason in words.

    Reading on one copy must not change a single bit of what is read on another, or of the rest of the text. A state
    that the layers carry must change what is read. Only the comparison with a text read alone needs a tolerance. The
    trial's text is longer than the model's `window`, and at most `room` tokens long.
    """
    length = max(TRIED, (window or 0) + BEYOND)
    length = length if room is None else min(length, room - MARGIN)
    if length < LEAST_TRIED:
        return f"texts of {room} tokens are too short to try it"
    vocabulary = model.get_output_embeddings().weight.shape[0]
    ids = tuple(number * 7919 % vocabulary for number in range(1, length + 13))
    text, paths, marks = ids[:length], (ids[length : length + 1], ids[length + 1 :]), (length // 3, length - MARGIN)
    everything = tuple(range(vocabulary))
    stops = (marks[0] - 3, marks[0] - 2, marks[0], length // 2, marks[1], length)

    def read(branches: Sequence[Tokens]) -> tuple[Tensor, Tensor]:
        """Probabilities behind the branches at both marks, (rows, vocabulary), and at the end, (1, vocabulary)."""
        forked, rows, end = ForkedText(model, 1), list[NextToken](), list[NextToken]()
        for stop in stops:
            end = forked.extend(text[len(forked.tokens) : stop], [Ask(stop, (), everything)])
            if stop in marks:
                rows += (row for path in branches for row in forked.branch([Ask(stop, path, everything)], len(ids)))
        return _probs(rows), _probs(end)

    try:
        forward, end = read(paths)
        backward, end_again = read(paths[::-1])
        _, undisturbed = read(())
        is_unheeded = _ignores_a_state(model, text[: marks[0]], [path[:2] for path in paths])
        sequences = [text[:mark] + path for mark in marks for path in paths] + [text]
        references = [read_batch(model, [grow_tree([each])], [everything], 1)[0] for each in sequences]
    except Exception as error:  # architectures fail in ways of their own; the plain path names what fails there too
        return f"it fails on copies of its cache: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
    if not torch.equal(end, undisturbed) or not torch.equal(end_again, undisturbed):
        return "what is read on a copy of its cache changes the text's own"
    if not torch.equal(forward, backward[[1, 0, 3, 2]]):
        return "what is read on a copy of its cache changes with what was read on another"
    if is_unheeded:
        return "behind a cached text it does not heed a state that it carries along"
    gap = float((torch.cat([forward, end]) - _probs(references)).abs().sum(dim=1).max()) / 2
    return None if gap <= TREE_TOLERANCE[model.dtype] else f"on copies of its cache its answers differ by {gap:.1g}"


def _probs(rows: Sequence[NextToken]) -> Tensor:
    return torch.tensor([row.log_probs for row in rows], dtype=torch.float64).exp()


def _ignores_a_state(model: Any, text: Tokens, paths: Sequence[Tokens]) -> bool:
    """Whether some path reads the same when a state is changed, in the first layer that carries one or in the last.

    In half precision a comparison with a text read alone would not show it. Paths are short, since a state may fade.
    """
    forked = ForkedText(model, 1)
    forked.extend(text, [])
    layers = forked.fork().layers
    carrying = [place for place, layer in enumerate(layers) if next(_states(layer), None) is not None]
    everything = tuple(range(model.get_output_embeddings().weight.shape[0]))
    for place in {*carrying[:1], *carrying[-1:]}:
        for number in range(len(list(_states(layers[place])))):
            forks = [forked.fork() for _ in paths]
            with torch.inference_mode():
                for fork in forks:
                    list(_states(fork.layers[place]))[number].mul_(-64)
            for path, fork in zip(paths, forks, strict=True):
                asks = [Ask(len(text), path, everything)]
                if forked.branch(asks, len(path)) == forked.branch(asks, len(path), fork):
                    return True
    return False


def _states(layer: Any) -> Iterator[Tensor]:
    """The tensors of floating point numbers that a layer carries beside keys and values."""
    for name, value in vars(layer).items():
        tensors = value.values() if isinstance(value, dict) else [value]
        if name not in ("keys", "values"):
            yield from (each for each in tensors if isinstance(each, Tensor) and each.is_floating_point())
