"""What the bundled questionnaires say: one form for all languages, and its words in each of them."""

import functools
import tomllib
from collections.abc import Mapping
from typing import Any, Literal

import pydantic

from valuesassets.records.errors import StudyError
from valuesassets.records.faults import validated
from valuesassets.records.places import STUDIES, bundled_names
from valuesassets.records.questions import ResponseType

LANGUAGES = tuple(name for name in bundled_names("questionnaires", ".toml") if name != "form")
"""ISO 639-3 codes of the languages that the questionnaire is bundled in."""


class _Part(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class FormQuestion(_Part):
    """One question of the form without its words. See the head of form.toml."""

    name: str
    section: str
    kind: Literal["list", "grid", "scale", "scales", "choices", "blank"]
    variables: tuple[str, ...]
    response_type: ResponseType | None = None
    has_card: bool = False
    has_letters: bool = False
    notes: tuple[str, ...] = ()
    routes: dict[int, str] = {}

    @property
    def is_list_to_choose_from(self) -> bool:
        """Whether its items are mentioned or not mentioned."""
        return self.kind == "grid" and self.response_type is ResponseType.BINARY

    @property
    def missing_codes(self) -> tuple[int, int]:
        """The codes of don't know and no answer: 8 and 9, or 88 and 99 where the scale itself goes up to ten."""
        return (88, 99) if self.kind in ("scale", "scales", "blank") else (8, 9)


class Worded(_Part):
    """The words of one question."""

    text: str
    second_text: str = ""
    """The follow-up question that asks for a second choice."""
    items: dict[str, str] = {}
    """Item by variable code."""
    options: tuple[str, ...] = ()
    """Labels in the order of their codes, from 1; on a ten-point scale the labels of 1 and 10."""


class FormWords(_Part):
    """What stands around the questions."""

    title: str
    subtitle: str
    header: str
    instructions_heading: str
    instructions: tuple[str, ...]
    greeting: str
    cards_heading: str
    dont_know: str
    no_answer: str
    dont_know_short: str
    no_answer_short: str
    mentioned: str
    not_mentioned: str
    first_choice: str
    second_choice: str


class Words(_Part):
    """All words of one language."""

    form: FormWords
    notes: dict[str, str]
    sections: dict[str, str]
    questions: dict[str, Worded]

    def labels(self, question: FormQuestion) -> tuple[str, ...]:
        """The labels of a question's codes, from 1; on a ten-point scale those between the anchors are empty."""
        if question.is_list_to_choose_from:
            return (self.form.mentioned, self.form.not_mentioned)
        labels = self.questions[question.name].options
        return (labels[0], *[""] * 8, labels[1]) if question.kind in ("scale", "scales") else labels


@functools.cache
def load_form() -> tuple[FormQuestion, ...]:
    """The questions of the form in their order."""
    return tuple(FormQuestion.model_validate(row) for row in _read_toml("form")["questions"])


@functools.cache
def load_words(language: str) -> Words:
    """The words of the form in one language.

    Raises:
        StudyError: no questionnaire is bundled in that language, or its file lacks words or has too many.
    """
    if language not in LANGUAGES:
        raise StudyError(f"{language}: no bundled questionnaire; there are {', '.join(LANGUAGES)}")
    words = validated(Words, _read_toml(language), StudyError, f"questionnaires/{language}.toml")
    _require_same_keys(language, "questions", words.questions, {question.name for question in load_form()})
    _require_same_keys(language, "sections", words.sections, {question.section for question in load_form()})
    for question in load_form():
        has_items = question.kind in ("grid", "scales")
        items = words.questions[question.name].items
        _require_same_keys(
            language, f"questions.{question.name}.items", items, set(question.variables if has_items else ())
        )
    return words


def _read_toml(name: str) -> dict[str, Any]:
    return tomllib.loads((STUDIES / "questionnaires" / f"{name}.toml").read_text(encoding="utf-8"))


def _require_same_keys(language: str, where: str, names: Mapping[str, object], expected: set[str]) -> None:
    for verb, keys in (("is missing", expected - set(names)), ("is not in form.toml", set(names) - expected)):
        if keys:
            raise StudyError(f"questionnaires/{language}.toml: {where}: '{min(keys)}' {verb}")
