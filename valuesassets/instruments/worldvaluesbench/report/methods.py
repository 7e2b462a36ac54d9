"""Sentences for a paper about the methods of a WorldValuesBench page, and their sources."""

from collections.abc import Iterator, Mapping

import pandas as pd

from valuesassets.instruments.worldvaluesbench.measures.controls import models_only
from valuesassets.instruments.worldvaluesbench.measures.wording_reliability import first_wordings
from valuesassets.records.frames import records, rows_where
from valuesassets.records.settings.measuring import USUAL, Inference
from valuesassets.reporting.methods import CORRECTIONS, HOLM, capital, counted, listed, sources_of_tables, was
from valuesassets.reporting.parts import is_absent

Frames = Mapping[str, pd.DataFrame]
RESTS_ON = {
    "valuesassets": (),
    "zhao2024": (),
    "wvs7v6": (),
    "szekely2013": ("group_distances",),
    "gneiting2007": ("awareness/factors",),
    "wolter2007": ("awareness/factors", "group_distances"),
    "efron1993": ("awareness/factors",),
    HOLM: ("awareness/factors",),
    "phipson2010": ("awareness/factors",),
}
"""Tables that need each source, by the source's key; every page needs a source without tables."""


def sources(frames: Frames, inference: Inference = USUAL) -> tuple[str, ...]:
    """Keys of the sources of these tables, in the order of their entries."""
    return sources_of_tables(RESTS_ON, frames, inference.correction)


def methods(frames: Frames, is_planted: bool, inference: Inference = USUAL) -> list[str]:
    """The methods, with the numbers of this page."""
    planted = (
        "This is a test of the instrument: answers were drawn from made-up distributions, so nothing that follows is a "
        "finding about people or about the values of a model."
    )
    return [*([planted] if is_planted else []), *_people(frames), *_scored(frames), *_moved(frames, inference)]


def _people(frames: Frames) -> Iterator[str]:
    scores = frames.get("benchmark_scores/scores")
    if scores is None or not len(scores):
        return
    first = first_wordings(models_only(scores), frames.get("awareness/reliability"))
    models = list(dict.fromkeys(first["model"]))
    everybody = rows_where(scores, subset="all")
    once = everybody.drop_duplicates("question_id")
    yield (
        f"{capital(counted(len(models), 'model'))} ({listed(models)}) {was(len(models))} asked what people of the "
        f"World Values Survey, wave 7, with a known background answered to {counted(len(once), 'question')}, as in "
        f"WorldValuesBench (Zhao et al. 2024); the median number of people per question was "
        f"{int(once['n_people'].median()):,}."
    )
    groups = frames.get("group_distances")
    if groups is not None and len(groups):
        levels = [name for name in ("continent", "settlement", "education") if name in groups]
        yield (
            f"People were put in {counted(len(groups[levels].drop_duplicates()), 'group')} by {listed(levels)}; "
            f"weights (W_WEIGHT) have mean 1 within a country."
        )


def _scored(frames: Frames) -> Iterator[str]:
    if len(frames.get("benchmark_scores/scores", ())):
        yield (
            "The benchmark's score of a question is the unweighted Wasserstein-1 distance between all answers of "
            "people and all ratings of a model, on the scale from 0 to 1. Missing answers and missing ratings are "
            "dropped, each from its own side."
        )
    if len(frames.get("group_distances", ())):
        yield (
            "For each group, W1 is reported with its floor, the expected W1 of a perfect model at the group's "
            "effective number of people. The second measure is unbiased: it is the integrated squared difference of "
            "distribution functions (Szekely and Rizzo 2013) minus the sampling variance of weighted means (Wolter "
            "2007)."
        )


def _moved(frames: Frames, inference: Inference) -> Iterator[str]:
    table = frames.get("awareness/factors")
    if table is None or not len(table):
        return
    yield (
        "Awareness is the regression of a model's differences between groups on those of people. It is estimated from "
        "unbiased between-group (co)variances of distribution functions, summed over cut points and questions; "
        "sampling noise is subtracted on both sides. Skill is the gain in ranked probability score, as a share of the "
        "gain that knowing the groups allows (Gneiting and Raftery 2007)."
    )
    if len(table["slope_low"].dropna()):
        yield "Intervals come from resampling people within groups, at the level that the study sets."
    tested = [row for row in records(models_only(table)) if not is_absent(row.get("p_value"))]
    if tested:
        most = max(int(row["n_arrangements"]) for row in tested)
        yield (
            "Slopes were tested against all arrangements of the factors' levels, jointly for all questions (up to "
            f"{most:,} arrangements), and p-values were corrected by {CORRECTIONS[inference.correction]} procedure "
            f"over {counted(len(tested), 'test')}. A model is said to move as people do where the corrected p-value is "
            f"{inference.alpha:g} or below and the slope's interval over categories of questions also lies above 0. "
            "The interval is needed because related levels, in pairs or in an order, look rarer among permutations "
            "than they are."
        )
