"""What the benchmark's score is of a model whose only fault is that few people were asked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import Probe
from valuesassets.measure.seeding import seeded

PERFECT = "perfect"
THRESHOLDS = tuple(step / 20 for step in range(21))


def derive_perfect_shares(
    probe: Probe,
    seed: int,
    draws: int = 1000,
    is_decoded: bool = False,
    level: float = 0.95,
    subsets: Sequence[str] = ("all", "urban", "rural"),
) -> pd.DataFrame:
    """In what share of questions a perfect model is at most a threshold away, and the band that draws of people make.

    People answer as often as they did, drawn from the answers found; the model gives exactly those, or ratings that are
    drawn likewise. Without weights, as the benchmark's score is.

    Args:
        is_decoded: whether the model's ratings are drawn too.
        subsets: `all`, or levels of a factor.

    Returns:
        `model` (`perfect`), `subset`, `threshold`, `share` (mean over draws), `share_low`, `share_high`.
    """
    rows: list[dict[str, Any]] = []
    ends = (1 - level) / 2, (1 + level) / 2
    for subset in subsets:
        distances = [
            found
            for asked in probe.questions
            if (found := _distances(asked, probe, subset, seed, draws, is_decoded)) is not None
        ]
        if not distances:
            continue
        for threshold in THRESHOLDS:
            shares = (np.stack(distances) <= threshold + 1e-9).mean(axis=0)
            low, high = np.quantile(shares, ends)
            row = {"model": PERFECT, "attributes": None, "subset": subset, "threshold": threshold}
            rows.append(row | {"share": float(shares.mean()), "share_low": float(low), "share_high": float(high)})
    return pd.DataFrame(
        rows, columns=pd.Index(["model", "attributes", "subset", "threshold", "share", "share_low", "share_high"])
    )


def _distances(asked: Any, probe: Probe, subset: str, seed: int, draws: int, is_decoded: bool) -> Any:
    """(draws,) W1 of one question in a subset; None where nobody of it answered."""
    members = np.array([subset == "all" or subset in levels for levels in probe.groups.levels])
    known = np.isfinite(asked.answers) & members[asked.groups]
    n, k = int(known.sum()), len(asked.question.values)
    if not n:
        return None
    shares = np.bincount((asked.answers[known] - asked.question.lo).astype(np.int64), minlength=k) / n
    rng = seeded(seed, "perfect", subset, asked.question.id)
    people = rng.multinomial(n, shares, draws) / n
    model = rng.multinomial(n, shares, draws) / n if is_decoded else shares
    return np.abs(np.cumsum(people - model, axis=1)[:, :-1]).sum(axis=1) / (k - 1)
