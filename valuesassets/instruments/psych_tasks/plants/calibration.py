"""`psych_tasks/calibration`: what was planted into a reference model, beside what was read of it, mark by mark."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.psych_tasks.material.histories import Passage
from valuesassets.instruments.psych_tasks.material.layouts import Slot
from valuesassets.instruments.psych_tasks.material.marks import Person
from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.instruments.psych_tasks.material.transcripts import REVERSED
from valuesassets.instruments.psych_tasks.plants.planted_tasks import PLANTED, Earlier, Way, law_at
from valuesassets.instruments.psych_tasks.tables import PLANTED_GAINS, PLANTED_MARKS, RECOVERY
from valuesassets.instruments.psych_tasks.trials.asked_marks import Asking
from valuesassets.measure.distances import tvd_of
from valuesassets.records.frames import records, rows_where
from valuesassets.records.settings.psych_tasks import PlantedModel
from valuesassets.records.trials import Reading

PLANTED_HISTORIES = ("alone", "own", "human", "other", "permuted")
"""Those in which the law says what a model answers; the others show what it was not trained on."""
MOST_TVD, MOST_TVD_P95, MOST_GAIN_ERROR = 0.02, 0.05, 0.01
"""Largest mean and 95th percentile of total variation, and largest error of a gain (nats)."""
GAINS = {"format": ("other", "alone"), "style": ("permuted", "other"), "content": ("human", "permuted")}
"""What stands before a mark more in the first history than in the second."""

Probs = NDArray[np.float64]


def derive_calibration(
    asking: Asking,
    people: Sequence[Person],
    task: Task,
    law: PlantedModel,
    readings: Sequence[Reading],
) -> dict[str, pd.DataFrame]:
    """Total variation between law and reading at every mark, what that comes to, and what gains should be.

    Returns:
        `marks`, `recovery` (a row for each history), `gains`; see `tables.py`.
    """
    by_span = {(reading.trial_id, int(reading.span or 0)): reading for reading in readings}
    persons = {(person.experiment, person.participant): person for person in people}
    planted = {
        (trial, span): probs
        for trial, passage in asking.passages.items()
        if passage.history in PLANTED_HISTORIES
        for span, probs in enumerate(_planted_in(passage, persons, task, law, trial, by_span))
    }
    found = []
    for row in records(asking.rows):
        where = (row["trial_id"], int(row["span"])) if row["trial_id"] is not None else None
        law_there = planted.get(where) if where else None
        reading = by_span.get(where) if where else None
        if law_there is None:
            continue
        place = {name: row[name] for name in ("experiment", "participant", "mark", "history", "draw", "layout")}
        found.append(place | _compared(law_there, reading, persons[row["experiment"], row["participant"]], row["mark"]))
    marks = PLANTED_MARKS.frame(found)
    return {"marks": marks, "recovery": summarise(marks), "gains": planted_gains(marks)}


def _planted_in(
    passage: Passage,
    persons: Mapping[tuple[str, str], Person],
    task: Task,
    law: PlantedModel,
    trial: str,
    by_span: Mapping[tuple[str, int], Reading],
) -> Iterator[Probs | None]:
    """The law at each asked mark of a passage, behind the answers that are shown there.

    Where the model's own answers are, these are the likeliest that were read; of further draws nobody knows them.
    """
    first = passage.asked[0][0]
    person = persons[first.experiment, first.participant]
    is_reversed = person.shown.presentation == REVERSED
    earlier: list[Earlier] | None = []
    span = 0
    for piece in passage.pieces:
        if not isinstance(piece, Slot):
            continue
        candidates, shown = piece.mark.candidates, piece.answer
        if piece.is_asked:
            way = Way(is_reversed, candidates)
            number, block = piece.mark.number, piece.mark.block
            yield None if earlier is None else law_at(PLANTED[task.name], law, way, number, block, earlier)
            if passage.history == "own":
                reading = by_span.get((trial, span))
                probs = reading.label_probs if reading and passage.draw == 0 else None
                shown = candidates[int(np.argmax(probs))] if probs is not None else ""
            span += 1
        if earlier is not None:
            is_known = shown in candidates
            mark = Earlier(piece.mark.number, piece.mark.block, candidates.index(shown) if is_known else 0)
            earlier = [*earlier, mark] if is_known else None


def _compared(law: Probs, reading: Reading | None, person: Person, number: int) -> dict[str, Any]:
    mark = person.marks[number - 1]
    answered = mark.candidates.index(mark.answer or "") if mark.status is MarkStatus.READ else None
    row: dict[str, Any] = {"log_score_planted": None if answered is None else float(np.log(law[answered] / law.sum()))}
    if reading is None or reading.label_probs is None:
        return row
    probs = np.array(reading.label_probs)
    late = None if reading.label_probs_published is None else np.array(reading.label_probs_published)
    row["tvd"] = float(tvd_of(_with_rest(probs), _with_rest(law)))
    if late is not None and late.sum() > 0:
        row["tvd_late"] = float(tvd_of(late / late.sum(), law / law.sum()))
    if answered is not None and probs[answered] > 0:
        row["log_score"] = float(np.log(probs[answered] / probs.sum()))
    return row


def summarise(marks: pd.DataFrame) -> pd.DataFrame:
    """How well each history came back: mean and 95th percentile of total variation; what was not read fails."""
    found = []
    for (history, layout), part in marks.groupby(["history", "layout"], sort=False):  # type: ignore[misc]
        part = rows_where(part, draw=0)
        tvd, late = part["tvd"].dropna(), part["tvd_late"].dropna()
        row: dict[str, Any] = {"history": history, "layout": layout, "n_marks": len(part), "n_read": len(tvd)}
        if len(tvd):
            mean, p95 = float(tvd.mean()), float(np.quantile(tvd, 0.95))
            row |= {"tvd_mean": mean, "tvd_p95": p95, "tvd_late_mean": float(late.mean()) if len(late) else None}
        is_within = len(tvd) == len(part) and row["tvd_mean"] <= MOST_TVD and row["tvd_p95"] <= MOST_TVD_P95
        found.append(row | {"is_recovered": bool(len(tvd)) and is_within})
    return RECOVERY.frame(found)


def planted_gains(marks: pd.DataFrame) -> pd.DataFrame:
    """What each gain is by the law, and as it was read, over the same participants."""
    found = []
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
                apart = (scores[more] - scores[less]).dropna()
                if len(apart):
                    planted, read = float(apart["log_score_planted"].mean()), float(apart["log_score"].mean())
                    is_within = abs(read - planted) <= MOST_GAIN_ERROR
                    row = {"gain": gain, "layout": layout, "n_participants": len(apart), "planted": planted}
                    found.append(row | {"estimate": read, "is_recovered": is_within})
    return PLANTED_GAINS.frame(found)


def _with_rest(probs: Probs) -> Probs:
    return np.append(probs, max(0.0, 1 - probs.sum()))
