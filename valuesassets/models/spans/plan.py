"""Plans the pieces in which texts go through a model, so that shared beginnings go through once."""

from collections.abc import Sequence
from itertools import pairwise

from valuesassets.models.token_trees import shared_length
from valuesassets.spelling.tokens import Tokens


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
