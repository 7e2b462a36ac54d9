"""`worldvaluesbench/benchmark_scores`: the score that the benchmark is known for, beside one of complete pairs.

It pools everybody's answers, so ratings shuffled over people score the same: it cannot see whether a model moves with a
person's background (`awareness`).
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Groups, Probe, Rated
from valuesassets.instruments.worldvaluesbench.published.published_scores import THRESHOLDS, share_at_most
from valuesassets.measure.between_groups import sums_by
from valuesassets.measure.ranked_probability import w1_floor_unit
from valuesassets.records.frames import parts_of, stacked

EVERYBODY = "all"
COLUMNS = ["model", "subset", "question_id", "n_people", "n_ratings", "n_missing", "n_out_of_scale"]
COLUMNS += ["w1_seed", "w1_unit", "w1_floor_unit", "w1_uniform_unit", "w1_majority_unit"]
THRESHOLD_COLUMNS = ["model", "subset", "threshold", "n_questions", "share", "share_unit"]


def derive_benchmark_scores(probe: Probe) -> pd.DataFrame:
    """A row for each model, subset of people and question, in scale units.

    `w1_seed`: Wasserstein-1 distance between all ratings and the answers of everybody whom the model's file has a row
    for: ratings off the scale stay where they are, missing ones go and their people stay. `w1_unit`: between answers
    and ratings of people who have both, on the scale. `w1_floor_unit`: what the latter would be of a perfect model.
    `w1_uniform_unit`, `w1_majority_unit`: of everybody's answers to uniform ones, and to the most frequent one (the
    lowest code of several).

    Source: Zhao et al. (2024), section 4.2, and their `evaluate.py`.
    """
    names, members = subsets_of(probe.groups)
    scores = stacked([pd.DataFrame(_of_question(asked, members, names)) for asked in probe.questions])
    scores = pd.DataFrame(scores[scores["n_people"] > 0])
    for name in ("model", "subset"):  # in the order in which they are first met
        scores[name] = pd.Categorical(scores[name], categories=scores[name].unique())
    scores = scores.sort_values(["model", "subset"], kind="stable", ignore_index=True)
    return scores.astype({"model": object, "subset": object})


def derive_threshold_shares(scores: pd.DataFrame) -> pd.DataFrame:
    """Shares of questions whose distance is at most a threshold, 0 to 1 in steps of .05, by model and subset.

    Columns `model, subset, threshold, n_questions, share, share_unit`: of `w1_seed`, and of `w1_unit`. A question that
    a model does not rate is in neither share; `n_questions` are those that have a `w1_seed`. The models `uniform` and
    `majority` are the two answers that ask no model.

    Args:
        scores: as `derive_benchmark_scores` gives them.

    Source: Zhao et al. (2024), figure 3; `<=` gives the percentages of their abstract.
    """
    one_model = scores[scores["model"] == scores["model"].iloc[0]]
    oracles = []
    for name in ("uniform", "majority"):
        distances = one_model[f"w1_{name}_unit"]
        oracles.append(one_model.assign(model=name, w1_seed=distances, w1_unit=distances))
    rows: list[dict[str, Any]] = []
    for (model, subset), part in parts_of(pd.concat([*oracles, scores]), ["model", "subset"]):
        seed, unit = (part[name].to_numpy(float) for name in ("w1_seed", "w1_unit"))
        for threshold in THRESHOLDS:
            row = {"model": model, "subset": subset, "threshold": threshold, "n_questions": np.isfinite(seed).sum()}
            rows.append(row | {"share": share_at_most(seed, threshold), "share_unit": share_at_most(unit, threshold)})
    return pd.DataFrame(rows, columns=pd.Index(THRESHOLD_COLUMNS))


def subsets_of(groups: Groups) -> tuple[list[str], NDArray[np.bool_]]:
    """Names of the subsets (everybody, then each level of each factor), and (S, G) which groups belong to each."""
    levels = np.array(groups.levels, dtype=object)
    names, members = [EVERYBODY], [np.ones(len(levels), dtype=bool)]
    for factor in range(levels.shape[1]):
        for level in dict.fromkeys(levels[:, factor]):
            names.append(str(level))
            members.append(levels[:, factor] == level)
    return names, np.stack(members)


def w1_between(points: Floats, a: Floats, b: Floats) -> Floats:
    """(...) Wasserstein-1 distances between two samples on the same points; NaN where a side is empty.

    Args:
        points: (V,) increasing places.
        a, b: (..., V) how often each stands in a sample.

    >>> w1_between(np.array([0.0, 0.5, 1.0]), np.array([1.0, 0, 1]), np.array([0.0, 1, 0])).item()
    0.5
    """
    with np.errstate(invalid="ignore"):
        steps = [np.cumsum(each, axis=-1) / each.sum(axis=-1, keepdims=True) for each in (a, b)]
    apart = np.abs(steps[0] - steps[1])[..., :-1] * np.diff(points)
    return apart.sum(axis=-1)


def _of_question(asked: AskedQuestion, members: NDArray[np.bool_], names: list[str]) -> dict[str, Any]:
    """Columns of all models' rows for one question."""
    question, n_answers = asked.question, len(asked.question.values)
    unit = np.arange(n_answers) / (n_answers - 1)
    has_answer = np.isfinite(asked.answers)
    answered = (np.nan_to_num(asked.answers, nan=question.lo) - question.lo).astype(np.int64)

    def pooled(people: NDArray[np.bool_]) -> Floats:
        table = np.bincount(asked.groups[people] * n_answers + answered[people], minlength=members.shape[1] * n_answers)
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
    for name, rated in asked.with_attributes.items():
        is_on = np.isfinite(rated.probs[:, 0])
        models = members @ sums_by(asked.groups, members.shape[1], np.where(is_on[:, None], rated.probs, 0))
        pairs = is_on & has_answer
        matched = pooled(pairs)
        matched_model = members @ sums_by(asked.groups, members.shape[1], np.where(pairs[:, None], rated.probs, 0))
        n_pairs = matched.sum(axis=1)
        off = _off_scale(asked, rated, is_on, members)
        points = np.concatenate([unit, (off[0] - question.lo) / (n_answers - 1)])
        order = np.argsort(points)
        listed = humans if rated.has_row is None else pooled(has_answer & rated.has_row)
        humans_there = np.concatenate([listed, np.zeros_like(off[1])], axis=1)[:, order]
        models_there = np.concatenate([models, off[1]], axis=1)[:, order]
        n_asked = members @ np.bincount(asked.groups, minlength=members.shape[1])
        n_off, n_on = off[1].sum(axis=1), members @ np.bincount(asked.groups[is_on], minlength=members.shape[1])
        with np.errstate(invalid="ignore", divide="ignore"):
            truth, said = (np.cumsum(each, axis=1)[:, :-1] / n_pairs[:, None] for each in (matched, matched_model))
            floor = w1_floor_unit(truth, n_pairs, said if rated.is_decoded else None, n_pairs)
        rows.append(
            shared
            | {"model": [name] * len(names), "n_ratings": (n_on + n_off).astype(np.int64)}
            | {"n_missing": (n_asked - n_on - n_off).astype(np.int64), "n_out_of_scale": n_off.astype(np.int64)}
            | {"w1_seed": w1_between(points[order], humans_there, models_there)}
            | {"w1_unit": w1_between(unit, matched, matched_model), "w1_floor_unit": floor}
        )
    return {name: np.concatenate([row[name] for row in rows]) if rows else [] for name in COLUMNS}


def _off_scale(
    asked: AskedQuestion, rated: Rated, is_on: NDArray[np.bool_], members: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Ratings off the scale, (V,), and how often each stands in every subset, (S, V)."""
    if rated.ratings is None:
        return np.empty(0), np.zeros((len(members), 0))
    is_off = ~is_on & np.isfinite(rated.ratings)
    values, places = np.unique(rated.ratings[is_off], return_inverse=True)
    table = np.bincount(asked.groups[is_off] * values.size + places, minlength=members.shape[1] * values.size)
    counts = members.astype(np.float64) @ table.reshape(members.shape[1], values.size).astype(np.float64)
    return values, counts
