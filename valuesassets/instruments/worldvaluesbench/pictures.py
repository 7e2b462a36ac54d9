"""The figures of WorldValuesBench, out of its tables: each takes frames alone, and knows which rows are controls."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures.answer_distributions import draw_answer_distributions
from valuesassets.figures.awareness_plane import draw_awareness_plane
from valuesassets.figures.group_moves import draw_group_moves
from valuesassets.figures.noise_floor import draw_noise_floor
from valuesassets.figures.one_question import ANSWER, draw_one_question
from valuesassets.figures.question_distances import draw_question_distances
from valuesassets.figures.readouts import draw_readouts
from valuesassets.figures.threshold_curves import draw_threshold_curves
from valuesassets.instruments.worldvaluesbench.published_scores import NULLS, load_published_scores, published_shares
from valuesassets.instruments.worldvaluesbench.sides import models_only, with_sides
from valuesassets.instruments.worldvaluesbench.value_questions import load_value_questions, probe_questions
from valuesassets.records.frames import rows, rows_where
from valuesassets.reporting.page_parts import FigureText, drawable
from valuesassets.reporting.parts import Frames

SHOWN_QUESTIONS = ("Q1", "Q106")
"""Those of figure 4 of the paper."""
ALL = "all"


PICTURES = {
    "awareness_plane": FigureText(
        ("awareness",),
        "Above, models as points: across, whether they move with a person's background as people do (1) or the "
        "contrary way (-1); upward, how far. Below, the slope of each model with its interval, for every factor. The "
        "table holds the same numbers.",
        "Does a model move with a person's background as people do?",
        asset="awareness",
    ),
    "group_moves": FigureText(
        ("group_means",),
        "Scatter plots, one per model: how far each group's mean answer is from that of all groups, people's across "
        "and the model's upward, with a line of the slope.",
        "People's moves beside the model's, group by group.",
        asset="awareness",
    ),
    "noise_floor": FigureText(
        ("group_distances",),
        "A falling curve: the distance that a perfect model would have, by the number of people asked, crossed by the "
        "thresholds that are counted as near; medians of the models beside it.",
        "How near to people can a model be at all, given how few were asked?",
        asset="group_distances",
    ),
    "threshold_curves": FigureText(
        ("threshold_shares",),
        "Curves of the share of questions whose distance is at most a threshold, for all people, urban and rural ones, "
        "beside the published ones; uniform answers, the majority's and the band of a perfect model beside them.",
        "The benchmark's own score: in how many questions is a model near people's answers? It does not see who "
        "answered what.",
        asset="benchmark_scores",
    ),
    "question_distances": FigureText(
        ("benchmark_scores",),
        "A row for each question with a dot for each model at its distance from people, over a bar up to what a "
        "perfect model would be away; published distances beside. The table holds the same numbers.",
        "The benchmark's own score, question by question.",
        asset="benchmark_scores",
    ),
    "one_question": FigureText(
        ("shown_people",),
        "A prompt as a model gets it, under it the question's scale with some people's answers and, beside them, the "
        "mean answers that models expect of them.",
        "One question, from prompt to answers: a prompt of one person, and people of different groups.",
        asset="benchmark_scores",
    ),
    "answer_distributions": FigureText(
        ("pooled_answers",),
        "People's answers to single questions as bars, and over them each model's, with and without attributes.",
        "What people and models answer to single questions.",
        asset="benchmark_scores",
    ),
    "readouts": FigureText(
        ("readout_comparison",),
        "Marks for each model: how far greedy and drawn answers are from the exact distribution, and what the scores "
        "become under each.",
        "What the way of reading an answer changes.",
        asset="readout_comparison",
    ),
}
"""By name, in the order of the report."""


def draw_pictures(
    frames: Frames, planted: bool = False, questions: Sequence[str] = SHOWN_QUESTIONS, level: float = 0.95
) -> dict[str, Figure]:
    """Every figure that the tables allow, by name.

    Args:
        frames: tables by name, those that are there of `awareness` (its factors), `group_means`, `group_distances`,
            `benchmark_scores`, `threshold_shares`, `perfect_shares`, `pooled_answers`, `shown_people`,
            `readout_comparison`.
        planted: whether answers or people are.
        questions: whose answers are shown.
        level: coverage of the intervals.
    """
    there = {name: frame for name, frame in frames.items() if len(frame)}
    return {name: draw(name, there, planted, questions, level) for name in drawable(PICTURES, there)}


def draw(
    name: str, frames: Frames, planted: bool = False, questions: Sequence[str] = SHOWN_QUESTIONS, level: float = 0.95
) -> Figure:
    """One of `PICTURES`, of tables that have rows."""
    match name:
        case "awareness_plane":
            return draw_awareness_plane(models_only(frames["awareness"]), planted=planted)
        case "group_moves":
            slopes = frames.get("awareness")
            return draw_group_moves(
                models_only(frames["group_means"]), None if slopes is None else models_only(slopes), planted=planted
            )
        case "noise_floor":
            scores = frames.get("benchmark_scores")
            pooled = None if scores is None else rows_where(models_only(scores), subset=ALL)
            return draw_noise_floor(models_only(frames["group_distances"]), pooled, planted=planted)
        case "threshold_curves":
            shares = with_sides(frames["threshold_shares"])
            if "perfect_shares" in frames:
                shares = pd.concat([shares, frames["perfect_shares"]], ignore_index=True)
            # what was published is of the probe's questions: beside others it says nothing
            published = published_shares() if _is_probe(frames) else None
            return draw_threshold_curves(shares, published, planted=planted, level=level)
        case "question_distances":
            scores = with_sides(frames["benchmark_scores"])
            models = rows(scores, scores["attributes"].notna() & (scores["subset"] == ALL))
            return draw_question_distances(models, _published_of(models), planted=planted)
        case "one_question":
            return _draw_question(models_only(frames["shown_people"]), planted)
        case "answer_distributions":
            texts = {name: question.text for name, question in load_value_questions().items() if question.text}
            return draw_answer_distributions(frames["pooled_answers"], questions, texts, planted=planted)
        case _:
            return draw_readouts(models_only(frames["readout_comparison"]), planted=planted)


def _draw_question(people: pd.DataFrame, planted: bool) -> Figure:
    """One question: a prompt, its scale, people of different groups, and what models expect of them."""
    (name,) = set(people["question_id"])
    question = load_value_questions()[name]
    shown = people.drop_duplicates("person").set_index("person")
    rows_of = shown.loc[:, ["background", "response_value"]].rename(columns={"response_value": ANSWER})
    for model in dict.fromkeys(people["model"]):
        rows_of[model] = rows_where(people, model=model).set_index("person")["expected_value"]
    scale = dict(zip(question.values, question.labels or ("",) * len(question.values), strict=True))
    return draw_one_question(name, scale, str(shown["prompt"].iloc[0]), rows_of, planted=planted)


def _is_probe(frames: Frames) -> bool:
    """Whether the questions are those that the published distances are of."""
    scores = frames.get("benchmark_scores")
    return scores is not None and set(scores["question_id"]) == set(probe_questions())


def _published_of(scores: pd.DataFrame) -> pd.DataFrame | None:
    """The published distances of these questions; None where some have none."""
    table, asked = load_published_scores(), set(scores["question_id"])
    if not asked <= set(table["question_id"]):
        return None
    found = rows(table, table["question_id"].isin(list(asked)))
    models = rows(found, ~found["model"].isin(NULLS))
    for name in NULLS:
        null = rows_where(found, model=name).loc[:, ["question_id", "w1_seed"]]
        models = models.merge(null.rename(columns={"w1_seed": f"w1_{name}_unit"}), on="question_id", how="left")
    return models
