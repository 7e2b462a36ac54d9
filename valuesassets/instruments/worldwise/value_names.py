"""The names of values that a reason may tick, each standing for a pole of one axis."""

from pathlib import Path

import pandas as pd

from valuesassets.instruments.worldwise.dimensions import AXES, HIGH, POLES
from valuesassets.records.csv_rows import csv_rows
from valuesassets.records.errors import QuestionError
from valuesassets.records.places import STUDIES

BUNDLED = "bundled"
BUNDLED_FILE = STUDIES / "worldwise" / "values.csv"
COLUMNS = ("value", "axis", "pole")
SEPARATOR = ";"
"""Between values, in prompts and in answers."""


def read_value_names(path: Path | str = BUNDLED) -> pd.DataFrame:
    """The values of a CSV file: `value, axis, pole`, in its order.

    Args:
        path: `bundled` for the project's own 24.

    Raises:
        QuestionError: an unknown axis or pole, a value that is empty, there twice, or has a semicolon, or an axis with
            values of one pole alone; names file, line, what was found and what was expected.
    """
    place = BUNDLED_FILE if str(path) == BUNDLED else Path(path)
    lines: dict[str, int] = {}
    rows: list[dict[str, str]] = []
    for number, row in csv_rows(place, COLUMNS, QuestionError):
        where, value = f"{place}: line {number}", row["value"]
        for column, known in (("axis", AXES), ("pole", POLES)):
            if row[column] not in known:
                raise QuestionError(f"{where}: {column} {row[column]!r} found, one of {', '.join(known)} was expected")
        if not value or SEPARATOR in value:
            raise QuestionError(f"{where}: value {value!r} found, a name without {SEPARATOR} was expected; mend it")
        if (first := lines.setdefault(value.casefold(), number)) != number:
            raise QuestionError(f"{where}: value {value} stands in line {first} already; keep one")
        rows.append({column: row[column] for column in COLUMNS})
    if not rows:
        raise QuestionError(f"{place}: no value below its header; add a line for each")
    found = pd.DataFrame(rows)
    for axis, poles in found.groupby("axis", sort=False)["pole"]:
        if poles.nunique() == 1:
            raise QuestionError(f"{place}: all values of {axis} are {poles.iloc[0]}; add some of the other pole")
    return found


def lean_of_random_ticks(values: pd.DataFrame) -> list[str]:
    """How values leans that are ticked at random, in words: whole list and axes that have not as many high as low.

    >>> lean_of_random_ticks(pd.DataFrame({"value": list("abc"), "axis": "IDV", "pole": ["high", "high", "low"]}))
    ['all: 2 of 3 are high, so random ticks lean +0.33', 'IDV: 2 of 3 are high, so random ticks lean +0.33']
    """
    parts = [("all", values), *values.groupby("axis", sort=False)]
    counts = [(name, int((part["pole"] == HIGH).sum()), len(part)) for name, part in parts]
    return [
        f"{name}: {high} of {n} are high, so random ticks lean {2 * high / n - 1:+.2f}"
        for name, high, n in counts
        if 2 * high != n
    ]
