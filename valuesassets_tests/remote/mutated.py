"""Replies of other shapes than an interface promises, made of good ones."""

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

JUNK = (
    *(None, True, False, 0, -1, 7, 10**400, -(10**30), 0.5, 1e308, float("nan"), float("inf"), float("-inf"), -9999.0),
    *("", " ", "1", "x" * 300, "\ud800", "\x00", "<think>", "</think>", "NaN", "-Infinity", "stop"),
    *([], {}, [[]], [None], {"": None}, [{}], {"text": 7}, [1, "a", None], {"content": [{"token": 1}]}),
)
"""What may stand where something else was promised."""
DEEP = "[" * 3000 + "]" * 3000
WHOLE = (
    "",
    " ",
    "null",
    "[]",
    "{}",
    "7",
    '"x"',
    "true",
    "NaN",
    "<html>log in</html>",
    "{",
    DEEP,
    '{"choices":' + DEEP + "}",
)
"""Replies that are nothing like a good one."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield (*path, name)
        yield from places(each, (*path, name))


def mutated(good: Any, seed: int) -> str:
    """The text of a reply in which one to three things are not as promised, or which is cut or something else."""
    draw = Random(seed)  # noqa: S311
    if draw.random() < 0.1:
        return draw.choice(WHOLE)
    reply = deepcopy(good)
    for _ in range(draw.randint(1, 3)):
        _mutate(reply, draw)
    text = json.dumps(reply)
    return text[: draw.randint(0, len(text))] if draw.random() < 0.1 else text


def _mutate(reply: Any, draw: Random) -> None:
    paths = list(places(reply))
    if not paths:
        return
    *inner, last = draw.choice(paths)
    holder = reply
    for name in inner:
        holder = holder[name]
    match draw.choice(("drop", "junk", "junk", "junk", "list", "object", "twice")):
        case "drop":
            del holder[last]
        case "junk":
            holder[last] = deepcopy(draw.choice(JUNK))
        case "list":
            holder[last] = [holder[last]]
        case "object":
            holder[last] = {"text": holder[last]}
        case _ if isinstance(holder, list):
            holder.append(deepcopy(holder[last]))
        case _:
            holder[f"{last}_2"] = deepcopy(holder[last])
