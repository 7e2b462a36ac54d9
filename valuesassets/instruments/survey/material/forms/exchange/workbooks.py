"""Opens workbooks (XLSX, XLS, ODS) with python-calamine. Formulas have the values that were saved with them."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from valuesassets.instruments.survey.material.forms.exchange.safe_files import require_small_archive
from valuesassets.records.errors import QuestionError
from valuesassets.records.files import kind_of_file, no_such_file
from valuesassets.records.text_tables import Row, too_many_rows
from valuesassets.records.xlsx_tables import rows_of_cells


def read_first_sheet(path: Path, columns: Sequence[str], most_rows: int) -> list[Row]:
    """The rows of a workbook's first sheet, which has to have these columns; blank rows are left out.

    Raises:
        QuestionError: it cannot be read, cells are merged, a column is missing or stands twice, or there is no row or
            more than `most_rows`.
    """
    book = open_workbook(path)
    with one_line(path):
        sheet = book.get_sheet_by_index(0)
        lines = sheet.to_python(skip_empty_area=False, nrows=most_rows + 2)
        merged = getattr(sheet, "merged_cell_ranges", None)
    if merged:
        (row, column), _ = merged[0]
        raise QuestionError(
            f"{path}: cells from row {row + 1}, column {column + 1} on are merged; part them and write "
            "each row's own words"
        )
    if len(lines) > most_rows + 1:  # the header is one
        raise QuestionError(too_many_rows(path, most_rows))
    cells = {
        number: {str(place): text for place, cell in enumerate(line) if (text := cell_text(cell))}
        for number, line in enumerate(lines, 1)
    }
    return rows_of_cells({number: row for number, row in cells.items() if row}, path, columns, QuestionError)


def open_workbook(path: Path) -> Any:
    """A workbook of python-calamine.

    Raises:
        QuestionError: there is none, it unpacks to more than 50 MiB, or it cannot be read.
    """
    import python_calamine

    if not path.is_file():
        raise QuestionError(no_such_file(path))
    if _kind_or_none(path) == "a ZIP archive or an Office document":
        require_small_archive(path, "a spreadsheet")
    with one_line(path):
        return python_calamine.load_workbook(path)


@contextlib.contextmanager
def one_line(path: Path) -> Iterator[None]:
    """A block in which the library reads a workbook; its faults are one line.

    The library stops at some broken files with an exception that is no `Exception` (`PanicException` of PyO3).
    """
    import python_calamine

    try:
        yield
    except (python_calamine.CalamineError, OSError, ValueError):
        raise QuestionError(f"{path}: is no spreadsheet, or a damaged one; save it anew as XLSX") from None
    except BaseException as fault:
        if type(fault).__name__ != "PanicException":
            raise
        raise QuestionError(f"{path}: is a damaged spreadsheet; save it anew as XLSX") from None


def _kind_or_none(path: Path) -> str | None:
    """The kind of a file by its first bytes; None where it cannot be read."""
    try:
        return kind_of_file(path)
    except OSError:
        return None


def cell_text(cell: Any) -> str:
    """The text of a cell: whole numbers without a decimal point."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
