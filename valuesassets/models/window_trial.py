"""Whether what reaches beyond a model's window is read as the model itself reads it. Found by trying.

The model is tried with a window of a few tokens in the place of its own, so that a trial costs the same whatever its
window is: its configuration says what it looks back on whenever it makes a mask. Right is what it says to each sequence
alone. Masks that are wrong by one token differ little from that, in half precision less than rounding does; so what is
read must also be nearer to it than what is read with a window that is one token shorter or longer.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from valuesassets.models.cached_text import Ask, CachedText
from valuesassets.models.engine import TREE_TOLERANCE, KeptPrefix, read_batch
from valuesassets.models.kept_prefixes import keep_prefix
from valuesassets.models.loading import WINDOWS
from valuesassets.models.token_trees import TokenTree, grow_tree
from valuesassets.spelling.tokens import NextToken, Tokens

WINDOW = 12
"""Tokens of the window that is tried."""

SHARED, LONG, SHORT, EARLY = 30, 20, 9, 4
"""Tokens of what the sequences begin with, of two branches behind it, and of the long one's beginning."""


def read_in_tree(model: Any, shared: Tokens, branches: Sequence[Tokens], asked: Sequence[int]) -> list[NextToken]:
    """What comes next behind each branch, read in one tree."""
    return _read(model, grow_tree([shared + branch for branch in branches]), asked, None)


def read_beside_prefix(model: Any, shared: Tokens, branches: Sequence[Tokens], asked: Sequence[int]) -> list[NextToken]:
    """The same, with what they begin with kept."""
    return _read(model, grow_tree(branches), asked, keep_prefix(model, shared, SHARED // 2))


def read_beside_text(model: Any, shared: Tokens, branches: Sequence[Tokens], asked: Sequence[int]) -> list[NextToken]:
    """The same, with the longest branch in the cache and the others beside it."""
    text, tokens = CachedText(model, 1), tuple(asked)
    whole = shared + max(branches, key=len)
    text.extend(whole[: len(shared) // 2], [])
    end = text.extend(whole[len(shared) // 2 :], [Ask(len(whole), (), tokens)])
    beside = text.twigs([Ask(len(shared), branch, tokens) for branch in branches])
    return [end[0] if shared + branch == whole else row for branch, row in zip(branches, beside, strict=True)]


def find_window_fault(model: Any, read: Callable[..., list[NextToken]]) -> str | None:
    """Why what reaches beyond a model's window cannot be read in one of these ways, in words; None where it can."""
    vocabulary = model.get_output_embeddings().weight.shape[0]
    ids = tuple(number * 7919 % vocabulary for number in range(1, SHARED + LONG + SHORT + 1))
    shared, long, short = ids[:SHARED], ids[SHARED : SHARED + LONG], ids[SHARED + LONG :]
    branches, everything = (long[:EARLY], long, short), range(vocabulary)

    def beside(window: int) -> Tensor:
        with looking_back(model, window):
            return _probs(read(model, shared, branches, everything))

    try:
        sequences = tuple(shared + own for own in branches)
        expected, other = (read_alone(model, sequences, window) for window in (WINDOW, WINDOW + 1))
        found, *wrong = (beside(window) for window in (WINDOW, WINDOW - 1, WINDOW + 1))
    except Exception as error:  # architectures fail in ways of their own; the plain path names what fails there too
        return f"it fails beyond its window: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
    if any(bool(probs.isnan().any()) for probs in (expected, other, found, *wrong)):
        return "beyond its window its answers are no numbers"
    if torch.equal(expected, other):
        return "its window cannot be tried, since its configuration does not set it"
    apart = _apart(found, expected)
    if apart > max(TREE_TOLERANCE[model.dtype], TREE_TOLERANCE[torch.float32]):  # some kernels round to it within
        return f"beyond its window its answers differ by {apart:.1g}"
    if apart >= min(_apart(each, expected) for each in wrong):
        return "beyond its window its answers are those of another window"
    return None


def read_alone(model: Any, sequences: Sequence[Tokens], window: int) -> Tensor:
    """What the model itself says to each sequence: (sequences, vocabulary) probabilities."""
    everything = range(model.get_output_embeddings().weight.shape[0])
    with looking_back(model, window):
        return _probs(_read(model, grow_tree([sequence]), everything, None)[0] for sequence in sequences)


@contextmanager
def looking_back(model: Any, window: int) -> Iterator[None]:
    """A block in which the layers of a model that look back on some tokens look back on so many."""
    configs = [module.config for module in model.modules() if hasattr(module, "config")]
    configs += [config.get_text_config() for config in configs if hasattr(config, "get_text_config")]
    own = {
        (id(config), name): (config, name, number)
        for config in configs
        for name in WINDOWS
        if isinstance(number := getattr(config, name, None), int) and number > 0
    }
    try:
        for config, name, _ in own.values():
            setattr(config, name, window)
        yield
    finally:
        for config, name, number in own.values():
            setattr(config, name, number)


def _read(model: Any, tree: TokenTree, asked: Sequence[int], kept: KeptPrefix | None) -> list[NextToken]:
    return read_batch(model, [tree], [asked] * len(tree.rows), 1, kept)


def _probs(rows: Iterator[NextToken] | Sequence[NextToken]) -> Tensor:
    return torch.tensor([row.log_probs for row in rows]).exp()


def _apart(one: Tensor, other: Tensor) -> float:
    """The largest total variation between rows."""
    return float((one - other).abs().sum(dim=1).max()) / 2
