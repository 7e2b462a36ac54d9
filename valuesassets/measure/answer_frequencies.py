"""What tallies predict without any model: others' answers, one's own earlier ones, and mixtures fitted on other people.

Every tally is over what this person may answer at this mark, so that no probability is lost on labels that are not
there. Mixtures hold even chances too: on the people that they are fitted on they are never worse than these.
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
"""Parts of the people: what is mixed for one part is fitted on the others."""
MOST_STEPS, SETTLED = 200, 1e-4
"""Steps at most of a fit, and the largest change of a weight at which it ends."""
MOST_FITTED = 10_000
"""Marks that weights are fitted on, at most; of more, every second, third, ... one."""


@dataclass(frozen=True)
class Mixture:
    """Several predictions mixed, by weights that are fitted on other people.

    Attributes:
        probs: (N,) of each mark.
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
    """(N,) probability of each answer by the other participants' answers in its group: (n_h + 1/K)/(n + 1).

    n counts answers that this mark offers too, so that the probabilities of what it offers sum to 1.

    Args:
        participants, groups, answers: (N,) of each mark; a group is an item, or a kind of marks; answers of one meaning
            have one name.
        offered: (N,) what may be answered there, the answer among it; K is how much that is.

    Source: Dirichlet prior of one answer in all, spread evenly: Perks (1947), J. Inst. Actuaries 73(2), 285-334.

    >>> yes_no = [("yes", "no")] * 3
    >>> tally_probs(["a", "b", "c"], [1, 1, 1], ["yes", "yes", "no"], yes_no).round(3).tolist()
    [0.5, 0.5, 0.167]
    """
    sets, members, texts = _offered(offered)
    said = texts.get_indexer(pd.Index(list(answers), dtype=object))
    k = np.asarray(members.sum(axis=1)).ravel()[sets]
    alike, counted = np.zeros(len(said)), np.zeros(len(said))
    whole, own = list(groups), list(zip(groups, participants, strict=True))
    for names, sign in ((whole, 1), (own, -1)):
        codes = pd.factorize(pd.Series(names, dtype=object))[0]
        shape = (codes.max() + 1, len(texts))
        counts = sparse.csr_matrix((np.ones(len(said)), (codes, said)), shape=shape)
        pairs, place = np.unique(np.stack([codes, sets]), axis=1, return_inverse=True)
        totals = np.asarray(counts[pairs[0]].multiply(members[pairs[1]]).sum(axis=1)).ravel()
        counted += sign * totals[np.ravel(place)]
        alike += sign * np.asarray(counts[codes, said]).ravel()
    return (alike + 1 / k) / (counted + 1)


def earlier_probs(
    participants: Sequence[Hashable],
    kinds: Sequence[Hashable],
    answers: Sequence[Hashable],
    offered: Sequence[tuple[Hashable, ...]],
    base: ArrayLike,
    strength: float = 1.0,
) -> Array:
    """(N,) probability of each answer by the participant's own earlier ones of its kind: (n_h + s base)/(n + s).

    n counts earlier answers that this mark offers too.

    Args:
        participants, kinds, answers, offered: (N,) as of `tally_probs`, every participant's marks in their order.
        base: (N,) probability of each answer where nothing was answered before.
        strength: s, earlier answers that the base weighs as much as.

    Source: predictive probability under a Dirichlet prior; Minka (2000), Estimating a Dirichlet distribution.

    >>> earlier_probs(["a"] * 3, ["x"] * 3, ["yes", "yes", "no"], [("yes", "no")] * 3, 0.5).round(3).tolist()
    [0.5, 0.75, 0.167]
    """
    alike, counted = np.zeros(len(answers)), np.zeros(len(answers))
    seen: dict[tuple[Hashable, Hashable], Counter[Hashable]] = {}
    sets: dict[tuple[Hashable, ...], frozenset[Hashable]] = {}
    for place, (person, kind, answer, texts) in enumerate(zip(participants, kinds, answers, offered, strict=True)):
        counts = seen.setdefault((person, kind), Counter())
        known = sets.setdefault(texts, frozenset(texts))
        alike[place] = counts[answer]
        counted[place] = sum(n for text, n in counts.items() if text in known)
        counts[answer] += 1
    return (alike + strength * np.asarray(base, dtype=float)) / (counted + strength)


def fitted_mixture(components: dict[str, Array], participants: Sequence[Hashable]) -> Mixture:
    """(N,) sum of w_c p_c, w of each participant fitted on others: the highest mean log score over participants.

    People are cut into ten parts (as many as there are people, if fewer) in the order of their names; the weights of a
    part are those that are best for all others, their scores averaged within and then over participants. A participant
    is left out of what the weights are fitted on, not of tallies that others' scores there rest on.

    Args:
        components: by name, (N,) probabilities of what was answered.

    Raises:
        MissingData: fewer than two participants: there is nobody to fit the weights on.

    Source: Dempster, Laird and Rubin (1977), J. R. Stat. Soc. B 39(1), 1-38, section 4.3 (weights of a mixture).

    >>> even, sure = np.full(4, 0.5), np.array([0.9, 0.9, 0.9, 0.9])
    >>> fitted_mixture({"even": even, "sure": sure}, ["a", "a", "b", "c"]).weights["sure"].round(3).tolist()
    [1.0, 1.0, 1.0]
    """
    codes, people = pd.factorize(np.asarray(participants, dtype=object), sort=True)
    n = len(people)
    if n < 2:
        raise MissingData(f"{n} participant{'s' * (n != 1)}: weights of tallies are fitted on others")
    given = np.stack(list(components.values()), axis=1)
    part_of = np.arange(n) % min(FOLDS, n)
    share = 1 / np.bincount(codes, minlength=n)[codes]
    weights, probs = np.empty((n, given.shape[1])), np.empty(len(given))
    for part in range(part_of.max() + 1):
        is_own = part_of[codes] == part
        others = np.flatnonzero(~is_own)
        others = others[:: -(-len(others) // MOST_FITTED)]
        best = _best_weights(given[others], share[others])
        weights[part_of == part] = best
        probs[is_own] = given[is_own] @ best
    return Mixture(probs, pd.DataFrame(weights, index=people, columns=pd.Index(list(components))))


def _best_weights(given: Array, share: Array) -> Array:
    """(C,) weights of components with the highest weighted mean of log p; the score is concave in them."""
    weights, total = np.full(given.shape[1], 1 / given.shape[1]), share.sum()
    for _ in range(MOST_STEPS):
        parts = given * weights
        after = (parts / parts.sum(axis=1, keepdims=True) * share[:, None]).sum(axis=0) / total
        if np.abs(after - weights).max() < SETTLED:
            return after
        weights = after
    return weights


def _offered(offered: Sequence[tuple[Hashable, ...]]) -> tuple[NDArray[np.intp], sparse.csr_matrix, pd.Index]:
    """(N,) which set of answers each mark offers; (sets, texts) whether a text is one of a set; the texts."""
    codes, sets = pd.factorize(pd.Series(list(offered), dtype=object))
    texts = pd.Index(dict.fromkeys(text for each in sets for text in each), dtype=object)
    rows = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    columns = texts.get_indexer(pd.Index([text for each in sets for text in each], dtype=object))
    shape = (len(sets), len(texts))
    return codes, sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape), texts
