"""One text in a model's cache, and what comes next on copies of it: for caches that cannot be cut or read beside.

The text goes through once. Where more is to be read beyond it, the cache is copied as it stands there (forked), and
the copy goes on by the model's own kernel: windows, distances counted along the text, and states that are carried
through it stay what they are. Whether an architecture keeps to that is tried on the model itself (`find_fork_fault`).
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from valuesassets.models.cached_text import Ask, Cost
from valuesassets.models.engine import TREE_TOLERANCE, first_device, read_batch, read_rows, row_logits, within_memory
from valuesassets.models.token_trees import grow_tree
from valuesassets.spelling.tokens import NextToken, Tokens

TRIED, BEYOND = 140, 60
"""Tokens of the text that forks are tried on, and how far it goes beyond a model's window."""
LEAST_TRIED, MARGIN = 60, 20
NEVER_WRITTEN = (DynamicLayer, DynamicSlidingWindowLayer)
"""Layers that put new tensors in the place of their keys and values: a fork may share those it begins with."""


class ForkedText:
    """The beginning of a text in a model's cache: `tokens`; `cost` counts what that has taken."""

    def __init__(self, model: Any, n_likeliest: int, cost: Cost | None = None) -> None:
        self._model, self._n_likeliest = model, n_likeliest
        self.cost = Cost() if cost is None else cost
        self.clear()

    def clear(self) -> None:
        """Hold nothing."""
        self.tokens: Tokens = ()
        self._cache: Any = None  # made by the first tokens, within the memory that there is

    def extend(self, tokens: Tokens, asks: Sequence[Ask]) -> list[NextToken]:
        """Append tokens in one pass, and read what comes next at rows of them (`path` empty).

        Raises:
            OutOfMemory: they do not fit.
        """
        if self._cache is None:
            self._cache = DynamicCache(config=self._model.config)
        found = self._read(self._cache, tokens, [ask.at - 1 - len(self.tokens) for ask in asks], asks)
        self.tokens += tokens
        return found

    def branch(self, asks: Sequence[Ask], most_rows: int, fork: Any = None) -> list[NextToken]:
        """What comes next behind the text and each of some paths that are beginnings of one, on a fork of the cache.

        Args:
            most_rows: most tokens of a pass.
            fork: the copy to read on; a new one where none is given.

        Raises:
            OutOfMemory: the copy does not fit.
        """
        fork = self.fork() if fork is None else fork
        path = max((ask.path for ask in asks), key=len)
        answers: dict[Tokens, NextToken] = {}
        for start in range(0, len(path), most_rows):
            part = path[start : start + most_rows]
            own = [ask for ask in asks if start < len(ask.path) <= start + len(part)]
            read = self._read(fork, part, [len(ask.path) - 1 - start for ask in own], own)
            answers |= {ask.path: answer for ask, answer in zip(own, read, strict=True)}
        return [answers[ask.path] for ask in asks]

    def fork(self) -> Any:
        """A copy of the cache, which may go on without it.

        Raises:
            OutOfMemory: it does not fit.
        """

        def copied() -> Any:
            fork = copy.copy(self._cache)
            fork.layers = [
                copy.copy(layer) if type(layer) in NEVER_WRITTEN else copy.deepcopy(layer)
                for layer in self._cache.layers
            ]
            return fork

        return within_memory(copied)

    def _read(self, cache: Any, tokens: Tokens, rows: Sequence[int], asks: Sequence[Ask]) -> list[NextToken]:
        """Put tokens behind those of a cache; the model itself counts their positions from there."""
        ids = torch.tensor([tokens], device=first_device(self._model))

        def read() -> list[NextToken]:
            places = torch.zeros(len(rows), dtype=torch.long), torch.tensor(rows, dtype=torch.long)
            logits = row_logits(self._model, *places, input_ids=ids, past_key_values=cache, use_cache=True)
            return read_rows(logits, [ask.tokens for ask in asks], self._n_likeliest) if asks else []

        found = within_memory(read)
        self.cost.add(len(tokens), len(rows))
        return found


def find_fork_fault(model: Any, window: int | None, room: int | None) -> str | None:
    """Why an architecture cannot be read on copies of its cache, in words; None where it can. Found by trying.

    What was read on one copy must not change a bit of what is read on another, or of the text behind it. A state that
    its layers carry along must change what is read. Only the comparison with a text alone needs a tolerance.

    Args:
        window: the least number of tokens that a layer looks back on: it is tried beyond that.
        room: the longest text that the model was made for.
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

    def read(own: Sequence[Tokens]) -> tuple[Tensor, Tensor]:
        """What some paths at each of two marks say, and the text's end: (rows, vocabulary), (1, vocabulary)."""
        forked, rows, end = ForkedText(model, 1), list[NextToken](), list[NextToken]()
        for stop in stops:
            end = forked.extend(text[len(forked.tokens) : stop], [Ask(stop, (), everything)])
            if stop in marks:
                rows += (row for path in own for row in forked.branch([Ask(stop, path, everything)], len(ids)))
        return _probs(rows), _probs(end)

    try:
        here, end = read(paths)
        there, end_again = read(paths[::-1])
        _, undisturbed = read(())
        unheeded = _unheeded_state(model, text[: marks[0]], [path[:2] for path in paths])
        sequences = [text[:mark] + path for mark in marks for path in paths] + [text]
        alone = [read_batch(model, [grow_tree([each])], [everything], 1)[0] for each in sequences]
    except Exception as error:  # architectures fail in ways of their own; the plain path names what fails there too
        return f"it fails on copies of its cache: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
    if not torch.equal(end, undisturbed) or not torch.equal(end_again, undisturbed):
        return "what is read on a copy of its cache changes the text's own"
    if not torch.equal(here, there[[1, 0, 3, 2]]):
        return "what is read on a copy of its cache changes with what was read on another"
    if unheeded:
        return "behind a cached text it does not heed a state that it carries along"
    apart = float((torch.cat([here, end]) - _probs(alone)).abs().sum(dim=1).max()) / 2
    return None if apart <= TREE_TOLERANCE[model.dtype] else f"on copies of its cache its answers differ by {apart:.1g}"


def _probs(rows: Sequence[NextToken]) -> Tensor:
    return torch.tensor([row.log_probs for row in rows], dtype=torch.float64).exp()


def _unheeded_state(model: Any, text: Tokens, paths: Sequence[Tokens]) -> bool:
    """Whether the same is read of some path when a state is another: in the first layer with one, or in the last.

    Half precision would hide that: what is not heeded may cost less there than rounding does.

    Args:
        paths: short ones; a state may fade.
    """
    forked = ForkedText(model, 1)
    forked.extend(text, [])
    layers = forked.fork().layers
    carrying = [place for place, layer in enumerate(layers) if next(_states(layer), None) is not None]
    everything = tuple(range(model.get_output_embeddings().weight.shape[0]))
    for place in {*carrying[:1], *carrying[-1:]}:
        for number in range(len(list(_states(layers[place])))):
            changed = [forked.fork() for _ in paths]
            with torch.inference_mode():
                for fork in changed:
                    list(_states(fork.layers[place]))[number].mul_(-64)
            for path, fork in zip(paths, changed, strict=True):
                asks = [Ask(len(text), path, everything)]
                if forked.branch(asks, len(path)) == forked.branch(asks, len(path), fork):
                    return True
    return False


def _states(layer: Any) -> Iterator[Tensor]:
    """What a layer carries along beside keys and values."""
    for name, held in vars(layer).items():
        found = held.values() if isinstance(held, dict) else [held]
        if name not in ("keys", "values"):
            yield from (each for each in found if isinstance(each, Tensor) and each.is_floating_point())
