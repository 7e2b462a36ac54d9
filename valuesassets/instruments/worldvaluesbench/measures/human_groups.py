"""`worldvaluesbench/human_groups`: what people of each group answer, and how surely that is known."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Groups, Probe
from valuesassets.instruments.worldvaluesbench.material.probe_samples import People
from valuesassets.instruments.worldvaluesbench.tables import HUMAN_GROUPS
from valuesassets.measure.between_groups import GroupMeans, group_means, sums_by
from valuesassets.measure.ranked_probability import answers_at_most, w1_floor_unit
from valuesassets.measure.shrinkage import shrunken, spread_kept
from valuesassets.people.surveys import SILENT

Floats = NDArray[np.float64]


def derive_human_groups(probe: Probe, dataset: People) -> pd.DataFrame:
    """The table of that name: a row for each answer of a question in every group that somebody answered it in.

    `prob_shrunken` is nearer to what the whole group would answer than the raw share of few people, and the floor is
    computed from it. Weights are people's own. `dk_rate` is of everybody in the data set, as a probe asks mostly people
    who answered: the share of those asked who gave none of the question's answers.

    Args:
        probe: groups that are large enough to be compared (`large_groups`).
    """
    weights, groups = dataset.participants["weight"].to_numpy(float), _groups_of(dataset, probe.groups)
    frames = []
    for asked in probe.questions:
        codes = dataset.value_answers[asked.question.id].to_numpy(float, na_value=np.nan)
        dk_rate = _dk_rate(codes, groups, weights, len(probe.groups.levels), asked.question.lo)
        frames.append(_of_question(asked, probe.groups, dk_rate))
    rows = [frame for frame in frames if len(frame)]
    return pd.concat(rows, ignore_index=True) if rows else HUMAN_GROUPS.empty_frame()


def shrunken_of(asked: AskedQuestion, groups: Groups) -> tuple[NDArray[np.int64], GroupMeans, Floats, float]:
    """Groups that somebody answered in, people's distribution functions (all G), the shrunken of these, and `a`."""
    rows = np.flatnonzero(np.isfinite(asked.answers))
    steps = answers_at_most(asked.answers[rows] - asked.question.lo, len(asked.question.values))
    means = group_means(steps, steps, asked.weights[rows], asked.groups[rows], len(groups.levels))
    there = np.flatnonzero(means.n > 0)
    if not there.size:
        return there, means, np.empty((0, steps.shape[1])), 0.0
    levels = [groups.levels[group] for group in there]
    near, borrowed = shrunken(means.a[there], means.effective_n[there], means.noise_aa[there], levels)
    return there, means, near, borrowed


def _groups_of(dataset: People, groups: Groups) -> NDArray[np.int64]:
    """(P,) number of the group of everybody in the data set; -1: in none of these."""
    levels = [dataset.participants[factor].astype(object) for factor in groups.factors]
    return pd.MultiIndex.from_tuples(groups.levels).get_indexer(pd.MultiIndex.from_arrays(levels)).astype(np.int64)


def _dk_rate(codes: Floats, groups: NDArray[np.int64], weights: Floats, n_groups: int, lo: int) -> Floats:
    """(G,) weighted share of those asked who gave no answer; NaN where nobody of a group was asked."""
    silent, given = np.isin(codes, SILENT), codes >= max(lo, 0)
    rows = np.flatnonzero((groups >= 0) & (silent | given))
    sides = np.stack([weights[rows], weights[rows] * silent[rows]], axis=1)
    asked, without = sums_by(groups[rows], n_groups, sides).T
    with np.errstate(invalid="ignore"):
        return without / asked


def floor_of(near: Floats, effective_n: Floats, borrowed: float, levels: Sequence[Sequence[str]]) -> Floats:
    """(G,) floors of exact answers, in scale units: `w1_floor_unit`, larger by what shrunken shares lack of spread."""
    return w1_floor_unit(near, effective_n) / np.sqrt(spread_kept(effective_n, borrowed, levels))


def _of_question(asked: AskedQuestion, groups: Groups, dk_rate: Floats) -> pd.DataFrame:
    there, means, near, borrowed = shrunken_of(asked, groups)
    if not there.size:
        return HUMAN_GROUPS.empty_frame()
    k = len(asked.question.values)
    by_group = {
        "n": means.n[there],
        "effective_n": means.effective_n[there],
        "dk_rate": dk_rate[there],
        "borrowed_n": np.full(there.size, borrowed),
        "w1_floor_unit": floor_of(near, means.effective_n[there], borrowed, [groups.levels[each] for each in there]),
    }
    for place, factor in enumerate(groups.factors):
        by_group[factor] = np.array([groups.levels[group][place] for group in there], dtype=object)
    by_answer = {"prob": _shares(means.a[there]).ravel(), "prob_shrunken": _shares(near).ravel()}
    frame = pd.DataFrame({name: np.repeat(values, k) for name, values in by_group.items()} | by_answer)
    frame["question_id"] = asked.question.id
    frame["response_value"] = np.tile(asked.question.values, there.size)
    return frame.reindex(columns=pd.Index(HUMAN_GROUPS.names))


def _shares(at_most: Floats) -> Floats:
    """(G, K) shares from (G, K-1) distribution functions."""
    ends = np.pad(at_most, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
    return np.clip(np.diff(ends, axis=1), 0, 1)
