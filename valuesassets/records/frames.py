"""Rows and columns of a frame with precise types, which pandas itself leaves open.

The functions import pandas themselves: every command imports this module, and most never need a frame.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def rows(frame: "pd.DataFrame", mask: Any) -> "pd.DataFrame":
    """The rows where a boolean column is true."""
    import pandas as pd

    return pd.DataFrame(frame.loc[mask])


def rows_where(frame: "pd.DataFrame", **values: Any) -> "pd.DataFrame":
    """The rows whose columns have these values.

    >>> import pandas as pd
    >>> rows_where(pd.DataFrame({"kind": ["model", "human"], "x": [1, 2]}), kind="human")["x"].tolist()
    [2]
    """
    matches = frame
    for name, value in values.items():
        matches = rows(matches, matches[name] == value)
    return matches


def column(frame: "pd.DataFrame", name: str) -> "pd.Series":
    """One column of a frame."""
    import pandas as pd

    return pd.Series(frame[name])


def stacked(tables: "Sequence[pd.DataFrame]") -> "pd.DataFrame":
    """Tables below one another. Empty ones are skipped, since their columns have no types and would change others'."""
    import pandas as pd

    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def means_by(frame: "pd.DataFrame", by: str, value: str, order: Sequence[str] | None = None) -> dict[str, float]:
    """Mean of a column in each group by the group's name, in the given order; groups without rows are left out.

    >>> import pandas as pd
    >>> means_by(pd.DataFrame({"model": ["b", "a", "b"], "x": [1.0, 5.0, 3.0]}), "model", "x", ["b", "c", "a"])
    {'b': 2.0, 'a': 5.0}
    """
    means = {str(name): float(part[value].mean()) for name, part in frame.groupby(by)}
    return {name: means[name] for name in (means if order is None else order) if name in means}


def records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """The rows as dictionaries by column name."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def parts_of(frame: "pd.DataFrame", columns: Sequence[str]) -> "Iterator[tuple[tuple[str, ...], pd.DataFrame]]":
    """The rows of every combination of these columns, in the order of their first appearance."""
    for key, part in frame.groupby(list(columns), sort=False):
        yield tuple(map(str, key if isinstance(key, tuple) else (key,))), part
