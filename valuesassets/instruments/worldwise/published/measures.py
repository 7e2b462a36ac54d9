"""The scores of worldWiseAI as it published them, each beside what needs no answer at all.

Beside each error and alignment stand those of three predictors that read nothing: a score of zero everywhere, the mean
target of the other cultures, and the targets of the cultures exchanged. What each measure is and what is wrong with it:
the documentation of worldwise.
"""

from collections.abc import Callable, Mapping
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.answers.stored_vectors import Vectors
from valuesassets.instruments.worldwise.material.dimensions import UNPROMPTED
from valuesassets.measure.means import Array
from valuesassets.measure.profile_correlation import centred_on_items, correlation, paired
from valuesassets.measure.ratio_of_means import ratio_of_means
from valuesassets.measure.resampling import ROUNDING, with_ends
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import means_by, rows, rows_where

COMPOSITIONS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "final": lambda each: " ".join([*3 * [" ".join(each["values"])], each["explanation"], each["decision"]]),
    "stored": lambda each: " ".join([each["explanation"], each["decision"], *each["values"]]),
}
"""The text of an answer that is embedded: worldWiseAI published from both, and called them by one name."""
BEST, PER_UNIT = 10.0, 2.5
"""Alignment of a score on its target, and what each unit of distance takes off."""
ALL_ORDERS = 7
"""Cultures up to which every exchange of their targets is counted; of more, as many are drawn."""
DRAWS = 3999
"""Exchanges of targets where they are drawn."""


def semantic_scores(texts: Vectors, high: Array, low: Array) -> Array:
    """(n,) 2 tanh((h - l) / (h + l)), h and l mean cosines of a text to the poles' sentences; NaN where h + l <= 0.

    Between positive h and l it cannot pass 2 tanh 1 = 1.52. worldWiseAI made 0 of a sum that is not positive.

    Args:
        texts: (n, d) of length one, dense or sparse.
        high, low: (d,) means of the poles' unit vectors.

    >>> semantic_scores(np.eye(2), np.array([0.6, -0.4]), np.array([0.2, 0.3])).round(3).tolist()
    [0.924, nan]
    """
    h, l = texts @ high, texts @ low  # noqa: E741
    return 2 * np.tanh(np.divide(h - l, h + l, out=np.full(h.shape, np.nan), where=h + l > 0))


def measure_seed_scores(
    scored: pd.DataFrame, targets: pd.DataFrame, *, draws: int = DRAWS, seed: int = 0, level: float = 0.95
) -> dict[str, Any]:
    """Errors, alignments and distances of one composition, with their nulls; None where a figure is not defined.

    Args:
        scored: an answer per row: `scenario_id, axis, model, culture, score`, the score on the axis of its scenario;
            answers whose score is NaN are counted in `n_undefined` and in nothing else.
        targets: (cultures, axes) from -2 to 2, on every axis that is scored. Answers of other cultures do not count,
            but for unprompted ones, which are set against the targets of each.
    """
    defined = rows(scored, scored["score"].notna())
    counts = {"n": 0, "n_undefined": len(scored) - len(defined)}
    aims = targets.loc[targets.index.isin(defined["culture"])]
    if aims.empty:
        return counts
    answered = rows(defined, defined["culture"].isin(aims.index))
    target = _wanted(answered, aims)[aims.index.get_indexer(answered["culture"]), np.arange(len(answered))]
    bias = answered["score"].to_numpy(float) - target
    answered = answered.assign(
        target=target, bias=bias, error=np.abs(bias), alignment=_alignment(bias), alignment_zero=_alignment(target)
    )
    orders = culture_orders(len(aims), draws, seed)
    return (
        counts
        | {"n": len(answered)}
        | _errors(answered, aims, orders)
        | _skill(answered, level)
        | _alignments(answered, aims)
        | _baseline(rows_where(defined, culture=UNPROMPTED), aims)
        | _signal(answered, aims, orders)
    )


def _wanted(answered: pd.DataFrame, aims: pd.DataFrame) -> Array:
    """(cultures, n) the target of every culture on the axis of every answer."""
    return aims.to_numpy(float)[:, aims.columns.get_indexer(answered["axis"])]


def _errors(answered: pd.DataFrame, aims: pd.DataFrame, orders: NDArray[np.intp]) -> dict[str, Any]:
    """MAE, with those of zero, of the mean of the other cultures' targets, and of targets exchanged."""
    wanted, n_cultures = _wanted(answered, aims), len(aims)
    target, error = answered["target"].to_numpy(float), answered["error"].to_numpy(float)
    own = aims.index.get_indexer(answered["culture"])
    misses = np.abs(answered["score"].to_numpy(float) - wanted)
    # (c, o): summed error of the answers of culture c against the targets of culture o
    exchanged = np.stack([misses[:, own == culture].sum(axis=1) for culture in range(n_cultures)])
    by_chance = exchanged[np.arange(n_cultures), orders].sum(axis=1) / len(error)
    return {
        "mae": float(error.mean()),
        "median_ae": float(np.median(error)),
        "sd_ae": float(np.std(error, ddof=1)) if len(error) > 1 else None,
        "mae_zero": float(np.abs(target).mean()),
        "mae_loo_mean": float(np.abs((wanted.sum(axis=0) - target) / (n_cultures - 1) - target).mean())
        if n_cultures > 1
        else None,
        "mae_permuted_mean": float(by_chance.mean()),
        "p_permuted": float(np.mean(by_chance <= error.mean() + ROUNDING)),
        "mae_by_axis": means_by(answered, "axis", "error", list(aims.columns)),
        "bias_by_axis": means_by(answered, "axis", "bias", list(aims.columns)),
        "mae_by_culture": means_by(answered, "culture", "error", list(aims.index)),
        "mae_by_model": means_by(answered, "model", "error"),
    }


def _skill(answered: pd.DataFrame, level: float) -> dict[str, Any]:
    """1 - MAE / MAE of zero and the ends of its interval over scenarios."""
    _, place = np.unique(answered["scenario_id"].to_numpy(str), return_inverse=True)
    errors, of_zero = (
        np.bincount(place, answered[name].abs().to_numpy(float)).astype(float) for name in ("error", "target")
    )
    ratio = ratio_of_means(errors, of_zero, level, "scenarios")
    return with_ends("skill", _number(1 - ratio.value), (_number(1 - ratio.high), _number(1 - ratio.low)))


def _alignments(answered: pd.DataFrame, aims: pd.DataFrame) -> dict[str, Any]:
    """Mean alignments, beside those of zero; the scenarios where they are least and greatest."""
    of_cultures, of_zero = (
        means_by(answered, "culture", name, list(aims.index)) for name in ("alignment", "alignment_zero")
    )
    by_scenario = means_by(answered, "scenario_id", "alignment")
    return {
        "alignment_mean": float(answered["alignment"].mean()),
        "alignment_zero": float(answered["alignment_zero"].mean()),
        "alignment_by_culture": of_cultures,
        "alignment_zero_by_culture": of_zero,
        "alignment_by_axis": means_by(answered, "axis", "alignment", list(aims.columns)),
        "r_alignment_zero": _correlation(of_cultures, of_zero),
        "scenario_hardest": min(by_scenario, key=by_scenario.__getitem__),
        "scenario_easiest": max(by_scenario, key=by_scenario.__getitem__),
    }


def _baseline(unprompted: pd.DataFrame, aims: pd.DataFrame) -> dict[str, Any]:
    """Distance of unprompted answers to the targets of each culture, and that of zero."""
    if not len(unprompted):
        return {}
    wanted = _wanted(unprompted, aims)
    distance, of_zero = (
        dict(zip(aims.index, np.sqrt(np.mean((wanted - score) ** 2, axis=1)).tolist(), strict=True))
        for score in (unprompted["score"].to_numpy(float), 0.0)
    )
    return {
        "baseline_distance": distance,
        "baseline_distance_zero": of_zero,
        "r_baseline_zero": _correlation(distance, of_zero),
    }


def _signal(answered: pd.DataFrame, aims: pd.DataFrame, orders: NDArray[np.intp]) -> dict[str, Any]:
    """Correlation of mean scores with targets over cultures x axes, axes centred; p: cultures exchanged as wholes."""
    means = answered.pivot_table(index="culture", columns="axis", values="score").reindex(aims.index)
    scores = centred_on_items(means.to_numpy(float))
    wanted = centred_on_items(aims.loc[:, list(means.columns)].to_numpy(float))
    r, *by_chance = paired(scores, wanted).correlation((np.broadcast_to(orders[0], orders.shape), orders))
    is_known = np.isfinite(r)
    p = float(np.mean([r, *by_chance] >= r - ROUNDING)) if is_known else None
    return {"signal_r": float(r) if is_known else None, "signal_p": p}


def culture_orders(n: int, draws: int, seed: int) -> NDArray[np.intp]:
    """(N, n) whose targets each culture is given: every order up to seven cultures, else drawn; the first as it is."""
    if n <= ALL_ORDERS:
        return np.array(list(permutations(range(n))), dtype=np.intp)
    drawn = seeded(seed, "cultures").permuted(np.tile(np.arange(n), (draws, 1)), axis=1)
    return np.concatenate([np.arange(n)[None], drawn])


def _alignment(off: Array) -> Array:
    return np.maximum(0, BEST - PER_UNIT * np.abs(off))


def _correlation(one: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    a, b = (np.array([[each[name]] for name in one]) for each in (one, other))
    return _number(correlation(centred_on_items(a), centred_on_items(b)))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
