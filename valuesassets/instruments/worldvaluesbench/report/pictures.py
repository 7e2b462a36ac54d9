"""The figures of WorldValuesBench, drawn from its tables without the rows of controls."""

import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures import (
    answer_distributions,
    awareness_plane,
    group_moves,
    noise_floor,
    one_question,
    question_distances,
    readouts,
    threshold_curves,
)
from valuesassets.figures.one_question import ANSWER
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions, probe_questions
from valuesassets.instruments.worldvaluesbench.measures.controls import models_only, with_sides
from valuesassets.instruments.worldvaluesbench.published.published_scores import (
    NULLS,
    load_published_scores,
    published_shares,
)
from valuesassets.records.frames import rows, rows_where
from valuesassets.records.settings.measuring import USUAL, Inference

SHOWN_QUESTIONS = ("Q1", "Q106")
"""The questions of figure 4 of the paper."""
ALL = "all"


def draw_awareness_plane(factors: pd.DataFrame, planted: bool = False) -> Figure:
    """Models by direction and size of their moves, and their slopes by factor."""
    return awareness_plane.draw_awareness_plane(models_only(factors), planted=planted)


def draw_group_moves(means: pd.DataFrame, factors: pd.DataFrame | None, planted: bool = False) -> Figure:
    """People's moves beside those of each model, group by group."""
    slopes = None if factors is None else models_only(factors)
    return group_moves.draw_group_moves(models_only(means), slopes, planted=planted)


def draw_noise_floor(distances: pd.DataFrame, scores: pd.DataFrame | None, planted: bool = False) -> Figure:
    """The distance of a perfect model, with the medians of the models."""
    pooled = None if scores is None else rows_where(models_only(scores), subset=ALL)
    return noise_floor.draw_noise_floor(models_only(distances), pooled, planted=planted)


def draw_threshold_curves(
    shares: pd.DataFrame,
    perfect: pd.DataFrame | None,
    scores: pd.DataFrame | None,
    planted: bool = False,
    inference: Inference = USUAL,
) -> Figure:
    """Shares of questions that are at most a threshold away, with published shares only for the probe's questions."""
    sided = with_sides(shares)
    sided = sided if perfect is None else pd.concat([sided, perfect], ignore_index=True)
    is_probe = scores is not None and set(scores["question_id"]) == set(probe_questions())
    published = published_shares() if is_probe else None
    return threshold_curves.draw_threshold_curves(sided, published, planted=planted, level=inference.level)


def draw_question_distances(scores: pd.DataFrame, planted: bool = False) -> Figure:
    """Distances of models from people by question, with published ones if there are any."""
    sided = with_sides(scores)
    models = rows(sided, sided["attributes"].notna() & (sided["subset"] == ALL))
    return question_distances.draw_question_distances(models, _published_of(models), planted=planted)


def draw_one_question(people: pd.DataFrame, planted: bool = False) -> Figure:
    """One question with a prompt, its scale, people of different groups, and models' expected answers."""
    people = models_only(people)
    (name,) = set(people["question_id"])
    question = load_value_questions()[name]
    first_rows = people.drop_duplicates("person").set_index("person")
    rows_of = first_rows.loc[:, ["background", "response_value"]].rename(columns={"response_value": ANSWER})
    for model in dict.fromkeys(people["model"]):
        rows_of[model] = rows_where(people, model=model).set_index("person")["expected_value"]
    scale = dict(zip(question.values, question.labels or ("",) * len(question.values), strict=True))
    return one_question.draw_one_question(name, scale, str(first_rows["prompt"].iloc[0]), rows_of, planted=planted)


def draw_answer_distributions(pooled: pd.DataFrame, planted: bool = False) -> Figure | None:
    """Answers of people and models to the questions of figure 4 of the paper."""
    texts = {name: question.text for name, question in load_value_questions().items() if question.text}
    return answer_distributions.draw_answer_distributions(pooled, SHOWN_QUESTIONS, texts, planted=planted)


def draw_readouts(comparison: pd.DataFrame, planted: bool = False) -> Figure:
    """Distances of readouts from the exact one."""
    return readouts.draw_readouts(models_only(comparison), planted=planted)


def _published_of(scores: pd.DataFrame) -> pd.DataFrame | None:
    """The published distances of these questions; None if some have none."""
    table, question_ids = load_published_scores(), set(scores["question_id"])
    if not question_ids <= set(table["question_id"]):
        return None
    published = rows(table, table["question_id"].isin(list(question_ids)))
    models = rows(published, ~published["model"].isin(NULLS))
    for name in NULLS:
        null = rows_where(published, model=name).loc[:, ["question_id", "w1_seed"]]
        models = models.merge(null.rename(columns={"w1_seed": f"w1_{name}_unit"}), on="question_id", how="left")
    return models
