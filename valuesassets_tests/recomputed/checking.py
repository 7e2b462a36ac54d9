"""Stored tables beside tables of our own: which columns were compared, and what is not the same."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

EQUAL = 1e-6
"""By which a number may differ, absolute and relative."""
ERRORS = 5.0
"""Monte Carlo errors by which a drawn number may lie off: of some thousand numbers less than one does by chance."""
FEW = 5.0
"""Draws by which a share may lie off besides, where it is of a few draws and its error is not normal."""


class Check:
    """What was compared, and the faults that were seen.

    Args:
        folder: of the instrument in the study's storage.
        draws: the study's own draws for each interval and p-value.
        level: of its intervals.
    """

    def __init__(self, folder: Path, draws: int, level: float = 0.95) -> None:
        self.folder, self.draws, self.level = folder, draws, level
        self.compared: dict[str, set[str]] = {}
        self.faults: list[str] = []

    def stored(self, table: str) -> pd.DataFrame:
        """A stored table, `<asset>` or `<asset>/<table>`; all files of a partitioned asset below each other."""
        for place in (self.folder / f"{table}.parquet", self.folder / table / f"{table}.parquet"):
            if place.exists():
                return pd.read_parquet(place)
        files = sorted((self.folder / table).rglob("*.parquet"))
        assert files, f"{self.folder / table}: nothing is stored there"
        return pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)

    def equal(
        self, table: str, keys: Sequence[str], own: pd.DataFrame, within: Mapping[str, float] | None = None
    ) -> None:
        """All columns of our own table but the keys, row by row; rows are the same on both sides.

        Args:
            within: by column, another tolerance than `EQUAL`.
        """
        for name in [name for name in own if name not in keys]:
            for where, stored, ours in self._pairs(table, keys, own, name):
                if pd.isna(stored) or pd.isna(ours):
                    is_same = bool(pd.isna(stored) and pd.isna(ours))
                else:
                    most = (within or {}).get(name, EQUAL)
                    is_same = math.isclose(float(stored), float(ours), rel_tol=most, abs_tol=most)
                if not is_same:
                    self.faults.append(f"{table}, {where}: {name} is stored as {stored}, and is {ours}")

    def ends(
        self,
        table: str,
        keys: Sequence[str],
        rows: pd.DataFrame,
        name: str,
        drawn: np.ndarray,
        n: Any,
        low_high=None,
        draws=None,
    ) -> None:
        """The ends of intervals between two quantiles of what was drawn.

        A stored end is the quantile of `draws` draws: of such, a share t plus or minus sqrt(t (1 - t) / draws) lies
        below it. Of our own draws as many have to lie below it, with their own error besides. Quantiles are those of
        the expanded percentile interval (Hesterberg 2015): Phi(sqrt(n / (n - 1)) t) at both ends.

        Args:
            rows: R rows with the keys.
            drawn: (D, R) our own.
            n: (R,) how many things were drawn from; None for plain quantiles.
            low_high: names of the columns, where they are not `<name>_low` and `<name>_high`.
            draws: of the study, where they are others than everywhere.
        """
        from scipy import stats

        tail = np.full(len(rows), (1 - self.level) / 2)
        if n is not None:
            size = np.broadcast_to(np.asarray(n, dtype=float), len(rows))
            wide = np.maximum(size, 2)
            tail = stats.norm.cdf(np.sqrt(wide / (wide - 1)) * stats.t.ppf((1 - self.level) / 2, wide - 1))
        names = low_high or (f"{name}_low", f"{name}_high")
        of, known = draws or self.draws, np.isfinite(drawn)
        count = known.sum(axis=0)
        for column, sign in zip(names, (1, -1), strict=True):
            own = rows.assign(**{column: np.arange(len(rows), dtype=float)})
            for where, end, place in self._pairs(table, keys, own, column):
                row = int(place)
                has_end = count[row] > 0 and (n is None or size[row] >= 2)
                if pd.isna(end) or not has_end:
                    if pd.isna(end) != (not has_end):
                        self.faults.append(f"{table}, {where}: {column} is stored as {end}, with {count[row]} draws")
                    continue
                values = sign * drawn[known[:, row], row]
                slack = 1e-9 * max(1.0, abs(end))
                below, at_most = (values < sign * end - slack).mean(), (values <= sign * end + slack).mean()
                share = max(tail[row], 1 / (of + 1))
                off = self.off(share, count[row], of)
                if not below - off <= share <= at_most + off:
                    said = (
                        f"{column} is stored as {end:.6g}, where {below:.4f} to {at_most:.4f} of our draws lie beyond"
                    )
                    self.faults.append(f"{table}, {where}: {said}; {share:.4f} plus or minus {off:.4f} is due")

    def p(self, table: str, keys: Sequence[str], own: pd.DataFrame, column: str, draws: int) -> None:
        """p-values of random labellings, (1 + count) / (1 + draws), beside our own share of `draws` labellings."""
        for where, stored, ours in self._pairs(table, keys, own, column):
            if pd.isna(stored) or pd.isna(ours):
                if pd.isna(stored) != pd.isna(ours):
                    self.faults.append(f"{table}, {where}: {column} is stored as {stored}, and is {ours}")
            elif abs(stored - ours) > self.off(ours, draws) + 1 / (1 + self.draws):
                self.faults.append(f"{table}, {where}: {column} is stored as {stored:.5f}, and is about {ours:.5f}")

    def off(self, share: float, draws: float, of: int | None = None) -> float:
        """By how much a share of the study's draws, or of `of` others, and one of our own may differ."""
        each = 1 / (of or self.draws) + 1 / draws
        return ERRORS * math.sqrt(max(share * (1 - share), 0) * each) + FEW * each

    def about(self, table: str, keys: Sequence[str], own: pd.DataFrame, column: str, error: Callable | Any) -> None:
        """Means over draws: `ERRORS` standard errors, given for each row, are allowed."""
        errors = np.broadcast_to(np.asarray(error, dtype=float), len(own))
        with_errors = own.assign(**{column: list(zip(own[column], errors, strict=True))})
        for where, stored, (ours, allowed) in self._pairs(table, keys, with_errors, column):
            if pd.isna(stored) != pd.isna(ours) or (pd.notna(ours) and abs(stored - ours) > ERRORS * allowed + EQUAL):
                said = f"{column} is stored as {stored}, and is {ours} plus or minus {allowed:.2g}"
                self.faults.append(f"{table}, {where}: {said}")

    def _pairs(self, table: str, keys: Sequence[str], own: pd.DataFrame, name: str):
        """(where, stored, ours) of every row."""
        stored = self.stored(table)
        assert name in stored, f"{table} has no column {name}"
        self.compared.setdefault(table, set()).update([*keys, name])  # rows are told apart by their keys
        theirs, ours = (_by_key(frame, keys, name, table) for frame in (stored, own))
        assert set(theirs) == set(ours), (
            f"{table}: rows {sorted(map(str, set(theirs) ^ set(ours)))[:5]} are on one side alone"
        )
        for key, value in theirs.items():
            yield "/".join(map(str, key)), value, ours[key]

    def uncompared(self, excused: Mapping[str, str]) -> list[str]:
        """Stored numeric columns that hold anything, were not compared and are not excused.

        Args:
            excused: by `<table>`, `<table>.<column>` or `*.<column>`, the reason.
        """
        left = []
        for table in self.tables():
            stored = self.stored(table)
            for name in stored:
                is_number = pd.api.types.is_numeric_dtype(stored[name]) or _holds_numbers(stored[name])
                if not is_number or stored[name].isna().all() or name in self.compared.get(table, ()):
                    continue
                if not {table, f"{table}.{name}", f"*.{name}"} & set(excused):
                    left.append(f"{table}.{name}")
        return left

    def tables(self) -> list[str]:
        """The stored tables; a partitioned asset is one."""
        found = set()
        for file in self.folder.rglob("*.parquet"):
            asset, *rest = file.relative_to(self.folder).with_suffix("").parts
            found.add(asset if asset in PARTITIONED or rest == [asset] else "/".join([asset, *rest]))
        return sorted(found)


PARTITIONED = {
    *("trials", "readings", "probe_distributions", "sampled_answers", "reference_models", "negative_controls"),
    *("calibration", "answers", "embedded_answers"),
}
"""Assets with a file for each part or cell."""


def _by_key(frame: pd.DataFrame, keys: Sequence[str], name: str, table: str) -> dict[tuple, Any]:
    columns = [frame[key].astype(object).where(frame[key].notna(), None) for key in keys]
    listed = list(zip(*columns, strict=True))
    assert len(set(listed)) == len(listed), f"{table}: {', '.join(keys)} name no row of their own"
    return dict(zip(listed, frame[name].astype(object), strict=True))


def _holds_numbers(column: pd.Series) -> bool:
    """Whether a column of objects holds numbers or truth values, or lists of them."""
    known = column.dropna()
    if column.dtype != object or known.empty:
        return False
    first = known.iloc[0]
    while isinstance(first, list | np.ndarray) and len(first):
        first = first[0]
    return isinstance(first, bool | int | float | np.number | np.bool_)
