"""Rows of tokens that a model goes on writing: begun together, left one by one, joined by others.

Rows of different lengths stand flush on the right, and what a model carries of them is a cache whose rows are padded on
the left. Not every architecture honours that: `find_padding_fault` tries. What the others carry may be a state, which
no padding fits; there rows begin together, at one length, if they do not mix (`find_mixing_fault`; the rwkv of
transformers 5.23 mixes them). Else they go through the model one by one.
"""

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers import Cache, DynamicCache

from valuesassets.models.engine import TREE_TOLERANCE, first_device, within_memory
from valuesassets.models.wide_head import turned_head

CARRIED = ("past_key_values", "cache_params", "state")
"""What architectures call that which they carry from one token to the next."""


class PaddedRows:
    """Rows of any lengths in one cache, flush on the right."""

    any_length = True
    """Whether rows may be of any length, and others join them."""

    def __init__(self, model: Any) -> None:
        self._model, self._device = model, first_device(model)
        self._takes_positions = "position_ids" in inspect.signature(model.forward).parameters
        # Without a configuration every layer keeps all it has seen, also one that looks back on a window: its mask does
        # the rest, and rows stay flush.
        self._cache = DynamicCache()
        self._lengths = torch.zeros(0, dtype=torch.long, device=self._device)

    def begin(self, sequences: Sequence[Sequence[int]]) -> Tensor:
        """Read rows anew: (rows, vocabulary) logits of what comes next."""
        width = max(map(len, sequences))
        self._cache = DynamicCache()
        self._lengths = torch.tensor([len(sequence) for sequence in sequences], device=self._device)
        return self._read(torch.tensor([[*[0] * (width - len(row)), *row] for row in sequences]), 0)

    def go_on(self, tokens: Sequence[int]) -> Tensor:
        """Read one more token of each row; as `begin`."""
        before = self._cache.get_seq_length()
        self._lengths = self._lengths + 1
        return self._read(torch.tensor(tokens)[:, None], before)

    def keep(self, rows: Sequence[int]) -> None:
        """Keep only these rows, in this order; one that is named twice is there twice."""
        chosen = torch.tensor(rows, device=self._device)
        self._lengths = self._lengths[chosen]
        empty = self._cache.get_seq_length() - int(self._lengths.max())
        for layer in self._layers:
            layer.keys = layer.keys[:, :, empty:].index_select(0, chosen)
            layer.values = layer.values[:, :, empty:].index_select(0, chosen)

    def join(self, others: Any) -> None:
        """Take the rows of others of this kind behind one's own."""
        width = max(rows._cache.get_seq_length() for rows in (self, others))
        for own, new in zip(self._layers, others._layers, strict=True):
            own.keys = torch.cat([_filled(own.keys, width), _filled(new.keys, width)])
            own.values = torch.cat([_filled(own.values, width), _filled(new.values, width)])
        self._lengths = torch.cat([self._lengths, others._lengths])

    @property
    def _layers(self) -> list[Any]:
        layers: list[Any] = self._cache.layers
        return [layer for layer in layers if layer.is_initialized]

    def _read(self, tokens: Tensor, before: int) -> Tensor:
        width = before + tokens.shape[1]
        mask = torch.arange(width, device=self._device) >= width - self._lengths[:, None]
        positions = {}
        if self._takes_positions:
            last = (self._lengths - 1)[:, None]
            behind = torch.arange(tokens.shape[1] - 1, -1, -1, device=self._device)
            positions = {"position_ids": (last - behind).clamp_min(0)}
        with last_place_only(self._model):
            read = self._model(
                input_ids=tokens.to(self._device),
                attention_mask=mask.long(),
                past_key_values=self._cache,
                use_cache=True,
                **positions,
            )
        return _in_full(read.logits)


class RowsOfOneLength:
    """Rows that are begun together at one length, and whatever the architecture carries of them; none join them."""

    any_length = False

    def __init__(self, model: Any) -> None:
        self._model, self._device = model, first_device(model)
        self._carried: dict[str, Any] = {}

    def begin(self, sequences: Sequence[Sequence[int]]) -> Tensor:
        """As of `PaddedRows`; sequences of one length."""
        self._carried = {}
        return self._read(torch.tensor(sequences))

    def go_on(self, tokens: Sequence[int]) -> Tensor:
        """As of `PaddedRows`."""
        return self._read(torch.tensor(tokens)[:, None])

    def keep(self, rows: Sequence[int]) -> None:
        """As of `PaddedRows`."""
        chosen: Any = torch.tensor(rows, device=self._device)
        for name, carried in self._carried.items():
            if isinstance(carried, Cache):
                carried.reorder_cache(chosen)
            else:
                self._carried[name] = [part[chosen] for part in carried]

    def copied(self) -> "RowsOfOneLength":
        """The same rows, to be gone on with by themselves; some architectures write into what they carry."""
        rows = RowsOfOneLength(self._model)
        rows._carried = copy.deepcopy(self._carried)
        return rows

    def _read(self, tokens: Tensor) -> Tensor:
        with last_place_only(self._model):
            read = self._model(input_ids=tokens.to(self._device), use_cache=True, **self._carried)
        self._carried = {name: read[name] for name in CARRIED if read.get(name) is not None}
        return _in_full(read.logits)


class RowsApart:
    """Rows that go through the model one by one, each with what is carried of it."""

    any_length = True

    def __init__(self, model: Any) -> None:
        self._model = model
        self._each: list[RowsOfOneLength] = []

    def begin(self, sequences: Sequence[Sequence[int]]) -> Tensor:
        """As of `PaddedRows`."""
        self._each = [RowsOfOneLength(self._model) for _ in sequences]
        return torch.cat([row.begin([sequence]) for row, sequence in zip(self._each, sequences, strict=True)])

    def go_on(self, tokens: Sequence[int]) -> Tensor:
        """As of `PaddedRows`."""
        return torch.cat([row.go_on([token]) for row, token in zip(self._each, tokens, strict=True)])

    def keep(self, rows: Sequence[int]) -> None:
        """As of `PaddedRows`."""
        self._each = [self._each[row].copied() if row in rows[:n] else self._each[row] for n, row in enumerate(rows)]

    def join(self, others: Any) -> None:
        """As of `PaddedRows`."""
        self._each += others._each


Rows = PaddedRows | RowsOfOneLength | RowsApart


def read_alone(model: Any, sequence: Sequence[int]) -> Tensor:
    """Logits (1, vocabulary) of what comes after a sequence that nothing stands beside, read in one go."""
    with last_place_only(model):
        tokens = torch.tensor([sequence], device=first_device(model))
        return _in_full(model(input_ids=tokens, use_cache=False).logits)


@contextmanager
def last_place_only(model: Any) -> Iterator[None]:
    """A block in which the model's head sees the last token of each row alone."""

    def gather(_module: object, arguments: tuple[Tensor]) -> tuple[Tensor]:
        return (arguments[0][:, -1].contiguous(),)

    handle = model.get_output_embeddings().register_forward_pre_hook(gather)
    try:
        with turned_head(model):
            yield
    finally:
        handle.remove()


def find_padding_fault(model: Any) -> str | None:
    """Why rows cannot be padded on the left, in words; None where they can. Found by trying, as trees are.

    Three rows of different lengths are begun at different times, one of them twice and one leaves; what comes next must
    be what the model says to each sequence alone.
    """
    if "past_key_values" not in inspect.signature(model.forward).parameters:
        return "it carries a state and no cache"
    short, long, late, (first, second, third) = _ids(model, 5, 25, 12, 3)

    def read() -> Tensor:
        rows, others = PaddedRows(model), PaddedRows(model)
        rows.begin([short, long])
        rows.go_on([first] * 2)
        others.begin([late])
        others.keep([0, 0])
        rows.join(others)
        rows.go_on([second] * 4)
        rows.keep([3, 0])
        return rows.go_on([third] * 2)

    return _fault(model, read, [[*late, second, third], [*short, first, second, third]])


def find_mixing_fault(model: Any) -> str | None:
    """Why rows of one length cannot go together either, in words; None where they can. Found by trying."""
    one, other, gone, (first, second) = _ids(model, 9, 9, 9, 2)

    def read() -> Tensor:
        rows = RowsOfOneLength(model)
        rows.begin([one, gone, other])
        rows.go_on([first, second, second])
        rows.keep([2, 0])
        return rows.go_on([first] * 2)

    return _fault(model, read, [[*other, second, first], [*one, first, first]])


def _ids(model: Any, *lengths: int) -> list[list[int]]:
    """Some token ids, as sequences of these lengths."""
    vocabulary = model.get_output_embeddings().weight.shape[0]
    ids = iter(number * 7919 % vocabulary for number in range(1, sum(lengths) + 1))
    return [[next(ids) for _ in range(length)] for length in lengths]


def _fault(model: Any, read: Callable[[], Tensor], sequences: Sequence[Sequence[int]]) -> str | None:
    """What is wrong with what is read of rows, beside what the model says to the same sequences alone."""
    try:
        beside = within_memory(read).softmax(1)
        alone = within_memory(lambda: torch.cat([read_alone(model, sequence) for sequence in sequences])).softmax(1)
    except Exception as error:  # architectures fail in ways of their own; the plain path names what fails there too
        return f"it fails on them: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
    apart = float((beside - alone).abs().sum(1).max()) / 2
    return None if apart <= TREE_TOLERANCE[model.dtype] else f"its answers differ by {apart:.1g}"


def _filled(kept: Tensor, width: int) -> Tensor:
    """A layer's keys or values, begun by zeros up to a width."""
    return torch.nn.functional.pad(kept, (0, 0, width - kept.shape[2], 0))


def _in_full(logits: Tensor) -> Tensor:
    if logits.ndim != 2:
        raise TypeError(f"logits of shape {tuple(logits.shape)}, one row for each sequence was expected")
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
