"""`worldwise/seed_scores`: the figures of worldWiseAI, of this study's answers, each beside what needs no answer."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldwise.answers.model_answers import ModelAnswers, of_models
from valuesassets.instruments.worldwise.answers.reasons import DECIDE, DECLINED, OK
from valuesassets.instruments.worldwise.answers.stored_vectors import read_vectors
from valuesassets.instruments.worldwise.material.dimensions import HIGH, POLES
from valuesassets.instruments.worldwise.measures.axes import pole_means
from valuesassets.instruments.worldwise.published.counts import stereotype_score, value_shifts
from valuesassets.instruments.worldwise.published.measures import (
    BEST,
    COMPOSITIONS,
    PER_UNIT,
    measure_seed_scores,
    semantic_scores,
)
from valuesassets.instruments.worldwise.tables import SEED_ERRORS, SEED_FIGURES, SEED_MEASURES
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, means_by, parts_of, rows, rows_where
from valuesassets.records.settings.measuring import Inference

FINAL, STORED = COMPOSITIONS
MOST_SCENARIOS = 5
"""Hardest and easiest dilemmas in their figure."""
Point = tuple[str, float, float]
"""Name of a row, the figure, its null."""


def derive_seed_scores(
    answered: Mapping[str, ModelAnswers],
    scenarios: pd.DataFrame,
    axes: Mapping[str, pd.DataFrame],
    targets: pd.DataFrame,
    how: Inference,
) -> dict[str, pd.DataFrame]:
    """`measures` of all models together, and points of the published `figures`; both with what needs no answer.

    Args:
        scenarios: rows of `SCENARIOS`.
        targets: see `measure_seed_scores`; empty where nothing is expected, so that what needs them is left out.

    Raises:
        MissingData: no decision was written that could be scored.
    """
    scored_by_name = {
        name: of_models(answered, partial(_scored, kind=f"seed_{name}", axes=axes)) for name in COMPOSITIONS
    }
    if not any(map(len, scored_by_name.values())):
        raise MissingData("no answer decided for an option, and published scores are of decisions; ask for 'decide'")
    measures = []
    for name, scored in scored_by_name.items():
        measured = measure_seed_scores(scored, targets, draws=how.resamples, seed=how.seed, level=how.level)
        measures += [{"composition": name} | row for row in _measures(measured)]
    return {
        "measures": SEED_MEASURES.frame(measures),
        "errors": _errors(scored_by_name[FINAL], targets),
        "figures": _figures(answered, scored_by_name, scenarios, targets, how),
    }


def _scored(model: str, answers: ModelAnswers, kind: str, axes: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The score of each decision on the axis of its dilemma, of the texts of one composition."""
    decisions = rows_where(answers.vectors, kind=kind).reset_index(drop=True)
    texts, exemplar_vectors = read_vectors(decisions, axes["vectors"])
    scores = np.full(len(decisions), np.nan)
    for axis in dict.fromkeys(decisions["axis"]):
        is_on = (decisions["axis"] == axis).to_numpy()
        scores[is_on] = semantic_scores(texts[is_on], *pole_means(axes["vectors"], exemplar_vectors, axis))
    return decisions.loc[:, ["scenario_id", "axis", "culture"]].assign(model=model, score=scores)


def _measures(measured: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Rows of `SEED_MEASURES` of what was measured, without its composition."""
    if not measured["n"]:
        yield {"measure": "mae", "reason": "no culture that was answered as has a target"}
        return
    beside = {
        "mae": {"zero": "mae_zero", "others_mean": "mae_loo_mean", "exchanged": "mae_permuted_mean", "p": "p_permuted"},
        "alignment_mean": {"zero": "alignment_zero"},
        "signal_r": {"p": "signal_p"},
        "skill": {},
        "median_ae": {},
        "sd_ae": {},
        "r_alignment_zero": {},
        "r_baseline_zero": {},
    }
    for measure, nulls in beside.items():
        if measured.get(measure) is not None:
            yield {"measure": measure, "value": measured[measure]} | {to: measured.get(of) for to, of in nulls.items()}


def _figures(
    answered: Mapping[str, ModelAnswers],
    scored: Mapping[str, pd.DataFrame],
    scenarios: pd.DataFrame,
    targets: pd.DataFrame,
    how: Inference,
) -> pd.DataFrame:
    """Rows of `SEED_FIGURES`: alignment of the composition that published it, errors of the other."""
    points_rows = []
    for model, answers in answered.items():
        stored, final = (rows_where(scored[name], model=model) for name in (STORED, FINAL))
        points_by_figure = {
            **_alignments(stored, scenarios, targets),
            **_distances(final, targets, how.seed),
            **_counts(answers.reasons, how.seed),
        }
        points_by_figure["two metrics"] = [
            (
                name,
                float(np.mean([value for _, value, _ in points_by_figure[of]])),
                float(np.mean([null for *_, null in points_by_figure[of]])),
            )
            for name, of in (("alignment", "alignment by culture"), ("stereotype score", "stereotype score"))
            if points_by_figure[of]
        ]
        points_rows += [
            {"figure": figure, "score": name, "model": model, "value": value, "null": null}
            for figure, points in points_by_figure.items()
            for name, value, null in points
        ]
    return SEED_FIGURES.frame(points_rows)


def _expected(scored: pd.DataFrame, targets: pd.DataFrame) -> pd.DataFrame:
    """Scores of cultures that have a target, with it, and with alignments of the score and of zero."""
    defined = rows(scored, scored["score"].notna() & scored["culture"].isin(list(targets.index)))
    at = targets.index.get_indexer(defined["culture"]), targets.columns.get_indexer(defined["axis"])
    target = targets.to_numpy(float)[at]
    off = {"alignment": defined["score"].to_numpy(float) - target, "zero": target}
    return defined.assign(**{name: np.maximum(0, BEST - PER_UNIT * np.abs(each)) for name, each in off.items()})


def _alignments(scored: pd.DataFrame, scenarios: pd.DataFrame, targets: pd.DataFrame) -> dict[str, list[Point]]:
    """Alignment by culture, domain and dilemma; null: that of a score of zero everywhere."""
    expected = _expected(scored, targets).merge(scenarios[["scenario_id", "domain"]], on="scenario_id", how="left")
    by_scenario = sorted(_beside(expected, "scenario_id"), key=lambda point: point[1])
    few = (
        by_scenario
        if len(by_scenario) <= 2 * MOST_SCENARIOS
        else [*by_scenario[:MOST_SCENARIOS], *by_scenario[-MOST_SCENARIOS:]]
    )
    return {
        "alignment by culture": _beside(expected, "culture"),
        "alignment by domain": _beside(expected, "domain"),
        "hardest and easiest dilemmas": few,
    }


def _beside(expected: pd.DataFrame, by: str) -> list[Point]:
    """Mean alignment of each part, beside that of zero."""
    zero = means_by(expected, by, "zero")
    means = means_by(expected, by, "alignment", list(dict.fromkeys(expected[by])))
    return [(name, value, zero[name]) for name, value in means.items()]


def _errors(scored: pd.DataFrame, targets: pd.DataFrame) -> pd.DataFrame:
    """Rows of `SEED_ERRORS`."""
    expected = _expected(scored, targets)
    errors = []
    for (model, culture, axis), part in parts_of(expected, ["model", "culture", "axis"]):
        error, zero = ((BEST - float(part[name].mean())) / PER_UNIT for name in ("alignment", "zero"))
        errors.append({"model": model, "culture": culture, "axis": axis, "error": error, "error_zero": zero})
    return SEED_ERRORS.frame(errors)


def _distances(scored: pd.DataFrame, targets: pd.DataFrame, seed: int) -> dict[str, list[Point]]:
    """Distance of unprompted answers to each culture's targets; null: that of a score of zero."""
    measured = measure_seed_scores(scored, targets, seed=seed)
    zero = measured.get("baseline_distance_zero", {})
    distances = measured.get("baseline_distance", {}).items()
    return {"distance of unprompted answers": [(name, value, zero[name]) for name, value in distances]}


def _counts(reasons: pd.DataFrame, seed: int) -> dict[str, list[Point]]:
    """Decisions, ticked values, shifts and the stereotype score; null: what says nothing of any culture."""
    decide = rows_where(reasons, form=DECIDE)
    read = rows(decide, decide["status"].isin([OK, DECLINED])).assign(model="")
    decided = rows_where(read, status=OK)
    decided = decided.assign(is_high=(column(decided, "decision") == HIGH).astype(float))
    ticks = Counter(value for ticked in read["values"] for value in ticked)
    shifts = value_shifts(read, seed=seed)
    scored = read.assign(score=[stereotype_score(text) for text in read["text"]])
    poles: list[Point] = (
        [(pole, float((decided["decision"] == pole).mean()), 0.5) for pole in POLES] if len(decided) else []
    )
    declined: list[Point] = [("declined", float((read["status"] == DECLINED).mean()), 0.0)] if len(read) else []
    return {
        "decisions": [*poles, *declined],
        "decisions for the high pole": [
            (name, share, 0.5) for name, share in means_by(decided, "culture", "is_high").items()
        ],
        "values ticked": [(value, n / ticks.total(), 1 / len(ticks)) for value, n in ticks.most_common()],
        "shift of ticked values": [(name, each["tvd"], each["null_mean"]) for name, each in shifts.items()],
        "stereotype score": [(name, score, BEST) for name, score in means_by(scored, "culture", "score").items()],
    }
