"""Cronbach's alpha of models x items, its interval, and its distribution for items without any covariance."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from valuesassets.measure.resampling import ROUNDING
from valuesassets.records.errors import MissingData


def cronbach_alpha(scores: ArrayLike) -> float:
    """alpha = k/(k - 1) (1 - sum of the items' variances / variance of the sums): 1 at most, without a lower bound.

    Args:
        scores: (n, k) of n >= 2 models on k >= 2 items, complete.

    Raises:
        MissingData: a score is missing, there are fewer than two models or items, or all models have the same sum.

    Source: Cronbach (1951), Psychometrika 16(3), 297-334, eq. 2.

    >>> round(cronbach_alpha([[1, 2], [2, 4], [3, 3]]), 4)  # variances 1 and 1, of the sums 3
    0.6667
    """
    x = np.asarray(scores, dtype=float)
    n, k = x.shape
    _require_two_of_each(n, k)
    if n_missing := int(np.count_nonzero(~np.isfinite(x))):
        raise MissingData(f"{n_missing} of {x.size} scores are missing")
    sums = x.sum(axis=1)
    if np.ptp(sums) <= ROUNDING * float(np.abs(x).sum(axis=1).max()):
        raise MissingData("all models have the same sum over the items: nothing varies")
    return float(k / (k - 1) * (1 - x.var(axis=0, ddof=1).sum() / sums.var(ddof=1)))


def feldt_interval(alpha: float, n: int, k: int, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of alpha: (1 - true alpha)/(1 - alpha) is F with n - 1 and (n - 1)(k - 1) degrees of freedom.

    It is exact for normal scores whose items have equal variances and equal covariances.

    Args:
        n, k: numbers of models and items from which alpha was computed, two or more of each.

    Raises:
        MissingData: fewer than two models or items.

    Source: Feldt (1965), Psychometrika 30(3), 357-370; Feldt, Woodruff and Salih (1987), Appl. Psychol. Meas. 11(1),
    93-103, eq. 6 and 7.

    >>> [round(end, 3) for end in feldt_interval(0.7395, 46, 11)]
    [0.612, 0.838]
    """
    _require_two_of_each(n, k)
    return variance_share_interval(alpha, n - 1, (n - 1) * (k - 1), level)


def variance_share_interval(share: float, df: float, df_error: float, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of 1 - error mean square / mean square between, where the ratio follows an F distribution.

    Args:
        df, df_error: degrees of freedom of the two mean squares.

    Source: Feldt (1965), as in `feldt_interval`; Satterthwaite (1946), Biometrics Bulletin 2(6), 110-114, where the
    error is a sum of mean squares.
    """
    low, high = stats.f.ppf([(1 - level) / 2, (1 + level) / 2], df, df_error)
    return float(1 - (1 - share) * high), float(1 - (1 - share) * low)


def no_covariance_band(n: int, k: int, level: float = 0.95) -> tuple[float, float]:
    """Range that holds alpha in a share `level` of samples where no two items have a covariance.

    Args:
        n, k: as in `feldt_interval`.

    Raises:
        MissingData: as in `feldt_interval`.

    Source: as in `feldt_interval`, with a true alpha of 0.

    >>> [round(end, 2) for end in no_covariance_band(46, 11)]
    [-0.61, 0.33]
    """
    _require_two_of_each(n, k)
    low, high = stats.f.ppf([(1 - level) / 2, (1 + level) / 2], n - 1, (n - 1) * (k - 1))
    return float(1 - 1 / low), float(1 - 1 / high)


def _require_two_of_each(n: int, k: int) -> None:
    if n < 2 or k < 2:
        models, items = (f"{size} {name}{'s' * (size != 1)}" for size, name in ((n, "model"), (k, "item")))
        raise MissingData(f"{models} and {items}: two or more of each are needed")
