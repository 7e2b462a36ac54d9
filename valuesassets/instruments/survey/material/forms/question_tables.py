"""Reads tables of questions (CSV, TSV, XLSX, XLS, ODS): one row for each question or item of a list.

The columns are `id`, `text`, `item` and `options`; `section`, `response_type`, `order` and `answer_cue` are optional.
Answers are separated by `|`, each as `1 = very important`, or numbered from 1 if none has a code.
"""

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from valuesassets.instruments.survey.material.forms.guessed_types import GUESSED
from valuesassets.instruments.survey.material.forms.layout.wording import question_text
from valuesassets.instruments.survey.material.forms.own_numbers import without_own_numbers
from valuesassets.people.variables import BY_COUNT
from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import (
    MOST_OPTIONS,
    OPTION_COUNTS,
    Question,
    ResponseType,
    figure,
    is_missing_code,
    parse_questions,
)
from valuesassets.records.text_tables import Row, read_rows
from valuesassets.records.xlsx_tables import read_sheet

COLUMNS = ("id", "text", "item", "options")
OPTIONAL = ("section", "response_type", "order", "answer_cue")
LIKENESS = 0.85
"""From 0 to 1, from which the name of a column is taken for a misspelt one."""
ENDINGS = (".csv", ".tsv", ".xlsx", ".xls", ".ods")
MOST_ROWS = 1000  # of a questionnaire; files of answers have more
OPTION = re.compile(r"(?:([-+\u2212\u2013]?\d{1,4}(?:[.,]\d*)?)\s*=\s*)?(.*)", re.DOTALL)
BETWEEN = ("...", "…")  # in place of an option: all points between its neighbours, without words
SIGNS = {ord("\N{MINUS SIGN}"): "-", ord("\N{EN DASH}"): "-", ord(","): "."}
TEMPLATE = (
    "id,text,item,options\n"
    'happy,"Taking all things together, would you say you are:",,'
    "1 = very happy | 2 = quite happy | 3 = not very happy | 4 = not at all happy | 8 = don't know\n"
    "police,How much do you trust the following?,the police,a great deal | quite a lot | not very much | not at all\n"
    "press,How much do you trust the following?,the press,a great deal | quite a lot | not very much | not at all\n"
    "life,How satisfied are you with your life these days?,,1 = not at all satisfied | 10 = completely satisfied\n"
)
"""An example with a question, two items of a list, and a scale from 1 to 10 with worded ends."""


def read_question_table(path: Path) -> list[Question]:
    """The questions of a table in order, also with codes for don't know, which normalisation removes.

    Raises:
        QuestionError: no such table, too many rows, a misspelt column, a missing id or text, a repeated id, or answers
            that cannot be read or are in no order; names file and row.
    """
    return read_with_unread_columns(path)[0]


def read_with_unread_columns(path: Path) -> tuple[list[Question], list[str]]:
    """The same, and the names of columns that are not read."""
    rows = _rows(path)
    unread = [name for name in rows[0].fields if name and name not in (*COLUMNS, *OPTIONAL)]
    lacking = [name for name in OPTIONAL if name not in rows[0].fields]
    for name in unread:
        if meant := difflib.get_close_matches(name, lacking, n=1, cutoff=LIKENESS):
            raise QuestionError(f"{path}: column {name}: did you mean {meant[0]}? Mend its name, or leave it out")
    _require_own_ids(rows, path)
    return parse_questions([_question(row, f"{path}: row {row.number}") for row in rows], str(path)), unread


def _rows(path: Path) -> list[Row]:
    ending = path.suffix.lower()
    if ending == ".xlsx":
        return read_sheet(path, COLUMNS, QuestionError, most_rows=MOST_ROWS)
    if ending in (".xls", ".ods"):
        from valuesassets.instruments.survey.material.forms.exchange.workbooks import read_first_sheet

        return read_first_sheet(path, COLUMNS, MOST_ROWS)
    return read_rows(path, COLUMNS, QuestionError, delimiters=",;\t", most_rows=MOST_ROWS)


def _require_own_ids(rows: Sequence[Row], path: Path) -> None:
    first: dict[str, int] = {}
    for row in rows:
        name = row.fields["id"]
        if name in first:
            raise QuestionError(
                f"{path}: row {row.number}: the id {name} stands in row {first[name]} too; give each question its own"
            )
        first[name] = row.number


def _question(row: Row, where: str) -> dict[str, Any]:
    fields = row.fields
    for column in ("id", "text", "options"):
        if not fields[column]:
            raise QuestionError(f"{where}: no {column}; write it there")
    text, item, kind = fields["text"], fields["item"], (fields.get("response_type") or "").casefold()
    options = _options(fields["options"], where)
    order = _order(fields.get("order") or "", [option["value"] for option in options], where)
    if kind and kind not in [*ResponseType]:
        raise QuestionError(f"{where}: response_type {kind}: one of {', '.join(ResponseType)} was expected")
    if not kind and order is None:
        _require_order(options, where)
    expected = OPTION_COUNTS.get(ResponseType(kind), 0) if kind else 0
    ends = [options[0]["value"], options[-1]["value"]]
    if len(options) < expected and not (len(options) == 2 and abs(ends[1] - ends[0]) + 1 == expected):
        raise QuestionError(f"{where}: response_type {kind} has {expected} answers, found {len(options)}; mend one")
    usual = BY_COUNT.get(len(options), ResponseType.ORDINAL)  # until normalisation reads the answers
    return {
        "id": fields["id"],
        "section": fields.get("section") or None,
        "text": question_text(text, item or None),
        "stem": text if item else None,
        "item": item or None,
        "response_type": kind or str(usual if order is None else ResponseType.ORDINAL),
        "options": options,
        "answer_cue": fields.get("answer_cue") or None,
        **({} if order is None else {"order": order}),
        **({} if kind or order is not None else {GUESSED: True}),
    }


def _options(written: str, where: str) -> list[dict[str, Any]]:
    parts = [part.strip() for part in re.split(r"[|\n]", written) if part.strip()]
    pairs = [("", part) if part in BETWEEN else _parted(part) for part in parts]
    named = [(code, label) for code, label in pairs if label not in BETWEEN]
    if len(named) < 2:
        raise QuestionError(
            f"{where}: options {written[:60]!r}: at least two were expected, separated by |, as 1 = yes | 2 = no; of a "
            "scale its ends are enough, as 0 = never | 10 = always"
        )
    codes = [code for code, _ in named]
    if any(codes) and not all(codes):
        raise QuestionError(f"{where}: options {written[:60]!r}: some have a code and some have none; give all or none")
    has_gaps = len(named) < len(pairs)
    if has_gaps and not any(codes):
        raise QuestionError(
            f"{where}: options {written[:60]!r}: ... stands for points between two codes; give all a code"
        )
    values = [_whole(code, where) for code in codes if code] or _own_codes([label for _, label in named])
    options = [{"value": value, "label": label} for value, (_, label) in zip(values, named, strict=True)]
    return _with_points(options, [label in BETWEEN for _, label in pairs], where) if has_gaps else options


def _parted(part: str) -> tuple[str, str]:
    """Code and label of an option; the code may be empty."""
    code, label = OPTION.fullmatch(part).groups()  # type: ignore[union-attr]  # it fits any text
    return code or "", label.strip()


def _whole(code: str, where: str) -> int:
    number = float(code.translate(SIGNS))
    if not number.is_integer():
        raise QuestionError(f"{where}: code {code}: a whole number was expected, as 1 = yes; mend it")
    return int(number)


def _own_codes(labels: Sequence[str]) -> list[int]:
    """The codes of answers without one: the numbers or figures in their labels, else their places.

    >>> _own_codes(["left", "1", "right"]), _own_codes(["5. good", "9. refused"]), _own_codes(["yes", "no"])
    ([0, 1, 2], [5, 9], [1, 2])
    """
    places = [*range(1, len(labels) + 1)]
    own = without_own_numbers(labels)
    pairs = zip(places, map(figure, labels), strict=True)
    figures = {place: number for place, number in pairs if number is not None}
    if own is not None:
        return own[1]
    if len(figures) == len(labels):
        return [*figures.values()]
    steps = {number - place for place, number in figures.items()}
    step = steps.pop() if len(steps) == 1 and 2 * len(figures) >= len(labels) - 2 else 0
    return [place + step for place in places]


def _with_points(options: list[dict[str, Any]], gaps: Sequence[bool], where: str) -> list[dict[str, Any]]:
    """Options with all points in place of each `...`."""
    whole: list[dict[str, Any]] = []
    named = iter(options)
    for place, is_gap in enumerate(gaps):
        if not is_gap:
            whole.append(next(named))
            continue
        if place in (0, len(gaps) - 1) or gaps[place - 1]:
            raise QuestionError(f"{where}: options: ... stands between two answers, as 0 = never | ... | 10 = always")
        low = whole[-1]["value"]
        high = options[sum(not gap for gap in gaps[:place])]["value"]
        if abs(high - low) > MOST_OPTIONS:
            raise QuestionError(
                f"{where}: options: {abs(high - low) + 1:,} points, at most {MOST_OPTIONS} can be asked"
            )
        step = 1 if high > low else -1
        whole += [{"value": value, "label": ""} for value in range(low + step, high, step)]
    return whole


def _order(written: str, values: Sequence[int], where: str) -> list[int] | None:
    """The codes from one end of the scale to the other, from the column `order`; None if it is empty."""
    if not written:
        return None
    order = [_whole(code, where) for code in re.findall(r"[-\u2212]?\d+(?:[.,]0*)?(?!\d)", written)]
    if sorted(order) != sorted(values):
        listed = ", ".join(map(str, values))
        raise QuestionError(f"{where}: order {written[:40]}: each of the codes {listed} once was expected; mend it")
    return order


def _require_order(options: Sequence[dict[str, Any]], where: str) -> None:
    """Raise an error unless the codes rise or fall; codes for don't know may be anywhere."""
    values = [option["value"] for option in options]
    answers = [value for value in values if not is_missing_code(value, len(values))]
    if answers not in (sorted(set(answers)), sorted(set(answers), reverse=True)):
        listed = ", ".join(map(str, answers))
        raise QuestionError(
            f"{where}: options {listed}: no order; write them from one end of the scale to the other, or say "
            "response_type = ordinal (they go by their codes) or categorical (by none), or the order of the codes in a "
            f"column order, as {listed}"
        )
