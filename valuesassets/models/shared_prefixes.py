"""Finds the prefixes of token sequences that are worth caching: those that many trees would repeat."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from valuesassets.models.token_trees import LARGEST_TREE, WORTH_SHARING, shared_length
from valuesassets.spelling.tokens import Tokens

SHORTEST_PREFIX = 64
"""Fewest tokens of a cached prefix."""
WORTH_KEEPING = 1024
"""Fewest tokens that a cached prefix must save its trees."""


@dataclass(frozen=True)
class SharedPrefix:
    """A prefix that sequences share: its number of tokens, and the positions of the sequences, in sorted order."""

    length: int
    members: tuple[int, ...]


@dataclass
class _Alike:
    """Sorted sequences from `start` on that share `length` tokens, and the best prefixes to cache within them."""

    length: int
    start: int
    saved: int = 0
    best: list[tuple[int, int, int]] = field(default_factory=list)
    """Each prefix's length, the place of its first sequence, and the place after its last."""

    def take(self, inner: "_Alike") -> None:
        """Add the prefixes found within some of its sequences."""
        self.saved += inner.saved
        self.best += inner.best


def find_prefixes(sequences: Sequence[Tokens]) -> list[SharedPrefix]:
    """The prefixes to cache so that together they save the most tokens; no sequence has two.

    A prefix saves its length in every tree but one that would repeat it. A prefix is shorter than its shortest
    sequence, which needs at least one token to read behind it.

    >>> sequences = [(7,) * 100 + (n,) * 90 for n in range(60)]
    >>> [(prefix.length, len(prefix.members)) for prefix in find_prefixes([*sequences, (8,) * 300])]
    [(100, 60)]
    >>> find_prefixes(sequences[:9])
    []
    """
    order = sorted(range(len(sequences)), key=sequences.__getitem__)
    ordered = [sequences[index] for index in order]
    n_shared = [shared_length(first, second) for first, second in zip([(), *ordered], ordered, strict=False)]
    n_new = [len(sequence) - shared for sequence, shared in zip(ordered, n_shared, strict=True)]
    # Up to each place: tokens that the sequence before does not have, and sequences with enough of them for a branch.
    tokens = [0, *accumulate(n_new)]
    branches = [0, *accumulate(int(more >= WORTH_SHARING) for more in n_new)]

    def saved(start: int, end: int, length: int) -> int:
        """Tokens that a prefix saves the sequences from `start` to before `end`."""
        new = tokens[end] - tokens[start + 1] + len(ordered[start]) - length
        parts = branches[end] - branches[start + 1] + 1
        trees = -(-parts // max(1, (LARGEST_TREE - length) * parts // new))
        return length * (trees - 1)

    def close(group: _Alike, end: int) -> None:
        """Choose what to cache in a group: one prefix for all, or the prefixes found within."""
        length = min(group.length, len(ordered[group.start]) - 1)
        gain = saved(group.start, end, length) if length >= SHORTEST_PREFIX else 0
        if gain >= WORTH_KEEPING and gain > group.saved:
            group.saved, group.best = gain, [(length, group.start, end)]

    open_groups = [_Alike(0, 0)]
    for place in range(1, len(ordered) + 1):
        shared = n_shared[place] if place < len(ordered) else 0
        shared = shared if shared >= SHORTEST_PREFIX else 0
        inner = _Alike(shared, place - 1)  # one sequence has nothing to cache
        while open_groups[-1].length > shared:
            group = open_groups.pop()
            group.take(inner)
            close(group, place)
            inner = group
        if open_groups[-1].length < shared:
            open_groups.append(_Alike(shared, inner.start))
        open_groups[-1].take(inner)
    return [SharedPrefix(length, tuple(order[start:end])) for length, start, end in open_groups[0].best]
