"""`worldvaluesbench/group_distances`: how far a model's answers are from people's in each group."""

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Probe, Rated
from valuesassets.instruments.worldvaluesbench.measures.drawn_noise import drawn_noise
from valuesassets.instruments.worldvaluesbench.measures.human_groups import shrunken_of
from valuesassets.measure.between_groups import GroupMeans, group_means
from valuesassets.measure.ranked_probability import (
    answers_at_most,
    cramer_unit,
    probability_at_most,
    w1_floor_unit,
    w1_unit,
)
from valuesassets.measure.shrinkage import spread_kept
from valuesassets.records.frames import rows

MEASURES = ["n", "effective_n", "w1_unit", "w1_floor_unit", "w1_excess_unit", "cramer_unit"]


def derive_group_distances(probe: Probe) -> pd.DataFrame:
    """A row for each model, question and group: distances in scale units, weighted, over people who have both.

    `w1_floor_unit` is what `w1_unit` would be of a perfect model, by people's answers drawn towards groups of the same
    levels (`shrunken`); where a model differs within groups, it is multiplied by sqrt(v(Y - M, Y - M) / v(Y, Y)).
    `w1_excess_unit` is what lies above it. `cramer_unit` estimates the squared distance without
    bias, below 0 by chance; null in a group of one person.
    """
    levels = pd.DataFrame(list(probe.groups.levels), columns=pd.Index(probe.groups.factors))
    parts = []
    for asked in probe.questions:
        steps = answers_at_most(asked.answers - asked.question.lo, len(asked.question.values))
        truth, kept = _truth(asked, probe)
        for name, rated in asked.with_attributes.items():
            means, floor, drawn = _of_model(asked, rated, steps, truth, kept)
            with np.errstate(invalid="ignore"):
                distance, squared = w1_unit(means), cramer_unit(means) - drawn
            measured = [means.n, means.effective_n, distance, floor, distance - floor, squared]
            part = levels.assign(
                model=name, question_id=asked.question.id, **dict(zip(MEASURES, measured, strict=True))
            )
            parts.append(rows(part, means.n > 0))
    columns = ["model", "question_id", *probe.groups.factors, *MEASURES]
    return pd.concat(parts, ignore_index=True).loc[:, columns] if parts else pd.DataFrame(columns=pd.Index(columns))


def _of_model(
    asked: AskedQuestion, rated: Rated, steps: Floats, truth: Floats, kept: Floats
) -> tuple[GroupMeans, Floats, Floats]:
    """Means of groups, floors, and the noise of drawn answers that people share, over cut points."""
    pairs = np.flatnonzero(np.isfinite(rated.probs[:, 0]) & np.isfinite(asked.answers))
    said = probability_at_most(rated.probs[pairs])
    means = group_means(steps[pairs], said, asked.weights[pairs], asked.groups[pairs], len(truth))
    with np.errstate(invalid="ignore", divide="ignore"):
        if rated.is_decoded:
            floor = w1_floor_unit(truth, means.effective_n, truth, means.effective_n) / np.sqrt(2)
        else:
            floor = w1_floor_unit(truth, means.effective_n)
    drawn = drawn_noise(asked, rated, pairs, len(truth))
    shared = np.zeros(len(truth)) if drawn is None else np.diag(drawn) / truth.shape[1]
    return means, floor * np.sqrt(_noise_ratio(means, rated.is_decoded) / kept), shared


def _noise_ratio(means: GroupMeans, is_decoded: bool) -> float:
    """v(Y - M, Y - M) / v(Y, Y) over all groups: 1 where a model says the same of everybody in a group.

    Where it tells people of a group apart rightly, less is left to chance; where single ratings were drawn, more.
    """
    is_known = np.isfinite(means.noise_aa)
    of_people = float(means.noise_aa[is_known].sum())
    if of_people <= 0:
        return 2.0 if is_decoded else 1.0
    return max(float(means.noise_of_difference[is_known].sum()), 0.0) / of_people


def _truth(asked: AskedQuestion, probe: Probe) -> tuple[Floats, Floats]:
    """(G, K-1) people's distribution functions, as near to the truth as is known; (G,) what they keep of its spread.

    NaN in groups without an answer.
    """
    there, means, near, borrowed = shrunken_of(asked, probe.groups)
    truth, kept = np.full_like(means.a, np.nan), np.full(len(means.a), np.nan)
    if there.size:
        truth[there] = near
        kept[there] = spread_kept(means.effective_n[there], borrowed, [probe.groups.levels[each] for each in there])
    return truth, kept
