"""`Question`: one survey question as respondents see it, and the question files that people exchange."""

import itertools
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pydantic

from valuesassets.records.errors import QuestionError
from valuesassets.records.faults import kind_of_value, validated
from valuesassets.records.files import read_json, write_json

MISSING_CODES = {7, 8, 9, 66, 77, 88, 97, 98, 99}
"""Codes often printed for don't know, no answer, refused or not applicable (see `is_missing_code`)."""


class ResponseType(StrEnum):
    """The kind of scale that a question is answered on."""

    LIKERT3 = "likert3"
    LIKERT4 = "likert4"
    LIKERT5 = "likert5"
    LIKERT10 = "likert10"
    BINARY = "binary"
    CATEGORICAL = "categorical"
    FREQUENCY = "frequency"
    ACTION = "action"
    ORDINAL = "ordinal"

    @property
    def is_ordinal(self) -> bool:
        """Whether the options have an order, so that means and distances along the scale make sense."""
        return self is not ResponseType.CATEGORICAL


OPTION_COUNTS = {
    ResponseType.LIKERT3: 3,
    ResponseType.LIKERT4: 4,
    ResponseType.LIKERT5: 5,
    ResponseType.LIKERT10: 10,
    ResponseType.BINARY: 2,
    ResponseType.ACTION: 3,
}
"""Number of options that a response type fixes; categorical, frequency and ordinal items are free (two or more)."""

TEN = range(1, 11)
"""The codes of a ten-point scale."""
MOST_OPTIONS = 101
"""The length of a scale from 0 to 100; a longer list is not a survey question's."""
FIGURE = re.compile(r"[-\u2212]?\d{1,4}")
"""A label that is a whole number and nothing else."""
WITHOUT_WORDS = (ResponseType.LIKERT10, ResponseType.ORDINAL)
"""Types whose points between the ends may lack words."""


class Option(pydantic.BaseModel):
    """One answer of a scale: the code printed in the codebook and its label in the language of the form."""

    model_config = pydantic.ConfigDict(frozen=True, extra="allow", strict=True)

    value: int
    label: Annotated[str, pydantic.BeforeValidator(lambda label: "" if label is None else label)] = ""


class Question(pydantic.BaseModel):
    """One question: its text and the answers that it offers. Unknown keys are kept.

    A question may be faulty, since extractions are reviewed and not trusted: see `question_faults`.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="allow")

    id: str
    section: str | None = None
    text: str
    stem: str | None = None
    item: str | None = None
    response_type: ResponseType
    options: tuple[Option, ...]
    answer_cue: str | None = None
    source_id: str | None = None
    page: int | None = None
    box: tuple[float, float, float, float] | None = None
    """Left, top, right, bottom in points from the top left of `page` (1-based)."""

    @property
    def values(self) -> tuple[int, ...]:
        """The options' codes in their original order."""
        return tuple(option.value for option in self.options)

    @property
    def places(self) -> dict[int, int]:
        """The position of each code on the scale: the code itself, or its position in `order` (an extra key).

        >>> Question.model_validate({"id": "q", "text": "?", "response_type": "likert3", "order": [1, 3, 2],
        ...     "options": [{"value": code, "label": str(code)} for code in (1, 3, 2)]}).places
        {1: 1, 3: 2, 2: 3}
        """
        order = (self.model_extra or {}).get("order")
        if not isinstance(order, list | tuple) or sorted(map(str, order)) != sorted(map(str, self.values)):
            return {value: value for value in self.values}
        return dict(zip(map(int, order), sorted(self.values), strict=True))

    def replace(self, **changes: Any) -> "Question":
        """A copy with some fields changed (extra keys allowed)."""
        return Question.model_validate(self.model_dump() | changes)


def ten_point_scale(first_label: str = "", last_label: str = "") -> tuple[Option, ...]:
    """The options of a scale from 1 to 10, with the labels of its ends."""
    ends = {1: first_label, 10: last_label}
    return tuple(Option(value=value, label=ends.get(value, "")) for value in TEN)


def has_words(option: Option) -> bool:
    """Whether an option's label is more than figures and marks."""
    return any(map(str.isalpha, option.label))


def figure(label: str) -> int | None:
    """The whole number that a label is, or None.

    >>> figure(" 7 "), figure("7 days"), figure("\N{MINUS SIGN}2")
    (7, None, -2)
    """
    text = label.strip()
    return int(text.replace("\u2212", "-")) if FIGURE.fullmatch(text) else None


def shown_numbers(question: Question) -> tuple[int, ...] | None:
    """The numbers shown before the options of a scale of points, by option; None where options are numbered from 1.

    Points without words, or with figures as labels, keep their figure: a model is shown it and answers with it.

    >>> ends = [Option(value=0, label="left"), Option(value=1), Option(value=2, label="right")]
    >>> shown_numbers(Question(id="q", text="?", response_type=ResponseType.ORDINAL, options=tuple(ends)))
    (0, 1, 2)
    """
    figures = [figure(option.label) for option in question.options]
    if all(option.label.strip() and each is None for option, each in zip(question.options, figures, strict=True)):
        return None
    numbers = [each for each in figures if each is not None]
    if len(numbers) == len(figures):
        return tuple(numbers) if len(set(numbers)) == len(numbers) else None
    steps = {each - value for each, value in zip(figures, question.values, strict=True) if each is not None}
    n_blank = sum(not option.label.strip() for option in question.options)
    steps |= {0} if n_blank else set()
    if len(steps) > 1 or (steps != {0} and 2 * len(numbers) < len(figures)):
        return None
    return tuple(value + step for value in question.values for step in steps)


def with_complete_scale(question: Question) -> Question:
    """A ten-point question with all ten options, where it had only its two ends."""
    labels = {option.value: option.label for option in question.options}
    if question.response_type is not ResponseType.LIKERT10 or set(labels) != {1, 10}:
        return question
    return question.replace(options=ten_point_scale(labels[1], labels[10]))


def question_faults(question: Question) -> list[str]:
    """The faults of one question, each a clause on what was found and expected; empty for a sound question."""
    faults: list[str] = []
    values, kind = question.values, question.response_type
    if not question.id.strip():
        faults.append("the id is empty")
    if "@" in question.id:
        faults.append(
            "the id has an @, which separates a question from the answer that it depends on; use another sign"
        )
    if not question.text.strip():
        faults.append("the text is empty")
    if len(values) < 2:
        faults.append(f"{len(values) or 'no'} option{'s' * (len(values) != 1)}, at least two were expected")
    if len(values) > MOST_OPTIONS:
        faults.append(f"{len(values)} options, at most {MOST_OPTIONS} can be asked; is the answer a number?")
    if len(set(values)) < len(values):
        faults.append(f"option values repeat: {sorted(values)}")
    expected = OPTION_COUNTS.get(kind)
    if expected is not None and len(values) >= 2 and len(values) != expected:
        faults.append(f"{kind} has {len(values)} options, {expected} were expected")
    if kind is ResponseType.LIKERT10:
        labels = {option.value: option.label.strip() for option in question.options}
        if not (labels.get(1) and labels.get(10)):
            faults.append("a ten-point scale needs a label on 1 and on 10")
    else:
        is_of_points = (
            kind in WITHOUT_WORDS and is_run(values) and all(map(has_words, question.options[:: len(values) - 1]))
        )
        if not is_of_points:
            faults += [f"option {o.value} has no label" for o in question.options if not o.label.strip()]
        texts = [o.label.strip().casefold() for o in question.options if o.label.strip()]
        if len(set(texts)) < len(texts):
            faults.append(f"option labels repeat: {', '.join(sorted(texts))}")
    figures = [o for o in question.options if figure(o.label) is not None]
    if 2 * len(figures) >= len(values) == len(set(values)) and shown_numbers(question) is None and figures:
        listed = ", ".join(f"{o.value} = {o.label.strip()}" for o in figures[:3])
        faults.append(f"labels are figures other than their codes ({listed}); write each point's figure as its code")
    order = (question.model_extra or {}).get("order")
    if isinstance(order, list | tuple) and sorted(map(str, order)) != sorted(map(str, values)):
        faults.append(
            f"order {', '.join(map(str, order))}: each of the codes {', '.join(map(str, values))} once was expected"
        )
    codes = [o.value for o in question.options if not has_words(o) and is_missing_code(o.value, len(values))]
    if codes and not is_run(values):
        listed = ", ".join(map(str, codes))
        looks = f"value {listed} looks like a code" if len(codes) == 1 else f"values {listed} look like codes"
        faults.append(f"{looks} for don't know or no answer, which are never offered")
    return faults


def is_run(values: Sequence[int]) -> bool:
    """Whether codes go up, or down, one by one.

    >>> is_run([3, 2, 1]), is_run([0, 1, 3])
    (True, False)
    """
    return {later - earlier for earlier, later in itertools.pairwise(values)} in ({1}, {-1})


def is_missing_code(value: int, n_options: int) -> bool:
    """Whether a code often means don't know, no answer or refused beside this number of options; words decide."""
    return value < 0 or (value in MISSING_CODES and (value >= 66 or value > n_options))


def parse_questions(rows: Any, source: str) -> list[Question]:
    """Questions from JSON rows as they stand, faulty ones included.

    Raises:
        QuestionError: `rows` is not an array of question objects; names source, position, key and reason.
    """
    if not isinstance(rows, list):
        raise QuestionError(
            f"{source}: an array of questions was expected, found {kind_of_value(rows)}; put them between [ and ]"
        )
    questions = []
    for number, row in enumerate(rows, 1):
        name = f"question {number}" + (f" ({row['id']})" if isinstance(row, dict) and row.get("id") else "")
        if not isinstance(row, dict):
            raise QuestionError(
                f"{source}: {name}: an object with id, text, response_type and options was expected, found "
                f"{kind_of_value(row)}"
            )
        questions.append(with_complete_scale(validated(Question, row, QuestionError, f"{source}: {name}")))
    return questions


def require_sound(questions: Sequence[Question], source: str) -> list[Question]:
    """The questions, every one of them fit to be asked.

    Raises:
        QuestionError: no question, a repeated id, or a faulty question; names the first ones.
    """
    if not questions:
        raise QuestionError(f"{source}: no questions in it, at least one was expected; is it the right file?")
    ids: set[str] = set()
    for number, question in enumerate(questions, 1):
        if question.id in ids:
            raise QuestionError(f"{source}: question {number}: id {question.id} stands twice; give each its own id")
        ids.add(question.id)
        faults = question_faults(question)
        if faults:
            name = f" ({question.id})" if question.id.strip() else ""
            raise QuestionError(f"{source}: question {number}{name}: {'; '.join(faults)}; mend or remove it")
    return list(questions)


def askable(questions: Iterable[Question]) -> list[Question]:
    """Aligned questions without those that have `unfit`, a reason why they cannot be asked or compared."""
    return [question for question in questions if not (question.model_extra or {}).get("unfit")]


def read_questions(path: Path) -> list[Question]:
    """The questions of a JSON file as they stand, faulty ones included (`require_sound` refuses those).

    Raises:
        QuestionError: not JSON, not UTF-8, or not an array of questions.
    """
    return parse_questions(read_json(path, QuestionError), str(path))


def questions_to_rows(questions: Iterable[Question]) -> list[dict[str, Any]]:
    """JSON rows of questions; keys that are null and not part of the file format are left out."""
    always = {"id", "section", "text", "stem", "item", "response_type", "options", "answer_cue"}
    return [
        {key: value for key, value in question.model_dump(mode="json").items() if key in always or value is not None}
        for question in questions
    ]


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    """Write a question file, for `read_questions`."""
    write_json(path, questions_to_rows(questions))
