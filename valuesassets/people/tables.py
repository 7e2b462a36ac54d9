"""Columns of a survey archive's file (.sav, .dta, .csv or .parquet); only the requested columns are read."""

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from csv import reader as csv_of_lines
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
from numpy.typing import NDArray
from pyarrow import csv

from valuesassets.people.missing_labels import with_reasons
from valuesassets.records.errors import HumanDataError
from valuesassets.records.files import kind_of_file, no_such_file
from valuesassets.records.text_tables import line_of_stray_quote
from valuesassets.records.zips import PACKED, packed_file

FORMATS = {
    ".sav": "an SPSS file",
    ".zsav": "an SPSS file",
    ".dta": "a Stata file",
    ".csv": "a CSV file",
    ".parquet": "a parquet file",
}
BATCH = 64
"""Columns decoded at once: more need more memory, fewer need more passes over the file."""
NOTHING = ["", " ", ".", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"]
"""Texts in CSV files that mean that a value is missing."""


@dataclass(frozen=True)
class Table:
    """A file's columns by name: numbers as float64 (NaN where empty), anything else as objects."""

    path: Path
    names: tuple[str, ...]
    _read: Callable[[list[str]], Iterator[tuple[str, NDArray]]]

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, NDArray]]:
        """These columns with their names, decoded in batches.

        Raises:
            HumanDataError: the file is cut off or damaged.
        """
        return self._read(list(dict.fromkeys(names)))

    def named(self, name: str) -> str | None:
        """The column with this name, ignoring case and surrounding blanks; None where there is none.

        Raises:
            HumanDataError: several columns have this name.
        """
        matches = [each for each in self.names if each == name]
        matches = matches or [each for each in self.names if each.strip().casefold() == name.casefold()]
        if len(matches) > 1:
            raise HumanDataError(f"{self.path}: columns {', '.join(matches)} have one name; leave one of them")
        return matches[0] if matches else None


def open_table(path: Path) -> Table:
    """The table of a file, of which no column is read yet.

    Raises:
        HumanDataError: the file is absent, empty, damaged or of another kind than its name says.
    """
    ending = path.suffix.lower()
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError as error:  # a name that no file can have
        raise HumanDataError(f"{str(path)[:60]}...: cannot be read: {error.strerror}; check the path") from None
    if is_folder:
        raise HumanDataError(f"{path}: is a folder, people's answers were expected; name the file in it")
    if not is_file:
        raise HumanDataError(no_such_file(path))
    if kind_of_file(path) in PACKED and (inner := _unpacked(path)) is not None:
        table = open_table(inner)
        return replace(table, path=path / inner.name)
    if ending not in FORMATS:
        raise HumanDataError(
            f"{path}: respondents are read from {', '.join(FORMATS)}, found {ending or 'no ending'}; save it as one of "
            "these"
        )
    _require_kind(path, ending)
    return {".csv": _open_csv, ".parquet": _open_parquet}.get(ending, _open_stat)(path)


_unpacked_before: dict[tuple[Path, int, int], tempfile.TemporaryDirectory[str]] = {}
"""Temporary folders with the files of archives, by archive; they are deleted when the process ends."""


def _unpacked(path: Path) -> Path | None:
    """The only file of an archive, unpacked; None where it is damaged, or of an unknown format."""
    stat = path.stat()
    version = (path.resolve(), stat.st_mtime_ns, stat.st_size)
    if version not in _unpacked_before:
        try:
            member = packed_file(path)
        except ValueError as why:
            raise HumanDataError(f"{path}: {why}") from None
        if member is None or Path(member[0]).suffix.lower() not in FORMATS:
            return None
        folder = tempfile.TemporaryDirectory(prefix="people_")
        (Path(folder.name) / member[0]).write_bytes(member[1])
        _unpacked_before[version] = folder
    return next(Path(_unpacked_before[version].name).iterdir())


def _require_kind(path: Path, ending: str) -> None:
    kind = kind_of_file(path) or ("of another kind" if ending == ".parquet" else None)
    if kind in (None, FORMATS[ending]) or (kind == "JSON" and ending == ".csv"):
        return
    advice = "unpack it and name the file inside" if "ZIP" in str(kind) else "name another file"
    raise HumanDataError(f"{path}: is {kind}, {FORMATS[ending]} was expected; {advice}")


def _damaged(path: Path, reason: object) -> HumanDataError:
    message = str(reason).splitlines()[0] if str(reason) else "cut off or damaged"
    return HumanDataError(f"{path}: cannot be read whole: {message}; is it cut off? fetch it again")


def _open_stat(path: Path) -> Table:
    """SPSS and Stata files; codes that the file declares as missing are kept, because they tell the reason."""
    is_stata = path.suffix.lower() == ".dta"
    reader = pyreadstat.read_dta if is_stata else pyreadstat.read_sav

    def decode(**options: Any) -> tuple[pd.DataFrame, Any]:
        try:
            return reader(path, apply_value_formats=False, user_missing=True, **options)
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeDecodeError) as error:
            if "encoding" not in options and ("convert" in str(error) or isinstance(error, UnicodeDecodeError)):
                return decode(**options, encoding="LATIN1")
            raise _damaged(path, error) from None

    def read(names: list[str]) -> Iterator[tuple[str, NDArray]]:
        for start in range(0, len(names), BATCH):
            batch = names[start : start + BATCH]
            frame, metadata = decode(usecols=batch, disable_datetime_conversion=True)
            labels = metadata.variable_value_labels if is_stata else {}
            yield from ((name, with_reasons(_array(frame.pop(name)), labels.get(name, {}))) for name in batch)

    return Table(path, tuple(decode(metadataonly=True)[1].column_names), read)


def _open_parquet(path: Path) -> Table:
    try:
        names = tuple(pq.read_schema(path).names)
    except (OSError, pa.ArrowInvalid) as error:
        raise _damaged(path, error) from None

    def read(wanted: list[str]) -> Iterator[tuple[str, NDArray]]:
        try:
            table = pq.read_table(path, columns=wanted, page_checksum_verification=True)
        except (OSError, pa.ArrowInvalid) as error:
            raise _damaged(path, error) from None
        yield from _columns(table, wanted)

    return Table(path, names, read)


def _open_csv(path: Path) -> Table:
    """CSV files; a row whose number of fields differs from the header's would shift all codes, and is an error."""
    with open(path, encoding="utf-8-sig", errors="replace") as stream:
        header = stream.readline()
        n_lines = sum(line != "\n" for line in stream)
    separator = max(",;\t", key=header.count)
    one_thread = csv.ReadOptions(use_threads=False)  # with several no row could be named
    point = "," if separator == ";" else "."
    parsing = csv.ParseOptions(delimiter=separator, newlines_in_values=True)

    def read(names: list[str]) -> Iterator[tuple[str, NDArray]]:
        conversion = csv.ConvertOptions(
            include_columns=names, null_values=NOTHING, strings_can_be_null=True, decimal_point=point
        )
        try:
            table = csv.read_csv(path, one_thread, parsing, conversion)
        except (OSError, pa.ArrowInvalid, pa.ArrowKeyError) as error:
            _refuse_stray_quote(path, header, separator)
            raise _damaged(path, re.sub(r"(got \d+):.*", r"\1", str(error))) from None
        if table.num_rows != n_lines:
            _refuse_stray_quote(path, header, separator)
        yield from _columns(table, names)

    return Table(path, tuple(next(csv_of_lines([header], delimiter=separator), [])), read)


def _refuse_stray_quote(path: Path, header: str, separator: str) -> None:
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as stream:
        line = line_of_stray_quote(stream, separator, lambda line: line.count(separator) >= header.count(separator) > 0)
    if line is not None:
        raise HumanDataError(
            f"{path}: line {line}: a quotation mark takes in what follows it; close it in its field, double it or "
            "leave it out"
        )


def _columns(table: pa.Table, names: list[str]) -> Iterator[tuple[str, NDArray]]:
    for name in names:
        yield name, _array(table.column(name).to_pandas())


def _array(column: pd.Series) -> NDArray:
    """A column as float64, or as objects where it holds text."""
    if isinstance(column.dtype, pd.CategoricalDtype) or not pd.api.types.is_numeric_dtype(column):
        return column.astype(object).to_numpy()
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
