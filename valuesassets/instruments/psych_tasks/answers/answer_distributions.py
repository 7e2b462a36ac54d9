"""`psych_tasks/answer_distributions`: how probable each candidate is at each mark, after each history."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.psych_tasks.material.marks import Person, TaskMark, item_of
from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus, status_of
from valuesassets.instruments.psych_tasks.material.task_files import Kind, Task
from valuesassets.instruments.psych_tasks.material.transcripts import REVERSED
from valuesassets.instruments.psych_tasks.tables import CANDIDATES, DONORS, MARKS
from valuesassets.measure.keying import label_lean
from valuesassets.records.frames import records
from valuesassets.records.trials import Reading, Trial

MOST_DONORS = 60
"""Largest number of other participants whose histories are tried on one participant."""


@dataclass(frozen=True)
class ReadMark:
    """A mark of a person, with the kind and the reading that it has."""

    person: Person
    mark: TaskMark
    kind: Kind | None
    reading: Reading | None

    @property
    def is_read(self) -> bool:
        """Whether there are probabilities."""
        return self.reading is not None and self.reading.label_probs is not None

    @cached_property
    def log_probs(self) -> NDArray[np.float64] | None:
        """(candidates,) nats, absolute; None where it was not read."""
        return _logs(self.reading.label_probs) if self.reading else None

    @cached_property
    def late(self) -> NDArray[np.float64] | None:
        """The same as published code reads it, one row late; None where that was not asked for."""
        return _logs(self.reading.label_probs_published) if self.reading else None

    @property
    def answered(self) -> int | None:
        """The place of the participant's answer among the candidates; None where it is none of them."""
        answer = (self.mark.answer or "").strip() if self.mark.status is not MarkStatus.OPEN else self.mark.answer
        return self.mark.candidates.index(answer) if answer in self.mark.candidates else None

    @cached_property
    def values(self) -> NDArray[np.float64] | None:
        """(candidates,) the numbers that they stand for, as they were shown; None where one is no number."""
        if self.kind is None or self.mark.status is MarkStatus.OPEN:
            return None
        values = [self.kind.value_of(place, text) for place, text in enumerate(self.mark.candidates)]
        return None if any(value is None for value in values) else np.array(values, dtype=float)

    @cached_property
    def meanings(self) -> tuple[str, ...]:
        """What each candidate means, in whichever presentation and with whichever keys."""
        roles = () if self.kind is None or self.kind.candidates == "open" else self.kind.candidates.stand_ins
        if self.values is not None:
            meanings = tuple(f"{self.turned(float(value)):g}" for value in self.values)
        else:
            meanings = roles if len(roles) == len(self.mark.candidates) else self.mark.candidates
        return meanings if len(set(meanings)) == len(meanings) else self.mark.candidates

    def turned(self, value: float | None) -> float | None:
        """A value on the scale as a forward presentation shows it."""
        if value is None or self.values is None:
            return value
        is_turned = self.person.transcript.presentation == REVERSED and self.kind is not None and self.kind.flips
        return float(self.values.min() + self.values.max() - value) if is_turned else value


def derive_answer_distributions(
    asked_marks: pd.DataFrame,
    people: Sequence[Person],
    task: Task,
    trials: Sequence[Trial],
    readings: Sequence[Reading],
    is_chat: bool,
    context_tokens: Mapping[tuple[str, int], int | None] | None = None,
) -> dict[str, pd.DataFrame]:
    """The model's probabilities at every mark: tables `candidates`, `marks`, `donors` (see `tables.py`).

    Args:
        asked_marks: rows of the table.
        is_chat: whether the model was asked in a chat.
        context_tokens: number of tokens before a mark, by trial and span, where it is stored.
    """
    by_span = {(reading.trial_id, int(reading.span or 0)): reading for reading in readings}
    chats = {trial.trial_id for trial in trials if trial.chat is not None}
    marks = {
        (person.experiment, person.participant, mark.number): (person, mark)
        for person in people
        for mark in person.marks
    }
    mark_rows: list[dict[str, Any]] = []
    candidate_rows: list[dict[str, Any]] = []
    human: dict[str, dict[tuple[str, str, int], ReadMark]] = {}
    items: dict[tuple[str, str, int], str] = {}
    of_kinds: dict[Any, list[tuple[dict[str, Any], ReadMark]]] = {}
    for row in records(_distinct(asked_marks, is_chat)):
        key = (row["experiment"], row["participant"], row["mark"])
        person, mark = marks[key]
        span = None if row["trial_id"] is None else (row["trial_id"], int(row["span"]))
        read = ReadMark(person, mark, task.kind_named.get(mark.kind or ""), by_span.get(span) if span else None)
        layout = _layout(row["layout"], is_chat and row["trial_id"] in chats)
        place = {name: row[name] for name in ("experiment", "participant", "history", "draw")}
        place |= {"mark": row["mark"], "layout": layout}
        mark_row = place | _of_mark(person, mark)
        if span is None:
            mark_row |= {"status": str(MarkStatus.NOT_ASKED), "reason": row["reason"]}
        else:
            mark_row |= _read_columns(read, (context_tokens or {}).get(span))
        mark_rows.append(mark_row)
        if read.is_read and read.answered is not None and len(mark.candidates) > 1:
            if key not in items:
                items[key] = item_of(person, mark, task)
            mark_row |= {"item_id": items[key], "meanings": list(read.meanings)}
            mark_row |= {"human_meaning": read.meanings[read.answered]}
            kind = (layout, row["history"], row["draw"], mark.kind, len(mark.candidates))
            of_kinds.setdefault(kind, []).append((mark_row, read))
        candidate_rows += _candidate_rows(place, read)
        if row["history"] == "human" and read.is_read:
            human.setdefault(layout, {})[key] = read
    for alike in of_kinds.values():
        _note_places(alike)
    unasked = [(person, mark) for person, mark in marks.values() if not mark.is_asked]
    mark_rows += [
        _of_mark(person, mark) | {"status": str(mark.status), "reason": mark.reason} for person, mark in unasked
    ]
    donors = [row for layout, reads in human.items() for row in _donor_rows(people, task, reads, layout)]
    return {
        "marks": MARKS.frame(mark_rows),
        "candidates": CANDIDATES.frame(candidate_rows),
        "donors": DONORS.frame(donors),
    }


def _distinct(asked_marks: pd.DataFrame, is_chat: bool) -> pd.DataFrame:
    """The rows without layout `marked` where `auto` shows this model the same."""
    if is_chat or not {"auto", "marked"} <= set(asked_marks["layout"]):
        return asked_marks
    return pd.DataFrame(asked_marks.loc[asked_marks["layout"] != "marked"])


def _layout(layout: str, is_shown_as_chat: bool) -> str:
    return layout if layout != "auto" else "chat" if is_shown_as_chat else "marked"


def _of_mark(person: Person, mark: TaskMark) -> dict[str, Any]:
    """The columns that a mark has whether or not it was asked."""
    return {
        "experiment": person.experiment,
        "participant": person.participant,
        "presentation": person.transcript.presentation,
        "mark": mark.number,
        "block": mark.block,
        "kind": mark.kind,
        "human_answer": mark.answer,
        "n_candidates": len(mark.candidates),
    }


def _read_columns(read: ReadMark, context_tokens: int | None) -> dict[str, Any]:
    """The columns of the reading of an asked mark: its status, and its probabilities where there are any."""
    mark, reading = read.mark, read.reading
    row: dict[str, Any] = {"status": str(status_of(mark.status, reading)), "reason": _reason(mark, reading)}
    if reading is None or read.log_probs is None:
        return row
    probs = np.array(reading.label_probs, dtype=float)
    answered, late = read.answered, read.late
    row |= {
        "p_valid": reading.p_valid,
        "resolution_mass": reading.resolution_mass,
        "context_tokens": context_tokens,
        "log_prob_human": None if answered is None else float(read.log_probs[answered]),
        "p_valid_late": None if late is None else float(np.exp(late).sum()),
        "log_prob_human_late": None if late is None or answered is None else float(late[answered]),
        "n_tokens_human": None if answered is None else _tokens(reading, answered),
        "n_multi_token": sum(n > 1 for n in reading.label_tokens or ()),
    }
    if mark.status is MarkStatus.OPEN or not probs.sum() > 0:
        return row
    likeliest = int(probs.argmax())
    row |= {"likeliest": mark.candidates[likeliest], "share_likeliest": float(probs[likeliest] / probs.sum())}
    row |= {"is_likeliest": None if answered is None else likeliest == answered}
    values = read.values
    if values is not None:
        label = float(probs @ values / probs.sum())
        human = None if answered is None else float(values[answered])
        row |= {"expected_label": label, "expected_value": read.turned(label), "human_value": read.turned(human)}
        row |= {"value_low": float(values.min()), "value_high": float(values.max())}
        if row["value_low"] < row["value_high"]:
            row["label_lean"] = label_lean(_log_shares(read), values)
    return row


def _note_places(alike: Sequence[tuple[dict[str, Any], ReadMark]]) -> None:
    """Add to each mark's row how likely its answer is by place alone: the mean share of its place at the other marks.

    Args:
        alike: rows and marks of one kind, history, draw and layout with the same number of candidates.
    """
    total = np.zeros(len(alike[0][1].mark.candidates))
    for _, read in alike:
        total += np.exp(_log_shares(read))
    for row, read in alike:
        own, answered = np.exp(_log_shares(read)), read.answered or 0
        others = (total[answered] - own[answered]) / (len(alike) - 1) if len(alike) > 1 else 1 / len(own)
        row["log_share_by_place"] = math.log(min(1.0, others)) if others > 0 else None


def _log_shares(read: ReadMark) -> NDArray[np.float64]:
    """(candidates,) log of each candidate's share, nats."""
    assert read.log_probs is not None  # noqa: S101
    return read.log_probs - np.logaddexp.reduce(read.log_probs)


def _candidate_rows(place: Mapping[str, Any], read: ReadMark) -> Iterator[dict[str, Any]]:
    if read.reading is None or read.log_probs is None:
        return
    for number, candidate in enumerate(read.mark.candidates):
        yield {
            **place,
            "candidate": candidate,
            "log_prob": float(read.log_probs[number]),
            "log_prob_late": None if read.late is None else float(read.late[number]),
            "n_tokens": _tokens(read.reading, number),
        }


def _donor_rows(
    people: Sequence[Person], task: Task, human: Mapping[tuple[str, str, int], ReadMark], layout: str
) -> Iterator[dict[str, Any]]:
    """How well each person's answers are predicted after their own history and others' who were shown the same."""
    from valuesassets.instruments.psych_tasks.material.histories import shown_without_answers

    shares: dict[tuple[str, str], dict[int, NDArray[np.float64]]] = {}
    for (experiment, participant, number), read in human.items():
        if len(read.mark.candidates) > 1:
            shares.setdefault((experiment, participant), {})[number] = _log_shares(read)
    alike: dict[Any, list[Person]] = {}
    for person in people:
        alike.setdefault((person.experiment, tuple(shown_without_answers(person, task))), []).append(person)
    for group in alike.values():
        for place, person in enumerate(group):
            for step in range(min(len(group), MOST_DONORS + 1)):
                donor = group[(place + step) % len(group)]
                log_scores = [
                    log_shares[answered]
                    for number, log_shares in sorted(shares.get(donor.key, {}).items())
                    if (own := human.get((*person.key, number))) is not None
                    and (answered := own.answered) is not None
                    and answered < len(log_shares)
                ]
                if log_scores:
                    yield {
                        "experiment": person.experiment,
                        "participant": person.participant,
                        "donor": donor.participant,
                        "layout": layout,
                        "n_marks": len(log_scores),
                        "log_score": float(np.mean(log_scores)),
                    }


def _reason(mark: TaskMark, reading: Reading | None) -> str | None:
    if reading is None:
        return "it has no reading; materialise the readings of this cell again"
    return reading.reason if reading.reason is not None else mark.reason


def _tokens(reading: Reading, place: int) -> int | None:
    return reading.label_tokens[place] if reading.label_tokens else None


def _logs(probs: Sequence[float] | None) -> NDArray[np.float64] | None:
    """Nats; a probability of 0 is minus infinity."""
    return None if probs is None else np.array([math.log(prob) if prob > 0 else -math.inf for prob in probs])
