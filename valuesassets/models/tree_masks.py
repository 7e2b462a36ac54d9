"""What the nodes of a tree see: themselves, their ancestors and what stands before, as far as a layer looks back.

A mask of four dimensions takes the place of an architecture's own, the one of its windows too: transformers hands it to
every layer as it is. So the window is in the mask here, and goes by positions: a node sees those of its ancestors that
are near enough in its own sequence, however many branches lie between them. Where layers look back differently, each
kind of layer has a mask.
"""

from typing import Any

import torch
from torch import Tensor

WINDOW_OF_KIND = {"sliding_attention": "sliding_window", "chunked_attention": "attention_chunk_size"}
"""The setting of each kind of layer that looks back on some tokens only; the other kinds see everything."""


def tree_masks(model: Any, ends: Tensor, positions: Tensor, is_seen_before: Tensor) -> Tensor | dict[str, Tensor]:
    """Additive masks (batch, 1, width, before + width): 0 where a node may look, the lowest number elsewhere.

    One mask where all layers look back alike, or no more tokens are there than a window has; else one for each kind.

    Args:
        ends: (batch, width), as of trees.
        positions: (batch, width) of the nodes in their sequences, behind what stands before them.
        is_seen_before: (batch, width, before): which tokens of a cache each node sees; their positions are 0, 1, ...
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
    """How many tokens each kind of a model's layers looks back on; None where that is all of so many."""
    config = model.config.get_text_config()
    settings = {kind: getattr(config, name, None) for kind, name in WINDOW_OF_KIND.items()}
    # Without a list of kinds all layers are of one, the first that there is a setting of.
    kinds = getattr(config, "layer_types", None) or [kind for kind, window in settings.items() if window][:1]
    found = {kind: settings.get(kind) for kind in kinds}
    return {kind: window if window and window < tokens else None for kind, window in found.items()}


def _additive(is_seen: Tensor, dtype: torch.dtype) -> Tensor:
    """A boolean mask would be added as 0 and 1 by eager attention."""
    mask = torch.zeros(is_seen.shape, dtype=dtype, device=is_seen.device)
    return mask.masked_fill_(~is_seen, torch.finfo(dtype).min)[:, None]
