"""`worldvaluesbench/benchmark_scores`: the published score, and one of complete pairs.

The published score pools all answers, so ratings shuffled over people have the same score: it does not depend on
whether a model moves with a person's background (`awareness`).
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Groups, Probe, Rated
from valuesassets.instruments.worldvaluesbench.published.published_scores import NULLS, THRESHOLDS, share_at_most
from valuesassets.measure.between_groups import sums_by
from valuesassets.measure.floors import w1_floor_unit
from valuesassets.records.frames import parts_of, stacked

EVERYBODY = "all"
COLUMNS = ["model", "subset", "question_id", "n_people", "n_ratings", "n_missing", "n_out_of_scale"]
COLUMNS += ["w1_seed", "w1_unit", "w1_floor_unit", "w1_uniform_unit", "w1_majority_unit"]
THRESHOLD_COLUMNS = ["model", "subset", "threshold", "n_questions", "share", "share_unit"]


def derive_benchmark_scores(probe: Probe) -> pd.DataFrame:
    """A row for each model, subset of people and question, in scale units.

    `w1_seed`: Wasserstein-1 distance between all ratings, off the scale too, and the answers of everybody with a row in
    the model's file, with a rating or without. `w1_unit`: the distance between answers and ratings on the scale of
    people with both; `w1_floor_unit`: its expectation for a perfect model. `w1_uniform_unit`, `w1_majority_unit`:
    distances of everybody's answers from uniform ones, and from the most frequent one (the lowest code of several).

    Source: Zhao et al. (2024), section 4.2, and their `evaluate.py`.
    """
    names, members = subsets_of(probe.groups)
    scores = stacked([pd.DataFrame(_of_question(item, members, names)) for item in probe.questions])
    scores = pd.DataFrame(scores[scores["n_people"] > 0])
    for name in ("model", "subset"):  # in the order in which they are first met
        scores[name] = pd.Categorical(scores[name], categories=scores[name].unique())
    scores = scores.sort_values(["model", "subset"], kind="stable", ignore_index=True)
    return scores.astype({"model": object, "subset": object})


def derive_threshold_shares(scores: pd.DataFrame) -> pd.DataFrame:
    """Shares of questions whose distance is at most a threshold, 0 to 1 in steps of .05, by model and subset.

    `share` is of `w1_seed` and `share_unit` of `w1_unit`, over the `n_questions` with a `w1_seed`. The models `uniform`
    and `majority` are the two nulls.

    Args:
        scores: rows of `derive_benchmark_scores`.

    Source: Zhao et al. (2024), figure 3; `<=` gives the percentages of their abstract.
    """
    one_model = scores[scores["model"] == scores["model"].iloc[0]]
    columns = {name: one_model[f"w1_{name}_unit"] for name in NULLS}
    nulls = [one_model.assign(model=name, w1_seed=column, w1_unit=column) for name, column in columns.items()]
    rows: list[dict[str, Any]] = []
    for (model, subset), part in parts_of(pd.concat([*nulls, scores]), ["model", "subset"]):
        seed, unit = (part[name].to_numpy(float) for name in ("w1_seed", "w1_unit"))
        for threshold in THRESHOLDS:
            row = {"model": model, "subset": subset, "threshold": threshold, "n_questions": np.isfinite(seed).sum()}
            rows.append(row | {"share": share_at_most(seed, threshold), "share_unit": share_at_most(unit, threshold)})
    return pd.DataFrame(rows, columns=pd.Index(THRESHOLD_COLUMNS))


def subsets_of(groups: Groups) -> tuple[list[str], NDArray[np.bool_]]:
    """Names of the subsets (everybody, then each level of each factor), and (S, G) whether groups belong to them."""
    levels = np.array(groups.levels, dtype=object)
    names, members = [EVERYBODY], [np.ones(len(levels), dtype=bool)]
    for factor in range(levels.shape[1]):
        for level in dict.fromkeys(levels[:, factor]):
            names.append(str(level))
            members.append(levels[:, factor] == level)
    return names, np.stack(members)


def w1_between(points: Floats, a: Floats, b: Floats) -> Floats:
    """(...) Wasserstein-1 distances between two samples on the same points; NaN if a sample is empty.

    Args:
        points: (V,) in increasing order.
        a, b: (..., V) count of each point in a sample.

    >>> w1_between(np.array([0.0, 0.5, 1.0]), np.array([1.0, 0, 1]), np.array([0.0, 1, 0])).item()
    0.5
    """
    with np.errstate(invalid="ignore"):
        steps = [np.cumsum(each, axis=-1) / each.sum(axis=-1, keepdims=True) for each in (a, b)]
    apart = np.abs(steps[0] - steps[1])[..., :-1] * np.diff(points)
    return apart.sum(axis=-1)


def _of_question(item: AskedQuestion, members: NDArray[np.bool_], names: list[str]) -> dict[str, Any]:
    """Columns of all models' rows for one question."""
    question, n_answers = item.question, len(item.question.values)
    unit = np.arange(n_answers) / (n_answers - 1)
    has_answer = np.isfinite(item.answers)
    answered = (np.nan_to_num(item.answers, nan=question.lo) - question.lo).astype(np.int64)

    def pooled(people: NDArray[np.bool_]) -> Floats:
        table = np.bincount(item.groups[people] * n_answers + answered[people], minlength=members.shape[1] * n_answers)
        return members.astype(np.float64) @ table.reshape(-1, n_answers).astype(np.float64)

    humans = pooled(has_answer)
    shared = {
        "subset": names,
        "question_id": [question.id] * len(names),
        "n_people": humans.sum(axis=1).astype(np.int64),
        "w1_uniform_unit": w1_between(unit, humans, np.ones(n_answers)),
        "w1_majority_unit": w1_between(unit, humans, np.eye(n_answers)[humans.argmax(axis=1)]),
    }
    rows: list[dict[str, Any]] = []
    for name, rated in item.with_attributes.items():
        is_on = np.isfinite(rated.probs[:, 0])
        models = members @ sums_by(item.groups, members.shape[1], np.where(is_on[:, None], rated.probs, 0))
        pairs = is_on & has_answer
        matched = pooled(pairs)
        matched_model = members @ sums_by(item.groups, members.shape[1], np.where(pairs[:, None], rated.probs, 0))
        n_pairs = matched.sum(axis=1)
        off = _off_scale(item, rated, is_on, members)
        points = np.concatenate([unit, (off[0] - question.lo) / (n_answers - 1)])
        order = np.argsort(points)
        listed = humans if rated.has_row is None else pooled(has_answer & rated.has_row)
        humans_there = np.concatenate([listed, np.zeros_like(off[1])], axis=1)[:, order]
        models_there = np.concatenate([models, off[1]], axis=1)[:, order]
        n_asked = members @ np.bincount(item.groups, minlength=members.shape[1])
        n_off, n_on = off[1].sum(axis=1), members @ np.bincount(item.groups[is_on], minlength=members.shape[1])
        with np.errstate(invalid="ignore", divide="ignore"):
            truth, modelled = (np.cumsum(each, axis=1)[:, :-1] / n_pairs[:, None] for each in (matched, matched_model))
            floor = w1_floor_unit(truth, n_pairs, modelled if rated.is_decoded else None, n_pairs)
        rows.append(
            shared
            | {"model": [name] * len(names), "n_ratings": (n_on + n_off).astype(np.int64)}
            | {"n_missing": (n_asked - n_on - n_off).astype(np.int64), "n_out_of_scale": n_off.astype(np.int64)}
            | {"w1_seed": w1_between(points[order], humans_there, models_there)}
            | {"w1_unit": w1_between(unit, matched, matched_model), "w1_floor_unit": floor}
        )
    return {name: np.concatenate([row[name] for row in rows]) if rows else [] for name in COLUMNS}


def _off_scale(
    item: AskedQuestion, rated: Rated, is_on: NDArray[np.bool_], members: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Ratings off the scale, (V,), and the count of each in every subset, (S, V)."""
    if rated.ratings is None:
        return np.empty(0), np.zeros((len(members), 0))
    is_off = ~is_on & np.isfinite(rated.ratings)
    values, places = np.unique(rated.ratings[is_off], return_inverse=True)
    table = np.bincount(item.groups[is_off] * values.size + places, minlength=members.shape[1] * values.size)
    counts = members.astype(np.float64) @ table.reshape(members.shape[1], values.size).astype(np.float64)
    return values, counts
