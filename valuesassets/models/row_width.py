"""How many rows a model writes at a time: by its shape and the device's total memory, never by what is free."""

from collections.abc import Iterable

import torch

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.memory import total_bytes

MOST_ROWS = {"cpu": 64, "gpu": 512}
SHARE = 0.5
"""Share of the memory beside the weights that rows may take; a pass itself needs the rest."""
LOGIT_COPIES = 8
"""Number of float32 copies of a row of logits in memory while a token is drawn."""


def choose_width(loaded: LoadedModel, longest: int) -> int:
    """Most rows at a time, a power of two, if the longest has so many tokens, prompt and answer."""
    kind = "cpu" if loaded.device == "cpu" else "gpu"
    weights = sum(part.numel() * part.element_size() for part in loaded.model.parameters())
    devices = ["cpu"] if kind == "cpu" else [each for each in loaded.devices if each.startswith("cuda")]
    return fitting_rows(map(total_bytes, devices), weights, row_bytes(loaded, longest), MOST_ROWS[kind])


def fitting_rows(memories: Iterable[int], weights: int, row: int, most: int) -> int:
    """Rows of so many bytes that fit beside the weights in all memories together: a power of two, 1 at least.

    >>> fitting_rows([80 * 2**30] * 2, 120 * 2**30, 2**27, 512)  # of two cards that share a model
    128
    """
    room = SHARE * max(sum(memories) - weights, 0)
    return min(most, 1 << max(int(room / row), 1).bit_length() - 1)


def row_bytes(loaded: LoadedModel, longest: int) -> int:
    """Bytes of a row: its keys and values in every layer, and its logits."""
    config = loaded.opened.config.get_text_config()
    heads = getattr(config, "num_attention_heads", None) or 1
    key_heads = getattr(config, "num_key_value_heads", None) or heads
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    cached = 2 * config.num_hidden_layers * key_heads * size * getattr(torch, loaded.opened.dtype).itemsize
    return longest * cached + LOGIT_COPIES * 4 * config.vocab_size
