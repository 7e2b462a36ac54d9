"""A column of a survey's file as answer codes: numbers, recoded, each within its question's scale."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.people.surveys import NOTHING, OTHER, Recode
from valuesassets.records.errors import HumanDataError

SHOWN = 3
"""Of wrong values, so many stand in a message."""
LARGEST = 2.0**53
"""Beyond it a file's numbers are not exact, and soon not whole ones of ours."""


@dataclass(frozen=True)
class Column:
    """Where a column stands, for messages.

    Attributes:
        name: in the file.
        question: canonical id of the question that it answers, if any.
    """

    name: str
    path: Path
    question: str = ""

    def __str__(self) -> str:
        named = f" ({self.question})" if self.question and self.question != self.name else ""
        return f"{self.path}: column {self.name}{named}"


def as_numbers(values: NDArray, column: Column) -> Array:
    """(n,) numbers, NaN where there is none; Stata's lettered missing values count as missing for another reason.

    Raises:
        HumanDataError: text that is no number, such as labels in place of codes.
    """
    if values.dtype != object:
        return values
    texts = pd.Series(values, dtype=object)
    if any(isinstance(value, bytes) for value in values):
        raise HumanDataError(f"{column}: holds bytes that are no text in UTF-8; save the file anew in UTF-8")
    written = texts.astype("string").str.strip().str.replace(",", ".", regex=False)
    numbers = pd.Series(pd.to_numeric(written, errors="coerce")).to_numpy(dtype=np.float64, na_value=np.nan)
    is_text = np.isnan(numbers) & written.fillna("").ne("").to_numpy(dtype=bool)
    if column.path.suffix.lower() == ".dta":
        letters = is_text & written.str.fullmatch("[a-z]").fillna(False).to_numpy(dtype=bool)
        numbers[letters], is_text = OTHER, is_text & ~letters
    if is_text.any():
        found = ", ".join(f"'{text}'" for text in pd.unique(written[is_text])[:SHOWN])
        raise HumanDataError(
            f"{column}: {found} in {int(is_text.sum())} rows, numbers were expected; save the file with its codes, "
            "not with their labels"
        )
    return numbers


def as_whole(values: NDArray, column: Column, countries: NDArray[np.object_]) -> pd.arrays.IntegerArray:
    """(n,) whole numbers as the file has them, masked where it holds nothing.

    Raises:
        HumanDataError: text, a fraction or a number past all codes; names column, country and values.
    """
    numbers = as_numbers(values, column)
    require_none(np.abs(numbers) > LARGEST, numbers, column, countries, "are no codes")
    is_empty = np.isnan(numbers)
    whole = np.where(is_empty, 0, np.rint(numbers))
    require_none(~is_empty & (np.abs(numbers - whole) > 1e-6), numbers, column, countries, "are no codes")
    return pd.arrays.IntegerArray(whole.astype(np.int64), is_empty)


def as_codes(
    values: NDArray,
    column: Column,
    countries: NDArray[np.object_],
    scale: range,
    recode: Recode,
    form_missing: Recode | None = None,
) -> pd.arrays.IntegerArray:
    """(n,) answers on a scale, negative where there is none and why, masked where the file holds nothing.

    Args:
        countries: (n,) of each row, for messages.
        scale: codes of the answers, from 0 or 1 on, after recoding.
        form_missing: what a code above the scale means in place of an answer.

    Raises:
        HumanDataError: text, a fraction, or a code that is no answer; names column, country and codes.
    """
    whole = as_whole(values, column, countries)
    codes = whole.to_numpy(dtype=np.float64, na_value=OTHER)
    found = codes.copy()
    for old, new in recode.items():
        found[codes == old] = new
    for old, new in (form_missing or {}).items():
        if old > scale[-1]:
            found[codes == old] = new
    found[found < OTHER] = OTHER
    is_wrong = (found > scale[-1]) | ((found >= 0) & (found < scale[0]))
    require_none(is_wrong, codes, column, countries, f"are none of its answers {scale[0]} to {scale[-1]}")
    return pd.arrays.IntegerArray(found.astype(np.int16), whole.isna())


def as_answers(
    values: NDArray,
    column: Column,
    countries: NDArray[np.object_],
    n_answers: int,
    recode: Recode,
    form_missing: Recode,
) -> NDArray[np.int16]:
    """(n,) answers 1 to `n_answers` as `as_codes` has them, `NOTHING` where the file holds nothing.

    Raises:
        HumanDataError: as `as_codes`.
    """
    codes = as_codes(values, column, countries, range(1, n_answers + 1), recode, form_missing)
    return codes.to_numpy(dtype=np.int16, na_value=NOTHING)


def require_none(
    is_wrong: NDArray[np.bool_],
    values: Array,
    column: Column,
    countries: NDArray[np.object_],
    what: str,
) -> None:
    """See that no value of a column is wrong.

    Args:
        is_wrong: (n,) of the values.
        countries: (n,) of each row, for the message.
        what: what wrong values are, or are not.

    Raises:
        HumanDataError: names column, country and the first wrong values.
    """
    if not is_wrong.any():
        return
    country = countries[np.flatnonzero(is_wrong)[0]]
    rows = is_wrong & (countries == country)
    found = [f"{value:g}" for value in np.unique(values[rows])]
    more = " and more" if len(found) > SHOWN else ""
    raise HumanDataError(
        f"{column}, country {country}: {', '.join(found[:SHOWN])}{more} in {int(rows.sum())} rows {what}; is it "
        "another survey's variable, or coded otherwise?"
    )
