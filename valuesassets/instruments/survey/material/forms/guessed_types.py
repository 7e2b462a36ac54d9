"""Guesses the type of answers without one: points, two answers, a scale in words, or a list.

Numbered points, rising numbers (`1 or 2`, `3 or more`) and words of degree (`studies/facts/degree_words.toml`) show an
order. Answers without any of these are a list without an order, which a person has to confirm.
"""

import functools
import itertools
import re
from collections.abc import Sequence
from typing import Any

from valuesassets.instruments.survey.material.forms.layout.word_graph import words_of
from valuesassets.people.variables import BY_COUNT
from valuesassets.records.errors import StudyError
from valuesassets.records.files import read_toml
from valuesassets.records.places import STUDIES
from valuesassets.records.questions import TEN, Option, Question, ResponseType, figure, has_words, is_run

GUESSED = "is_type_guessed"  # key of a question whose type nobody has given
IN_ORDER = 0.5  # least share of answers with a word of degree, or a number, in an ordered scale
NUMBER = re.compile(r"\D{0,12}(\d+)")  # the first number in an answer, near its beginning


def guessed_type(options: Sequence[Option], language: str) -> ResponseType:
    """The type of some answers: `categorical` if three or more show no order.

    >>> words = ("never", "sometimes", "often", "always"), ("red", "green", "blue", "grey")
    >>> [str(guessed_type([Option(value=n, label=w) for n, w in enumerate(each, 1)], "eng")) for each in words]
    ['likert4', 'categorical']
    """
    values = tuple(option.value for option in options)
    if has_points(options):
        return ResponseType.LIKERT10 if sorted(values) == [*TEN] and has_words(options[0]) else ResponseType.ORDINAL
    if len(options) == 2:
        return ResponseType.BINARY
    degrees = sum(is_degree(option.label, language) for option in options)
    if len(options) < 2 or (degrees < IN_ORDER * len(options) and not _grow(options)):
        return ResponseType.CATEGORICAL
    kind = BY_COUNT.get(len(options), ResponseType.ORDINAL)
    return ResponseType.ORDINAL if kind is ResponseType.LIKERT10 else kind


def has_bare_points(options: Sequence[Option]) -> bool:
    """Whether answers are points of a scale: all are figures, or only the ends have words."""
    if len(options) < 3:
        return False
    if all(figure(option.label) is not None for option in options):
        return True
    inner = options[1:-1]
    return (
        is_run([option.value for option in options])
        and has_words(options[0])
        and has_words(options[-1])
        and not any(map(has_words, inner))
        and all(figure(option.label) is not None or len(options) > 4 for option in inner)
    )


def has_points(options: Sequence[Option]) -> bool:
    """Whether answers that a person wrote are points of a scale: the ends have words, and not all others."""
    if has_bare_points(options):
        return True
    is_whole = is_run([option.value for option in options]) and len(options) > 2
    return is_whole and all(map(has_words, options[:: len(options) - 1])) and not all(map(has_words, options))


def _grow(options: Sequence[Option]) -> bool:
    """Whether the numbers in answers rise or fall beside texts that differ; `dish 1`, `dish 2` are no amounts."""
    numbers = [int(match[1]) for option in options if (match := NUMBER.match(option.label))]
    texts = {re.sub(r"\d+", "", option.label) for option in options}
    if len(numbers) < max(2, IN_ORDER * len(options)) or len(texts) < 2:
        return False
    rises = {later > earlier for earlier, later in itertools.pairwise(numbers)}
    return len(rises) == 1 and len({*numbers}) == len(numbers)


def why_doubtful(question: Question) -> str | None:
    """The question to a person about a guessed type; None if the type is certain."""
    if not (question.model_extra or {}).get(GUESSED) or question.response_type is not ResponseType.CATEGORICAL:
        return None
    return (
        f"no order was seen in its {len(question.options)} answers, so that they are read as a list (categorical); say "
        "response_type = ordinal if they go from one end to the other, or categorical, in an overrides file "
        "(docs/review.md#corrections) or a table's column"
    )


def is_degree(text: str, language: str) -> bool:
    """Whether one of a text's words says how much, how often or which way."""
    whole, beginnings = _degree_words(language)
    return any(word in whole or word.startswith(beginnings) for word in words_of(text))


@functools.cache
def _degree_words(language: str) -> tuple[frozenset[str], tuple[str, ...]]:
    table: dict[str, Any] = read_toml(STUDIES / "facts" / "degree_words.toml", "words of degree", StudyError)["words"]
    words = table.get(language, "").split()
    whole = {part for word in words if not word.endswith("*") for part in words_of(word)}
    return frozenset(whole), tuple(word[:-1].casefold() for word in words if word.endswith("*"))
