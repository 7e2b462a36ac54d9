"""`psych_tasks/calibration`: what a reference model was trained to answer at each mark, beside its reading."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.material.histories import Passage
from valuesassets.instruments.psych_tasks.material.layouts import Slot
from valuesassets.instruments.psych_tasks.material.marks import Person, TaskMark
from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.instruments.psych_tasks.material.transcripts import REVERSED
from valuesassets.instruments.psych_tasks.plants.planted_tasks import PLANTED, Earlier, Probs, Way, planted_probs
from valuesassets.instruments.psych_tasks.tables import PLANTED_GAINS, PLANTED_MARKS, RECOVERY
from valuesassets.instruments.psych_tasks.trials.asked_marks import Asking
from valuesassets.measure.distances import tvd_of
from valuesassets.records.frames import records, rows_where
from valuesassets.records.settings.psych_tasks import PlantedModel
from valuesassets.records.trials import Reading

PLANTED_HISTORIES = ("alone", "own", "human", "other", "permuted")
"""Histories after which the response model gives the answers; the others show texts that no model was trained on."""
MOST_TVD, MOST_TVD_P95, MOST_GAIN_ERROR = 0.02, 0.05, 0.01
"""Largest mean and 95th percentile of total variation, and largest error of a gain (nats)."""
GAINS = {"format": ("other", "alone"), "style": ("permuted", "other"), "content": ("human", "permuted")}
"""Each gain: the history that shows more before a mark, and the one that it is compared with."""


def derive_calibration(
    asking: Asking,
    people: Sequence[Person],
    task: Task,
    response: PlantedModel,
    readings: Sequence[Reading],
) -> dict[str, pd.DataFrame]:
    """Total variation between the planted response model and the reading at every mark, its summary, and the gains.

    Returns:
        `marks`, `recovery` (a row for each history), `gains`; see `tables.py`.
    """
    by_span = {(reading.trial_id, int(reading.span or 0)): reading for reading in readings}
    persons = {(person.experiment, person.participant): person for person in people}
    planted = {
        (trial, span): probs
        for trial, passage in asking.passages.items()
        if passage.history in PLANTED_HISTORIES
        for span, probs in enumerate(_probs_in(passage, persons, task, response, trial, by_span))
    }
    comparisons = []
    for row in records(asking.rows):
        span = (row["trial_id"], -1 if row["trial_id"] is None else int(row["span"]))
        probs = planted.get(span)
        if probs is not None:
            place = {name: row[name] for name in ("experiment", "participant", "mark", "history", "draw", "layout")}
            mark = persons[row["experiment"], row["participant"]].marks[row["mark"] - 1]
            comparisons.append(place | _compare(probs, by_span.get(span), mark))
    marks = PLANTED_MARKS.frame(comparisons)
    return {"marks": marks, "recovery": summarise(marks), "gains": planted_gains(marks)}


def _probs_in(
    passage: Passage,
    persons: Mapping[tuple[str, str], Person],
    task: Task,
    response: PlantedModel,
    trial: str,
    by_span: Mapping[tuple[str, int], Reading],
) -> Iterator[Probs | None]:
    """The planted probabilities at each asked mark of a passage, given the answers before it.

    The model's own answers are the likeliest that were read. Those of further draws are not stored: None.
    """
    first = passage.marks[0][0]
    is_reversed = persons[first.experiment, first.participant].transcript.presentation == REVERSED
    earlier: list[Earlier] | None = []
    span = 0
    for piece in passage.pieces:
        if not isinstance(piece, Slot):
            continue
        candidates, answer = piece.mark.candidates, piece.answer
        if piece.is_asked:
            way = Way(is_reversed, candidates)
            number, block = piece.mark.number, piece.mark.block
            yield None if earlier is None else planted_probs(PLANTED[task.name], response, way, number, block, earlier)
            if passage.history == "own":
                reading = by_span.get((trial, span))
                probs = reading.label_probs if reading and passage.draw == 0 else None
                answer = candidates[int(np.argmax(probs))] if probs is not None else ""
            span += 1
        if earlier is not None:
            is_candidate = answer in candidates
            mark = Earlier(piece.mark.number, piece.mark.block, candidates.index(answer) if is_candidate else 0)
            earlier = [*earlier, mark] if is_candidate else None


def _compare(planted: Probs, reading: Reading | None, mark: TaskMark) -> dict[str, Any]:
    answer = mark.candidates.index(mark.answer or "") if mark.status is MarkStatus.READ else None
    row: dict[str, Any] = {
        "log_score_planted": None if answer is None else float(np.log(planted[answer] / planted.sum()))
    }
    if reading is None or reading.label_probs is None:
        return row
    probs = np.array(reading.label_probs)
    late = None if reading.label_probs_published is None else np.array(reading.label_probs_published)
    row["tvd"] = float(tvd_of(_with_rest(probs), _with_rest(planted)))
    if late is not None and late.sum() > 0:
        row["tvd_late"] = float(tvd_of(late / late.sum(), planted / planted.sum()))
    if answer is not None and probs[answer] > 0:
        row["log_score"] = float(np.log(probs[answer] / probs.sum()))
    return row


def summarise(marks: pd.DataFrame) -> pd.DataFrame:
    """How well each history was recovered: mean and 95th percentile of total variation. An unread mark fails."""
    summaries = []
    for (history, layout), part in marks.groupby(["history", "layout"], sort=False):  # type: ignore[misc]
        part = rows_where(part, draw=0)
        tvd, late = part["tvd"].dropna(), part["tvd_late"].dropna()
        row: dict[str, Any] = {"history": history, "layout": layout, "n_marks": len(part), "n_read": len(tvd)}
        if len(tvd):
            mean, p95 = float(tvd.mean()), float(np.quantile(tvd, 0.95))
            row |= {"tvd_mean": mean, "tvd_p95": p95, "tvd_late_mean": float(late.mean()) if len(late) else None}
        is_within = len(tvd) == len(part) and row["tvd_mean"] <= MOST_TVD and row["tvd_p95"] <= MOST_TVD_P95
        summaries.append(row | {"is_recovered": bool(len(tvd)) and is_within})
    return RECOVERY.frame(summaries)


def planted_gains(marks: pd.DataFrame) -> pd.DataFrame:
    """Each gain by the planted response model and as it was read, over the same participants."""
    gains = []
    for layout, part in marks.groupby("layout", sort=False):
        scores = {
            history: pd.DataFrame(
                rows_where(part, history=history, draw=0)
                .groupby(["experiment", "participant"])[["log_score", "log_score_planted"]]
                .mean()
            )
            for history in set(part["history"])
        }
        for gain, (more, less) in GAINS.items():
            if more in scores and less in scores:
                differences = (scores[more] - scores[less]).dropna()
                if len(differences):
                    planted, estimate = (float(differences[name].mean()) for name in ("log_score_planted", "log_score"))
                    is_within = abs(estimate - planted) <= MOST_GAIN_ERROR
                    row = {"gain": gain, "layout": layout, "n_participants": len(differences), "planted": planted}
                    gains.append(row | {"estimate": estimate, "is_recovered": is_within})
    return PLANTED_GAINS.frame(gains)


def _with_rest(probs: Probs) -> Probs:
    """The probabilities, and what is left to 1."""
    return np.append(probs, max(0.0, 1 - probs.sum()))
