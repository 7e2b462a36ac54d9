"""Answer codes from a column of a survey's file: recoded numbers within the question's scale."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.people.surveys import NOTHING, OTHER, Recode
from valuesassets.records.errors import HumanDataError

SHOWN = 3
"""Number of wrong values that a message shows."""
LARGEST = 2.0**53
"""Largest number that a float represents exactly among all integers."""


@dataclass(frozen=True)
class Column:
    """The name of a column in messages.

    Attributes:
        name: name in the file.
        path: the file.
        question: canonical id of the question that it answers, if any.
    """

    name: str
    path: Path
    question: str = ""

    def __str__(self) -> str:
        question = f" ({self.question})" if self.question and self.question != self.name else ""
        return f"{self.path}: column {self.name}{question}"


def as_numbers(values: NDArray, column: Column) -> Array:
    """(n,) numbers, NaN where empty; Stata's lettered missing values become the code for other reasons.

    Raises:
        HumanDataError: some text is not a number, such as labels in place of codes.
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
        sample = ", ".join(f"'{text}'" for text in pd.unique(written[is_text])[:SHOWN])
        raise HumanDataError(
            f"{column}: {sample} in {int(is_text.sum())} rows, numbers were expected; save the file with its codes, "
            "not with their labels"
        )
    return numbers


def as_whole(values: NDArray, column: Column, countries: NDArray[np.object_]) -> pd.arrays.IntegerArray:
    """(n,) integers from the file, masked where it is empty.

    Raises:
        HumanDataError: text, a fraction or a number too large for a code; names column, country and values.
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
    """(n,) answers on a scale, negative codes for the reasons of missing answers, masked where the file is empty.

    Args:
        countries: (n,) country of each row, for messages.
        scale: codes of the answers after recoding, from 0 or 1 on.
        form_missing: reasons of missing answers, by codes above the scale.

    Raises:
        HumanDataError: text, a fraction, or a code that is not an answer; names column, country and codes.
    """
    whole = as_whole(values, column, countries)
    codes = whole.to_numpy(dtype=np.float64, na_value=OTHER)
    answers = codes.copy()
    for old, new in recode.items():
        answers[codes == old] = new
    for old, new in (form_missing or {}).items():
        if old > scale[-1]:
            answers[codes == old] = new
    answers[answers < OTHER] = OTHER
    is_wrong = (answers > scale[-1]) | ((answers >= 0) & (answers < scale[0]))
    require_none(is_wrong, codes, column, countries, f"are none of its answers {scale[0]} to {scale[-1]}")
    return pd.arrays.IntegerArray(answers.astype(np.int16), whole.isna())


def as_answers(
    values: NDArray,
    column: Column,
    countries: NDArray[np.object_],
    n_answers: int,
    recode: Recode,
    form_missing: Recode,
) -> NDArray[np.int16]:
    """(n,) answers 1 to `n_answers` like `as_codes`, with `NOTHING` where the file is empty.

    Raises:
        HumanDataError: as `as_codes`.
    """
    codes = as_codes(values, column, countries, range(1, n_answers + 1), recode, form_missing)
    return codes.to_numpy(dtype=np.int16, na_value=NOTHING)


def require_none(
    is_wrong: NDArray[np.bool_], values: Array, column: Column, countries: NDArray[np.object_], what: str
) -> None:
    """Raise an error if some values of a column are wrong.

    Args:
        is_wrong: (n,) whether a value is wrong.
        countries: (n,) country of each row, for the message.
        what: what is wrong, as a predicate: `are no codes`.

    Raises:
        HumanDataError: names column, country and the first wrong values.
    """
    if not is_wrong.any():
        return
    country = countries[np.flatnonzero(is_wrong)[0]]
    rows = is_wrong & (countries == country)
    wrong_values = [f"{value:g}" for value in np.unique(values[rows])]
    more = " and more" if len(wrong_values) > SHOWN else ""
    raise HumanDataError(
        f"{column}, country {country}: {', '.join(wrong_values[:SHOWN])}{more} in {int(rows.sum())} rows {what}; is it "
        "another survey's variable, or coded otherwise?"
    )
