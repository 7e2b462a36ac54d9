"""The orders in which options are shown, and those over which answers are averaged (docs/decisions/007)."""

import hashlib
import itertools
import math
import random
from collections.abc import Iterable, Mapping, Sequence

from valuesassets.records.questions import Question, ResponseType, shown_numbers

Order = tuple[int, ...]
"""Original positions of the options, in the order shown."""


def option_orders(question: Question, setting: str | int, seed: int) -> dict[str, Order]:
    """The orders in which a question's options are shown, by name.

    Forward and reversed always come first. Ten-point scales and other scales with unlabelled points have these two
    only: any other order would separate the numbers from the labels of the ends.

    Args:
        setting: `both`, `all` (permutations; cyclic for more than four options), `cyclic`, or a number of orders.
        seed: random seed, which is combined with the question's id; the orders are the same on every machine.
    """
    forward = tuple(range(len(question.options)))
    orders = {"forward": forward, "reversed": forward[::-1]}
    if shown_numbers(question) is not None or question.response_type is ResponseType.LIKERT10:
        return orders
    more: Iterable[Order] = []
    if setting == "all" and len(forward) <= 4:
        more = itertools.permutations(forward)
    elif setting in ("all", "cyclic"):
        more = cyclic_shifts(forward)
    elif isinstance(setting, int):
        more = _random_orders(forward, setting, f"{seed}/{question.id}")
    for order in more:
        if order not in (forward, forward[::-1]):
            orders["-".join(map(str, order))] = order
    return orders


def averaged_orders(orders: Mapping[str, Sequence[int]]) -> list[str]:
    """The names of the orders over which a question's answers are averaged.

    Cyclic shifts show every option once at every position. The reversed order, which measures position bias, is not one
    of them (with more than two options) and would break this balance. It is left out if the other orders are exactly
    all cyclic shifts.

    >>> averaged_orders({"forward": (0, 1, 2), "reversed": (2, 1, 0), "1-2-0": (1, 2, 0), "2-0-1": (2, 0, 1)})
    ['forward', '1-2-0', '2-0-1']
    >>> averaged_orders({"forward": (0, 1, 2), "reversed": (2, 1, 0)})
    ['forward', 'reversed']
    """
    shifts, order_set = set(cyclic_shifts(tuple(orders["forward"]))), set(map(tuple, orders.values()))
    is_cyclic = order_set == shifts | {tuple(orders["reversed"])}
    return [name for name, order in orders.items() if not is_cyclic or tuple(order) in shifts]


def cyclic_shifts(order: Order) -> list[Order]:
    """The cyclic shifts of an order, by 0, 1, 2 and more places.

    >>> cyclic_shifts((0, 1, 2))
    [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    """
    return [order[shift:] + order[:shift] for shift in range(len(order))]


def _random_orders(forward: Order, count: int, seed: str) -> list[Order]:
    """`count` different orders beside forward and reversed, or all orders if there are not more."""
    if math.factorial(len(forward)) - 2 <= count:
        return list(itertools.permutations(forward))
    # A stable hash: the same orders under every PYTHONHASHSEED and on every machine.
    draw = random.Random(hashlib.sha256(seed.encode()).digest())  # noqa: S311  # nothing secret
    orders: dict[Order, None] = {}
    while len(orders) < count:
        order = tuple(draw.sample(forward, len(forward)))
        if order not in (forward, forward[::-1]):
            orders[order] = None
    return list(orders)
