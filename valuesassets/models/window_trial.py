"""Tries whether text beyond a model's attention window is read as the model itself reads it.

The model's window, which it takes from its configuration for each mask, is replaced by one of a few tokens. A mask that
is wrong by one token differs little, in half precision less than rounding does: what is read must therefore also be
closer to the model's output for each sequence alone than what is read with a window one token shorter or longer.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from valuesassets.models.cached_text import Ask, CachedText
from valuesassets.models.engine import TREE_TOLERANCE, CachedPrefix, read_batch
from valuesassets.models.kept_prefixes import keep_prefix
from valuesassets.models.loaded_model import WINDOWS
from valuesassets.models.token_trees import TokenTree, grow_tree
from valuesassets.spelling.tokens import NextToken, Tokens

WINDOW = 12
"""Tokens of the window in the trial."""
SHARED, LONG, SHORT, EARLY = 30, 20, 9, 4
"""Tokens of the shared beginning, of the two branches behind it, and of the long branch's own beginning."""


def read_in_tree(model: Any, shared: Tokens, branches: Sequence[Tokens], ids: Sequence[int]) -> list[NextToken]:
    """The next token behind each branch, read in one tree."""
    return _read(model, grow_tree([shared + branch for branch in branches]), ids, None)


def read_beside_prefix(model: Any, shared: Tokens, branches: Sequence[Tokens], ids: Sequence[int]) -> list[NextToken]:
    """The same, with the shared beginning as a cached prefix."""
    return _read(model, grow_tree(branches), ids, keep_prefix(model, shared, SHARED // 2))


def read_beside_text(model: Any, shared: Tokens, branches: Sequence[Tokens], ids: Sequence[int]) -> list[NextToken]:
    """The same, with the longest branch in the cached text and the others beside it."""
    text, tokens = CachedText(model, 1), tuple(ids)
    whole = shared + max(branches, key=len)
    text.extend(whole[: len(shared) // 2], [])
    end = text.extend(whole[len(shared) // 2 :], [Ask(len(whole), (), tokens)])
    beside = text.twigs([Ask(len(shared), branch, tokens) for branch in branches])
    return [end[0] if shared + branch == whole else row for branch, row in zip(branches, beside, strict=True)]


def find_window_fault(model: Any, read: Callable[..., list[NextToken]]) -> str | None:
    """Try whether `read` is right beyond a model's window: None if so, else the reason in words."""
    vocabulary = model.get_output_embeddings().weight.shape[0]
    ids = tuple(number * 7919 % vocabulary for number in range(1, SHARED + LONG + SHORT + 1))
    shared, long, short = ids[:SHARED], ids[SHARED : SHARED + LONG], ids[SHARED + LONG :]
    branches, everything = (long[:EARLY], long, short), range(vocabulary)

    def read_with(window: int) -> Tensor:
        """Next-token probabilities behind each branch when the model has this window."""
        with looking_back(model, window):
            return _probs(read(model, shared, branches, everything))

    try:
        sequences = tuple(shared + branch for branch in branches)
        expected, of_wider_window = (read_alone(model, sequences, window) for window in (WINDOW, WINDOW + 1))
        result, *wrong = (read_with(window) for window in (WINDOW, WINDOW - 1, WINDOW + 1))
    except Exception as error:  # architectures fail in ways of their own; the plain path names what fails there too
        return f"it fails beyond its window: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
    if any(bool(probs.isnan().any()) for probs in (expected, of_wider_window, result, *wrong)):
        return "beyond its window its answers are no numbers"
    if torch.equal(expected, of_wider_window):
        return "its window cannot be tried, since its configuration does not set it"
    gap = _difference(result, expected)
    if gap > max(TREE_TOLERANCE[model.dtype], TREE_TOLERANCE[torch.float32]):  # some kernels round to float32 within
        return f"beyond its window its answers differ by {gap:.1g}"
    if gap >= min(_difference(each, expected) for each in wrong):
        return "beyond its window its answers are those of another window"
    return None


def read_alone(model: Any, sequences: Sequence[Tokens], window: int) -> Tensor:
    """The model's own probabilities behind each sequence, (sequences, vocabulary)."""
    everything = range(model.get_output_embeddings().weight.shape[0])
    with looking_back(model, window):
        return _probs(_read(model, grow_tree([sequence]), everything, None)[0] for sequence in sequences)


@contextmanager
def looking_back(model: Any, window: int) -> Iterator[None]:
    """A block in which the windowed layers of a model look back on `window` tokens."""
    configs = [module.config for module in model.modules() if hasattr(module, "config")]
    configs += [config.get_text_config() for config in configs if hasattr(config, "get_text_config")]
    settings = {
        (id(config), name): (config, name, number)
        for config in configs
        for name in WINDOWS
        if isinstance(number := getattr(config, name, None), int) and number > 0
    }
    try:
        for config, name, _ in settings.values():
            setattr(config, name, window)
        yield
    finally:
        for config, name, number in settings.values():
            setattr(config, name, number)


def _read(model: Any, tree: TokenTree, token_ids: Sequence[int], prefix: CachedPrefix | None) -> list[NextToken]:
    return read_batch(model, [tree], [token_ids] * len(tree.rows), 1, prefix)


def _probs(rows: Iterator[NextToken] | Sequence[NextToken]) -> Tensor:
    return torch.tensor([row.log_probs for row in rows]).exp()


def _difference(first: Tensor, second: Tensor) -> float:
    """The largest total variation between rows of two arrays."""
    return float((first - second).abs().sum(dim=1).max()) / 2
