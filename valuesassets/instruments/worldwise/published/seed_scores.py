"""`worldwise/seed_scores`: the figures of worldWiseAI for this study's answers, each beside its null."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldwise.answers.model_answers import Answered, Frames, ModelAnswers, of_models
from valuesassets.instruments.worldwise.answers.reasons import DECIDE, DECLINED, OK
from valuesassets.instruments.worldwise.answers.vectors import read_vectors
from valuesassets.instruments.worldwise.material.dimensions import HIGH, POLES
from valuesassets.instruments.worldwise.measures.axes import pole_means
from valuesassets.instruments.worldwise.published.measures import (
    BEST,
    COMPOSITIONS,
    PER_UNIT,
    measure_published_scores,
    semantic_scores,
    stereotype_score,
    value_shifts,
    with_targets,
)
from valuesassets.instruments.worldwise.tables import SEED_ERRORS, SEED_FIGURES, SEED_MEASURES
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, means_by, parts_of, rows, rows_where
from valuesassets.records.settings.measuring import Inference

FINAL, STORED = COMPOSITIONS
MOST_SCENARIOS = 5
"""Dilemmas at each end of the figure of the hardest and easiest."""
Point = tuple[str, float, float]
"""The name of a row of a figure, its value and its null."""
NULLS = {
    "mae": {"zero": "mae_zero", "others_mean": "mae_loo_mean", "exchanged": "mae_permuted_mean", "p": "p_permuted"},
    "alignment_mean": {"zero": "alignment_zero"},
    "signal_r": {"p": "signal_p"},
    **{measure: {} for measure in ("skill", "median_ae", "sd_ae", "r_alignment_zero", "r_baseline_zero")},
}
"""The measures that are stored, and the measures that are their nulls by column."""


def derive_seed_scores(
    answered: Answered, scenarios: pd.DataFrame, axes: Frames, targets: pd.DataFrame, how: Inference
) -> dict[str, pd.DataFrame]:
    """`measures` of all models together, `errors` by culture and axis, and points of the published `figures`.

    Without targets the measures that need them are left out.

    Raises:
        MissingData: no written decision can be scored.
    """
    scored = {name: of_models(answered, partial(_scored, kind=f"seed_{name}", axes=axes)) for name in COMPOSITIONS}
    if not any(map(len, scored.values())):
        raise MissingData("no answer decided for an option, and published scores are of decisions; ask for 'decide'")
    measures = []
    for name, each in scored.items():
        measured = measure_published_scores(each, targets, draws=how.resamples, seed=how.seed, level=how.level)
        measures += [{"composition": name} | row for row in _measures(measured)]
    return {
        "measures": SEED_MEASURES.frame(measures),
        "errors": _errors(scored[FINAL], targets),
        "figures": _figures(answered, scored, scenarios, targets, how),
    }


def _scored(model: str, answers: ModelAnswers, kind: str, axes: Frames) -> pd.DataFrame:
    """The score of each decision, on the axis of its dilemma, from the texts of one composition."""
    decisions = rows_where(answers.vectors, kind=kind).reset_index(drop=True)
    texts, exemplar_vectors = read_vectors(decisions, axes["vectors"])
    scores = np.full(len(decisions), np.nan)
    for axis in dict.fromkeys(decisions["axis"]):
        is_on = (decisions["axis"] == axis).to_numpy()
        scores[is_on] = semantic_scores(texts[is_on], *pole_means(axes["vectors"], exemplar_vectors, axis))
    return decisions.loc[:, ["scenario_id", "axis", "culture"]].assign(model=model, score=scores)


def _measures(measured: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Rows of `SEED_MEASURES` without their composition."""
    if not measured["n"]:
        yield {"measure": "mae", "reason": "no culture that was answered as has a target"}
        return
    for measure, nulls in NULLS.items():
        if measured.get(measure) is not None:
            yield {"measure": measure, "value": measured[measure]} | {
                column: measured.get(null) for column, null in nulls.items()
            }


def _figures(
    answered: Answered,
    scored: Mapping[str, pd.DataFrame],
    scenarios: pd.DataFrame,
    targets: pd.DataFrame,
    how: Inference,
) -> pd.DataFrame:
    """Rows of `SEED_FIGURES`: alignment and distance, each of the composition for which worldWiseAI published it."""
    point_rows = []
    for model, answers in answered.items():
        stored, final = (rows_where(scored[name], model=model) for name in (STORED, FINAL))
        figures = {
            **_alignments(stored, scenarios, targets),
            **_distances(final, targets, how.seed),
            **_counts(answers.reasons, how.seed),
        }
        means = {"alignment": figures["alignment by culture"], "stereotype score": figures["stereotype score"]}
        figures["two metrics"] = [
            (name, float(np.mean([value for _, value, _ in points])), float(np.mean([null for *_, null in points])))
            for name, points in means.items()
            if points
        ]
        point_rows += [
            {"figure": figure, "score": name, "model": model, "value": value, "null": null}
            for figure, points in figures.items()
            for name, value, null in points
        ]
    return SEED_FIGURES.frame(point_rows)


def _alignments(scored: pd.DataFrame, scenarios: pd.DataFrame, targets: pd.DataFrame) -> dict[str, list[Point]]:
    """Alignment by culture, domain and dilemma; null: that of a score of zero everywhere."""
    domains = scenarios[["scenario_id", "domain"]]
    aligned = with_targets(scored, targets).merge(domains, on="scenario_id", how="left")
    by_scenario = sorted(_with_nulls(aligned, "scenario_id"), key=lambda point: point[1])
    if len(by_scenario) > 2 * MOST_SCENARIOS:
        by_scenario = [*by_scenario[:MOST_SCENARIOS], *by_scenario[-MOST_SCENARIOS:]]
    return {
        "alignment by culture": _with_nulls(aligned, "culture"),
        "alignment by domain": _with_nulls(aligned, "domain"),
        "hardest and easiest dilemmas": by_scenario,
    }


def _with_nulls(aligned: pd.DataFrame, by: str) -> list[Point]:
    zero = means_by(aligned, by, "alignment_zero")
    means = means_by(aligned, by, "alignment", list(dict.fromkeys(aligned[by])))
    return [(name, value, zero[name]) for name, value in means.items()]


def _errors(scored: pd.DataFrame, targets: pd.DataFrame) -> pd.DataFrame:
    """Rows of `SEED_ERRORS`."""
    errors = []
    for (model, culture, axis), part in parts_of(with_targets(scored, targets), ["model", "culture", "axis"]):
        error, zero = ((BEST - float(part[name].mean())) / PER_UNIT for name in ("alignment", "alignment_zero"))
        errors.append({"model": model, "culture": culture, "axis": axis, "error": error, "error_zero": zero})
    return SEED_ERRORS.frame(errors)


def _distances(scored: pd.DataFrame, targets: pd.DataFrame, seed: int) -> dict[str, list[Point]]:
    """Distance of unprompted answers to each culture's targets; null: that of a score of zero."""
    measured = measure_published_scores(scored, targets, seed=seed)
    zero = measured.get("baseline_distance_zero", {})
    distances = measured.get("baseline_distance", {}).items()
    return {"distance of unprompted answers": [(name, value, zero[name]) for name, value in distances]}


def _counts(reasons: pd.DataFrame, seed: int) -> dict[str, list[Point]]:
    """Decisions, ticked values, shifts and the stereotype score; nulls: those of answers that show no culture."""
    decide = rows_where(reasons, form=DECIDE)
    answers = rows(decide, decide["status"].isin([OK, DECLINED])).assign(model="")
    decided = rows_where(answers, status=OK)
    decided = decided.assign(is_high=(column(decided, "decision") == HIGH).astype(float))
    ticks = Counter(value for ticked in answers["values"] for value in ticked)
    shifts = value_shifts(answers, seed=seed)
    scored = answers.assign(score=[stereotype_score(text) for text in answers["text"]])
    shares: list[Point] = []
    if len(decided):
        shares += [(pole, float((decided["decision"] == pole).mean()), 0.5) for pole in POLES]
    if len(answers):
        shares.append(("declined", float((answers["status"] == DECLINED).mean()), 0.0))
    high_shares = means_by(decided, "culture", "is_high")
    return {
        "decisions": shares,
        "decisions for the high pole": [(name, share, 0.5) for name, share in high_shares.items()],
        "values ticked": [(value, n / ticks.total(), 1 / len(ticks)) for value, n in ticks.most_common()],
        "shift of ticked values": [(name, each["tvd"], each["null_mean"]) for name, each in shifts.items()],
        "stereotype score": [(name, score, BEST) for name, score in means_by(scored, "culture", "score").items()],
    }
