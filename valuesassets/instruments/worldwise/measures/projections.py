"""`worldwise/projections`: where a text stands on an axis, from the mean of its sentences' vectors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from valuesassets.instruments.worldwise.answers.reasons import ADVOCATE
from valuesassets.instruments.worldwise.answers.stored_vectors import Vectors, read_vectors
from valuesassets.instruments.worldwise.material.dimensions import POLES
from valuesassets.instruments.worldwise.measures.axes import LARGEST_P, LEAST_AUC, pole_means
from valuesassets.instruments.worldwise.measures.inference import OK, UNDEFINED
from valuesassets.instruments.worldwise.tables import PROJECTIONS, REASONED
from valuesassets.measure.means import Array
from valuesassets.measure.resampling import ROUNDING, permutation_p
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import column, records, rows, rows_where

SHORTEST = 1e-12
"""A shorter vector has no direction."""
FEWEST_ADVOCATES = 5
"""Texts of each pole that advocates are judged by: fewer could all be in order by chance in more than one of twenty."""
EXCHANGES = 999
"""Exchanges of the poles within dilemmas."""
NO_ANCHOR = "no other dilemma of the axis has advocates of both poles in order"


def text_vectors(sentences: Vectors, texts: NDArray[np.intp], n_texts: int) -> tuple[Vectors, NDArray[np.bool_]]:
    """(n_texts, d) mean of the unit vectors of a text's sentences, made to length one.

    Args:
        sentences: (s, d) a row for each sentence of each text, dense or sparse.
        texts: (s,) which text it is of.

    Returns:
        The vectors, and (n_texts,) whether a text has a direction: without a sentence it has none, and its vector is 0.
    """
    shape = n_texts, len(texts)
    sums = sparse.csr_array((np.ones(len(texts)), (texts, np.arange(len(texts)))), shape=shape) @ sentences
    lengths = np.sqrt(np.asarray((sums * sums).sum(axis=1), dtype=float))
    has_direction = lengths > SHORTEST
    return sparse.diags_array(1 / np.where(has_direction, lengths, 1)) @ sums, has_direction


def positions(vectors: Vectors, direction: Array, high: Array, low: Array) -> Array:
    """(n,) 2 (v.a - m) / d along an axis a: 0 half-way between the poles' means, 1 at the high one, -1 at the low one.

    Args:
        vectors: (n, d) of length one, dense or sparse.
        direction: (d,) the axis, of any length.
        high, low: (d,) or (n, d) means of the poles: of exemplars, or of each text's `anchors`.

    Returns:
        NaN where the high pole does not lie above the low one; m is the midpoint of both along a, d their distance.

    >>> positions(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    array([ 1., -1.])
    """
    above, below = np.asarray(high) @ direction, np.asarray(low) @ direction
    distance = above - below
    over = 2 * (vectors @ direction) - (above + below)
    return np.divide(over, distance, out=np.full(over.shape, np.nan), where=distance > SHORTEST)


def anchors(advocates: Array, scenarios: Sequence[str], text_scenarios: Sequence[str]) -> Array:
    """(n, d) mean of a pole's advocates for each text, those of its own scenario left out; NaN where none is left.

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
    """Rows of `PROJECTIONS`: every reason on every axis; none where the axis is not valid, and why.

    Args:
        vectors: rows of `REASON_VECTORS` of a model.
        advocates: those of the model's advocates, by whose means positions are measured; None where none was asked, so
            that exemplars' serve.
        exemplars, validity: rows of `EXEMPLAR_VECTORS` and, of the same embedder, of `AXIS_VALIDITY`.
    """
    reasons = rows_where(vectors, kind=REASONED).reset_index(drop=True)
    speaking = reasons.head(0) if advocates is None else rows_where(advocates, kind=REASONED, form=ADVOCATE)
    reason_vectors, advocate_vectors, exemplar_vectors = read_vectors(reasons, speaking, exemplars)
    scenarios = list(reasons["scenario_id"])
    tables = []
    for row in records(validity):
        axis = row["axis"]
        means = pole_means(exemplars, exemplar_vectors, axis)
        direction, reason = means[0] - means[1], row["reason"]
        if advocates is None:
            position = positions(reason_vectors, direction, *means)
        else:
            reason = reason or judge_advocates(speaking, advocate_vectors, axis, direction).why_not_told_apart
            placed = []
            for pole in POLES:
                of_pole = ((speaking["axis"] == axis) & (speaking["pole"] == pole)).to_numpy()
                placed.append(anchors(advocate_vectors[of_pole], list(speaking["scenario_id"][of_pole]), scenarios))
            position = positions(reason_vectors, direction, *placed)
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
    whole = pd.concat([PROJECTIONS.empty_frame(), *tables], ignore_index=True)
    return whole.loc[:, PROJECTIONS.names]


@dataclass(frozen=True)
class Advocacy:
    """Whether what a model says for the poles of an axis is told apart on it.

    Attributes:
        auc: share of (high, low) advocates of the same dilemma in order, mean over its dilemmas; NaN without any.
        p: how often poles exchanged at random within dilemmas do as well.
        n_high, n_low: texts that it rests on, of dilemmas that have some of both.
    """

    auc: float
    p: float
    n_high: int
    n_low: int

    @property
    def why_not_told_apart(self) -> str | None:
        """Why positions are not measured by a model's advocates; None where they are."""
        if np.isnan(self.auc):
            return "no dilemma of the axis has advocates of both poles that were read"
        if min(self.n_high, self.n_low) < FEWEST_ADVOCATES:
            return (
                f"{self.n_high} texts of advocates for the high pole and {self.n_low} for the low one, "
                f"{FEWEST_ADVOCATES} of each are needed"
            )
        if self.auc < LEAST_AUC:
            return f"the model's advocates are not told apart: AUC {self.auc:.2f}, at least {LEAST_AUC} was expected"
        if self.p > LARGEST_P:
            return f"the model's advocates are told apart no better than by chance: p {self.p:.2f}, {LARGEST_P} at most"
        return None


def judge_advocates(advocates: pd.DataFrame, vectors: Array, axis: str, direction: Array) -> Advocacy:
    """Whether a model's advocates of an axis are in order on it, beyond the chance of poles exchanged in dilemmas.

    Args:
        advocates: whose rows the vectors are of: axis, scenario_id, pole.
    """
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
    """(draws,) share of pairs in order, of (draws, n) places of which the first `n_high` are the high pole's."""
    ahead = along[:, :n_high, None] - along[:, None, n_high:]
    return np.where(np.abs(ahead) <= ROUNDING, 0.5, ahead > 0).mean(axis=(1, 2))
