"""The orders in which options are shown, and which of them an average is over (docs/decisions/007)."""

import hashlib
import itertools
import math
import random
from collections.abc import Iterable, Mapping, Sequence

from valuesassets.records.questions import Question, ResponseType, shown_numbers

Order = tuple[int, ...]
"""Positions of the original order, in the order shown."""


def option_orders(question: Question, asked: str | int, seed: int) -> dict[str, Order]:
    """The orders in which a question's options are shown, by name: positions of the original order.

    Forward and reversed always come first. Ten-point scales and other scales with unlabelled points know these two
    only: any other order would tear the numbers from the anchors.

    Args:
        asked: `both`, `all` (permutations; cyclic beyond four options), `cyclic`, or a number of seeded orders.
        seed: of the orders drawn, together with the question's id; the same on every machine.
    """
    forward = tuple(range(len(question.options)))
    orders = {"forward": forward, "reversed": forward[::-1]}
    if shown_numbers(question) is not None or question.response_type is ResponseType.LIKERT10:
        return orders
    more: Iterable[Order] = []
    if asked == "all" and len(forward) <= 4:
        more = itertools.permutations(forward)
    elif asked in ("all", "cyclic"):
        more = cyclic_shifts(forward)
    elif isinstance(asked, int):
        more = _drawn(forward, asked, f"{seed}/{question.id}")
    for order in more:
        if order not in (forward, forward[::-1]):
            orders["-".join(map(str, order))] = order
    return orders


def averaged_orders(orders: Mapping[str, Sequence[int]]) -> list[str]:
    """The names of the orders that a question's answers are averaged over: those asked for.

    Cyclic shifts put every option once at every place. The reversed order, read for the position bias, is none of
    them (beyond two options) and would upset that balance: it is left out where all shifts and it alone are there.

    >>> averaged_orders({"forward": (0, 1, 2), "reversed": (2, 1, 0), "1-2-0": (1, 2, 0), "2-0-1": (2, 0, 1)})
    ['forward', '1-2-0', '2-0-1']
    >>> averaged_orders({"forward": (0, 1, 2), "reversed": (2, 1, 0)})
    ['forward', 'reversed']
    """
    shifts, shown = set(cyclic_shifts(tuple(orders["forward"]))), set(map(tuple, orders.values()))
    is_cyclic = shown == shifts | {tuple(orders["reversed"])}
    return [name for name, order in orders.items() if not is_cyclic or tuple(order) in shifts]


def cyclic_shifts(order: Order) -> list[Order]:
    """An order turned round by 0, 1, ... places.

    >>> cyclic_shifts((0, 1, 2))
    [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    """
    return [order[shift:] + order[:shift] for shift in range(len(order))]


def _drawn(forward: Order, count: int, seed: str) -> list[Order]:
    """So many different orders beside forward and reversed, or all there are."""
    if math.factorial(len(forward)) - 2 <= count:
        return list(itertools.permutations(forward))
    # A stable hash: the same orders under every PYTHONHASHSEED and on every machine.
    draw = random.Random(hashlib.sha256(seed.encode()).digest())  # noqa: S311  # nothing secret
    found: dict[Order, None] = {}
    while len(found) < count:
        order = tuple(draw.sample(forward, len(forward)))
        if order not in (forward, forward[::-1]):
            found[order] = None
    return list(found)
