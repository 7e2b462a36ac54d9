"""Ids that several rows share: rows equal in every column are one person, all others are separate people."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

RepeatedIds = Literal["renumber", "drop"]
"""`renumber`: people with the same id are distinguished by a number; `drop`: people with such an id are left out."""


class Entry(NamedTuple):
    """A row of a ledger: a change to some of a file's rows or values, and its reason.

    Attributes:
        what: kind of change, such as dropped, merged, renumbered or missing.
        subject: the id or the column concerned.
        n: number of rows or values.
    """

    what: str
    subject: str
    n: int
    why: str


@dataclass(frozen=True)
class Settled:
    """The rows of a file that are separate people, with unique ids.

    Attributes:
        rows: indices of these rows, ascending.
        ids: unique text ids; `<id>-1`, `<id>-2` where several people share an id.
        ledger: entries on the changes.
    """

    rows: NDArray[np.intp]
    ids: NDArray[np.object_]
    ledger: tuple[Entry, ...]


def shared_rows(ids: NDArray[np.int64]) -> NDArray[np.intp]:
    """Indices of the rows that share their id with another row."""
    return np.flatnonzero(pd.Series(ids).duplicated(keep=False).to_numpy())


def settle_ids(ids: NDArray[np.int64], is_again: Callable[[], NDArray[np.bool_]], rule: RepeatedIds) -> Settled:
    """The rows that are separate people, with unique ids.

    Args:
        ids: (n,) ids in the file.
        is_again: computes which of `shared_rows` equal an earlier one in every column; called only if there are any.
        rule: see `RepeatedIds`.

    >>> settled = settle_ids(np.array([7, 8, 7, 7]), lambda: np.array([False, False, True]), "renumber")
    >>> settled.rows.tolist(), settled.ids.tolist()
    ([0, 1, 2], ['7-1', '8', '7-2'])
    """
    names = ids.astype(str).astype(object)
    shared = shared_rows(ids)
    rows, ledger = np.arange(len(ids)), []
    if len(shared) and rule == "drop":
        ledger = _entries("dropped", names[shared], "several rows have this id")
        rows = np.setdiff1d(rows, shared)
    elif len(shared):
        again = shared[is_again()]
        ledger = _entries("merged", names[again], "rows equal in every column are one person")
        rows = np.setdiff1d(rows, again)
        several = pd.Series(names[rows]).duplicated(keep=False).to_numpy()
        ledger += _entries("renumbered", names[rows][several], "several people have this id")
        number = pd.Series(names[rows]).groupby(names[rows]).cumcount().to_numpy() + 1
        names[rows[several]] = names[rows[several]] + "-" + number[several].astype(str).astype(object)
    return Settled(rows, names[rows], tuple(ledger))


def _entries(what: str, names: NDArray[np.object_], why: str) -> list[Entry]:
    return [
        Entry(what, name, int(n), why)
        for name, n in zip(*np.unique(names.astype(str), return_counts=True), strict=True)
    ]
