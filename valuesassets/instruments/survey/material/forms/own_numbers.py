"""Numbers and letters inside labels: `1. Very`, `(2) Rather`, `[3] Hardly`, `d) Not at all`, `Very (1)`.

Prompts number the answers; a second number in a label would read like another answer's.
"""

import itertools
import re
from collections.abc import Sequence

from valuesassets.records.questions import MISSING_CODES

LEADING = re.compile(
    r"\s*(?:(?P<open>[(\[{])\s*(?P<inside>[^\W_]{1,4})\s*[)\]}][.:]?\s*"
    r"|(?P<bare>\d{1,4}|[^\W\d_]{1,4})\s*(?:[.):\]=/]|[-\u2013\u2014](?=\s*[^\W\d_]))+(?:\s+|(?=[^\W\d_])))(?P<rest>\S.*)",
    re.DOTALL,
)
TRAILING = re.compile(r"(?P<rest>.*\S)\s*[(\[](?P<bare>\d{1,4})[)\]]\s*", re.DOTALL)
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзийклмнопрстуфхцчшщ",
    "абвгґдеєжзиіїйклмн",
    "αβγδεζηθικλμνξοπ",
    "աբգդեզէըթժ",
    "აბგდევზთიკ",
)
ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


def carried(label: str) -> tuple[str, str] | None:
    """The number or letter in a label, and the label without it; None if there is none.

    >>> carried("1. Very"), carried("(b) Rather"), carried("Hardly [3]"), carried("1.5 hours")
    (('1', 'Very'), ('b', 'Rather'), ('3', 'Hardly'), None)
    """
    if match := LEADING.fullmatch(label):
        return (match["inside"] or match["bare"]).casefold(), match["rest"].strip()
    match = TRAILING.fullmatch(label)
    return (match["bare"], match["rest"].strip()) if match else None


def places_of(marks: Sequence[str]) -> list[int] | None:
    """The numbers of marks that rise or fall; None if they are in no order. Codes for don't know may be anywhere.

    >>> places_of(["a", "b", "c"]), places_of(["4", "3", "1"]), places_of(["i", "ii"]), places_of(["a", "c"])
    ([1, 2, 3], [4, 3, 1], [1, 2], None)
    >>> places_of(["3", "2", "1", "9"])
    [3, 2, 1, 9]
    """
    if all(mark.isdecimal() for mark in marks):
        numbers = [int(mark) for mark in marks]
        missing = MISSING_CODES if max(numbers) > len(marks) else ()
        counted = [number for number in numbers if number not in missing]
        rises = {later > earlier for earlier, later in itertools.pairwise(counted)}
        return numbers if len(rises) <= 1 and len(set(numbers)) == len(numbers) else None
    counted = [*range(1, len(marks) + 1)]
    lists = (*ALPHABETS, ROMAN)
    return counted if len(marks) > 1 and any(list(marks) == [*letters[: len(marks)]] for letters in lists) else None


def without_own_numbers(labels: Sequence[str]) -> tuple[list[str], list[int]] | None:
    """Labels without their numbers, and the numbers; None unless all labels have one, in order.

    A label that is a figure stays, where others have words beside theirs, as the ends of a scale do.

    >>> without_own_numbers(["1 - bad", "2", "3 - good"]), without_own_numbers(["1", "2"])
    ((['bad', '2', 'good'], [1, 2, 3]), None)
    """
    pairs = [carried(label) for label in labels]
    if len(labels) < 2 or not any(pairs):
        return None
    pairs = [pair or _figure(label) for pair, label in zip(pairs, labels, strict=True)]
    if not all(pairs):
        return None
    marks, rests = zip(*filter(None, pairs), strict=True)
    numbers = places_of(marks)
    if numbers is None or not all(any(map(str.isalnum, rest)) for rest in rests):
        return None
    return [*rests], numbers


def _figure(label: str) -> tuple[str, str] | None:
    """A label that is a figure alone, as its own number and the rest of it."""
    return (label.strip(), label) if label.strip().isdecimal() else None


def carriers(labels: Sequence[str], values: Sequence[int]) -> list[str]:
    """Labels with a number or letter in a list without an order: their own code or place, or one of several letters."""
    pairs = [carried(label) for label in labels]
    figures = [n for n, each in enumerate(pairs) if each and each[0].isdecimal()]
    letters = [n for n, each in enumerate(pairs) if each and len(each[0]) == 1 and each[0].isalpha()]
    fitting = [n for n in figures if int(pairs[n][0]) in (values[n], n + 1)]  # type: ignore[index]
    return [labels[n] for n in (fitting and figures) or (letters if len(letters) > 1 else [])]
