"""`worldwise/projections`: the position of a text on an axis, from the mean of its sentences' vectors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from valuesassets.instruments.worldwise.answers.reasons import ADVOCATE
from valuesassets.instruments.worldwise.answers.vectors import Vectors, read_vectors
from valuesassets.instruments.worldwise.material.dimensions import POLES
from valuesassets.instruments.worldwise.measures.axes import LARGEST_P, LEAST_AUC, pole_means
from valuesassets.instruments.worldwise.measures.inference import OK, UNDEFINED
from valuesassets.instruments.worldwise.tables import PROJECTIONS, REASONED
from valuesassets.measure.means import Array
from valuesassets.measure.resampling import ROUNDING, permutation_p
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import column, records, rows, rows_where

SHORTEST = 1e-12
"""Shorter vectors have no direction."""
FEWEST_ADVOCATES = 5
"""Texts of each pole that a judgement needs; with fewer, the order is perfect by chance in more than one of twenty."""
EXCHANGES = 999
"""Random exchanges of the poles within dilemmas."""
NO_ANCHOR = "no other dilemma of the axis has advocates of both poles in order"


def text_vectors(sentences: Vectors, parts: Sequence[Sequence[str]]) -> tuple[Vectors, NDArray[np.bool_]]:
    """(n, d) mean of the unit vectors of each text's sentences, brought to length one, and (n,) whether it has one.

    A text without sentences has a vector of 0. Sentences are (s, d), dense or sparse, a row for each of the `parts` of
    each text in their order.
    """
    text_of = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
    shape = len(parts), len(text_of)
    sums = sparse.csr_array((np.ones(len(text_of)), (text_of, np.arange(len(text_of)))), shape=shape) @ sentences
    lengths = np.sqrt(np.asarray((sums * sums).sum(axis=1), dtype=float))
    has_direction = lengths > SHORTEST
    return sparse.diags_array(1 / np.where(has_direction, lengths, 1)) @ sums, has_direction


def positions(vectors: Vectors, direction: Array, high: Array, low: Array) -> Array:
    """(n,) 2 (v.a - m) / d along an axis a: 0 midway between the poles' means, 1 at the high one, -1 at the low one.

    Args:
        vectors: (n, d) of length one, dense or sparse.
        direction: (d,) the axis, of any length.
        high, low: (d,) or (n, d) means of the poles: of exemplars, or the `anchors` of each text.

    Returns:
        NaN if the high pole is not above the low one; m is their midpoint along a, d their distance.

    >>> positions(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    array([ 1., -1.])
    """
    above, below = np.asarray(high) @ direction, np.asarray(low) @ direction
    distance = above - below
    over = 2 * (vectors @ direction) - (above + below)
    return np.divide(over, distance, out=np.full(over.shape, np.nan), where=distance > SHORTEST)


def anchors(advocates: Array, scenarios: Sequence[str], text_scenarios: Sequence[str]) -> Array:
    """(n, d) mean of a pole's advocates for each text, without those of its own scenario; NaN if there is no other.

    Args:
        advocates: (k, d) of texts in favour of one pole.
        scenarios: (k,) the dilemma of each.
        text_scenarios: (n,) the dilemma of each text that is to be placed.
    """
    others = np.asarray(text_scenarios)[:, None] != np.asarray(scenarios)
    n_others = others.sum(axis=1, keepdims=True)
    sums = others.astype(float) @ advocates
    return np.divide(sums, n_others, out=np.full_like(sums, np.nan), where=n_others > 0)


def derive_projections(
    vectors: pd.DataFrame, advocates: pd.DataFrame | None, exemplars: pd.DataFrame, validity: pd.DataFrame
) -> pd.DataFrame:
    """Rows of `PROJECTIONS`: the position of every reason on every axis; null, with the reason, on axes not valid.

    Args:
        vectors: rows of `REASON_VECTORS` of a model.
        advocates: those of the model's advocates, whose means are the poles; None if none was asked, so that exemplars
            are the poles.
        exemplars, validity: rows of `EXEMPLAR_VECTORS` and, for the same embedder, of `AXIS_VALIDITY`.
    """
    reasons = rows_where(vectors, kind=REASONED).reset_index(drop=True)
    speaking = reasons.head(0) if advocates is None else rows_where(advocates, kind=REASONED, form=ADVOCATE)
    reason_vectors, advocate_vectors, exemplar_vectors = read_vectors(reasons, speaking, exemplars)
    tables = [PROJECTIONS.empty_frame()]
    for row in records(validity):
        axis = row["axis"]
        high, low = pole_means(exemplars, exemplar_vectors, axis)
        direction, reason = high - low, row["reason"]
        if advocates is not None:
            reason = reason or judge_advocates(speaking, advocate_vectors, axis, direction).why_not_distinguished
            poles = [((speaking["axis"] == axis) & (speaking["pole"] == pole)).to_numpy() for pole in POLES]
            high, low = (
                anchors(advocate_vectors[each], list(speaking["scenario_id"][each]), list(reasons["scenario_id"]))
                for each in poles
            )
        position = positions(reason_vectors, direction, high, low)
        is_known = np.isfinite(position) & (not reason)
        tables.append(
            reasons.assign(
                axis=axis,
                is_own_axis=reasons["axis"] == axis,
                position=np.where(is_known, position, np.nan),
                status=np.where(is_known, OK, UNDEFINED),
                reason=[None if each else reason or NO_ANCHOR for each in is_known],
            )
        )
    return pd.concat(tables, ignore_index=True).loc[:, PROJECTIONS.names]


@dataclass(frozen=True)
class Advocacy:
    """Whether the axis distinguishes a model's arguments for its two poles.

    Attributes:
        auc: share of (high, low) advocates of the same dilemma in order, mean over its dilemmas; NaN without any.
        p: share of random exchanges of the poles within dilemmas that do as well.
        n_high, n_low: texts of the dilemmas that have some of both.
    """

    auc: float
    p: float
    n_high: int
    n_low: int

    @property
    def why_not_distinguished(self) -> str | None:
        """Why advocates cannot serve as poles; None if they can."""
        if np.isnan(self.auc):
            return "no dilemma of the axis has advocates of both poles that were read"
        if min(self.n_high, self.n_low) < FEWEST_ADVOCATES:
            return (
                f"{self.n_high} texts of advocates for the high pole and {self.n_low} for the low one, "
                f"{FEWEST_ADVOCATES} of each are needed"
            )
        if self.auc < LEAST_AUC:
            doubt = "the axis does not distinguish the model's advocates"
            return f"{doubt}: AUC {self.auc:.2f}, at least {LEAST_AUC} was expected"
        if self.p > LARGEST_P:
            doubt = "the axis distinguishes the model's advocates no better than by chance"
            return f"{doubt}: p {self.p:.2f}, {LARGEST_P} at most"
        return None


def judge_advocates(advocates: pd.DataFrame, vectors: Array, axis: str, direction: Array) -> Advocacy:
    """Whether a model's advocates (axis, scenario_id, pole) are in order on an axis, beyond chance within dilemmas."""
    mine = (advocates["axis"] == axis).to_numpy()
    texts = rows(advocates, mine).assign(along=vectors[mine] @ direction)
    random, observed, chances, counts = seeded(0, "advocates", axis), [], [], np.zeros(2, dtype=int)
    for _, part in texts.groupby("scenario_id", sort=False):
        high, low = (column(rows_where(part, pole=pole), "along").to_numpy(float) for pole in POLES)
        if len(high) and len(low):
            counts += len(high), len(low)
            both = np.concatenate([high, low])
            exchanged = random.permuted(np.broadcast_to(both, (EXCHANGES, both.size)), axis=1)
            in_order = _shares_in_order(np.vstack([both, exchanged]), len(high))
            observed.append(in_order[0])
            chances.append(in_order[1:])
    if not observed:
        return Advocacy(np.nan, np.nan, 0, 0)
    auc = float(np.mean(observed))
    return Advocacy(auc, permutation_p(auc, np.mean(chances, axis=0)), int(counts[0]), int(counts[1]))


def _shares_in_order(along: Array, n_high: int) -> Array:
    """(draws,) share of pairs in order, of (draws, n) projections of which the first `n_high` are the high pole's."""
    ahead = along[:, :n_high, None] - along[:, None, n_high:]
    return np.where(np.abs(ahead) <= ROUNDING, 0.5, ahead > 0).mean(axis=(1, 2))
