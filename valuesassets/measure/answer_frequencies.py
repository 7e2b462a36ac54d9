"""Predictions from answer frequencies, without any model: baselines that a language model has to beat.

The frequencies are those of other participants' answers and of a participant's own earlier answers. Mixtures of them
are fitted on other people. Only the options that a participant could choose at a mark count, so no probability falls on
options that were not offered. Mixtures include even chances: on the people they are fitted on they are never worse.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData

FOLDS = 10
"""Folds of cross-validation: the mixture for the people of one fold is fitted on all others."""
MOST_STEPS, SETTLED = 200, 1e-4
"""Maximum number of steps of a fit, and the largest change of a weight at which the fit stops."""
MOST_FITTED = 10_000
"""Maximum number of marks that weights are fitted on; of more, every second (third, fourth) mark is used."""


@dataclass(frozen=True)
class Mixture:
    """A mixture of several predictions, with weights that are fitted on other people.

    Attributes:
        probs: (N,) probability of the answer at each mark.
        weights: of each component (columns) for each participant (rows); each row sums to 1.
    """

    probs: Array
    weights: pd.DataFrame


def tally_probs(
    participants: Sequence[Hashable],
    groups: Sequence[Hashable],
    answers: Sequence[Hashable],
    offered: Sequence[tuple[Hashable, ...]],
) -> Array:
    """(N,) probability of each answer, from other participants' answers in the same group: (n_h + 1/K)/(n + 1).

    n counts only answers that are options at this mark, so the probabilities of its options sum to 1.

    Args:
        participants, groups, answers: (N,) of each mark; a group is an item or a kind of mark; answers with the same
            meaning have the same name.
        offered: (N,) the K options at each mark, the answer among them.

    Source: Dirichlet prior of one answer in all, spread evenly: Perks (1947), J. Inst. Actuaries 73(2), 285-334.

    >>> yes_no = [("yes", "no")] * 3
    >>> tally_probs(["a", "b", "c"], [1, 1, 1], ["yes", "yes", "no"], yes_no).round(3).tolist()
    [0.5, 0.5, 0.167]
    """
    sets, members, texts = _option_sets(offered)
    chosen = texts.get_indexer(pd.Index(list(answers), dtype=object))
    k = np.asarray(members.sum(axis=1)).ravel()[sets]
    n_same, n_all = np.zeros(len(chosen)), np.zeros(len(chosen))
    by_group, by_person = list(groups), list(zip(groups, participants, strict=True))
    for names, sign in ((by_group, 1), (by_person, -1)):
        codes = pd.factorize(pd.Series(names, dtype=object))[0]
        shape = (codes.max() + 1, len(texts))
        counts = sparse.csr_matrix((np.ones(len(chosen)), (codes, chosen)), shape=shape)
        pairs, inverse = np.unique(np.stack([codes, sets]), axis=1, return_inverse=True)
        totals = np.asarray(counts[pairs[0]].multiply(members[pairs[1]]).sum(axis=1)).ravel()
        n_all += sign * totals[np.ravel(inverse)]
        n_same += sign * np.asarray(counts[codes, chosen]).ravel()
    return (n_same + 1 / k) / (n_all + 1)


def earlier_probs(
    participants: Sequence[Hashable],
    kinds: Sequence[Hashable],
    answers: Sequence[Hashable],
    offered: Sequence[tuple[Hashable, ...]],
    base: ArrayLike,
    strength: float = 1.0,
) -> Array:
    """(N,) probability of each answer, from the participant's own earlier answers: (n_h + s base)/(n + s).

    n counts earlier answers of the same kind that are options at this mark.

    Args:
        participants, kinds, answers, offered: (N,) as in `tally_probs`; each participant's marks are in order.
        base: (N,) probability of each answer before the first answer.
        strength: s, the weight of the base in answers.

    Source: predictive probability under a Dirichlet prior; Minka (2000), Estimating a Dirichlet distribution.

    >>> earlier_probs(["a"] * 3, ["x"] * 3, ["yes", "yes", "no"], [("yes", "no")] * 3, 0.5).round(3).tolist()
    [0.5, 0.75, 0.167]
    """
    n_same, n_all = np.zeros(len(answers)), np.zeros(len(answers))
    counts_by_kind: dict[tuple[Hashable, Hashable], Counter[Hashable]] = {}
    sets: dict[tuple[Hashable, ...], frozenset[Hashable]] = {}
    for place, (person, kind, answer, texts) in enumerate(zip(participants, kinds, answers, offered, strict=True)):
        counts = counts_by_kind.setdefault((person, kind), Counter())
        options = sets.setdefault(texts, frozenset(texts))
        n_same[place] = counts[answer]
        n_all[place] = sum(n for text, n in counts.items() if text in options)
        counts[answer] += 1
    return (n_same + strength * np.asarray(base, dtype=float)) / (n_all + strength)


def fitted_mixture(components: dict[str, Array], participants: Sequence[Hashable]) -> Mixture:
    """(N,) cross-validated mixture sum of w_c p_c: weights with the highest mean log score over other participants.

    People are cut into ten folds (as many as there are people, if fewer) in the order of their names. The weights of a
    fold are the best ones for all other people; scores are averaged within and then over participants. A participant's
    answers are not used to fit their weights, but they do count in the frequencies that predict other people.

    Args:
        components: by name, (N,) probabilities of the answers.

    Raises:
        MissingData: there are fewer than two participants, so weights cannot be fitted on others.

    Source: Dempster, Laird and Rubin (1977), J. R. Stat. Soc. B 39(1), 1-38, section 4.3 (weights of a mixture).

    >>> even, sure = np.full(4, 0.5), np.array([0.9, 0.9, 0.9, 0.9])
    >>> fitted_mixture({"even": even, "sure": sure}, ["a", "a", "b", "c"]).weights["sure"].round(3).tolist()
    [1.0, 1.0, 1.0]
    """
    codes, people = pd.factorize(np.asarray(participants, dtype=object), sort=True)
    n = len(people)
    if n < 2:
        raise MissingData(f"{n} participant{'s' * (n != 1)}: weights of tallies are fitted on others")
    probs_by_component = np.stack(list(components.values()), axis=1)
    fold_of = np.arange(n) % min(FOLDS, n)
    share = 1 / np.bincount(codes, minlength=n)[codes]
    weights, probs = np.empty((n, probs_by_component.shape[1])), np.empty(len(probs_by_component))
    for fold in range(fold_of.max() + 1):
        is_in_fold = fold_of[codes] == fold
        others = np.flatnonzero(~is_in_fold)
        others = others[:: -(-len(others) // MOST_FITTED)]
        best = _best_weights(probs_by_component[others], share[others])
        weights[fold_of == fold] = best
        probs[is_in_fold] = probs_by_component[is_in_fold] @ best
    return Mixture(probs, pd.DataFrame(weights, index=people, columns=pd.Index(list(components))))


def _best_weights(probs: Array, share: Array) -> Array:
    """(C,) weights of components that maximise the weighted mean of log p, which is concave in the weights."""
    weights, total = np.full(probs.shape[1], 1 / probs.shape[1]), share.sum()
    for _ in range(MOST_STEPS):
        parts = probs * weights
        updated = (parts / parts.sum(axis=1, keepdims=True) * share[:, None]).sum(axis=0) / total
        if np.abs(updated - weights).max() < SETTLED:
            return updated
        weights = updated
    return weights


def _option_sets(offered: Sequence[tuple[Hashable, ...]]) -> tuple[NDArray[np.intp], sparse.csr_matrix, pd.Index]:
    """(N,) index of each mark's option set; (sets, texts) whether a set contains a text; the texts."""
    codes, sets = pd.factorize(pd.Series(list(offered), dtype=object))
    texts = pd.Index(dict.fromkeys(text for each in sets for text in each), dtype=object)
    rows = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    columns = texts.get_indexer(pd.Index([text for each in sets for text in each], dtype=object))
    shape = (len(sets), len(texts))
    return codes, sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape), texts
