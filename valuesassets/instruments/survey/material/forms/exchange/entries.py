"""The entries of a form, whichever program keeps it, and the records of questions that come of them.

An entry is a closed question with one answer; whatever else a form has is left out, with the reason.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valuesassets.instruments.survey.material.forms.guessed_types import GUESSED
from valuesassets.instruments.survey.material.forms.layout.wording import question_text
from valuesassets.people.variables import BY_COUNT
from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import MOST_OPTIONS, ResponseType

WHOLE = re.compile(r"[-+\u2212]?\d{1,15}(?:[.,]0*)?")
FEW_WORDS = "fewer than two of its answers have words, such as answers that are pictures"
NOT_CERTAIN = "which text is the question of these answers is not certain"
NO_LIST = "no list of answers right below it"
NO_KNOWN_TABLE = "a table that is no list of items with answers, nor one of codes"
PERHAPS_QUESTIONS = (NOT_CERTAIN, NO_LIST, NO_KNOWN_TABLE)
"""Reasons of a form without a structure, in which a question may have been missed."""
QUOTES_ANSWER = "its text quotes what each respondent answered or is called"


@dataclass(frozen=True)
class Answer:
    """An answer as the form has it: the code in its data, the words, and whether the form calls it missing.

    Attributes:
        when: the condition on which the form offers it; None for always.
    """

    code: str
    label: str
    is_missing: bool = False
    when: str | None = None


@dataclass(frozen=True)
class Entry:
    """A closed question, or an item of a list.

    Attributes:
        text: the question; of an item its own words.
        stem: the words that the items of a list share; None where there is no list.
        when: the condition on which the form asks it, as the form words it.
        unfit: why it cannot be asked as it stands.
    """

    id: str
    text: str
    answers: Sequence[Answer]
    stem: str | None = None
    section: str | None = None
    when: str | None = None
    unfit: str | None = None


@dataclass(frozen=True)
class LeftOut:
    """What a form has beside closed questions with one answer, and why it is not read."""

    id: str
    text: str
    reason: str


@dataclass
class FormContent:
    """What a form holds, in its order."""

    entries: list[Entry] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def leave_out(self, name: str, text: str, reason: str) -> None:
        """Note what is not read."""
        self.left_out.append(LeftOut(name, text, reason))


def counted_entries(number: int) -> str:
    """A number of a form's entries in words.

    >>> counted_entries(1), counted_entries(2)
    ('1 entry of the form', '2 entries of the form')
    """
    return f"{number} entr{'y' if number == 1 else 'ies'} of the form"


def joined_conditions(*conditions: str | None) -> str | None:
    """Conditions that all have to hold, as one.

    >>> joined_conditions("a = 1", None, "b = 2"), joined_conditions(" "), joined_conditions("a = 1")
    ('(a = 1) and (b = 2)', None, 'a = 1')
    """
    parts = [part.strip() for part in conditions if part and part.strip()]
    return " and ".join(f"({part})" for part in parts) if len(parts) > 1 else next(iter(parts), None)


def either(conditions: Iterable[str | None]) -> str | None:
    """Conditions of which one has to hold, as one; None where one of them always holds.

    >>> either(["a = 1", "b = 2"]), either(["a = 1", None]), either(["a = 1", "a = 1"])
    ('(a = 1) or (b = 2)', None, 'a = 1')
    """
    parts = list(dict.fromkeys(conditions))
    if None in parts or not parts:
        return None
    return " or ".join(f"({part})" for part in parts) if len(parts) > 1 else parts[0]


def askable_content(content: FormContent, path: Path) -> FormContent:
    """A form without entries that have no text, or too few or too many answers.

    Raises:
        QuestionError: an id is missing or stands twice, or nothing is left.
    """
    checked = FormContent(left_out=[*content.left_out])
    for entry in content.entries:
        why = _why_not_closed(entry)
        if why is None:
            checked.entries.append(entry)
        else:
            checked.leave_out(entry.id, entry.text, why)
    _require_names(checked.entries, path)
    if not checked.entries:
        first = next(iter(checked.left_out), None)
        reason = f" ({first.id}: {first.reason})" if first else ""
        raise QuestionError(
            f"{path}: has no closed question with one answer among {counted_entries(len(checked.left_out))}{reason}; "
            "is it the right file?"
        )
    return checked


def _why_not_closed(entry: Entry) -> str | None:
    n_offered = sum(not answer.is_missing for answer in entry.answers)
    if not entry.text.strip():
        return "it has no text"
    if n_offered < 2:
        return f"{n_offered or 'no'} answer{'s' * (n_offered != 1)}, at least two were expected"
    return f"{n_offered} answers, at most {MOST_OPTIONS} can be asked" if n_offered > MOST_OPTIONS else None


def _require_names(entries: Iterable[Entry], path: Path) -> None:
    names: set[str] = set()
    for entry in entries:
        if not entry.id:
            raise QuestionError(f"{path}: the question {entry.text[:60]!r} has no name; give it one in the form")
        if entry.id in names:
            raise QuestionError(f"{path}: the name {entry.id} stands twice; give each question its own in the form")
        names.add(entry.id)


def record_of(entry: Entry) -> dict[str, Any]:
    """The record of a question, as importers of tables give it, with what the form says of codes and conditions."""
    coded = [*zip(numbered(entry.answers), entry.answers, strict=True)]
    options = [
        {"value": value, "label": answer.label, "source_code": answer.code} | _condition_of(answer)
        for value, answer in coded
        if not answer.is_missing
    ]
    stem = entry.stem if entry.stem and entry.stem.strip() else None
    facts = {"when": entry.when, "unfit": entry.unfit or _why_without_words(entry)}
    return {
        "id": entry.id,
        "section": entry.section or None,
        "text": question_text(stem, entry.text) if stem else entry.text,
        "stem": stem,
        "item": entry.text if stem else None,
        "response_type": str(BY_COUNT.get(len(options), ResponseType.ORDINAL)),  # until normalisation reads the answers
        "options": options,
        "answer_cue": None,
        GUESSED: True,
        "missing": [{"value": value, "label": answer.label} for value, answer in coded if answer.is_missing],
        **{key: fact for key, fact in facts.items() if fact},
    }


def _condition_of(answer: Answer) -> dict[str, str]:
    return {"when": answer.when} if answer.when else {}


def _why_without_words(entry: Entry) -> str | None:
    """Why nobody could choose by words: pictures have no label, while points of a scale have words at both ends."""
    n_worded = sum(bool(answer.label.strip()) for answer in entry.answers if not answer.is_missing)
    return FEW_WORDS if n_worded < 2 else None


def numbered(answers: Sequence[Answer]) -> list[int | str]:
    """The codes of answers as whole numbers; 1 to k in the form's order where an answer's code is a word.

    The code of a missing answer stays as it is written if it is no number, and the others are.

    >>> numbered([Answer("A1", "yes"), Answer("A2", "no")]), numbered([Answer("02", "b"), Answer(".", "-", True)])
    ([1, 2], [2, '.'])
    """
    codes = [_whole(answer.code) for answer in answers]
    offered = [code for code, answer in zip(codes, answers, strict=True) if not answer.is_missing]
    if None in offered or len({*offered}) < len(offered):
        return [*range(1, len(answers) + 1)]
    return [answer.code if code is None else code for code, answer in zip(codes, answers, strict=True)]


def _whole(code: str) -> int | None:
    """The whole number that a code is; None for words.

    >>> _whole("-9"), _whole("3.0"), _whole("A1")
    (-9, 3, None)
    """
    written = code.strip()
    return int(re.split("[.,]", written.replace("\u2212", "-"))[0]) if WHOLE.fullmatch(written) else None
