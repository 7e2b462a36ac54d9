"""Reads questions that another program extracted or keeps: JSON files, tables, and forms of survey programs.

Records are mended where no guess is needed, and each change has its reason; everything else is an error that names
file, record and key. The strict reader of question files is `valuesassets.records.questions`.
"""

import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from valuesassets.instruments.survey.material.forms.changes import COLUMNS_FIELD, Change
from valuesassets.instruments.survey.material.forms.exchange.entries import LeftOut
from valuesassets.instruments.survey.material.forms.guessed_types import GUESSED
from valuesassets.instruments.survey.material.forms.misnamed_forms import misnamed_form
from valuesassets.instruments.survey.material.forms.question_tables import ENDINGS, read_with_unread_columns
from valuesassets.people.variables import BY_COUNT
from valuesassets.records.errors import QuestionError
from valuesassets.records.files import read_json
from valuesassets.records.limited import within_limits
from valuesassets.records.questions import MOST_OPTIONS, Question, ResponseType, is_missing_code, parse_questions

TEXTS = ("section", "text", "stem", "item", "answer_cue")
TYPES = {str(kind) for kind in ResponseType}
FORM_ENDINGS = (".qsf", ".lss", ".xlsx", ".xls", ".ods", ".xml", ".docx")
"""Endings of forms that survey programs keep; a workbook without a sheet `survey` is a table of questions."""


def read_imported(path: Path) -> tuple[list[Question], list[Change]]:
    """The questions of a file, and the changes that made its records valid questions.

    Args:
        path: JSON, or a table of questions by its ending (`question_tables`), or a form (`exchange`).

    Raises:
        QuestionError: no UTF-8 JSON array of records, an empty one, a record that cannot be a question, or a file that
            takes too long to read.
    """
    questions, changes, _ = read_with_left_out(path)
    return questions, changes


def read_with_left_out(
    path: Path, language: str | None = None, form_language: str | None = None
) -> tuple[list[Question], list[Change], tuple[LeftOut, ...]]:
    """The same, and what a form holds beside closed questions with one answer.

    Args:
        language: ISO 639-3 of the questions that are wanted; chooses among the languages of a form where it can.
        form_language: the language of the form as the form names it.
    """
    what_to_do = "see whether it is the right file, and save it anew"
    return within_limits(lambda _: _read(path, language, form_language), str(path), what_to_do, QuestionError)


def _read(
    path: Path, language: str | None, form_language: str | None
) -> tuple[list[Question], list[Change], tuple[LeftOut, ...]]:
    if has_form_ending(path):
        from valuesassets.instruments.survey.material.forms.exchange.form_files import (
            is_exchange_form,
            read_exchange_form,
        )

        if is_exchange_form(path):
            form = read_exchange_form(path, language, form_language)
            return form.questions, [], form.left_out
    if form_language is not None:
        raise QuestionError(f"{path}: is no form of several languages; leave --form-language out")
    return *_read_imported(path), ()


def has_form_ending(path: Path) -> bool:
    """Whether a file's name ends as the forms of survey programs do."""
    return path.suffix.lower() in FORM_ENDINGS


def is_question_table(path: Path) -> bool:
    """Whether a file is a table of questions, with columns, and no form, PDF or question file."""
    from valuesassets.instruments.survey.material.forms.exchange.form_files import is_exchange_form

    return path.suffix.lower() in ENDINGS and not (has_form_ending(path) and is_exchange_form(path))


def _read_imported(path: Path) -> tuple[list[Question], list[Change]]:
    if why := misnamed_form(path):
        raise QuestionError(why)
    if path.suffix.lower() in ENDINGS:
        questions, unread = read_with_unread_columns(path)
        return questions, [Change("", COLUMNS_FIELD, ", ".join(unread), None, "not read")] if unread else []
    rows = read_json(path, QuestionError)
    if rows == []:
        raise QuestionError(f"{path}: an empty array, questions were expected; extract the questionnaire again")
    return import_questions(rows, str(path))


def import_questions(rows: Any, source: str) -> tuple[list[Question], list[Change]]:
    """The same from parsed JSON; raises `QuestionError`, which names source, record and key."""
    changes: list[Change] = []
    if isinstance(rows, list):
        empty = {"id": "", "text": "", "options": [], "response_type": None}
        rows = [empty | row if isinstance(row, dict) else row for row in rows]
        for row in (row for row in rows if isinstance(row, dict)):
            for key, value, why in _mendings(row):
                changes.append(Change(str(row["id"] or ""), key, _text_of(row[key]), _text_of(value), why))
                row[key] = value
    return parse_questions(rows, source), changes


def _mendings(row: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """The changes to a record, key by key: key, value, reason. A later change sees the results of earlier ones."""
    if isinstance(row["id"], int) and not isinstance(row["id"], bool):
        yield "id", str(row["id"]), "an id is text"
    for key in ("id", "text"):
        if row[key] is None:
            yield key, "", "there is none"
    for key in TEXTS:
        if isinstance(row.get(key), str) and (plain := _plain(row[key])) != row[key]:
            yield key, plain, "characters that are not printed"
    if row["options"] is None:
        yield "options", [], "there are none"
    if isinstance(row["options"], list) and all(isinstance(option, dict) for option in row["options"]):
        coded = [_coded(option, place) for place, option in enumerate(row["options"], 1)]
        if any(coded):
            options = [option | given for option, given in zip(row["options"], coded, strict=True)]
            yield "options", options, "codes are whole numbers, labels text"
    kind, order = row["response_type"], row.get("order")
    if isinstance(order, list) and order != (whole := [_whole_number(code) for code in order]):
        yield "order", whole, "codes are whole numbers"
    written = kind.strip().casefold() if isinstance(kind, str) else kind
    if kind is None or (isinstance(kind, str) and written not in TYPES):
        yield "response_type", str(_type_by_options(row["options"])), "no type that there is: by the number of options"
        row[GUESSED] = True
    elif isinstance(kind, str) and kind not in TYPES:
        yield "response_type", written, "as types are written"


def _coded(option: Mapping[str, Any], place: int) -> dict[str, Any]:
    """The changes that make an option's code a number and its label text; a letter (`A`, `B`) is its place."""
    coded: dict[str, Any] = {}
    value, label = option.get("value"), option.get("label")
    if (whole := _whole_number(value)) is not value:
        coded["value"] = whole
    elif isinstance(value, str) and value.strip().upper() == string.ascii_uppercase[(place - 1) % 26]:
        coded["value"] = place
    if isinstance(label, int | float) and not isinstance(label, bool):
        coded["label"] = f"{label:g}"
    elif isinstance(label, str) and _plain(label) != label:
        coded["label"] = _plain(label)
    return coded


def _whole_number(value: Any) -> Any:
    """The whole number that a text or a float says; else the value itself."""
    if isinstance(value, str):
        match = re.fullmatch(r"([-+]?\d{1,15})(?:[.,]0*)?", value.strip())
        return int(match[1]) if match else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _type_by_options(options: Any) -> ResponseType:
    """The type by the number of answers, without those for don't know."""
    if not isinstance(options, list) or len(options) > MOST_OPTIONS:
        return ResponseType.CATEGORICAL
    values = [option.get("value") for option in options if isinstance(option, dict)]
    codes = [value for value in values if isinstance(value, int)]
    offered = sum(not is_missing_code(code, len(codes)) for code in codes)
    return BY_COUNT.get(offered, ResponseType.CATEGORICAL)


def _plain(text: str) -> str:
    """A text without control characters; line breaks and tabs are blanks."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _text_of(value: Any) -> str | None:
    if isinstance(value, list):
        return "; ".join(
            f"{option.get('value')} {option.get('label') or ''}".rstrip() if isinstance(option, dict) else str(option)
            for option in value[:20]
        )
    return None if value is None else str(value)
