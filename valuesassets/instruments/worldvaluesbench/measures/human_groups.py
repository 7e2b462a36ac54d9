"""`worldvaluesbench/human_groups`: people's answers in each group, and their precision."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Groups, Probe
from valuesassets.instruments.worldvaluesbench.material.probe_samples import People
from valuesassets.instruments.worldvaluesbench.tables import HUMAN_GROUPS
from valuesassets.measure.between_groups import GroupMeans, group_means, sums_by
from valuesassets.measure.floors import w1_floor_unit
from valuesassets.measure.ranked_probability import answers_at_most
from valuesassets.measure.shrinkage import shrunken, spread_kept
from valuesassets.people.surveys import SILENT


def derive_human_groups(probe: Probe, dataset: People) -> pd.DataFrame:
    """The table of that name: a row for each answer to a question in each group with answers.

    `prob_shrunken` is a better estimate for the whole group than the raw share of few people, and the floor is computed
    from it. `dk_rate` is the share of people without an answer, over the whole data set, because a probe asks mostly
    people who answered.

    Args:
        probe: groups that are large enough to be compared (`large_groups`).
    """
    weights, groups = dataset.participants["weight"].to_numpy(float), probe.groups.numbers(dataset.participants)
    frames = []
    for item in probe.questions:
        codes = dataset.value_answers[item.question.id].to_numpy(float, na_value=np.nan)
        dk_rate = _dk_rate(codes, groups, weights, len(probe.groups.levels), item.question.lo)
        frames.append(_of_question(item, probe.groups, dk_rate))
    rows = [frame for frame in frames if len(frame)]
    return pd.concat(rows, ignore_index=True) if rows else HUMAN_GROUPS.empty_frame()


def shrunken_of(item: AskedQuestion, groups: Groups) -> tuple[NDArray[np.int64], GroupMeans, Floats, float]:
    """Groups with answers, means of all groups, shrunken distribution functions, and the number of answers borrowed."""
    rows = np.flatnonzero(np.isfinite(item.answers))
    steps = answers_at_most(item.answers[rows] - item.question.lo, len(item.question.values))
    means = group_means(steps, steps, item.weights[rows], item.groups[rows], len(groups.levels))
    present = np.flatnonzero(means.n > 0)
    if not present.size:
        return present, means, np.empty((0, steps.shape[1])), 0.0
    levels = [groups.levels[group] for group in present]
    near, borrowed = shrunken(means.a[present], means.effective_n[present], means.noise_aa[present], levels)
    return present, means, near, borrowed


def _dk_rate(codes: Floats, groups: NDArray[np.int64], weights: Floats, n_groups: int, lo: int) -> Floats:
    """(G,) weighted share of people asked who gave no answer; NaN in a group without people asked."""
    silent, answered = np.isin(codes, SILENT), codes >= max(lo, 0)
    rows = np.flatnonzero((groups >= 0) & (silent | answered))
    sides = np.stack([weights[rows], weights[rows] * silent[rows]], axis=1)
    n_asked, n_silent = sums_by(groups[rows], n_groups, sides).T
    with np.errstate(invalid="ignore"):
        return n_silent / n_asked


def _of_question(item: AskedQuestion, groups: Groups, dk_rate: Floats) -> pd.DataFrame:
    present, means, near, borrowed = shrunken_of(item, groups)
    if not present.size:
        return HUMAN_GROUPS.empty_frame()
    k, effective_n = len(item.question.values), means.effective_n[present]
    spread = spread_kept(effective_n, borrowed, [groups.levels[each] for each in present])
    by_group = {
        "n": means.n[present],
        "effective_n": effective_n,
        "dk_rate": dk_rate[present],
        "borrowed_n": np.full(present.size, borrowed),
        "w1_floor_unit": w1_floor_unit(near, effective_n) / np.sqrt(spread),
    }
    for place, factor in enumerate(groups.factors):
        by_group[factor] = np.array([groups.levels[group][place] for group in present], dtype=object)
    by_answer = {"prob": _shares(means.a[present]).ravel(), "prob_shrunken": _shares(near).ravel()}
    frame = pd.DataFrame({name: np.repeat(values, k) for name, values in by_group.items()} | by_answer)
    frame["question_id"] = item.question.id
    frame["response_value"] = np.tile(item.question.values, present.size)
    return frame.reindex(columns=pd.Index(HUMAN_GROUPS.names))


def _shares(at_most: Floats) -> Floats:
    """(G, K) shares from (G, K-1) distribution functions."""
    ends = np.pad(at_most, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
    return np.clip(np.diff(ends, axis=1), 0, 1)
