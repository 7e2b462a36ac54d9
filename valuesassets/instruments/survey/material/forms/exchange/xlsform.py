"""Reads questionnaires of ODK, KoboToolbox and SurveyCTO (XLSForm: XLSX, XLS, ODS).

Source: xlsform.org. Formulas have the values that were saved with them.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valuesassets.instruments.survey.material.forms.exchange.entries import (
    Answer,
    Entry,
    FormContent,
    joined_conditions,
)
from valuesassets.instruments.survey.material.forms.exchange.form_languages import WantedLanguage
from valuesassets.instruments.survey.material.forms.exchange.plain_text import plain_text, why_quoting, without_marks
from valuesassets.instruments.survey.material.forms.exchange.workbooks import cell_text, one_line, open_workbook
from valuesassets.records.errors import QuestionError

Row = dict[str, str]

SELECT_ONE = re.compile(
    r"(?:select[_ ]?one|select1|add select one prompt using|q select1)(?:[_ ]from)?\s+(?P<list>\S+)"
    r"(?:\s+or[_ ](?:specify[_ ])?other)?",
    re.IGNORECASE,
)
BEGIN = re.compile(r"begin[_ ]+(?:group|repeat|loop|score).*", re.IGNORECASE)
END = re.compile(r"end[_ ]+(?:group|repeat|loop|score).*", re.IGNORECASE)
SCORE_ROW = "score__row"
"""An item of KoboToolbox's rating matrix, whose list of answers stands in the row `begin_score`."""
SEVERAL = re.compile(r"select[_ ](?:multiple|all).*|select\b(?!1).*|add select multiple.*", re.IGNORECASE)
FROM_FILE = re.compile(r"select_(?:one|multiple)_(?:from_file|external)\b.*", re.IGNORECASE)
HEADERS = {
    "list name": "list",
    "relevance": "relevant",
    "bind:relevant": "relevant",
    "caption": "label",
    "kobo--score-choices": "answers of score",
}
IN_ANOTHER_FILE = "its answers are in another file"
SILENT = {
    *("start", "end", "today", "deviceid", "username", "simserial", "subscriberid", "phonenumber", "phone_number"),
    *("audit", "calculate", "hidden", "xml-external", "csv-external", "entity", "start-geopoint", "background-audio"),
}
"""Types that nobody sees."""
SHEETS = ("survey", "choices", "settings")


@dataclass
class _Group:
    """A group of rows around a question."""

    name: str = ""
    label: str = ""
    condition: str | None = None
    is_table: bool = False
    answers: str = ""
    """The list of answers that the rows of a rating matrix share."""


@dataclass
class _State:
    """Where the reading of the sheet is."""

    groups: list[_Group] = field(default_factory=list)
    header: tuple[str, str] | None = None
    """List and words of the row above the items of a list (appearance `label`)."""
    names: dict[str, int] = field(default_factory=dict)


def is_xlsform(path: Path) -> bool:
    """Whether a workbook has the sheet `survey` of an XLSForm."""
    try:
        return any(name.strip().casefold() == "survey" for name in open_workbook(path).sheet_names)
    except QuestionError:
        return False


def read_xlsform(path: Path, wanted: WantedLanguage) -> FormContent:
    """The entries of an XLSForm.

    Raises:
        QuestionError: no XLSForm, a list without choices, a name that stands twice in its group, or the form lacks the
            language that is named.
    """
    book = open_workbook(path)
    sheets = {name.strip().casefold(): name for name in book.sheet_names}
    if "survey" not in sheets:
        raise QuestionError(f"{path}: no sheet survey, an XLSForm was expected; save other tables as XLSX or CSV")
    with one_line(path):
        tables = {key: _rows(book.get_sheet_by_name(sheets[key]).to_python()) for key in sheets if key in SHEETS}
    survey, settings = tables["survey"], next(iter(tables.get("settings", [])), (2, {}))[1]
    language = _language(survey, settings, path, wanted)
    lists = _lists(tables.get("choices", []), language)
    content, state = FormContent(), _State()
    for number, row in survey:
        if row.get("disabled", "").casefold() not in ("yes", "true"):
            _read_row(row, f"{path}: sheet survey, row {number}", language, lists, state, content)
    content.entries = _with_own_names(content.entries, state)
    return content


def _rows(cells: Sequence[Sequence[Any]]) -> list[tuple[int, Row]]:
    """The rows below the header of a sheet with their numbers, by column; blank ones are left out."""
    if not cells:
        return []
    header = [_header(cell_text(cell)) for cell in cells[0]]
    rows = []
    for number, line in enumerate(cells[1:], 2):
        fields = {name: text for name, cell in zip(header, line, strict=False) if name and (text := cell_text(cell))}
        if fields:
            rows.append((number, fields))
    return rows


def _header(written: str) -> str:
    """The name of a column: `bind: relevant` is `relevant`, `label : English` is `label::English`.

    >>> _header("Label : English (en)"), _header("list_name"), _header("bind: relevant")
    ('label::English (en)', 'list', 'relevant')
    """
    parts = [part.strip() for part in re.split(r"\s*::?\s*", written.strip(), maxsplit=1)]
    name = " ".join(parts[0].replace("_", " ").split()).casefold()
    if len(parts) == 2 and name != "bind":
        return f"{HEADERS.get(name, name)}::{parts[1]}"
    name = parts[1].casefold() if len(parts) == 2 else name
    return HEADERS.get(name, name)


def _language(survey: Sequence[tuple[int, Row]], settings: Row, path: Path, wanted: WantedLanguage) -> str:
    """The language whose column `label` is read; empty for the column without a language."""
    columns = dict.fromkeys(name for _, row in survey for name in row if name.partition("::")[0] == "label")
    default = settings.get("default language", "")
    languages = {name.partition("::")[2] or default: name.partition("::")[2] for name in columns}
    main = default if default in languages else next(iter(languages), "")
    return languages.get(wanted.among([*languages], main, path), "")


def _label(row: Row, language: str) -> str:
    """The words of a row in a language; those without a language where it has none of its own."""
    written = row.get(f"label::{language}", "") if language else ""
    return plain_text(without_marks(written or row.get("label", "")))


def _lists(choices: Sequence[tuple[int, Row]], language: str) -> dict[str, list[Answer]]:
    lists: dict[str, list[Answer]] = {}
    for _, row in choices:
        code = row.get("name", row.get("value", ""))
        if name := row.get("list", ""):
            lists.setdefault(name, []).append(Answer(code, _label(row, language)))
    return lists


def _read_row(
    row: Row, where: str, language: str, lists: dict[str, list[Answer]], state: _State, content: FormContent
) -> None:
    """Add what a row of the sheet is to the content."""
    kind, label = " ".join(row.get("type", "").split()), _label(row, language)
    name, appearance = row.get("name", ""), row.get("appearance", "").casefold().split()
    if kind.casefold() == SCORE_ROW and state.groups and state.groups[-1].answers:
        kind = f"select_one {state.groups[-1].answers}"
    if BEGIN.fullmatch(kind):
        scored = row.get("answers of score", "")
        state.groups.append(
            _Group(name, label, row.get("relevant"), "table-list" in appearance or bool(scored), scored)
        )
        state.header = None
    elif END.fullmatch(kind):
        state.groups[-1:] = []
        state.header = None
    elif FROM_FILE.fullmatch(kind) or not (match := SELECT_ONE.fullmatch(kind)):
        if kind and kind.casefold() not in SILENT:
            content.leave_out(name, label, _why_left_out(kind))
    elif any(word.startswith("search(") for word in appearance):
        content.leave_out(name, label, IN_ANOTHER_FILE)
    elif match["list"] not in lists and "${" not in match["list"]:
        raise QuestionError(f"{where}: {name}: the list {match['list']} has no choices; add them to the sheet choices")
    elif "label" in appearance:
        state.header = (match["list"], label)
        content.leave_out(name, label, "the heading of a list of items")
    elif "${" in match["list"]:
        content.leave_out(name, label, "its answers are what was answered before")
    else:
        _require_new(name, where, state)
        content.entries.append(_entry(row, match["list"], label, lists, state))


def _entry(row: Row, listed: str, label: str, lists: dict[str, list[Answer]], state: _State) -> Entry:
    answers = lists[listed]
    is_item = "list-nolabel" in row.get("appearance", "").casefold().split()
    table = next((group.label for group in reversed(state.groups) if group.is_table and group.label), None)
    header = state.header[1] if state.header and is_item and state.header[0] == listed else None
    stem = header or table
    when = joined_conditions(*(group.condition for group in state.groups), row.get("relevant"))
    unfit = why_quoting(stem, label, *(answer.label for answer in answers))
    if not unfit and (chosen := row.get("choice filter")):
        unfit = f"its answers depend on a condition: {chosen[:60]}"
    section = next((group.label for group in reversed(state.groups) if group.label and group.label != stem), None)
    return Entry(row.get("name", ""), label, answers, stem=stem, section=section, when=when, unfit=unfit)


def _why_left_out(kind: str) -> str:
    if FROM_FILE.fullmatch(kind):
        return IN_ANOTHER_FILE
    if SEVERAL.fullmatch(kind):
        return "several answers may be chosen"
    return f"type {kind.split()[0]}, no closed question with one answer"


def _require_new(name: str, where: str, state: _State) -> None:
    """See that no other question of the same group has the name."""
    key = "/".join([*(group.name for group in state.groups), name])
    row = int(where.rpartition(" ")[2])
    if key in state.names:
        raise QuestionError(
            f"{where}: the name {name} stands in row {state.names[key]} too; give each question its own"
        )
    state.names[key] = row


def _with_own_names(entries: Sequence[Entry], state: _State) -> list[Entry]:
    """The entries, each with its groups before its name where two groups have the same name."""
    counts = Counter(entry.id for entry in entries)
    named = zip(entries, state.names, strict=True)
    return [dataclasses.replace(entry, id=path.lstrip("/")) if counts[entry.id] > 1 else entry for entry, path in named]
