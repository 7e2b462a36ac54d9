"""Groups of languages by U - A: how much further apart they answer without a country than for the same one."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage

from valuesassets.instruments.cultural_robustness.tables import LANGUAGE_GROUPS
from valuesassets.measure.means import Array
from valuesassets.measure.resampling import ROUNDING, label_permutations, permutation_p

FEWEST = 3
"""With fewer languages pairs cannot differ, and there is no k from 2 to n - 1."""


@dataclass(frozen=True)
class Structure:
    """How much pairs of languages differ in U - A.

    Attributes:
        value: variance of U - A over pairs, in half squared distances squared.
        p: one-sided, languages permuted within each question.
        by_chance: mean under these permutations.
    """

    value: float
    p: float
    by_chance: float


def measure_structure(gain: Array, draws: int, random: np.random.Generator) -> Structure:
    """Tests whether the same pairs of languages differ in every question.

    Args:
        gain: (Q, L, L) U - A, L >= 3.
    """
    first, second = np.triu_indices(gain.shape[-1], 1)
    observed = float(gain.mean(axis=0)[first, second].var())
    mean = np.zeros((draws, first.size))
    for each in gain:
        places = label_permutations(len(each), draws, random)
        mean += each[places[:, first], places[:, second]]
    by_chance = (mean / len(gain)).var(axis=1)
    return Structure(observed, permutation_p(observed, by_chance), float(by_chance.mean()))


def group_languages(gain: Array) -> tuple[NDArray[np.intp], float]:
    """(L,) groups, numbered from 1 in the order of their first language, and the mean silhouette that chose them.

    Average linkage of the mean U - A, cut into k groups of 2..L-1; the first k of the largest mean silhouette. A
    silhouette is a ratio, and would take one distance of nearly 0 for infinitely less than another: for it, distances
    below two standard errors count as two.

    Args:
        gain: (Q, L, L) U - A, L >= 3.

    Source: Rousseeuw (1987), J. Comput. Appl. Math. 20, 53-65; a group of one has silhouette 0.
    """
    from sklearn.metrics import silhouette_score

    mean = gain.mean(axis=0)
    pairs = np.triu_indices(len(mean), 1)
    variance = gain[:, pairs[0], pairs[1]].var(axis=0, ddof=1).mean() if len(gain) > 1 else 0.0
    distances = np.maximum(mean, 2 * np.sqrt(variance / len(gain)))
    np.fill_diagonal(distances, 0.0)
    # where 0 is does not matter to means of pairs
    tree = linkage(mean[pairs] - mean[pairs].min(), "average")
    best = np.ones(len(mean), dtype=np.intp), -np.inf
    for k in range(2, len(mean)):
        labels = cut_tree(tree, n_clusters=k).ravel()
        silhouette = float(silhouette_score(distances, labels, metric="precomputed"))
        if silhouette > best[1] + ROUNDING:
            best = np.asarray(pd.factorize(labels)[0] + 1, dtype=np.intp), silhouette
    return best


def derive_language_groups(model: str, languages: tuple[str, ...], gain: Array) -> pd.DataFrame:
    """A row per language with its group; for models whose structure is significant.

    Args:
        gain: (Q, L, L) U - A.
    """
    groups, silhouette = group_languages(gain)
    columns = {"model": model, "language": list(languages), "group": groups, "silhouette": silhouette}
    return pd.DataFrame(columns).reindex(columns=LANGUAGE_GROUPS.names)
