"""Files of ratings as tables of text, with any delimiter and quotation."""

import io
import re
from collections.abc import Collection
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import csv

from valuesassets.records.errors import RatingsError
from valuesassets.records.files import read_text
from valuesassets.records.quotes import line_of_stray_quote

EXPECTED = "QUESTION_ID PARTICIPANT_ID SCORE, or question_id, attributes such as B_COUNTRY, response_value, prob"


def read_rating_table(path: Path, questions: Collection[str]) -> pd.DataFrame:
    """Columns of a TSV or CSV file as categories of text; its first line decides the delimiter.

    Args:
        questions: ids, which identify rows inside a field that a stray quotation mark opened.

    Raises:
        RatingsError: the file is missing or of another kind; a column occurs twice; a row has more or fewer fields than
            the header; a quotation mark encloses other rows.
    """
    text = read_text(path, "a table of ratings", RatingsError)
    header = re.split(r"\r\n?|\n", text, maxsplit=1)[0]
    delimiter = "\t" if "\t" in header else ","
    names = [name.strip().strip('"') for name in header.split(delimiter)]
    if len(names) == 1 and ";" in header:
        raise RatingsError(
            f"{path}: row 1: found semicolons between fields, tabs or commas were expected; save it with these"
        )
    if repeated := [name for name in names if names.count(name) > 1]:
        raise RatingsError(
            f"{path}: row 1: column {repeated[0]!r} stands twice; {EXPECTED} was expected; mend the header"
        )
    try:
        if '"' in text.removeprefix(header):
            return _with_quotes(path, text, names, delimiter, questions).to_pandas()
        return _parsed(text, names, delimiter).to_pandas()
    except pa.ArrowInvalid as fault:
        reason = str(fault).removeprefix("CSV parse error: ").split("\n")[0][:160]
        raise RatingsError(f"{path}: not a table: {reason}; mend the file there") from None


def _parsed(text: str, names: list[str], delimiter: str, quote: str | bool = '"') -> pa.Table:
    return csv.read_csv(
        io.BytesIO(text.encode()),
        read_options=csv.ReadOptions(column_names=names, skip_rows=1),
        parse_options=csv.ParseOptions(delimiter=delimiter, quote_char=quote, newlines_in_values=bool(quote)),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())), strings_can_be_null=False
        ),
    )


def _with_quotes(path: Path, text: str, names: list[str], delimiter: str, questions: Collection[str]) -> pa.Table:
    """A table whose quoted fields may contain line ends and delimiters; or one row a line, if only that fits."""
    lines = [line for line in io.StringIO(text, newline="") if line.strip("\r\n")]
    try:
        table = _parsed(text, names, delimiter)
    except pa.ArrowInvalid as fault:
        table = fault
    if isinstance(table, pa.Table) and len(table) == len(lines) - 1:
        return table
    if all(line.count(delimiter) == len(names) - 1 for line in lines):  # each is a row, whatever its marks
        around = rf'(?<![^{delimiter}\r\n])"([^"{delimiter}\r\n]*)"(?![^{delimiter}\r\n])'
        return _parsed(re.sub(around, r"\1", text), names, delimiter, quote=False)
    _refuse_stray_quote(path, text, names, delimiter, questions)
    if isinstance(table, pa.ArrowInvalid):
        raise table
    return table


def _refuse_stray_quote(path: Path, text: str, names: list[str], delimiter: str, questions: Collection[str]) -> None:
    at = next((number for number, name in enumerate(names) if name.lower() == "question_id"), 0)

    def is_row(line: str) -> bool:
        fields = line.split(delimiter)
        return len(fields) >= len(names) and fields[at].strip(' "').partition("@")[0].upper() in questions

    line = line_of_stray_quote(io.StringIO(text, newline=""), delimiter, is_row)
    if line is not None:
        raise RatingsError(
            f"{path}: line {line}: a quotation mark takes in what follows it; close it in its field, double it or "
            "leave it out"
        )
