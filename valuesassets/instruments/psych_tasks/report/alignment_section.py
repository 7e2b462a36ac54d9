"""The section on how well people's answers are predicted, and on the parts of format, style and content."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from valuesassets.instruments.psych_tasks.measures.prediction import LADDER, OVER, SHORTCUT
from valuesassets.instruments.psych_tasks.report.claims import table_of
from valuesassets.instruments.psych_tasks.report.page_parts import by_task, spell_ends
from valuesassets.instruments.psych_tasks.report.pictures import with_layout
from valuesassets.measure.skewed_means import FEWEST, MORE_FOR_EACH
from valuesassets.records.frames import parts_of, rows, rows_where
from valuesassets.reporting.interval_words import spelled, spelled_p, spread
from valuesassets.reporting.page_parts import tabulate
from valuesassets.reporting.parts import Section, is_absent
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import draw_figures

HISTORIES = ("alone", "own", "other", "permuted", "human", "answers", "blank", *OVER)
"""Columns of the table of scores; the nulls come last."""
CELL = ("task", "model")


def alignment(run: Run, name: str) -> list[Section]:
    """The section, with its figures and tables."""
    section, frames = Section("alignment", run.analyses[name].title), run.tables
    table = section.need(run.table("scores", of=name))
    if table is None:
        return [section]
    section.paragraphs += [
        "The log score is the mean logarithm of the share that a model gave to what a person answered, in nats: 0 "
        "would be certain and right, higher is better. It means something only beside predictions that know nothing of "
        "the answer: uniform, every answer alike; place, what the model itself gives to the answer's place among the "
        "candidates on average; crowd, what others answered to the same question; counting, the crowd with how often "
        "others chose each place and how often this person gave each answer before. Crowd and counting are over what "
        "the person may answer, and are mixed with even chances by weights fitted on other people. A model is said to "
        "predict people only where it is better than each of them.",
        "The ladder takes one history from the next, for the same answers of the same people. Format: what any history "
        "helps, another person's as well. Style: what this person's way to use the scale helps. Content: what they "
        "answered to which question helps; this alone says that a model knows the person. Where later text shows what "
        "answers led to, answers cannot be exchanged: style and content are one there, the person. Shortcut: answers "
        "alone, without any question, less counting; task text: what the questions add to these.",
        "Intervals and tests are of means over participants, who are taken as independent of each other. No symmetry "
        "is taken for granted: a few people whom a model fails at may outweigh many small gains. With fewer than "
        f"{FEWEST} participants ({MORE_FOR_EACH} more for each further model that a test is corrected with) such "
        "people are often not among those asked, and no gain is tested.",
    ]
    draw_figures(section, run, name, tells_missing=False)
    scores = by_task(with_layout(table))
    tabulate(
        section,
        "Log scores in nats with intervals over participants, by history, beside what needs no model.",
        spread(
            scores,
            CELL,
            "history",
            HISTORIES,
            lambda row: spelled(row["log_score"], row["log_score_low"], row["log_score_high"], 2),
        ),
    )
    tabulate(
        section,
        "After people's own history: skill (1 certain and right, 0 as even chances) and accuracy.",
        spell_ends(rows_where(scores, history="human"), ("skill",)),
        (*CELL, "n_participants", "n_marks", "skill", "accuracy"),
    )
    gains, pairs, quantiles = (
        table_of(frames, f"prediction/{each}") for each in ("gains", "identification", "quantiles")
    )
    if gains is not None:
        by_model = by_task(with_layout(gains))
        tabulate(
            section,
            "The ladder and the shortcut: gains in nats with intervals, and p corrected over the models of a task.",
            spread(by_model, CELL, "gain", (*LADDER, SHORTCUT), _gain_words),
        )
        over = {name: words for words, name in OVER.items()}
        tabulate(
            section,
            "People's own history less each prediction that knows nothing of the answer: nats, intervals, p corrected.",
            spread(by_model.replace({"gain": over}), CELL, "gain", tuple(OVER), _gain_words),
        )
    if pairs is not None:
        with_ends = by_task(with_layout(pairs)).rename(columns={"low": "share_low", "high": "share_high"})
        tabulate(
            section,
            "Pairs of a person and another who was shown the same, in which the own history does better.",
            spell_ends(with_ends, ("share",), 3),
            (*CELL, "n_participants", "n_donors", "share", "p_corrected"),
        )
    if quantiles is not None:
        tabulate(
            section,
            "How far the shares that models give are from how often the answers come, weighted by answers.",
            calibration_gaps(by_task(with_layout(quantiles))),
        )
    tabulate(section, "What could not be measured or tested, and why.", _reasons(scores, gains))
    return [section]


def _gain_words(row: Mapping[str, Any]) -> str | None:
    if is_absent(row["estimate"]):
        return None
    return f"{spelled(row['estimate'], row['low'], row['high'], is_signed=True)}, {spelled_p(row.get('p_corrected'))}"


def calibration_gaps(quantiles: pd.DataFrame) -> pd.DataFrame:
    """A row for each model and task: means over answers of |observed - predicted| and of predicted - observed."""
    gaps = []
    for (task, model), part in parts_of(quantiles, CELL):
        n = part["n_marks"].astype(float)
        gap = part["observed"].astype(float) - part["foretold"].astype(float)
        row = {"task": task, "model": model, "n_marks": int(n.sum())}
        means = {"mean_gap": float((gap.abs() * n).sum() / n.sum()), "too_sure_by": -float((gap * n).sum() / n.sum())}
        gaps.append(row | means)
    return pd.DataFrame(gaps)


def _reasons(scores: pd.DataFrame, gains: pd.DataFrame | None) -> list[dict[str, object]]:
    """The reasons of missing numbers; models that share one stand in one row."""
    models: dict[tuple[str, str, str], list[str]] = {}
    for frame, column in ((scores, "history"), (gains, "gain")):
        if frame is None:
            continue
        for (task, name, reason), part in parts_of(rows(frame, frame["reason"].notna()), ["task", column, "reason"]):
            models.setdefault((task, name, reason), []).extend(map(str, dict.fromkeys(part["model"])))
    return [
        {"task": task, "what": name, "models": ", ".join(names), "reason": reason}
        for (task, name, reason), names in models.items()
    ]
