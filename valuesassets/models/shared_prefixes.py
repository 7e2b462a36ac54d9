"""Which beginnings of token sequences are worth being kept: those that many trees would have to repeat."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from valuesassets.models.token_trees import LARGEST_TREE, WORTH_SHARING, shared_length
from valuesassets.spelling.tokens import Tokens

SHORTEST_PREFIX = 64
"""Fewest tokens of a prefix that is kept."""

WORTH_KEEPING = 1024
"""Fewest tokens that a kept prefix saves its trees."""


@dataclass(frozen=True)
class SharedPrefix:
    """A beginning that sequences share: how many tokens, and the positions of the sequences, sorted by them."""

    length: int
    members: tuple[int, ...]


@dataclass
class _Alike:
    """Sorted sequences from `start` on that begin with `length` tokens alike, and what is best kept within them."""

    length: int
    start: int
    saved: int = 0
    best: list[tuple[int, int, int]] = field(default_factory=list)
    """Prefixes: their length, the place of their first sequence, and the one behind their last."""

    def take(self, inner: "_Alike") -> None:
        """Take over what is kept within some of its sequences."""
        self.saved += inner.saved
        self.best += inner.best


def find_prefixes(sequences: Sequence[Tokens]) -> list[SharedPrefix]:
    """The beginnings to keep, so that together they save the most tokens; no sequence has two.

    What is saved is a prefix's length, for every tree but one that would repeat it. A sequence that is no more than the
    prefix is none to read beside it: one token of the shortest is left.

    >>> asked = [(7,) * 100 + (n,) * 90 for n in range(60)]
    >>> [(prefix.length, len(prefix.members)) for prefix in find_prefixes([*asked, (8,) * 300])]
    [(100, 60)]
    >>> find_prefixes(asked[:9])
    []
    """
    order = sorted(range(len(sequences)), key=sequences.__getitem__)
    ordered = [sequences[index] for index in order]
    alike = [shared_length(one, other) for one, other in zip([(), *ordered], ordered, strict=False)]
    own = [len(sequence) - shared for sequence, shared in zip(ordered, alike, strict=True)]
    # Of everything up to a place: tokens that the one before has not, and sequences that have some worth a branch.
    tokens = [0, *accumulate(own)]
    branches = [0, *accumulate(int(more >= WORTH_SHARING) for more in own)]

    def saved(start: int, end: int, length: int) -> int:
        """Tokens that a prefix saves the sequences from `start` to before `end`."""
        new = tokens[end] - tokens[start + 1] + len(ordered[start]) - length
        parts = branches[end] - branches[start + 1] + 1
        trees = -(-parts // max(1, (LARGEST_TREE - length) * parts // new))
        return length * (trees - 1)

    def close(group: _Alike, end: int) -> None:
        """Settle what is best kept in a group: one prefix for all, or those found within."""
        length = min(group.length, len(ordered[group.start]) - 1)
        found = saved(group.start, end, length) if length >= SHORTEST_PREFIX else 0
        if found >= WORTH_KEEPING and found > group.saved:
            group.saved, group.best = found, [(length, group.start, end)]

    open_groups = [_Alike(0, 0)]
    for place in range(1, len(ordered) + 1):
        shared = alike[place] if place < len(ordered) else 0
        shared = shared if shared >= SHORTEST_PREFIX else 0
        inner = _Alike(shared, place - 1)  # of one sequence: nothing is kept in it
        while open_groups[-1].length > shared:
            group = open_groups.pop()
            group.take(inner)
            close(group, place)
            inner = group
        if open_groups[-1].length < shared:
            open_groups.append(_Alike(shared, inner.start))
        open_groups[-1].take(inner)
    return [SharedPrefix(length, tuple(order[start:end])) for length, start, end in open_groups[0].best]
