"""Overrides: a person's corrections of the extraction of one language, in a TOML file.

The file has a table per question, named by its id, or by its mark (`fingerprint`) if several records have that id
(`docs/review.md`).
"""

import difflib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pydantic

from valuesassets.instruments.survey.material.forms.changes import Change, changes_between
from valuesassets.instruments.survey.material.forms.layout.checks import Fault
from valuesassets.instruments.survey.material.forms.layout.wording import question_text
from valuesassets.records.errors import StudyError
from valuesassets.records.faults import validated
from valuesassets.records.files import read_toml, sha256_json
from valuesassets.records.questions import Option, Question, ResponseType

FIELDS = ("section", "text", "stem", "item", "answer_cue", "response_type", "options")
WHOLE_FORM = "whole_form"  # the table with a person's decision to ask models a form that is in doubt as a whole
PINNED = "is_id_settled"  # key of a question whose id a person has given
WORDS = {"text", "stem", "item", "options"}
NEEDED = ("text", "response_type", "options")  # fields of an added question

Words = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1)]


class WholeForm(pydantic.BaseModel):
    """Why models are asked the questions of a form that is in doubt as a whole."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    reason: Words
    of: Words
    """`extraction_mark` of the reviewed extraction."""


class Override(pydantic.BaseModel):
    """The corrections of one question; other fields stay as extracted."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    reason: Words
    of: str | None = None
    """`fingerprint` of the corrected record."""
    id: Words | None = None
    """The record's variable, which also holds in alignment."""
    drop: bool = False
    add: bool = False
    section: str | None = None
    text: str | None = None
    stem: str | None = None
    item: str | None = None
    answer_cue: str | None = None
    response_type: ResponseType | None = None
    options: tuple[Option, ...] | None = None
    labels: dict[int, str] = {}
    """Labels of single options, by code."""

    @property
    def given(self) -> dict[str, Any]:
        """The corrected fields and their new content."""
        return {name: getattr(self, name) for name in FIELDS if getattr(self, name) is not None}

    @property
    def why(self) -> str:
        """The reason, as in changes."""
        return f"override: {self.reason}"

    @pydantic.model_validator(mode="after")
    def _says_what_to_do(self) -> "Override":
        if self.drop and (self.given or self.labels or self.add or self.id):
            raise ValueError("drop = true leaves the question out: take the other keys away, or drop")
        if not (self.drop or self.given or self.labels or self.of or self.id):
            raise ValueError(
                "it changes nothing; name a field (id, text, item, options, labels), say drop = true, or say by `of` "
                "which record it confirms"
            )
        lacking = [name for name in NEEDED if name not in self.given]
        if self.add and lacking:
            raise ValueError(f"a question that is added needs {', '.join(lacking)}")
        return self


@dataclass(frozen=True)
class Overridden:
    """Corrected questions, the changes, and the overrides that do not fit.

    Attributes:
        places: for each question, the earlier place of its record; None if a person added it.
        settled: ids that a person has reviewed, also of questions that were left out.
    """

    questions: tuple[Question, ...]
    places: tuple[int | None, ...]
    changes: tuple[Change, ...]
    faults: tuple[Fault, ...]
    settled: frozenset[str]


def read_overrides(path: Path) -> dict[str, Override]:
    """The overrides of one language by canonical id; empty without a file.

    Raises:
        StudyError: not TOML, or an invalid override.
    """
    tables = {code: table for code, table in _tables(path).items() if code != WHOLE_FORM}
    return {code: validated(Override, row, StudyError, f"{path}: override of {code}") for code, row in tables.items()}


def read_whole_form(path: Path) -> WholeForm | None:
    """A person's decision on the form as a whole, or None; raises `StudyError` as `read_overrides` does."""
    row = _tables(path).get(WHOLE_FORM)
    return None if row is None else validated(WholeForm, row, StudyError, f"{path}: {WHOLE_FORM}")


def _tables(path: Path) -> dict[str, Any]:
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return {}
    return read_toml(path, "an overrides file (TOML)", StudyError)


def apply_overrides(
    questions: Sequence[Question],
    overrides: Mapping[str, Override],
    path: Path,
    doubts: Collection[str] = (),
    guessed: Collection[str] = (),
) -> Overridden:
    """The corrected questions in order; an override that fits no record is a fault and changes nothing.

    Args:
        path: of the file, for messages.
        doubts: ids in doubt without an extracted question, which `drop` settles.
        guessed: ids of questions whose type nobody has given; an override that names the guessed type confirms it.
    """
    marks = {fingerprint(question): place for place, question in enumerate(questions)}
    # For each place of a record: its override, and whether the record stays.
    fates = {marks[key]: (override, not override.drop) for key, override in overrides.items() if key in marks}
    records: dict[str, list[int]] = {}
    for place, question in enumerate(questions):
        if place not in fates:
            records.setdefault(question.id, []).append(place)
    misfits: dict[str, str] = {}
    settled: set[str] = set()
    for code, places in records.items():
        if (override := overrides.get(code)) is None:
            continue
        if why := _misfit([questions[place] for place in places], override, code in guessed):
            misfits[code] = why
            continue
        settled.add(code)
        meant = next((place for place in places if fingerprint(questions[place]) == override.of), places[0])
        for place in [meant] if override.drop and override.of is not None else places:
            fates[place] = override, place == meant and not override.drop
    kept: list[tuple[int | None, Question]] = []
    changes: list[Change] = []
    for place, question in enumerate(questions):
        override, stays = fates.get(place, (None, True))
        if override is None:
            kept.append((place, question))
        elif stays:
            corrected = _corrected(question, override)
            kept.append((place, corrected))
            differences = [*changes_between(question, corrected, ("id", *FIELDS), override.why)]
            changes += differences or [Change(question.id, "confirmed", None, None, override.why)]
            settled.add(corrected.id)
        else:
            changes.append(Change(question.id, "question", question.text, None, override.why))
    for code, override in overrides.items():
        if code in records or code in marks:
            continue
        if override.add:
            after = next((n for n, (_, each) in enumerate(kept) if _number(each.id) > _number(code)), len(kept))
            kept.insert(after, (None, Question(id=code, **override.given)))
            changes.append(Change(code, "question", None, override.text, override.why))
        elif override.drop and code in doubts:
            changes.append(Change(code, "left out", None, None, override.why))
        else:
            like = difflib.get_close_matches(code, records, n=1)
            meant = f" (did you mean {like[0]}?)" if like else ""
            added = "say add = true with text, response_type and options"
            misfits[code] = f"no question of this id was extracted{meant}; mend the id, or {added}"
            continue
        settled.add(code)
    pages = {question.id: question.page for question in questions}
    faults = [
        Fault(code, pages.get(code), "overrides", f"{path.name}: override of {code}: {why}")
        for code, why in misfits.items()
    ]
    questions_now, places = tuple(question for _, question in kept), tuple(place for place, _ in kept)
    return Overridden(questions_now, places, tuple(changes), tuple(faults), frozenset(settled))


def extraction_mark(questions: Sequence[Question]) -> str:
    """Eight hexadecimal digits that identify the extraction of a form."""
    return sha256_json([fingerprint(question) for question in questions])[:8]


def fingerprint(question: Question) -> str:
    """Eight hexadecimal digits that identify a question as extracted."""
    return sha256_json(question.model_dump(mode="json", include={"id", *FIELDS}))[:8]


def _misfit(same: Sequence[Question], override: Override, is_guessed: bool = False) -> str | None:
    """Why an override fits none of the records of its id; None if it fits. The type of one may be guessed."""
    marks = " or ".join(repr(fingerprint(question)) for question in same)
    question = next((question for question in same if fingerprint(question) == override.of), same[0])
    if override.of is not None and override.of != fingerprint(question):
        return (
            f"it was written for another reading of the page (of = {override.of!r}) and is not applied; compare, and "
            f"say of = {marks} if it still holds"
        )
    if len(same) > 1 and override.of is None and not override.drop:
        return f"{len(same)} records have this id; say which is to stay: of = {marks}"
    if override.add:
        return "the question was extracted after all, so that nothing is added; take add = true away, or the override"
    unknown = [code for code in override.labels if code not in question.values]
    if unknown:
        return f"the question has no option {unknown[0]} (it has {list(question.values)}); give all of its options"
    confirms_guess = is_guessed and override.response_type is not None
    is_without_effect = not override.id and not confirms_guess and _corrected(question, override) == question
    if (override.given or override.labels) and is_without_effect:
        return "the extraction says the same by now; take it away"
    return None


def _corrected(question: Question, override: Override) -> Question:
    changes = dict(override.given)
    if ("stem" in changes or "item" in changes) and "text" not in changes:
        stem = changes.get("stem", question.stem) or question.text
        changes["text"] = question_text(stem, changes.get("item", question.item))
    options = changes.get("options", question.options)
    has_new_words = bool(WORDS & changes.keys() or override.labels)
    changes["options"] = tuple(
        option.model_copy(update={"label": override.labels.get(option.value, option.label)}) for option in options
    )
    if has_new_words and (question.model_extra or {}).get("unfit"):
        changes["unfit"] = None  # a person has worded it anew
    if override.id is not None:
        return question.replace(**changes, id=override.id, **{PINNED: True})
    return question.model_copy(update=changes)


def _number(code: str) -> tuple[int, str]:
    """The sort key for the place of an added question."""
    digits = re.search(r"\d+", code)
    return (int(digits[0]) if digits else 0), code


def whole_form_text(mark: str) -> str:
    """The lines by which a person lets models be asked a form in doubt; the reason is empty."""
    return f'[{WHOLE_FORM}]\nreason = ""\nof = "{mark}"'


def override_text(question: Question, shares_id: bool = False) -> str:
    """The first lines of an override; its mark names a question that `shares_id` with others."""
    key = fingerprint(question) if shares_id or not question.id.strip() else question.id
    name = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
    return f'[{name}]\nreason = ""\nof = "{fingerprint(question)}"'
