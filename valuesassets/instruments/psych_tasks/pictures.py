"""The figures of psych tasks, out of its tables: each takes frames alone; what has no rows is not drawn."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures.calibration_curve import draw_calibration_curve
from valuesassets.figures.history_ladder import draw_history_ladder
from valuesassets.figures.identification_matrix import draw_identification_matrix
from valuesassets.figures.keying_plane import draw_keying_plane
from valuesassets.figures.mark_ledger import draw_mark_ledger
from valuesassets.figures.multi_token_share import draw_multi_token_share
from valuesassets.figures.reliability_and_alignment import draw_reliability_and_alignment
from valuesassets.instruments.psych_tasks.mark_ledger import LEFT_OUT, UNREAD
from valuesassets.instruments.psych_tasks.statuses import MarkStatus
from valuesassets.records.frames import column, parts_of, rows, rows_where
from valuesassets.reporting.page_parts import FigureText, drawable
from valuesassets.reporting.parts import Frames

LOST = tuple(sorted(UNREAD - LEFT_OUT - {str(MarkStatus.NO_MARKS)}))
"""Statuses of marks that should have been read and were not."""
NO_GAINS = pd.DataFrame(columns=pd.Index(["model", "task", "layout", "gain", "estimate", "is_rejected"]))
NO_SCALES = pd.DataFrame(columns=pd.Index(["task", "experiment", "scale", "rho"]))


PICTURES = {
    "mark_ledger": FigureText(
        ("mark_ledger",),
        "A bar for each cell: the share of its marks that were not read, by what kept them from it, with counts "
        "beside. The table holds the same numbers.",
        "What was lost, and why?",
        number="marks",
    ),
    "multi_token_share": FigureText(
        ("mark_ledger",),
        "A shade for each model and kind of mark: the share of its candidates that have several tokens.",
        "Where may an answer not be read off one token?",
        number="share_multi_token",
    ),
    "keying_plane": FigureText(
        ("keying/models",),
        "A panel for each scale with models as points: across, their mean answer to forward-keyed items, upward that "
        "to reverse-keyed ones, nothing recoded. A falling line is a trait alone, a rising one a liking for labels "
        "alone.",
        "Does a scale measure a trait, or which label a model likes?",
        number="forward_mean",
    ),
    "history_ladder": FigureText(
        ("prediction/scores",),
        "A panel for each task with a line for each model: its log score without a history, after another person's, "
        "after the person's own at the wrong places, and after their own; uniform answers, the crowd and counting as "
        "level lines.",
        "What of a person's history helps to foretell the answers: the format, the way to use the scale, or the "
        "content?",
        number="log_score",
    ),
    "identification_matrix": FigureText(
        ("prediction/identification",),
        "For each model and task the share of pairs in which a person's own history foretells the answers better than "
        "another's does, with its interval, beside .5 by chance.",
        "Does a model know whose answers it reads?",
        number="share",
    ),
    "calibration_curve": FigureText(
        ("prediction/quantiles",),
        "A panel for each task: how often the likeliest answer was given, against the share that a model gave it; "
        "larger marks stand for more answers.",
        "Do answers come as often as they are foretold?",
        number="foretold",
    ),
    "reliability_and_alignment": FigureText(
        ("reliability/scales", "prediction/scores"),
        "A point for each scale: across, whether models would be set apart alike with other items; upward, how well "
        "they foretell people's answers in its task.",
        "Agreeing with oneself and agreeing with people are two things.",
        number="generalizability",
    ),
}
"""By name, in the order of the report."""


def draw_pictures(frames: Frames, is_planted: bool) -> dict[str, Figure]:
    """Every figure that the tables allow, by name.

    Args:
        frames: by `<asset>` or `<asset>/<table>`.
        is_planted: whether answers or people are.
    """
    there = {name: frame for name, frame in frames.items() if len(frame)}
    return {name: draw(name, there, is_planted) for name in drawable(PICTURES, there)}


def draw(name: str, frames: Frames, is_planted: bool) -> Figure:
    """One of `PICTURES`, of tables that have rows."""
    match name:
        case "mark_ledger":
            ledger = with_layout(frames["mark_ledger"])
            return draw_mark_ledger(ledger, LOST, sorted(LEFT_OUT), planted=is_planted)
        case "multi_token_share":
            return draw_multi_token_share(token_shares(frames["mark_ledger"]), planted=is_planted)
        case "keying_plane":
            models, scales = (named_scales(frames.get(f"keying/{each}", NO_SCALES)) for each in ("models", "scales"))
            return draw_keying_plane(models, scales, planted=is_planted)
        case "history_ladder":
            gains = with_layout(frames.get("prediction/gains", NO_GAINS))
            return draw_history_ladder(gains, with_layout(frames["prediction/scores"]), planted=is_planted)
        case "identification_matrix":
            return draw_identification_matrix(with_layout(frames["prediction/identification"]), planted=is_planted)
        case "calibration_curve":
            return draw_calibration_curve(with_layout(frames["prediction/quantiles"]), planted=is_planted)
        case _:
            points = scale_points(frames["reliability/scales"], frames["prediction/scores"])
            return draw_reliability_and_alignment(points, planted=is_planted)


def with_layout(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with the layout in the model's name where a model was asked in several."""
    if not len(frame):
        return frame
    n_layouts = frame.groupby("model")["layout"].transform("nunique").to_numpy(int)
    is_told = frame["layout"].notna() & (n_layouts > 1)
    model = column(frame, "model").astype(str)
    return frame.assign(model=model.where(~is_told, model + ", " + column(frame, "layout").astype(str)))


def named_scales(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with a `name` of their scale: alone, or with what else is needed to tell it from the others."""
    if not len(frame):
        return frame.assign(name=[])
    name = column(frame, "scale").astype(str)
    for other in ("task", "experiment"):
        if other in frame and frame[other].nunique() > 1:
            is_told = frame.assign(name=name).groupby("name")[other].transform("nunique").to_numpy(int) > 1
            name = name.where(~is_told, name + " (" + column(frame, other).astype(str) + ")")
    return frame.assign(name=name)


def token_shares(ledger: pd.DataFrame) -> pd.DataFrame:
    """Share of candidates of several tokens by model and kind; statuses and histories weighted by their marks."""
    named = with_layout(rows(ledger, ledger["kind"].notna()))
    several = named["task"].nunique() > 1
    kind = named["task"].astype(str) + " " + named["kind"].astype(str) if several else named["kind"].astype(str)
    found = []
    for (model, name), part in parts_of(named.assign(kind=kind), ["model", "kind"]):
        read = rows(part, part["share_multi_token"].notna() & (part["marks"] > 0))
        weight = read["marks"].astype(float)
        share = float((read["share_multi_token"].astype(float) * weight).sum() / weight.sum()) if len(read) else None
        found.append({"model": model, "kind": name, "share_multi_token": share})
    return pd.DataFrame(found, columns=pd.Index(["model", "kind", "share_multi_token"]))


def scale_points(scales: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """A row for each scale and history: its generalizability, and the models' skill in its task after people's own."""
    human = rows_where(scores, history="human")
    skills = human.assign(skill=human["skill"].astype(float)).groupby("task")["skill"].agg(["mean", "min", "max"])
    named = named_scales(scales)
    of_task = skills.reindex(list(named["task"]))
    ends = {"skill": "mean", "skill_low": "min", "skill_high": "max"}
    return named.assign(**{name: np.asarray(of_task[each]) for name, each in ends.items()})
