"""The figures of psych tasks, from its tables; a table without numbers is not drawn."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures import (
    calibration_curve,
    history_ladder,
    identification_matrix,
    keying_plane,
    multi_token_share,
    reliability_and_alignment,
    status_bars,
)
from valuesassets.figures.backgrounds import has_numbers
from valuesassets.instruments.psych_tasks.answers.mark_ledger import LEFT_OUT, UNREAD
from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.records.frames import column, parts_of, rows, rows_where

LOST = tuple(sorted(UNREAD - LEFT_OUT - {str(MarkStatus.NO_MARKS)}))
"""Statuses of marks that should have been read and were not."""
NO_GAINS = pd.DataFrame(columns=pd.Index(["model", "task", "layout", "gain", "estimate", "is_rejected"]))
NO_SCALES = pd.DataFrame(columns=pd.Index(["task", "experiment", "scale", "rho"]))


def draw_mark_ledger(ledger: pd.DataFrame, planted: bool = False) -> Figure | None:
    """The statuses of the marks of each cell."""
    if not has_numbers(ledger, "marks"):
        return None
    return status_bars.draw_mark_ledger(with_layout(ledger), LOST, sorted(LEFT_OUT), planted=planted)


def draw_multi_token_share(ledger: pd.DataFrame, planted: bool = False) -> Figure | None:
    """The share of candidates with several tokens, by model and kind of mark."""
    if not has_numbers(ledger, "share_multi_token"):
        return None
    return multi_token_share.draw_multi_token_share(token_shares(ledger), planted=planted)


def draw_keying_plane(models: pd.DataFrame, scales: pd.DataFrame | None, planted: bool = False) -> Figure | None:
    """Models by their answers to forward- and reverse-keyed items, a panel for each scale."""
    if not has_numbers(models, "forward_mean"):
        return None
    named = named_scales(NO_SCALES if scales is None else scales)
    return keying_plane.draw_keying_plane(named_scales(models), named, planted=planted)


def draw_history_ladder(scores: pd.DataFrame, gains: pd.DataFrame | None, planted: bool = False) -> Figure | None:
    """Log scores after each history, a panel for each task."""
    if not has_numbers(scores, "log_score"):
        return None
    gains = with_layout(NO_GAINS if gains is None else gains)
    return history_ladder.draw_history_ladder(gains, with_layout(scores), planted=planted)


def draw_identification_matrix(identification: pd.DataFrame, planted: bool = False) -> Figure | None:
    """How often a person's own history predicts better than another person's."""
    if not has_numbers(identification, "share"):
        return None
    return identification_matrix.draw_identification_matrix(with_layout(identification), planted=planted)


def draw_calibration_curve(quantiles: pd.DataFrame, planted: bool = False) -> Figure | None:
    """How often the likeliest answer was given, against the share that models gave it."""
    if not has_numbers(quantiles, "foretold"):
        return None
    return calibration_curve.draw_calibration_curve(with_layout(quantiles), planted=planted)


def draw_reliability_and_alignment(scales: pd.DataFrame, scores: pd.DataFrame, planted: bool = False) -> Figure | None:
    """Scales by how well models agree with themselves, and with people."""
    if not has_numbers(scales, "generalizability"):
        return None
    points = scale_points(scales, scores)
    return reliability_and_alignment.draw_reliability_and_alignment(points, planted=planted)


def with_layout(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with the layout in the model's name, where a model was asked in several layouts."""
    if not len(frame):
        return frame
    n_layouts = frame.groupby("model")["layout"].transform("nunique").to_numpy(int)
    has_several = frame["layout"].notna() & (n_layouts > 1)
    model = column(frame, "model").astype(str)
    return frame.assign(model=model.where(~has_several, model + ", " + column(frame, "layout").astype(str)))


def named_scales(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with an unambiguous `name` of their scale: alone, or with its task or experiment."""
    if not len(frame):
        return frame.assign(name=[])
    name = column(frame, "scale").astype(str)
    for other in ("task", "experiment"):
        if other in frame and frame[other].nunique() > 1:
            is_ambiguous = frame.assign(name=name).groupby("name")[other].transform("nunique").to_numpy(int) > 1
            name = name.where(~is_ambiguous, name + " (" + column(frame, other).astype(str) + ")")
    return frame.assign(name=name)


def token_shares(ledger: pd.DataFrame) -> pd.DataFrame:
    """Share of candidates with several tokens by model and kind, weighted by marks."""
    named = with_layout(rows(ledger, ledger["kind"].notna()))
    several = named["task"].nunique() > 1
    kind = named["task"].astype(str) + " " + named["kind"].astype(str) if several else named["kind"].astype(str)
    shares = []
    for (model, name), part in parts_of(named.assign(kind=kind), ["model", "kind"]):
        read = rows(part, part["share_multi_token"].notna() & (part["marks"] > 0))
        weight = read["marks"].astype(float)
        share = float((read["share_multi_token"].astype(float) * weight).sum() / weight.sum()) if len(read) else None
        shares.append({"model": model, "kind": name, "share_multi_token": share})
    return pd.DataFrame(shares, columns=pd.Index(["model", "kind", "share_multi_token"]))


def scale_points(scales: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """A row for each scale and history: its generalizability, and models' skill in its task after history `human`."""
    human = rows_where(scores, history="human")
    skills = human.assign(skill=human["skill"].astype(float)).groupby("task")["skill"].agg(["mean", "min", "max"])
    named = named_scales(scales)
    of_task = skills.reindex(list(named["task"]))
    ends = {"skill": "mean", "skill_low": "min", "skill_high": "max"}
    return named.assign(**{name: np.asarray(of_task[each]) for name, each in ends.items()})
