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
"""Other participants, at most, whose histories are tried on one participant."""


@dataclass(frozen=True)
class Seen:
    """A mark of a person as it was read.

    Attributes:
        log_probs: (candidates,) nats, absolute; None where it was not read.
        late: the same as published code reads it; None where that was not asked for.
    """

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
        """(candidates,) nats, absolute."""
        return _logs(self.reading.label_probs) if self.reading else None

    @cached_property
    def late(self) -> NDArray[np.float64] | None:
        """The same as published code reads it."""
        return _logs(self.reading.label_probs_published) if self.reading else None

    @property
    def answered(self) -> int | None:
        """The place of what was answered among the candidates; None where it is none of them."""
        said = (self.mark.answer or "").strip() if self.mark.status is not MarkStatus.OPEN else self.mark.answer
        return self.mark.candidates.index(said) if said in self.mark.candidates else None

    @cached_property
    def values(self) -> NDArray[np.float64] | None:
        """(candidates,) as numbers, as they were shown; None where one is none."""
        if self.kind is None or self.mark.status is MarkStatus.OPEN:
            return None
        found = [self.kind.value_of(place, text) for place, text in enumerate(self.mark.candidates)]
        return None if any(value is None for value in found) else np.array(found, dtype=float)

    @cached_property
    def meanings(self) -> tuple[str, ...]:
        """What each candidate means, whichever way round the scale was shown and whichever keys a person has."""
        roles = () if self.kind is None or self.kind.candidates == "open" else self.kind.candidates.roles_of
        if self.values is not None:
            found = tuple(f"{self.turned(float(value)):g}" for value in self.values)
        else:
            found = roles if len(roles) == len(self.mark.candidates) else self.mark.candidates
        return found if len(set(found)) == len(found) else self.mark.candidates

    def turned(self, value: float | None) -> float | None:
        """A value on the scale as a forward presentation shows it."""
        if value is None or self.values is None:
            return value
        is_turned = self.person.shown.presentation == REVERSED and self.kind is not None and self.kind.flips
        return float(self.values.min() + self.values.max() - value) if is_turned else value


def derive_answer_distributions(
    asked: pd.DataFrame,
    people: Sequence[Person],
    task: Task,
    trials: Sequence[Trial],
    readings: Sequence[Reading],
    is_chat: bool,
    context_tokens: Mapping[tuple[str, int], int | None] | None = None,
) -> dict[str, pd.DataFrame]:
    """What a model says at every mark: tables `candidates`, `marks`, `donors` (see `tables.py`).

    Args:
        asked: rows of `asked_marks`.
        is_chat: whether the model was asked in a chat.
        context_tokens: by trial and span, where it is known.
    """
    by_span = {(reading.trial_id, int(reading.span or 0)): reading for reading in readings}
    chats = {trial.trial_id for trial in trials if trial.chat is not None}
    marks = {
        (person.experiment, person.participant, mark.number): (person, mark)
        for person in people
        for mark in person.marks
    }
    known = context_tokens or {}
    mark_rows: list[dict[str, Any]] = []
    candidate_rows: list[dict[str, Any]] = []
    human: dict[str, dict[tuple[str, str, int], Seen]] = {}
    items: dict[tuple[str, str, int], str] = {}
    of_kinds: dict[Any, list[tuple[dict[str, Any], Seen]]] = {}
    for row in records(_once(asked, is_chat)):
        key = (row["experiment"], row["participant"], row["mark"])
        person, mark = marks[key]
        where = None if row["trial_id"] is None else (row["trial_id"], int(row["span"]))
        seen = Seen(person, mark, task.kind_named.get(mark.kind or ""), by_span.get(where) if where else None)
        layout = _layout(row["layout"], is_chat and row["trial_id"] in chats)
        place = {name: row[name] for name in ("experiment", "participant", "history", "draw")}
        place |= {"mark": row["mark"], "layout": layout}
        mark_rows.append(_mark_row(place, seen, where, row["reason"], known))
        if seen.is_read and seen.answered is not None and len(mark.candidates) > 1:
            if key not in items:
                items[key] = item_of(person, mark, task)
            mark_rows[-1] |= {"item_id": items[key], "meanings": list(seen.meanings)}
            mark_rows[-1] |= {"human_meaning": seen.meanings[seen.answered]}
            kind = (layout, row["history"], row["draw"], mark.kind, len(mark.candidates))
            of_kinds.setdefault(kind, []).append((mark_rows[-1], seen))
        candidate_rows += _candidate_rows(place, seen)
        if row["history"] == "human" and seen.is_read:
            human.setdefault(layout, {})[key] = seen
    for alike in of_kinds.values():
        _note_places(alike)
    mark_rows += [_unasked_row(person, mark) for person, mark in marks.values() if not mark.is_asked]
    donors = [row for layout, seen in human.items() for row in _donor_rows(people, task, seen, layout)]
    return {
        "marks": MARKS.frame(mark_rows),
        "candidates": CANDIDATES.frame(candidate_rows),
        "donors": DONORS.frame(donors),
    }


def _once(asked: pd.DataFrame, is_chat: bool) -> pd.DataFrame:
    """The rows without those of a layout that comes to the same for this model."""
    layouts = set(asked["layout"])
    if is_chat or not {"auto", "marked"} <= layouts:
        return asked
    return pd.DataFrame(asked.loc[asked["layout"] != "marked"])


def _layout(asked: str, is_shown_as_chat: bool) -> str:
    return asked if asked != "auto" else "chat" if is_shown_as_chat else "marked"


def _mark_row(
    place: Mapping[str, Any],
    seen: Seen,
    where: tuple[str, int] | None,
    why_not_asked: str | None,
    context_tokens: Mapping[tuple[str, int], int | None],
) -> dict[str, Any]:
    mark, reading = seen.mark, seen.reading
    row: dict[str, Any] = {
        **place,
        "presentation": seen.person.shown.presentation,
        "block": mark.block,
        "kind": mark.kind,
        "human_answer": mark.answer,
        "n_candidates": len(mark.candidates),
    }
    if where is None:
        return row | {"status": str(MarkStatus.NOT_ASKED), "reason": why_not_asked}
    row |= {"status": str(status_of(mark.status, reading)), "reason": _reason(mark, reading)}
    if reading is None or seen.log_probs is None:
        return row
    probs = np.array(reading.label_probs, dtype=float)
    answered, late = seen.answered, seen.late
    row |= {
        "p_valid": reading.p_valid,
        "resolution_mass": reading.resolution_mass,
        "context_tokens": context_tokens.get(where),
        "log_prob_human": None if answered is None else float(seen.log_probs[answered]),
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
    values = seen.values
    if values is not None:
        label = float(probs @ values / probs.sum())
        human = None if answered is None else float(values[answered])
        row |= {"expected_label": label, "expected_value": seen.turned(label), "human_value": seen.turned(human)}
        row |= {"value_low": float(values.min()), "value_high": float(values.max())}
        if row["value_low"] < row["value_high"]:
            row["label_lean"] = label_lean(_log_shares_at(seen), values)
    return row


def _note_places(alike: Sequence[tuple[dict[str, Any], Seen]]) -> None:
    """Note in each mark's row how likely its answer is by place alone: the mean share of its place at the other marks.

    Args:
        alike: rows and marks of one kind, history, draw and layout with the same number of candidates.
    """
    total = np.zeros(len(alike[0][1].mark.candidates))
    for _, seen in alike:
        total += np.exp(_log_shares_at(seen))
    for row, seen in alike:
        own, answered = np.exp(_log_shares_at(seen)), seen.answered or 0
        others = (total[answered] - own[answered]) / (len(alike) - 1) if len(alike) > 1 else 1 / len(own)
        row["log_share_by_place"] = math.log(min(1.0, others)) if others > 0 else None


def _log_shares_at(seen: Seen) -> NDArray[np.float64]:
    """(candidates,) log of each candidate's share, nats."""
    assert seen.log_probs is not None  # noqa: S101
    return seen.log_probs - np.logaddexp.reduce(seen.log_probs)


def _unasked_row(person: Person, mark: TaskMark) -> dict[str, Any]:
    """A mark that no history asks."""
    return {
        "experiment": person.experiment,
        "participant": person.participant,
        "presentation": person.shown.presentation,
        "mark": mark.number,
        "block": mark.block,
        "kind": mark.kind,
        "human_answer": mark.answer,
        "status": str(mark.status),
        "reason": mark.reason,
        "n_candidates": len(mark.candidates),
    }


def _candidate_rows(place: Mapping[str, Any], seen: Seen) -> Iterator[dict[str, Any]]:
    if seen.reading is None or seen.log_probs is None:
        return
    for number, candidate in enumerate(seen.mark.candidates):
        yield {
            **place,
            "candidate": candidate,
            "log_prob": float(seen.log_probs[number]),
            "log_prob_late": None if seen.late is None else float(seen.late[number]),
            "n_tokens": _tokens(seen.reading, number),
        }


def _donor_rows(
    people: Sequence[Person], task: Task, human: Mapping[tuple[str, str, int], Seen], layout: str
) -> Iterator[dict[str, Any]]:
    """How well each person's answers are foretold after their own history and others' who were shown the same."""
    alike: dict[Any, list[Person]] = {}
    for person in people:
        alike.setdefault(_shown_key(person, task), []).append(person)
    for group in alike.values():
        logs = {id(person): _log_shares(person, human) for person in group}
        for place, person in enumerate(group):
            for step in range(min(len(group), MOST_DONORS + 1)):
                donor = group[(place + step) % len(group)]
                scored = [
                    shares[answered]
                    for number, shares in logs[id(donor)].items()
                    if (own := human.get((person.experiment, person.participant, number))) is not None
                    and (answered := own.answered) is not None
                    and answered < len(shares)
                ]
                if scored:
                    yield {
                        "experiment": person.experiment,
                        "participant": person.participant,
                        "donor": donor.participant,
                        "layout": layout,
                        "n_marks": len(scored),
                        "log_score": float(np.mean(scored)),
                    }


def _shown_key(person: Person, task: Task) -> Any:
    from valuesassets.instruments.psych_tasks.material.histories import shown_without_answers

    return (person.experiment, tuple(shown_without_answers(person, task)))


def _log_shares(person: Person, human: Mapping[tuple[str, str, int], Seen]) -> dict[int, NDArray[np.float64]]:
    """By mark, the log of each candidate's share (nats), where anything but one text may be answered."""
    found = {}
    for mark in person.marks:
        seen = human.get((person.experiment, person.participant, mark.number))
        if seen is not None and seen.log_probs is not None and len(mark.candidates) > 1:
            found[mark.number] = _log_shares_at(seen)
    return found


def _reason(mark: TaskMark, reading: Reading | None) -> str | None:
    if reading is None:
        return "it has no reading; materialise the readings of this cell again"
    return reading.reason if reading.reason is not None else mark.reason


def _tokens(reading: Reading, place: int) -> int | None:
    return reading.label_tokens[place] if reading.label_tokens else None


def _logs(probs: Sequence[float] | None) -> NDArray[np.float64] | None:
    """Nats; a probability of 0 is minus infinity."""
    return None if probs is None else np.array([math.log(prob) if prob > 0 else -math.inf for prob in probs])
