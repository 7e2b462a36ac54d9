"""Values that an answer ticks from a list: which pole of which dimension each is counted to."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.dimensions import AXES, HIGH, POLES
from valuesassets.records.errors import InputError
from valuesassets.records.text_tables import read_rows

COLUMNS = ("value", "axis", "pole")


def read_values(path: Path) -> pd.DataFrame:
    """The list of a CSV file `value,axis,pole`, in its order.

    Raises:
        InputError: no such table; an axis or pole is unknown, a value empty or listed twice; names file and row.
    """
    found, seen = [], {}
    for row in read_rows(path, COLUMNS):
        where = f"{path}: row {row.number}"
        for column, known in (("axis", AXES), ("pole", POLES)):
            if row.fields[column] not in known:
                raise InputError(
                    f"{where}: {column} {row.fields[column]!r} found, one of {', '.join(known)} was expected; mend it"
                )
        value = row.fields["value"]
        if not value:
            raise InputError(f"{where}: the value is empty, its name was expected; write it or remove the row")
        if seen.setdefault(value, row.number) != row.number:
            raise InputError(f"{where}: value {value!r} stands in row {seen[value]} too; keep one of them")
        found.append({name: row.fields[name] for name in COLUMNS})
    return pd.DataFrame(found)


def ticked_leans(ticked: Sequence[Sequence[str]], values: pd.DataFrame) -> NDArray[np.float64]:
    """(n, 6) high minus low values that each answer ticks, on each of `AXES`; what is not listed counts nothing.

    Args:
        ticked: a list of values for each answer.
        values: as `read_values` gives them.
    """
    signs = np.where(values["pole"] == HIGH, 1.0, -1.0)
    of_value = {
        value: (AXES.index(axis), sign)
        for value, axis, sign in zip(values["value"], values["axis"], signs, strict=True)
    }
    leans = np.zeros((len(ticked), len(AXES)))
    for lean, listed in zip(leans, ticked, strict=True):
        for axis, sign in (of_value[value] for value in listed if value in of_value):
            lean[axis] += sign
    return leans
