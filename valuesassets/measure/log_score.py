"""How well people's answers were predicted: mean log scores over participants, and the gain from a longer history."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from valuesassets.measure.arrays import Array
from valuesassets.measure.ratio_of_means import ratio_of_means
from valuesassets.measure.resampling import ROUNDING, permutation_p
from valuesassets.measure.skewed_means import MeanTest, mean_test
from valuesassets.records.errors import MissingData

ALL_FLIPS = 12
"""Maximum number of differences for a test over all choices of signs (4,096 of them)."""


@dataclass(frozen=True)
class LogScore:
    """Mean log score of participants' answers, and the skill: the share of the possible gain over even chances.

    Attributes:
        mean: l, nats; 0 is certainty. `low` and `high` are NaN with a single participant.
        skill: 1 + l / mean ln K: 1 for certainty, 0 for even chances, negative if worse; the ends of its interval are
            NaN where `ratio_of_means` has none.
        n: number of participants.
    """

    mean: float
    low: float
    high: float
    skill: float
    skill_low: float
    skill_high: float
    n: int


def participant_means(values: ArrayLike, participants: ArrayLike) -> pd.Series:
    """Mean over each participant's marks, in the order of participants' names; unread marks (NaN) are left out.

    Args:
        values: (N,) of marks: log q(h) in nats, whether the most likely option was chosen, or ln K.
        participants: (N,) participant of each mark.

    Raises:
        MissingData: an answer had probability 0, so that its log score is minus infinity, or no mark was read.

    >>> participant_means([-1.0, -3.0, -1.0, float("nan")], ["b", "b", "a", "a"]).to_dict()
    {'a': -1.0, 'b': -2.0}
    """
    x = np.asarray(values, dtype=float)
    if n_impossible := int(np.count_nonzero(np.isneginf(x))):
        raise MissingData(f"{n_impossible} of {x.size} answers had probability 0: their log score has no end")
    means = pd.Series(x).groupby(np.asarray(participants), sort=True).mean().dropna()
    if means.empty:
        raise MissingData("no mark was read")
    return pd.Series(means)


def log_score(log_probs: pd.Series, log_k: pd.Series, level: float = 0.95) -> LogScore:
    """l = mean ln q(h), averaged within and then over participants, and skill 1 + l / mean ln K, with their intervals.

    Where the number of candidates K differs between marks, ln K is averaged like l.

    Args:
        log_probs: l of each participant, nats, as `participant_means` returns it.
        log_k: mean ln K of each participant, over the same marks.

    Raises:
        MissingData: no participant has both, or there is only one candidate.

    Source: Gneiting and Raftery (2007), J. Am. Stat. Assoc. 102(477), 359-378, section 4.1 (logarithmic score);
    McFadden (1974), Frontiers in Econometrics, 105-142 (1 - L/L0, here against even chances); `mean_test` and
    `ratio_of_means` (intervals).
    """
    score, most = _paired(log_probs, log_k)
    if most.mean() <= 0:
        raise MissingData("one candidate alone: nothing can be predicted")
    test, skill = mean_test(score, level), ratio_of_means(score, most, level, "participants")
    ends = test.mean, test.low, min(test.high, 0.0)
    return LogScore(*ends, 1 + skill.value, 1 + skill.low, min(1 + skill.high, 1.0), test.n)


def gain(after: pd.Series, before: pd.Series, level: float = 0.95) -> MeanTest:
    """Mean over participants of `after` - `before`, with the interval and p-value of `mean_test`.

    Args:
        after, before: scores of each participant with two histories, as `participant_means` returns them; participants
            without both are left out.

    Raises:
        MissingData: no participant has both.
    """
    first, second = _paired(after, before)
    return mean_test(first - second, level, "participants")


def sign_flip_p(differences: ArrayLike, draws: int, random: np.random.Generator) -> float:
    """Sign-flip test: two-sided p-value of the null hypothesis that differences are symmetric about 0.

    With skewed differences it rejects a mean of 0 too often; `mean_test` does not assume symmetry.

    For up to twelve differences all 2^n choices of signs are counted, including the observed one; for more the p-value
    is (1 + count)/(1 + draws).

    Args:
        differences: (n,) finite, n >= 1.

    Raises:
        MissingData: there is no difference.

    Source: Fisher (1935), The Design of Experiments, section 21; Phipson and Smyth (2010), Stat. Appl. Genet. Mol.
    Biol. 9(1), 39 (random signs).

    >>> sign_flip_p([1.0, 2.0, 3.0], 0, np.random.default_rng(0))  # all of one sign: two of eight choices
    0.25
    """
    d = np.asarray(differences, dtype=float)
    if d.size == 0:
        raise MissingData("a test of differences needs at least one")
    observed = abs(float(d.sum()))
    if d.size > ALL_FLIPS:
        signs = 2.0 * random.integers(0, 2, size=(draws, d.size)) - 1
        return permutation_p(observed, np.abs(signs @ d))
    choices = np.arange(2**d.size)[:, None] >> np.arange(d.size) & 1
    reached = np.abs((2.0 * choices - 1) @ d) >= observed - ROUNDING * max(1.0, observed)
    return float(reached.mean())


def _paired(first: pd.Series, second: pd.Series) -> tuple[Array, Array]:
    """(n,) each: the values of the participants who have both."""
    both = pd.concat([first, second], axis=1, join="inner").dropna().to_numpy(dtype=float)
    if not len(both):
        raise MissingData("no participant has both")
    return both[:, 0], both[:, 1]
