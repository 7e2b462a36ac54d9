"""Rows of tokens that a model writes on: rows begin together, leave one by one, and other rows join them.

Rows of different lengths are padded on the left, in the cache too, if the architecture honours that
(`find_padding_fault`). A recurrent state cannot be padded: rows begin together with equal lengths if the architecture
keeps them apart (`find_mixing_fault`; the rwkv of transformers 5.23 does not), else they are read one by one.
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
"""Names by which architectures return their cache or state."""


class PaddedRows:
    """Rows of any lengths in one cache, padded on the left."""

    any_length = True
    """Whether rows may have any length, and other rows may join them."""

    def __init__(self, model: Any) -> None:
        self._model, self._device = model, first_device(model)
        self._takes_positions = "position_ids" in inspect.signature(model.forward).parameters
        # Without a configuration, windowed layers keep all tokens too, so that rows stay aligned; masks do the rest.
        self._cache = DynamicCache()
        self._lengths = torch.zeros(0, dtype=torch.long, device=self._device)

    def begin(self, sequences: Sequence[Sequence[int]]) -> Tensor:
        """Read new rows: (rows, vocabulary) logits of their next tokens."""
        width = max(map(len, sequences))
        self._cache = DynamicCache()
        self._lengths = torch.tensor([len(sequence) for sequence in sequences], device=self._device)
        return self._read(torch.tensor([[*[0] * (width - len(row)), *row] for row in sequences]), 0)

    def go_on(self, tokens: Sequence[int]) -> Tensor:
        """Read one more token of each row; returns logits as `begin` does."""
        before = self._cache.get_seq_length()
        self._lengths = self._lengths + 1
        return self._read(torch.tensor(tokens)[:, None], before)

    def keep(self, rows: Sequence[int]) -> None:
        """Keep only these rows, in this order; a row that is named twice becomes two rows."""
        indices = torch.tensor(rows, device=self._device)
        self._lengths = self._lengths[indices]
        n_empty = self._cache.get_seq_length() - int(self._lengths.max())
        for layer in self._layers:
            layer.keys = layer.keys[:, :, n_empty:].index_select(0, indices)
            layer.values = layer.values[:, :, n_empty:].index_select(0, indices)

    def join(self, others: Any) -> None:
        """Append the rows of another object of this class."""
        width = max(rows._cache.get_seq_length() for rows in (self, others))
        for layer, other_layer in zip(self._layers, others._layers, strict=True):
            layer.keys = torch.cat([_pad_left(layer.keys, width), _pad_left(other_layer.keys, width)])
            layer.values = torch.cat([_pad_left(layer.values, width), _pad_left(other_layer.values, width)])
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
            output = self._model(
                input_ids=tokens.to(self._device),
                attention_mask=mask.long(),
                past_key_values=self._cache,
                use_cache=True,
                **positions,
            )
        return _float32_or_better(output.logits)


class RowsOfOneLength:
    """Rows that begin together with equal lengths, and their cache or state; no rows join them."""

    any_length = False

    def __init__(self, model: Any) -> None:
        self._model, self._device = model, first_device(model)
        self._carried: dict[str, Any] = {}

    def begin(self, sequences: Sequence[Sequence[int]]) -> Tensor:
        """As `PaddedRows.begin`, for sequences of equal length."""
        self._carried = {}
        return self._read(torch.tensor(sequences))

    def go_on(self, tokens: Sequence[int]) -> Tensor:
        """As the method of `PaddedRows`."""
        return self._read(torch.tensor(tokens)[:, None])

    def keep(self, rows: Sequence[int]) -> None:
        """As the method of `PaddedRows`."""
        indices: Any = torch.tensor(rows, device=self._device)
        for name, carried in self._carried.items():
            if isinstance(carried, Cache):
                carried.reorder_cache(indices)
            else:
                self._carried[name] = [part[indices] for part in carried]

    def copied(self) -> "RowsOfOneLength":
        """An independent copy of the rows: some architectures write into their state."""
        rows = RowsOfOneLength(self._model)
        rows._carried = copy.deepcopy(self._carried)
        return rows

    def _read(self, tokens: Tensor) -> Tensor:
        with last_place_only(self._model):
            output = self._model(input_ids=tokens.to(self._device), use_cache=True, **self._carried)
        self._carried = {name: output[name] for name in CARRIED if output.get(name) is not None}
        return _float32_or_better(output.logits)


class RowsApart:
    """Rows that go through the model one by one, each with a cache or state of its own."""

    any_length = True

    def __init__(self, model: Any) -> None:
        self._model = model
        self._each: list[RowsOfOneLength] = []

    def begin(self, sequences: Sequence[Sequence[int]]) -> Tensor:
        """As the method of `PaddedRows`."""
        self._each = [RowsOfOneLength(self._model) for _ in sequences]
        return torch.cat([row.begin([sequence]) for row, sequence in zip(self._each, sequences, strict=True)])

    def go_on(self, tokens: Sequence[int]) -> Tensor:
        """As the method of `PaddedRows`."""
        return torch.cat([row.go_on([token]) for row, token in zip(self._each, tokens, strict=True)])

    def keep(self, rows: Sequence[int]) -> None:
        """As the method of `PaddedRows`."""
        self._each = [self._each[row].copied() if row in rows[:n] else self._each[row] for n, row in enumerate(rows)]

    def join(self, others: Any) -> None:
        """As the method of `PaddedRows`."""
        self._each += others._each


Rows = PaddedRows | RowsOfOneLength | RowsApart


def read_alone(model: Any, sequence: Sequence[int]) -> Tensor:
    """Logits (1, vocabulary) of the next token behind one sequence, read alone in one pass."""
    with last_place_only(model):
        tokens = torch.tensor([sequence], device=first_device(model))
        return _float32_or_better(model(input_ids=tokens, use_cache=False).logits)


@contextmanager
def last_place_only(model: Any) -> Iterator[None]:
    """A block in which the model's head computes only the last token of each row."""

    def gather(_module: object, arguments: tuple[Tensor]) -> tuple[Tensor]:
        return (arguments[0][:, -1].contiguous(),)

    handle = model.get_output_embeddings().register_forward_pre_hook(gather)
    try:
        with turned_head(model):
            yield
    finally:
        handle.remove()


def find_padding_fault(model: Any) -> str | None:
    """Try whether rows can be padded on the left: None if so, else the reason in words.

    Three rows of different lengths begin at different times, one of them twice, and one leaves. The next tokens'
    probabilities must equal those of each sequence alone.
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
    """Try whether rows of equal length stay apart in one batch: None if so, else the reason in words."""
    first_row, second_row, leaving_row, (first, second) = _ids(model, 9, 9, 9, 2)

    def read() -> Tensor:
        rows = RowsOfOneLength(model)
        rows.begin([first_row, leaving_row, second_row])
        rows.go_on([first, second, second])
        rows.keep([2, 0])
        return rows.go_on([first] * 2)

    return _fault(model, read, [[*second_row, second, first], [*first_row, first, first]])


def _ids(model: Any, *lengths: int) -> list[list[int]]:
    """Sequences of arbitrary token ids, of these lengths."""
    vocabulary = model.get_output_embeddings().weight.shape[0]
    ids = iter(number * 7919 % vocabulary for number in range(1, sum(lengths) + 1))
    return [[next(ids) for _ in range(length)] for length in lengths]


def _fault(model: Any, read: Callable[[], Tensor], sequences: Sequence[Sequence[int]]) -> str | None:
    """How the rows' probabilities differ from those of the same sequences alone, in words; None if they do not."""
    try:
        batched = within_memory(read).softmax(1)
        alone = within_memory(lambda: torch.cat([read_alone(model, sequence) for sequence in sequences])).softmax(1)
    except Exception as error:  # architectures fail in ways of their own; the plain path names what fails there too
        return f"it fails on them: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
    gap = float((batched - alone).abs().sum(1).max()) / 2
    return None if gap <= TREE_TOLERANCE[model.dtype] else f"its answers differ by {gap:.1g}"


def _pad_left(cached: Tensor, width: int) -> Tensor:
    """A layer's keys or values, padded with zeros on the left to a width."""
    return torch.nn.functional.pad(cached, (0, 0, width - cached.shape[2], 0))


def _float32_or_better(logits: Tensor) -> Tensor:
    if logits.ndim != 2:
        raise TypeError(f"logits of shape {tuple(logits.shape)}, one row for each sequence was expected")
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
