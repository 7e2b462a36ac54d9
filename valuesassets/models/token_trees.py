"""Token sequences merged into trees, and trees put into batches: what goes through a model together."""

from collections.abc import Sequence
from dataclasses import dataclass

from valuesassets.spelling.tokens import Tokens

LARGEST_TREE = 512
"""Tokens of a tree beyond which another branch is no gain."""

WORTH_SHARING = 16
"""Fewest tokens that sequences begin with alike for it to be worth a common tree."""


@dataclass(frozen=True)
class TokenTree:
    """Token sequences merged where they begin alike; nodes in depth-first order, parents before children.

    Attributes:
        tokens: (N,) token id of each node.
        depths: (N,) position of each node in its sequence.
        ends: (N,) index behind a node's last descendant: node i is seen by i, ..., ends[i] - 1 and by no other.
        rows: the node at which each sequence ends.
    """

    tokens: Tokens
    depths: tuple[int, ...]
    ends: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def is_chain(self) -> bool:
        """Whether all sequences are beginnings of one: such a tree needs no mask but the model's own."""
        return min(self.ends) == len(self.tokens)


def grow_tree(sequences: Sequence[Tokens]) -> TokenTree:
    """The tree over non-empty token sequences.

    >>> tree = grow_tree([(5, 6, 7), (5,), (5, 8)])
    >>> tree.tokens, tree.depths, tree.ends, tree.rows
    ((5, 6, 7, 8), (0, 1, 2, 1), (4, 3, 3, 4), (2, 0, 3))
    """
    tokens: list[int] = []
    depths: list[int] = []
    ends: list[int] = []
    rows = [0] * len(sequences)
    path: list[int] = []  # the nodes from the root to the last one
    before: Tokens = ()

    def leave(depth: int) -> None:
        for node in path[depth:]:
            ends[node] = len(tokens)
        del path[depth:]

    for index in sorted(range(len(sequences)), key=sequences.__getitem__):
        sequence = sequences[index]
        leave(shared_length(before, sequence))
        for depth in range(len(path), len(sequence)):
            path.append(len(tokens))
            tokens.append(sequence[depth])
            depths.append(depth)
            ends.append(0)
        rows[index] = path[-1]
        before = sequence
    leave(0)
    return TokenTree(tuple(tokens), tuple(depths), tuple(ends), tuple(rows))


def part_into_trees(
    sequences: Sequence[Tokens], most_rows: int, kept: int = 0, window: int | None = None
) -> list[list[int]]:
    """Positions of the sequences of each tree: those that begin alike, in trees of bearable size.

    Both orders of a question share its text, the items of a battery their stem. Attention costs the square of a tree,
    so that a large one does not pay, unless what comes on top is next to nothing.

    Args:
        kept: tokens that all sequences begin with and that no tree holds.
        window: most tokens of these and a tree together; a sequence that has more is a tree for itself.

    >>> part_into_trees([(1,) * 20 + (2,), (3,) * 20, (1,) * 20], most_rows=9)
    [[2, 0], [1]]
    """
    parts: list[list[int]] = []
    size, before = 0, ()
    for index in sorted(range(len(sequences)), key=sequences.__getitem__):
        sequence = sequences[index]
        shared = shared_length(before, sequence)
        more = len(sequence) - shared
        is_bearable = size + more <= LARGEST_TREE or more < WORTH_SHARING
        is_bearable = is_bearable and (window is None or kept + size + more <= window)
        if parts and shared >= WORTH_SHARING and is_bearable and len(parts[-1]) < most_rows:
            parts[-1].append(index)
            size += more
        else:
            parts.append([index])
            size = len(sequence) - kept
        before = sequence
    return parts


def part_into_chains(sequences: Sequence[Tokens]) -> list[list[int]]:
    """Positions of the sequences that are beginnings of one another, so that every part makes a chain.

    >>> part_into_chains([(5, 6, 7), (5,), (5, 8)])
    [[1, 0], [2]]
    """
    parts: list[list[int]] = []
    before: Tokens = ()
    for index in sorted(range(len(sequences)), key=sequences.__getitem__):
        if parts and sequences[index][: len(before)] == before:
            parts[-1].append(index)
        else:
            parts.append([index])
        before = sequences[index]
    return parts


def shared_length(one: Tokens, other: Tokens) -> int:
    """How many tokens two sequences begin with alike."""
    same, most = 0, min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    while most - same > 1:
        middle = (same + most) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            most = middle
    return same


@dataclass(frozen=True)
class BatchBudget:
    """Most padded tokens in a batch (a larger tree goes alone), and most rows read: a few float32 per token known."""

    tokens: int
    rows: int

    @staticmethod
    def for_device(device: str) -> "BatchBudget":
        """Small batches keep a CPU's caches warm; a GPU wants them large."""
        return BatchBudget(1536, 64) if device == "cpu" else BatchBudget(16384, 512)

    def halved(self) -> "BatchBudget":
        """Half of both, at least one."""
        return BatchBudget(max(self.tokens // 2, 1), max(self.rows // 2, 1))


def plan_batches(trees: Sequence[TokenTree], budget: BatchBudget, kept: int = 0) -> list[list[int]]:
    """Positions of the trees of each batch, largest first, chains apart: a function of the trees and the budget alone.

    Args:
        kept: tokens that stand before every tree, and count with each.

    >>> trees = [grow_tree([(1,) * n, (2,)]) for n in (2, 9, 3)]
    >>> plan_batches(trees, BatchBudget(tokens=10, rows=9))
    [[1], [2, 0]]
    """
    batches: list[list[int]] = []
    width = rows = 0
    is_chain = None
    for index in sorted(range(len(trees)), key=lambda i: (trees[i].is_chain, -len(trees[i].tokens), i)):
        tree = trees[index]
        fits = (
            batches
            and (len(batches[-1]) + 1) * (width + kept) <= budget.tokens
            and rows + len(tree.rows) <= budget.rows
        )
        if fits and tree.is_chain == is_chain:
            batches[-1].append(index)
            rows += len(tree.rows)
        else:
            batches.append([index])
            width, rows, is_chain = len(tree.tokens), len(tree.rows), tree.is_chain
    return batches
