"""`worldvaluesbench/group_distances`: distances of models' answers from people's in each group."""

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Probe, Rated
from valuesassets.instruments.worldvaluesbench.measures.group_moves import drawn_noise
from valuesassets.instruments.worldvaluesbench.measures.human_groups import shrunken_of
from valuesassets.measure.between_groups import GroupMeans, group_means
from valuesassets.measure.floors import w1_floor_unit
from valuesassets.measure.ranked_probability import answers_at_most, cramer_unit, probability_at_most, w1_unit
from valuesassets.measure.shrinkage import spread_kept
from valuesassets.records.frames import rows

MEASURES = ["n", "effective_n", "w1_unit", "w1_floor_unit", "w1_excess_unit", "cramer_unit"]


def derive_group_distances(probe: Probe) -> pd.DataFrame:
    """A row for each model, question and group: weighted distances in scale units over people with both answers.

    `w1_floor_unit` is the expected `w1_unit` of a perfect model, from answers shrunk towards groups of the same levels
    (`shrunken`); if a model differs within groups, it is multiplied by sqrt(v(Y - M, Y - M) / v(Y, Y)). The difference
    is `w1_excess_unit`. `cramer_unit` is an unbiased squared distance, which may be negative by chance; null in a group
    of one person.
    """
    levels = pd.DataFrame(list(probe.groups.levels), columns=pd.Index(probe.groups.factors))
    parts = []
    for item in probe.questions:
        steps = answers_at_most(item.answers - item.question.lo, len(item.question.values))
        truth, spread = _truth(item, probe)
        for name, rated in item.with_attributes.items():
            means, floor, drawn = _of_model(item, rated, steps, truth, spread)
            with np.errstate(invalid="ignore"):
                distance, squared = w1_unit(means), cramer_unit(means) - drawn
            measured = [means.n, means.effective_n, distance, floor, distance - floor, squared]
            part = levels.assign(model=name, question_id=item.question.id, **dict(zip(MEASURES, measured, strict=True)))
            parts.append(rows(part, means.n > 0))
    columns = ["model", "question_id", *probe.groups.factors, *MEASURES]
    return pd.concat(parts, ignore_index=True).loc[:, columns] if parts else pd.DataFrame(columns=pd.Index(columns))


def _of_model(
    item: AskedQuestion, rated: Rated, steps: Floats, truth: Floats, spread: Floats
) -> tuple[GroupMeans, Floats, Floats]:
    """Means of groups, floors, and the noise of shared drawn answers, over cut points."""
    pairs = np.flatnonzero(np.isfinite(rated.probs[:, 0]) & np.isfinite(item.answers))
    modelled = probability_at_most(rated.probs[pairs])
    means = group_means(steps[pairs], modelled, item.weights[pairs], item.groups[pairs], len(truth))
    with np.errstate(invalid="ignore", divide="ignore"):
        if rated.is_decoded:
            floor = w1_floor_unit(truth, means.effective_n, truth, means.effective_n) / np.sqrt(2)
        else:
            floor = w1_floor_unit(truth, means.effective_n)
    drawn = drawn_noise(item, rated, pairs, len(truth))
    shared = np.zeros(len(truth)) if drawn is None else np.diag(drawn) / truth.shape[1]
    return means, floor * np.sqrt(_noise_ratio(means, rated.is_decoded) / spread), shared


def _noise_ratio(means: GroupMeans, is_decoded: bool) -> float:
    """v(Y - M, Y - M) / v(Y, Y) over all groups, which is 1 if a model gives everybody in a group the same answer.

    It is smaller if the model distinguishes people of a group correctly, and larger with drawn single ratings.
    """
    is_known = np.isfinite(means.noise_aa)
    of_people = float(means.noise_aa[is_known].sum())
    if of_people <= 0:
        return 2.0 if is_decoded else 1.0
    return max(float(means.noise_of_difference[is_known].sum()), 0.0) / of_people


def _truth(item: AskedQuestion, probe: Probe) -> tuple[Floats, Floats]:
    """(G, K-1) shrunken distribution functions of people, and (G,) their share of the spread; NaN without answers."""
    present, means, near, borrowed = shrunken_of(item, probe.groups)
    truth, spread = np.full_like(means.a, np.nan), np.full(len(means.a), np.nan)
    if present.size:
        truth[present] = near
        spread[present] = spread_kept(
            means.effective_n[present], borrowed, [probe.groups.levels[each] for each in present]
        )
    return truth, spread
