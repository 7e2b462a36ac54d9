"""The reliability of a model's moves between groups over wordings, without which models cannot be ranked by them."""

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import Probe
from valuesassets.instruments.worldvaluesbench.measures.group_moves import sides_of
from valuesassets.instruments.worldvaluesbench.tables import RELIABILITY
from valuesassets.measure.between_groups import between
from valuesassets.records.frames import rows
from valuesassets.records.settings.measuring import Thresholds

RELIABLE = Thresholds().reliability
"""The usual reliability below which models are not ranked."""


def in_wording(model: str, wording: str) -> str:
    """The name of a model in a further wording."""
    return f"{model} {wording}"


def first_wordings(frame: pd.DataFrame, reliability: pd.DataFrame | None) -> pd.DataFrame:
    """The rows of models in their first wording; all rows without a table of reliability."""
    if reliability is None:
        return frame
    pairs = zip(reliability["model"], reliability["other_wording"], strict=True)
    further = {in_wording(str(model), str(wording)) for model, wording in pairs}
    return rows(frame, ~frame["model"].isin(list(further)))


def derive_wording_reliability(
    probe: Probe, wordings: Mapping[str, Mapping[str, str]], min_group: int = 5, least: float = RELIABLE
) -> pd.DataFrame:
    """The table `awareness/reliability`: A_01 / sqrt(A_00 A_11) of each model and pair of wordings.

    Args:
        probe: each of its models is a model in one wording.
        wordings: names of the probe's models, by model and wording.
        least: reliability below which models are not ranked.
    """
    table_rows = []
    for model, named in wordings.items():
        for first, second in itertools.combinations(named, 2):
            both = reliability(probe, named[first], named[second], min_group)
            pair = {"model": model, "wording": first, "other_wording": second, "reliability": both}
            table_rows.append(pair | {"can_be_ranked": bool(both >= least)})
    return RELIABILITY.frame(table_rows)


def reliability(probe: Probe, first: str, second: str, min_group: int = 5) -> float:
    """A_01 / sqrt(A_00 A_11) over all questions with both models; NaN if either does not move.

    Noise is subtracted from the covariance too, because both rate the same people.
    """
    sums = np.zeros(3)
    for item in probe.questions:
        if first not in item.with_attributes or second not in item.with_attributes:
            continue
        rated_a, rated_b = item.with_attributes[first], item.with_attributes[second]
        sides = sides_of(item, rated_a, rated_b, len(probe.groups.levels), min_group)
        if len(sides.present) >= 2:
            means, present = sides.means, sides.present
            a, b = means.a[present], means.b[present]
            pairs = ((a, a, means.noise_aa), (a, b, means.noise_ab), (b, b, means.noise_bb))
            sums += np.array([between(x, y, noise[present]) for x, y, noise in pairs]) / a.shape[1]
    alone, both, alone_too = sums
    return float(both / np.sqrt(alone * alone_too)) if alone > 0 and alone_too > 0 else float("nan")
