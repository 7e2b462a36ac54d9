"""`psych_tasks/published_scores`: the score that published work takes for a trait, beside nulls without any trait.

S(m, i) = sum of h q(h) / sum of q(h) over participants: people's answers, weighted by how likely a model finds them.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.psych_tasks.measures.model_lines import lines_of
from valuesassets.measure.internal_consistency import cronbach_alpha, feldt_interval, no_covariance_band
from valuesassets.measure.means import Array
from valuesassets.measure.resampling import with_ends
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, parts_of, rows

READINGS = {"exact": "q_human", "late": "q_late_human"}
BLANK = "q_blank_human"
DRAWS = 100
"""Number of random and of permuted simulations; each takes about 0.1 s with 46 models, 1,500 people, 20 items."""
POOL = 100_000
"""Number of probabilities of random answers, from which random simulations draw."""
LOGIT_MEAN, LOGIT_SD = -10.0, 1.0
"""Of random logits, as in the published simulation; their mean cancels."""
SCORES = ["model", "experiment", "scale", "item", "score", "reading", "reason"]
SCALES = ["experiment", "scale", "reading", "models", "lines", "items", "alpha", "alpha_low", "alpha_high", "null_low"]
SCALES += ["null_high", "alpha_random", "alpha_random_low", "alpha_random_high", "alpha_permuted", "alpha_label"]
SCALES += ["reason"]


class ScoredScale(NamedTuple):
    """A scale whose answers are the whole numbers from `low` to `high`.

    Attributes:
        items: numbers of its items.
        reversed: those that are reverse-keyed.
    """

    items: tuple[int, ...]
    reversed: tuple[int, ...]
    low: float
    high: float


class Cells(NamedTuple):
    """The marks of a scale in one experiment that were read, sorted by cell; a cell is an item of a model.

    Attributes:
        models: (M,) models with a mark.
        place: (N,) the cell of each mark, in the order of models and then of items.
        human, q: (N,) the participant's answer, and its probability.
    """

    scale: ScoredScale
    models: tuple[str, ...]
    place: NDArray[np.intp]
    human: Array
    q: Array

    def scores(self, q: Array) -> Array:
        """(M, I) re-keyed scores with probabilities (N,) in place of the model's; NaN where nothing was read."""
        n = len(self.models) * len(self.scale.items)
        above, below = (np.bincount(self.place, weights=w, minlength=n) for w in (self.human * q, q))
        means = np.divide(above, below, out=np.full(n, np.nan), where=below > 0)
        means = means.reshape(len(self.models), len(self.scale.items))
        return np.where(np.isin(self.scale.items, self.scale.reversed), self.scale.low + self.scale.high - means, means)


def derive_published_scores(
    frame: pd.DataFrame, scales: Mapping[str, ScoredScale], seed: int = 0, level: float = 0.95, draws: int = DRAWS
) -> dict[str, pd.DataFrame]:
    """Tables `scores` (an item of a model, re-keyed) and `scales` (alpha over models beside its nulls).

    Nulls: `null_low` and `null_high`, between which alpha lies without any covariance of items; `alpha_random`, q of
    random logits; `alpha_permuted`, q permuted among the participants of each cell; `alpha_label`, q of a model that
    sees no item. Missing values have a `reason`.

    Args:
        frame: `model`, `experiment`, `participant`, `item`, `human_value` and the share of that answer among the
            candidates: `q_human`, `q_late_human` as published code reads it, `q_blank_human` without an item;
            optionally `line` of the model, each its own if left out. A participant without a share has no part in the
            model's score of the item.
        scales: by name. The late reading has rows only where marks were read so.

    Source: the public code of Meyer, Garcia and Wulff (2026), arXiv 2606.20205.
    """
    score_rows, scale_rows = [], []
    for (experiment,), part in parts_of(frame, ["experiment"]):
        for name, scale in scales.items():
            of_scale = rows(part, part["item"].isin(list(scale.items)))
            for reading, q in READINGS.items():
                if reading == "late" and not column(of_scale, q).notna().any():
                    continue
                where = {"experiment": experiment, "scale": name, "reading": reading}
                cells = _cells(of_scale, scale, q)
                scores = cells.scores(cells.q)
                score_rows += [where | row for row in _score_rows(cells, scores)]
                row = where | alpha_columns(scores, level, lines_of(of_scale, cells.models))
                if row["reason"] is None:
                    random = seeded(seed, "published_scores", experiment, name)
                    row |= _nulls(cells, random, level, draws) | _label(of_scale, scale)
                scale_rows.append(row)
    return {
        "scores": pd.DataFrame(score_rows, columns=pd.Index(SCORES)),
        "scales": pd.DataFrame(scale_rows, columns=pd.Index(SCALES)),
    }


def alpha_columns(scores: Array, level: float = 0.95, lines: Sequence[str] | None = None) -> dict[str, Any]:
    """Alpha of (models, items) scores, its interval, and the band without covariance; or only a `reason`.

    Interval and band count lines instead of models, since models of one line are no separate evidence.
    """
    n, k = scores.shape
    n_lines = n if lines is None else len(set(lines))
    row: dict[str, Any] = {"models": n, "lines": n_lines, "items": k, "reason": None}
    try:
        alpha = cronbach_alpha(scores)
        if n_lines < 2:
            raise MissingData(f"all {n} models are of one line: nothing tells what others would give")
    except MissingData as error:
        names = ("alpha", "alpha_low", "alpha_high", "null_low", "null_high")
        return row | dict.fromkeys(names) | {"reason": str(error)}
    row |= with_ends("alpha", alpha, feldt_interval(alpha, n_lines, k, level))
    return row | dict(zip(("null_low", "null_high"), no_covariance_band(n_lines, k, level), strict=True))


def random_probs(n_candidates: int, random: np.random.Generator) -> Array:
    """(`POOL` or a few more,) probabilities of candidates whose logits are N(-10, 1), for a number of candidates."""
    logits = random.normal(LOGIT_MEAN, LOGIT_SD, size=(-(-POOL // n_candidates), n_candidates))
    odds = np.exp(logits)
    return (odds / odds.sum(axis=1, keepdims=True)).ravel()


def _cells(frame: pd.DataFrame, scale: ScoredScale, q: str) -> Cells:
    numbers, models = pd.factorize(column(frame, "model"))
    place = numbers * len(scale.items) + pd.Index(scale.items).get_indexer(pd.Index(column(frame, "item")))
    human, probs = (column(frame, name).to_numpy(dtype=float, na_value=np.nan) for name in ("human_value", q))
    numeric = np.flatnonzero(np.isfinite(human) & np.isfinite(probs))
    ordered = numeric[np.argsort(place[numeric], kind="stable")]
    return Cells(scale, tuple(map(str, models)), place[ordered], human[ordered], probs[ordered])


def _score_rows(cells: Cells, scores: Array) -> Iterator[dict[str, Any]]:
    n_read = np.bincount(cells.place, minlength=scores.size).reshape(scores.shape)
    for model, of_model, n_of_model in zip(cells.models, scores, n_read, strict=True):
        for item, score, n in zip(cells.scale.items, of_model, n_of_model, strict=True):
            why = "no participant's answer was read" if n == 0 else "every participant's answer has probability 0"
            value, reason = (float(score), None) if np.isfinite(score) else (None, why)
            yield {"model": model, "item": item, "score": value, "reason": reason}


def _nulls(cells: Cells, random: np.random.Generator, level: float, draws: int) -> dict[str, Any]:
    """Alphas where q is independent of the item, or of the participant's answer."""
    pool = random_probs(round(cells.scale.high - cells.scale.low) + 1, random)
    alike = _marks_by_size(cells.place)
    from_random: list[float] = []
    from_permuted: list[float] = []
    for _ in range(draws):
        permuted = cells.q.copy()
        for marks in alike:
            permuted[marks] = random.permuted(cells.q[marks], axis=1)
        random_q = pool[random.integers(pool.size, size=cells.q.size)]
        for alphas, q in ((from_random, random_q), (from_permuted, permuted)):
            with contextlib.suppress(MissingData):  # few marks: by chance all models have one sum
                alphas.append(cronbach_alpha(cells.scores(q)))
    ends = np.quantile(from_random, [(1 - level) / 2, (1 + level) / 2]).tolist() if from_random else (None, None)
    row = with_ends("alpha_random", _mean(from_random), (ends[0], ends[1]))
    return row | {"alpha_permuted": _mean(from_permuted)}


def _mean(alphas: Sequence[float]) -> float | None:
    return float(np.mean(alphas)) if alphas else None


def _marks_by_size(place: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """For every n the (cells, n) places of the marks of all cells with n marks."""
    _, starts, sizes = np.unique(place, return_index=True, return_counts=True)
    return [starts[sizes == n][:, None] + np.arange(n) for n in np.unique(sizes)]


def _label(of_scale: pd.DataFrame, scale: ScoredScale) -> dict[str, Any]:
    blank = _cells(of_scale, scale, BLANK)
    if not blank.q.size:
        return {"alpha_label": None, "reason": "alpha_label: no model was asked without items (history blank)"}
    try:
        return {"alpha_label": cronbach_alpha(blank.scores(blank.q))}
    except MissingData as error:
        return {"alpha_label": None, "reason": f"alpha_label: {error}"}
