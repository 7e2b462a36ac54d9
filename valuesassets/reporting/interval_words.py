"""Numbers with their intervals and p-values as texts for a page, and wide tables of such texts."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from valuesassets.records.frames import records
from valuesassets.reporting.parts import ABSENT, is_absent

NARROW = "\N{NO-BREAK SPACE}"
MOST_GIVEN = 6
"""The most numbers that a claim quotes; the tables have the others."""


def spelled(value: Any, low: Any = None, high: Any = None, digits: int = 3, is_signed: bool = False) -> str:
    """A number as text, followed by its interval if it has one.

    >>> spelled(-1.0234, -1.1, -0.95), spelled(0.02, None, None, is_signed=True), spelled(-1e-9), spelled(None)
    ('-1.023 [-1.100, -0.950]', '+0.020', '0.000', 'not available')
    """
    if is_absent(value):
        return ABSENT
    sign = "+" if is_signed else ""
    number, *ends = (f"{round(float(each or 0), digits) + 0.0:{sign}.{digits}f}" for each in (value, low, high))
    return number if is_absent(low) or is_absent(high) else f"{number} [{', '.join(ends)}]"


def spelled_p(p: Any) -> str:
    """A p-value as text; below .001 as a bound.

    >>> spelled_p(0.0421), spelled_p(0.0012), spelled_p(0.0009), spelled_p(None)
    ('p\\xa00.042', 'p\\xa00.001', 'p\\xa0<\\xa00.001', 'p not available')
    """
    if is_absent(p):
        return "p not available"
    return f"p{NARROW}<{NARROW}0.001" if p < 0.001 else f"p{NARROW}{p:.3f}"


def given(sentences: Iterable[str]) -> str:
    """The first numbers behind a claim, and how many more the table has."""
    numbers = list(sentences)
    more = f"; {len(numbers) - MOST_GIVEN} more in the table" if len(numbers) > MOST_GIVEN else ""
    return "; ".join(numbers[:MOST_GIVEN]) + more


def spread(
    frame: pd.DataFrame, keys: Sequence[str], column: str, order: Sequence[str], spell: Any
) -> list[dict[str, Any]]:
    """A wide table: a row for each combination of `keys`, a column for each value of `column`.

    Args:
        order: the values of `column` that become columns, in their order; others are left out.
        spell: the function from a row of the frame to the text of its cell.
    """
    rows_by_key: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in records(frame):
        key = tuple(None if is_absent(row[name]) else row[name] for name in keys)
        cells = rows_by_key.setdefault(key, dict(zip(keys, key, strict=True)) | dict.fromkeys(order))
        if row[column] in order:
            cells[str(row[column])] = spell(row)
    return list(rows_by_key.values())
