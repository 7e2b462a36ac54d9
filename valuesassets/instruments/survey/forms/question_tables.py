"""Tables of questions that a person writes (CSV, TSV, XLSX): one row for each question or item of a list.

The columns are `id`, `text`, `item` and `options`, and where a person wants them `section`, `response_type` and
`answer_cue`. Answers are separated by `|`, each as `1 = very important`, or counted from 1 where none has a code.
"""

import re
from pathlib import Path
from typing import Any

from valuesassets.instruments.survey.forms.layout.wording import question_text
from valuesassets.people.variables import BY_COUNT
from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import OPTION_COUNTS, Question, ResponseType, is_missing_code, parse_questions
from valuesassets.records.text_tables import Row, read_rows
from valuesassets.records.xlsx_tables import read_sheet

COLUMNS = ("id", "text", "item", "options")
ENDINGS = (".csv", ".tsv", ".xlsx")
MOST_ROWS = 1000
"""No questionnaire asks more; files of answers have more rows."""
OPTION = re.compile(r"(?:(-?\d{1,4})\s*=\s*)?(.*)", re.DOTALL)
TEMPLATE = (
    "id,text,item,options\n"
    'happy,"Taking all things together, would you say you are:",,'
    "1 = very happy | 2 = quite happy | 3 = not very happy | 4 = not at all happy | 8 = don't know\n"
    "police,How much do you trust the following?,the police,a great deal | quite a lot | not very much | not at all\n"
    "press,How much do you trust the following?,the press,a great deal | quite a lot | not very much | not at all\n"
    "life,How satisfied are you with your life these days?,,1 = not at all satisfied | 10 = completely satisfied\n"
)
"""A table to begin with: a question, two items of a list, a scale from 1 to 10 of which the ends have words."""


def read_question_table(path: Path) -> list[Question]:
    """The questions of a table in its order, codes for don't know and the like included: checks take them out.

    Raises:
        QuestionError: no such table, too many rows, an id or a text missing, an id twice, answers that cannot be read
            or stand in no order; names file and row.
    """
    if path.suffix.lower() == ".xlsx":
        rows = read_sheet(path, COLUMNS, QuestionError, most_rows=MOST_ROWS)
    else:
        rows = read_rows(path, COLUMNS, QuestionError, delimiters=",;\t", most_rows=MOST_ROWS)
    first: dict[str, int] = {}
    for row in rows:
        name = row.fields["id"]
        if name in first:
            raise QuestionError(
                f"{path}: row {row.number}: the id {name} stands in row {first[name]} too; give each question its own"
            )
        first[name] = row.number
    return parse_questions([_question(row, f"{path}: row {row.number}") for row in rows], str(path))


def _question(row: Row, where: str) -> dict[str, Any]:
    fields = row.fields
    for column in ("id", "text", "options"):
        if not fields[column]:
            raise QuestionError(f"{where}: no {column}; write it there")
    text, item, options = fields["text"], fields["item"], _options(fields["options"], where)
    values = [option["value"] for option in options]
    answers = [value for value in values if not is_missing_code(value, len(values))]
    kind = fields.get("response_type") or (
        ResponseType.LIKERT10 if answers == [1, 10] else BY_COUNT.get(len(answers), ResponseType.CATEGORICAL)
    )
    if kind not in [*ResponseType]:
        raise QuestionError(f"{where}: response_type {kind}: one of {', '.join(ResponseType)} was expected")
    expected = OPTION_COUNTS.get(ResponseType(kind), len(answers))
    is_ten = kind == ResponseType.LIKERT10 and answers == [1, 10]
    if len(answers) != expected and not is_ten:
        raise QuestionError(f"{where}: response_type {kind} has {expected} answers, found {len(answers)}; mend one")
    return {
        "id": fields["id"],
        "section": fields.get("section") or None,
        "text": question_text(text, item or None),
        "stem": text if item else None,
        "item": item or None,
        "response_type": str(kind),
        "options": options,
        "answer_cue": fields.get("answer_cue") or None,
    }


def _options(written: str, where: str) -> list[dict[str, Any]]:
    parts = [part.strip() for part in re.split(r"[|\n]", written) if part.strip()]
    found = [match.groups() for part in parts if (match := OPTION.fullmatch(part))]
    if len(found) < 2:
        raise QuestionError(
            f"{where}: options {written[:60]!r}: at least two were expected, separated by |, as 1 = yes | 2 = no"
        )
    codes = [code for code, _ in found]
    if any(codes) and not all(codes):
        raise QuestionError(f"{where}: options {written[:60]!r}: some have a code and some have none; give all or none")
    values = [int(code) for code in codes if code] or list(range(1, len(found) + 1))
    answers = [value for value in values if not is_missing_code(value, len(values))]
    if answers not in (sorted(set(answers)), sorted(set(answers), reverse=True)):
        listed = ", ".join(map(str, answers))
        raise QuestionError(f"{where}: options {listed}: no order; write them from one end of the scale to the other")
    return [{"value": value, "label": label.strip()} for value, (_, label) in zip(values, found, strict=True)]
