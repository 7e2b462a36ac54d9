"""In which pieces texts go through a model, so that what they begin with alike goes through once."""

from collections.abc import Sequence
from itertools import pairwise

from valuesassets.models.token_trees import shared_length
from valuesassets.spelling.tokens import Tokens


def plan_pieces(texts: Sequence[Tokens], chunk: int) -> list[tuple[int, tuple[int, ...]]]:
    """For each of some sorted texts how much of the one before it keeps, and where its pieces end.

    Pieces end where texts part and every `chunk` tokens from there: a function of all texts together, so that a piece
    is read with the same bytes whichever of the texts are read at all.

    >>> plan_pieces([(1, 2, 3, 4), (1, 2, 5), (7,)], chunk=3)
    [(0, (2, 4)), (2, (2, 3)), (0, (1,))]
    """
    kept = [0, *(shared_length(one, other) for one, other in pairwise(texts))][: len(texts)]
    parts: list[set[int]] = [set() for _ in texts]
    for order in (range(len(texts)), range(len(texts) - 1, -1, -1)):
        minima: list[int] = []  # where texts before it, or behind it, part from this one: ascending
        for place in order:
            shared = kept[place] if order.step > 0 else kept[place + 1] if place + 1 < len(texts) else 0
            minima = [part for part in minima if part < shared] + ([shared] if shared else [])
            parts[place] |= set(minima)
    plan = []
    for keep, text, part in zip(kept, texts, parts, strict=True):
        marks = sorted({0, len(text), *part})
        ends = [end for start, stop in pairwise(marks) for end in [*range(start + chunk, stop, chunk), stop]]
        plan.append((keep, tuple(ends)))
    return plan
