"""Do a model's moves between groups come back in another wording? If not, models cannot be ranked by them."""

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
"""Reliability below which models are not ranked, where no study says otherwise."""


def in_wording(model: str, wording: str) -> str:
    """The name of a model in another wording than its first."""
    return f"{model} {wording}"


def first_wordings(frame: pd.DataFrame, reliability: pd.DataFrame | None) -> pd.DataFrame:
    """The rows of models in their first wording; all of them where there is no table of reliability."""
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
        probe: its models are models in one wording each.
        wordings: by model and wording, the name under which the probe has it.
        least: reliability below which models are not ranked.
    """
    found = []
    for model, named in wordings.items():
        for one, other in itertools.combinations(named, 2):
            both = reliability(probe, named[one], named[other], min_group)
            pair = {"model": model, "wording": one, "other_wording": other, "reliability": both}
            found.append(pair | {"can_be_ranked": bool(both >= least)})
    return RELIABILITY.frame(found)


def reliability(probe: Probe, one: str, other: str, min_group: int = 5) -> float:
    """A_01 / sqrt(A_00 A_11) over all questions that both have; NaN where either does not move.

    Both are of the same people, so that noise is taken off the covariance, too.
    """
    sums = np.zeros(3)
    for asked in probe.questions:
        if one not in asked.with_attributes or other not in asked.with_attributes:
            continue
        first, second = asked.with_attributes[one], asked.with_attributes[other]
        sides = sides_of(asked, first, second, len(probe.groups.levels), min_group)
        if len(sides.present) >= 2:
            means, here = sides.means, sides.present
            a, b = means.a[here], means.b[here]
            pairs = ((a, a, means.noise_aa), (a, b, means.noise_ab), (b, b, means.noise_bb))
            sums += np.array([between(x, y, noise[here]) for x, y, noise in pairs]) / a.shape[1]
    alone, both, alone_too = sums
    return float(both / np.sqrt(alone * alone_too)) if alone > 0 and alone_too > 0 else float("nan")
