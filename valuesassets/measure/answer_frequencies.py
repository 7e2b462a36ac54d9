"""What counting answers foretells without any model: others' answers to an item, one's own earlier ones, and both."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from valuesassets.measure.means import Array
from valuesassets.records.errors import MissingData

WEIGHTS = np.linspace(0, 1, 101)
"""Of one's own answers, tried for every participant."""


@dataclass(frozen=True)
class Counting:
    """Probabilities of what was answered, by counting alone.

    Attributes:
        probs: (N,) of each mark.
        weights: w of each participant, by participant.
    """

    probs: Array
    weights: pd.Series


def crowd_probs(
    participants: Sequence[Hashable], items: Sequence[Hashable], answers: Sequence[Hashable], k: ArrayLike
) -> Array:
    """(N,) probability of each answer by the other participants' to the item: (n_h + 1/K)/(n + 1).

    Args:
        participants, items, answers: (N,) of each mark; answers of one meaning have one name.
        k: (N,) or one number: candidates at the mark; with others' answers missing, each has 1/K.

    Source: Dirichlet prior of one answer in all, spread evenly: Perks (1947), J. Inst. Actuaries 73(2), 285-334.

    >>> crowd_probs(["a", "b", "c"], [1, 1, 1], ["yes", "yes", "no"], 2).round(3).tolist()
    [0.5, 0.5, 0.167]
    """
    frame = pd.DataFrame({"person": participants, "item": items, "answer": answers})
    alike = _sizes(frame, ["item", "answer"]) - _sizes(frame, ["item", "answer", "person"])
    return _smoothed(alike, _sizes(frame, ["item"]) - _sizes(frame, ["item", "person"]), k)


def own_probs(
    participants: Sequence[Hashable], kinds: Sequence[Hashable], answers: Sequence[Hashable], k: ArrayLike
) -> Array:
    """(N,) probability of each answer by the participant's own earlier ones of the kind: (n_h + 1/K)/(n + 1).

    Args:
        participants, kinds, answers: (N,) of each mark, every participant's marks in their order; earlier answers count
            where marks are of one kind, whose candidates are the same.
        k: as `crowd_probs`.

    Source: as `crowd_probs`.

    >>> own_probs(["a"] * 3, ["rating"] * 3, ["yes", "yes", "no"], 2).round(3).tolist()
    [0.5, 0.75, 0.167]
    """
    frame = pd.DataFrame({"person": participants, "kind": kinds, "answer": answers})
    earlier = frame.groupby(["person", "kind"], sort=False, dropna=False).cumcount().to_numpy(float)
    alike = frame.groupby(["person", "kind", "answer"], sort=False, dropna=False).cumcount().to_numpy(float)
    return _smoothed(alike, earlier, k)


def counting_probs(crowd: Array, own: Array, participants: Sequence[Hashable]) -> Counting:
    """(N,) (1 - w) crowd + w own, w of each participant fitted on all others.

    w is the one of `WEIGHTS` (0 to 1 in steps of .01) with the others' highest log score, mean within and then over
    participants; the score is concave in w. A participant is left out of what w is fitted on, not of the crowd that
    others' scores there rest on.

    Raises:
        MissingData: fewer than two participants: there is nobody to fit w on.

    >>> crowd, own = np.array([0.9, 0.9, 0.4, 0.4]), np.array([0.5, 0.5, 0.7, 0.7])
    >>> counting_probs(crowd, own, ["a", "b", "c", "c"]).weights.to_dict()
    {'a': 0.46, 'b': 0.46, 'c': 0.0}
    """
    codes, people = pd.factorize(np.asarray(participants), sort=True)
    n = len(people)
    if n < 2:
        raise MissingData(f"{n} participant{'s' * (n != 1)}: the weight of own answers is fitted on others")
    logs = np.log(crowd[:, None] + WEIGHTS * (own - crowd)[:, None])
    scores = np.stack([np.bincount(codes, weights=column, minlength=n) for column in logs.T], axis=1)
    scores /= np.bincount(codes, minlength=n)[:, None]
    weights = WEIGHTS[np.argmax(scores.sum(axis=0) - scores, axis=1)]
    w = weights[codes]
    return Counting((1 - w) * crowd + w * own, pd.Series(weights, index=people))


def _smoothed(alike: Array, counted: Array, k: ArrayLike) -> Array:
    return (alike + 1 / np.asarray(k, dtype=float)) / (counted + 1)


def _sizes(frame: pd.DataFrame, columns: list[str]) -> Array:
    """(N,) how many rows there are like each in these columns."""
    return frame.groupby(columns, sort=False, dropna=False)[columns[0]].transform("size").to_numpy(float)
