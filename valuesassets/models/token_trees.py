"""Merges token sequences into prefix trees, groups trees into batches, and cuts texts into pieces."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from valuesassets.spelling.tokens import Tokens

LARGEST_TREE = 512
"""Tokens of a tree beyond which another branch costs more than it saves."""
WORTH_SHARING = 16
"""Fewest shared tokens for which sequences are put into one tree."""


@dataclass(frozen=True)
class TokenTree:
    """Token sequences merged where they begin alike; nodes in depth-first order, parents first.

    Attributes:
        tokens: (N,) token id of each node.
        depths: (N,) position of each node in its sequence.
        ends: (N,) index after a node's last descendant: nodes i to ends[i] - 1 see node i, and no others do.
        rows: the node at which each sequence ends.
    """

    tokens: Tokens
    depths: tuple[int, ...]
    ends: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def is_chain(self) -> bool:
        """Whether all sequences are beginnings of one, so that the tree needs no mask but the model's own."""
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
    sequences: Sequence[Tokens], most_rows: int, n_prefix: int = 0, window: int | None = None
) -> list[list[int]]:
    """Positions of the sequences in each tree: sequences that begin alike, in trees of limited size.

    Attention costs the square of a tree's size: a large tree does not pay, unless the added branch is very short.

    Args:
        n_prefix: number of first tokens that all sequences share in a cached prefix, which no tree holds.
        window: most tokens of prefix and tree together; a longer sequence is a tree by itself.

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
        is_bearable = is_bearable and (window is None or n_prefix + size + more <= window)
        if parts and shared >= WORTH_SHARING and is_bearable and len(parts[-1]) < most_rows:
            parts[-1].append(index)
            size += more
        else:
            parts.append([index])
            size = len(sequence) - n_prefix
        before = sequence
    return parts


def part_into_chains(sequences: Sequence[Tokens]) -> list[list[int]]:
    """Positions of the sequences in each chain: sequences that are beginnings of one another.

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


def shared_length(first: Tokens, second: Tokens) -> int:
    """Number of tokens that two sequences share at their beginning."""
    same, most = 0, min(len(first), len(second))
    if first[:most] == second[:most]:
        return most
    while most - same > 1:
        middle = (same + most) // 2
        if first[same:middle] == second[same:middle]:
            same = middle
        else:
            most = middle
    return same


@dataclass(frozen=True)
class BatchBudget:
    """Most padded tokens in a batch (a larger tree is a batch by itself), and most rows, whose logits take memory."""

    tokens: int
    rows: int

    @staticmethod
    def for_device(device: str) -> "BatchBudget":
        """A small budget for a CPU, whose caches it fits, and a large one for a GPU."""
        return BatchBudget(1536, 64) if device == "cpu" else BatchBudget(16384, 512)

    def halved(self) -> "BatchBudget":
        """Half of both numbers, at least one."""
        return BatchBudget(max(self.tokens // 2, 1), max(self.rows // 2, 1))


def plan_batches(trees: Sequence[TokenTree], budget: BatchBudget, n_prefix: int = 0) -> list[list[int]]:
    """Positions of the trees in each batch, largest first, chains apart, each behind a prefix of `n_prefix` tokens.

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
            and (len(batches[-1]) + 1) * (width + n_prefix) <= budget.tokens
            and rows + len(tree.rows) <= budget.rows
        )
        if fits and tree.is_chain == is_chain:
            batches[-1].append(index)
            rows += len(tree.rows)
        else:
            batches.append([index])
            width, rows, is_chain = len(tree.tokens), len(tree.rows), tree.is_chain
    return batches


def plan_pieces(texts: Sequence[Tokens], chunk: int) -> list[tuple[int, tuple[int, ...]]]:
    """For each of some sorted texts, how many tokens stay cached from the text before, and where its pieces end.

    Pieces end where texts diverge, and every `chunk` tokens from there: a function of all texts together, so that a
    piece has the same bytes whichever texts are read.

    >>> plan_pieces([(1, 2, 3, 4), (1, 2, 5), (7,)], chunk=3)
    [(0, (2, 4)), (2, (2, 3)), (0, (1,))]
    """
    n_shared = [0, *(shared_length(first, second) for first, second in pairwise(texts))][: len(texts)]
    parts: list[set[int]] = [set() for _ in texts]
    for order in (range(len(texts)), range(len(texts) - 1, -1, -1)):
        minima: list[int] = []  # where earlier (or later) texts diverge from this one, ascending
        for place in order:
            shared = n_shared[place] if order.step > 0 else n_shared[place + 1] if place + 1 < len(texts) else 0
            minima = [part for part in minima if part < shared] + ([shared] if shared else [])
            parts[place] |= set(minima)
    plan = []
    for n_kept, text, part in zip(n_shared, texts, parts, strict=True):
        marks = sorted({0, len(text), *part})
        ends = [end for start, stop in pairwise(marks) for end in [*range(start + chunk, stop, chunk), stop]]
        plan.append((n_kept, tuple(ends)))
    return plan
