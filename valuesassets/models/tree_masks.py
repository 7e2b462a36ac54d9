"""Attention masks of trees: a node sees itself, its ancestors and the prefix, within a layer's window.

Such a mask replaces the architecture's own masks, also those of its windows. It therefore holds the window, and goes
by positions: a node sees the ancestors that are near enough in its own sequence, however many branches lie between
them. Where layers have different windows, each kind of layer gets a mask.
"""

from typing import Any

import torch
from torch import Tensor

WINDOW_OF_KIND = {"sliding_attention": "sliding_window", "chunked_attention": "attention_chunk_size"}
"""The setting that holds the window of each kind of windowed layer; other kinds see everything."""


def tree_masks(model: Any, ends: Tensor, positions: Tensor, is_seen_before: Tensor) -> Tensor | dict[str, Tensor]:
    """Additive masks (batch, 1, width, before + width): 0 where a node may look, the lowest number elsewhere.

    One mask where all layers have the same window, or all tokens fit into each; else one for each kind of layer.

    Args:
        ends: (batch, width), as of `TokenTree`.
        positions: (batch, width) position of each node in its sequence, prefix included.
        is_seen_before: (batch, width, before) which cached tokens each node sees; their positions are 0, 1, ...
    """
    node = torch.arange(ends.shape[1], device=ends.device)
    is_above = (node[:, None] >= node) & (node[:, None] < ends[:, None, :])
    is_seen = torch.cat([is_seen_before, is_above], 2)
    windows = _windows(model, is_seen.shape[2])
    if not any(windows.values()):
        return _additive(is_seen, model.dtype)
    before = torch.arange(is_seen_before.shape[2], device=ends.device).expand(len(positions), -1)
    seer, seen = positions[:, :, None], torch.cat([before, positions], 1)[:, None, :]
    near = {
        "sliding_attention": lambda window: seer - seen < window,
        "chunked_attention": lambda window: seer // window == seen // window,
    }
    masks = {
        kind: _additive(is_seen & near[kind](window) if window else is_seen, model.dtype)
        for kind, window in windows.items()
    }
    return masks if len(masks) > 1 else next(iter(masks.values()))


def _windows(model: Any, tokens: int) -> dict[str, int | None]:
    """The window of each kind of a model's layers; None where it holds all of `tokens`."""
    config = model.config.get_text_config()
    settings = {kind: getattr(config, name, None) for kind, name in WINDOW_OF_KIND.items()}
    # Without a list of kinds, all layers are of the first kind that has a setting.
    kinds = getattr(config, "layer_types", None) or [kind for kind, window in settings.items() if window][:1]
    windows = {kind: settings.get(kind) for kind in kinds}
    return {kind: window if window and window < tokens else None for kind, window in windows.items()}


def _additive(is_seen: Tensor, dtype: torch.dtype) -> Tensor:
    """A mask to be added to scores: eager attention would add a boolean mask as 0 and 1."""
    mask = torch.zeros(is_seen.shape, dtype=dtype, device=is_seen.device)
    return mask.masked_fill_(~is_seen, torch.finfo(dtype).min)[:, None]
