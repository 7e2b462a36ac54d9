"""`worldwise/axes`: directions from the low to the high pole, and whether they order held-out sentences.

Source: An, Kwak and Ahn (2018), SemAxis, Proceedings of ACL, 2450-2461; Kozlowski, Taddy and Evans (2019), The Geometry
of Culture, Am. Sociol. Rev. 84(5), 905-949.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.answers.vectors import Vectors, lexical_vectors, read_vectors, vector_columns
from valuesassets.instruments.worldwise.material.dimensions import AXES, HIGH, POLES
from valuesassets.instruments.worldwise.tables import AXIS_VALIDITY, EXEMPLAR_VECTORS
from valuesassets.measure.means import Array
from valuesassets.measure.resampling import ROUNDING, label_permutations, permutation_p
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import records
from valuesassets.records.settings.worldwise import LEXICAL

LEAST_AUC, LARGEST_P = 0.75, 0.05
"""The held-out AUC and the p-value that a valid axis needs."""
DRAWS = 999
"""Random exchanges of poles for the p-value of an axis."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Axis:
    """The direction of a dimension in the space of an embedder, and its validity.

    Attributes:
        high, low: (d,) means of the poles' unit vectors.
        n: sentences of the high and of the low pole.
        is_paired: whether each two sentences are about the same matter.
        held_out_auc: share of high sentences above low ones on the axis of the others, 0 to 1.
        p: share of random exchanges of the poles that order their sentences as well.
    """

    high: Array
    low: Array
    n: tuple[int, int]
    is_paired: bool
    held_out_auc: float
    p: float

    @property
    def direction(self) -> Array:
        """(d,) mean(high) - mean(low), not of length one."""
        return self.high - self.low

    @property
    def is_valid(self) -> bool:
        """Whether answers may be placed on it."""
        return self.held_out_auc >= LEAST_AUC and self.p <= LARGEST_P

    @property
    def reason(self) -> str | None:
        """Why answers may not be placed on it; None where they may."""
        if self.is_valid:
            return None
        figures = f"held-out AUC {self.held_out_auc:.2f}, p {self.p:.3f}"
        return f"the axis is not valid: {figures}, at least {LEAST_AUC} and at most {LARGEST_P} were expected"


def fit_axes(
    exemplars: pd.DataFrame, vectors: NDArray[np.floating], *, draws: int = DRAWS, seed: int = 0
) -> dict[str, Axis]:
    """The axis of every dimension that has exemplars, by its code, in the order of `AXES`.

    Args:
        exemplars: see `read_exemplars`.
        vectors: (n, d) of length one, a row for each.
        draws: random exchanges of poles for each p-value.
    """
    unit, axes = np.asarray(vectors, dtype=float), {}
    for code in AXES:
        mine = (exemplars["axis"] == code).to_numpy()
        if not mine.any():
            continue
        own, is_high = unit[mine], (exemplars["pole"] == HIGH).to_numpy()[mine]
        labels = pd.Series(exemplars["pair"][mine])
        pairs = None if labels.isna().any() else labels.to_numpy(str)
        chance = exchanged(is_high, pairs, draws, seeded(seed, "poles", code))
        auc, *by_chance = held_out_auc(own @ own.T, np.vstack([is_high, chance]), pairs)
        n = int(is_high.sum()), int((~is_high).sum())
        axes[code] = Axis(
            own[is_high].mean(axis=0),
            own[~is_high].mean(axis=0),
            n,
            pairs is not None,
            float(auc),
            permutation_p(float(auc), by_chance),
        )
    return axes


def held_out_auc(products: Array, is_high: Mask, pairs: NDArray[np.str_] | None = None) -> Array:
    """(B,) share of all (high i, low j) with i above j on the axis of the others, from 0 to 1; ties count half.

    The partners of i and j are held out too. Products of vectors suffice, since an axis is a difference of means.

    Args:
        products: (n, n) scalar products of unit vectors.
        is_high: (B, n) whether a sentence stands for the high pole, a row for each assignment of poles.
        pairs: (n,) the pair of each sentence; None without pairs.

    >>> opposite = np.array([1.0, 1.1, 1.2, -1.0, -1.1, -1.2])
    >>> held_out_auc(np.outer(opposite, opposite), np.array([[True] * 3 + [False] * 3])).tolist()
    [1.0]
    """
    n = len(products)
    leaves = np.eye(n, dtype=bool) if pairs is None else pairs[:, None] == pairs
    right, counted = np.zeros((2, len(is_high)))
    for i, j in combinations(range(n), 2):
        stays = ~(leaves[i] | leaves[j])
        high = is_high[:, stays]
        axis = high / high.sum(axis=1, keepdims=True) - ~high / (~high).sum(axis=1, keepdims=True)
        ahead = axis @ (products[stays, i] - products[stays, j]) * np.where(is_high[:, i], 1, -1)
        is_asked = is_high[:, i] != is_high[:, j]
        right += is_asked * np.where(np.abs(ahead) <= ROUNDING, 0.5, ahead > 0)
        counted += is_asked
    return right / counted


def exchanged(is_high: Mask, pairs: NDArray[np.str_] | None, draws: int, random: np.random.Generator) -> Mask:
    """(draws, n) random assignments of poles: exchanged within each pair, or shuffled without pairs."""
    if pairs is None:
        return is_high[label_permutations(len(is_high), draws, random)]
    names, place = np.unique(pairs, return_inverse=True)
    return is_high ^ (random.integers(0, 2, size=(draws, len(names))) == 1)[:, place]


def pole_means(exemplars: pd.DataFrame, vectors: NDArray[np.floating], axis: str) -> tuple[Array, Array]:
    """(d,) means of the high and of the low pole of an axis, of rows with `axis` and `pole`."""
    high, low = (
        vectors[((exemplars["axis"] == axis) & (exemplars["pole"] == pole)).to_numpy()].mean(axis=0) for pole in POLES
    )
    return high, low


def axis_validity(axes: Mapping[str, Axis], embedder: str = "") -> pd.DataFrame:
    """Rows of `AXIS_VALIDITY`: the validity of each axis of an embedder, and its cosines with the others."""
    directions = {code: axis.direction / (np.linalg.norm(axis.direction) or 1) for code, axis in axes.items()}
    return AXIS_VALIDITY.frame(
        [
            {
                "embedder": embedder,
                "axis": code,
                "n_high": axis.n[0],
                "n_low": axis.n[1],
                "is_paired": axis.is_paired,
                "held_out_auc": axis.held_out_auc,
                "p": axis.p,
                "is_valid": axis.is_valid,
                **{f"cosine_{other}": float(directions[code] @ along) for other, along in directions.items()},
                "reason": axis.reason,
            }
            for code, axis in axes.items()
        ]
    )


def derive_axes(exemplars: pd.DataFrame, vectors: Vectors, embedder: str, *, seed: int = 0) -> dict[str, pd.DataFrame]:
    """`validity` of an embedder's axes, next to those of a bag of words, and the (n, d) `vectors` of the exemplars."""
    stored = EXEMPLAR_VECTORS.frame([{"axis": row["axis"], "pole": row["pole"]} for row in records(exemplars)]).assign(
        **vector_columns(vectors)
    )
    (own,) = read_vectors(stored)
    validity = [axis_validity(fit_axes(exemplars, own, seed=seed), embedder)]
    if embedder != LEXICAL:
        words = pd.DataFrame(vector_columns(lexical_vectors(list(exemplars["text"]))))
        validity.append(axis_validity(fit_axes(exemplars, *read_vectors(words), seed=seed), LEXICAL))
    return {"validity": pd.concat(validity, ignore_index=True), "vectors": stored}
