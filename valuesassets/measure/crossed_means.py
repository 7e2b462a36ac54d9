"""A mean over rows of means over columns, where both are samples: languages and items, say."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from valuesassets.measure.arrays import Array


@dataclass(frozen=True)
class CrossedMean:
    """A mean with the ends of its interval; NaN ends where rows or columns are fewer than two."""

    mean: float
    low: float
    high: float


def mean_over_crossed(estimates: Array, parts: Array, level: float = 0.95) -> CrossedMean:
    """The mean of the rows' estimates, with an interval for other rows and other columns.

    An interval over rows alone holds for these columns only: rows do not differ by what a column adds to all of them.
    The variance here is that of rows, plus that of columns, less that of single values, which is in both. Student's t
    has the degrees of freedom of such a sum.

    Args:
        estimates: (R,) one finite estimate of each row.
        parts: (R, C) what each column gives to the row's estimate: the values of which it is the mean, or the
            pseudo-values of a jackknife. NaN where the row lacks the column; rows are moved to their estimates.
        level: of the interval.

    Source: Owen (2007), Annals of Applied Statistics 1(2), 386-411 (why both are needed); Searle, Casella and McCulloch
    (1992), Variance Components, section 4.3 (the components); Satterthwaite (1946), Biometrics Bulletin 2(6), 110-114.

    >>> estimates, parts = np.array([1.0, 3.0]), np.array([[0.0, 2.0], [2.0, 4.0]])
    >>> mean_over_crossed(estimates, parts).mean
    2.0
    """
    is_there = np.isfinite(parts)
    n_rows, n_columns = len(estimates), int(is_there.any(axis=0).sum())
    mean = float(estimates.mean()) if n_rows else np.nan
    if n_rows < 2 or n_columns < 2:
        return CrossedMean(mean, np.nan, np.nan)
    error, df = _error(estimates - mean, _about_rows(parts), is_there, n_columns)
    reach = error * float(stats.t.ppf((1 + level) / 2, df))
    return CrossedMean(mean, mean - reach, mean + reach)


def _about_rows(parts: Array) -> Array:
    """(R, C) deviations of a row's parts from their mean; 0 where missing."""
    is_there = np.isfinite(parts)
    n = np.maximum(is_there.sum(axis=1, keepdims=True), 1)
    return np.where(is_there, parts - np.where(is_there, parts, 0).sum(axis=1, keepdims=True) / n, 0.0)


def _error(rows: Array, within: Array, is_there: Array, n_columns: int) -> tuple[float, float]:
    """The standard error of the mean and its degrees of freedom, from deviations of rows and within rows."""
    n_rows = len(rows)
    weights = is_there / np.maximum(is_there.sum(axis=1, keepdims=True), 1) / n_rows
    means = np.sum(within, axis=0) / np.maximum(is_there.sum(axis=0), 1)
    single = np.where(is_there, within - means, 0.0)
    df = np.array([n_rows - 1.0, n_columns - 1.0, (n_rows - 1.0) * (n_columns - 1.0)])
    scale = np.array([n_rows, n_columns, n_rows * n_columns]) / df
    squares = ((rows / n_rows) ** 2, np.sum(weights * within, axis=0) ** 2, (weights * single) ** 2)
    of_rows, of_columns, of_single = (float(each.sum()) * factor for each, factor in zip(squares, scale, strict=True))
    variance = max(of_rows + of_columns - of_single, min(of_rows, of_columns))
    if not variance > 0:
        return 0.0, 1.0
    spread = np.array([of_rows, of_columns, of_single]) ** 2 / df
    return float(np.sqrt(variance)), max(variance**2 / float(spread.sum()), 1.0)
