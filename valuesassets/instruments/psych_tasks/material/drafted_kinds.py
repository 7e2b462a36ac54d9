"""Kinds of marks for a drafted task file: marks grouped by the words that stand right before them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

MOST_WORDS = 4
"""Largest number of words before a mark that decide its kind."""
MOST_KINDS = 8
MOSTLY = 0.9
"""Share of the marks that must have one of these words before them, if the words are to distinguish kinds."""
WHOLE_NUMBER = re.compile("-?(0|[1-9][0-9]*)")


@dataclass(frozen=True)
class AnsweredMark:
    """An answer, and what a task file can look for before it.

    Attributes:
        who: place of its transcript in the file.
        words: the words before it as regular expressions, the nearest first.
        scopes: the texts in which a task file can look, by their names there.
    """

    who: int
    answer: str
    words: tuple[str, ...]
    scopes: Mapping[str, str]


Group = tuple[tuple[str, ...], list[AnsweredMark]]
"""The words that stand before all marks of a group, the nearest first; and the marks."""


def as_regex(text: str) -> str:
    r"""A regular expression for a text, with any white space and any numbers in place of the text's.

    >>> as_regex("Problem 1: (a)")
    'Problem\\s+\\d+:\\s+\\(a\\)'
    """
    return r"\s+".join(re.sub(r"\d+", r"\\d+", re.escape(word)) for word in re.split(r"\s+", text))


def words_before(text: str, closing: str, is_cut: bool) -> tuple[str, ...]:
    """The last words of a text before a mark, after the closing of the mark before; the nearest first.

    Args:
        is_cut: whether the text may begin in the middle of a word.
    """
    words = text.rpartition(closing)[2].split()[is_cut and closing not in text :]
    return tuple(map(as_regex, words[::-1][:MOST_WORDS]))


def before_regex(words: Sequence[str]) -> str:
    r"""The `before` of a kind: its words, or any text where it has none.

    >>> before_regex(("enter", "You"))
    'You\\s+enter\\s*$'
    """
    return (r"\s+".join(words[::-1]) or r"\S") + r"\s*$"


def group_marks(marks: list[AnsweredMark], words: tuple[str, ...] = ()) -> list[Group]:
    """Marks grouped by their words, where words that recur in a transcript stand before answers of different sorts.

    Marks with none of these words before them are the last group.

    Args:
        words: words that stand before all of them.
    """
    children: dict[str, list[AnsweredMark]] = {}
    for mark in marks:
        children.setdefault(next(iter(mark.words[len(words) :]), ""), []).append(mark)
    if len(words) == MOST_WORDS or set(children) == {""}:
        return [(words, marks)]
    if len(children) == 1:
        return group_marks(marks, (*words, *children))
    frames = {
        word: part for word, part in children.items() if word and len(part) >= 2 * len({mark.who for mark in part})
    }
    rest = [mark for word, part in children.items() if word not in frames for mark in part]
    parts = [*frames.values(), rest] if rest else list(frames.values())
    if len(frames) > MOST_KINDS or len(rest) > (1 - MOSTLY) * len(marks) or not _differ(parts):
        return [(words, marks)]
    groups = [group for word, part in frames.items() for group in group_marks(part, (*words, word))]
    return [*groups, (words, rest)] if rest else groups


def _differ(parts: Sequence[Sequence[AnsweredMark]]) -> bool:
    """Whether the answers of any two parts cannot be of one kind."""
    sorts = [_sort([mark.answer for mark in part]) for part in parts]
    return any(
        not a & b and len(a) > 1 < len(b) if first == second == "texts" else (first, a) != (second, b)
        for (first, a), (second, b) in combinations(sorts, 2)
    )


def _sort(answers: Sequence[str]) -> tuple[str, set[str]]:
    """The sort of these answers; and the ends of numbers, the same for all letters, or common texts."""
    if is_mostly(answers, WHOLE_NUMBER):
        numbers = [int(text) for text in answers if WHOLE_NUMBER.fullmatch(text)]
        return "numbers", {str(min(numbers)), str(max(numbers))}
    if is_mostly(answers, re.compile("[^\\W\\d_]")):
        return "letters", {"any"}
    counts = Counter(answers)
    return "texts", {text for text, n in counts.items() if n >= 0.01 * len(answers)} or set(counts)


def is_mostly(answers: Sequence[str], regex: re.Pattern[str]) -> bool:
    """Whether a regular expression matches nearly all answers."""
    return sum(regex.fullmatch(text) is not None for text in answers) >= MOSTLY * len(answers)
