"""`psych_tasks/asked_marks`: the trial and span that ask each mark in each history; several people may share one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from valuesassets.instruments.psych_tasks.material.histories import (
    HISTORIES,
    AskedMark,
    NotAsked,
    Passage,
    alone_passages,
    answer_passages,
    asked_marks,
    blank_passages,
    find_donors,
    human_passages,
    is_shown_alike,
    other_passages,
    own_passages,
    permuted_passages,
)
from valuesassets.instruments.psych_tasks.material.marks import Person
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.instruments.psych_tasks.trials.trials import write_trial
from valuesassets.records.settings.psych_tasks import History, Layout
from valuesassets.records.trials import Trial


@dataclass(frozen=True)
class Asking:
    """The trials of a task, and the marks that each of their spans stands for.

    Attributes:
        passages: by trial.
        rows: the table `asked_marks`: a mark of a person in one history, with the trial and span that ask it, or the
            reason why none does.
    """

    trials: list[Trial]
    passages: dict[str, Passage]
    rows: pd.DataFrame


def ask_task(
    people: Sequence[Person],
    task: Task,
    histories: Sequence[History] = HISTORIES,
    layouts: Sequence[Layout] = ("auto",),
    own_draws: int = 1,
    language: str = "eng",
) -> Asking:
    """The trials of a task: each history in each layout.

    Args:
        own_draws: number of draws of the model's own answers; the first draw takes the likeliest each time.
    """
    trials: list[Trial] = []
    passages: dict[str, Passage] = {}
    rows: list[dict[str, Any]] = []
    donors = find_donors(people) if "other" in histories else {}
    makers = {
        "alone": alone_passages,
        "own": partial(own_passages, draws=own_draws),
        "human": human_passages,
        "other": partial(other_passages, donors=donors),
        "permuted": permuted_passages,
        "answers": answer_passages,
        "blank": blank_passages,
    }
    for layout in layouts:
        human: dict[tuple[str, str], tuple[str, dict[int, int]]] = {}
        for history in histories:
            for passage in makers[history](people, task):
                if isinstance(passage, NotAsked):
                    row = _row(passage, layout)
                    rows += [row | mark._asdict() | {"reason": passage.reason} for mark in passage.marks]
                    continue
                trial = write_trial(passage, layout, task, language)
                trials.append(trial)
                passages[trial.trial_id] = passage
                for span, marks in enumerate(passage.marks):
                    row = _row(passage, layout) | {"trial_id": trial.trial_id, "span": span}
                    rows += [row | mark._asdict() for mark in marks]
                if history == "human":
                    person = passage.marks[0][0]
                    spans = {marks[0].mark: span for span, marks in enumerate(passage.marks)}
                    human[person.experiment, person.participant] = trial.trial_id, spans
        if "other" in histories and human:
            rows += _shared_readings(people, task, donors, human, layout)
    columns = ["trial_id", "span", "experiment", "participant", "mark", "history", "draw", "layout", "reason"]
    return Asking(trials, passages, pd.DataFrame(rows, columns=pd.Index(columns)))


def _row(passage: Passage | NotAsked, layout: str) -> dict[str, Any]:
    place = {"history": passage.history, "draw": passage.draw, "layout": layout}
    return {"trial_id": None, "span": None, "reason": None} | place


def _shared_readings(
    people: Sequence[Person],
    task: Task,
    donors: Mapping[int, int],
    human: Mapping[tuple[str, str], tuple[str, dict[int, int]]],
    layout: str,
) -> Iterator[dict[str, Any]]:
    """Marks whose history `other` is read in the donor's own transcript, since both people were shown the same.

    Args:
        human: by person the trial of their transcript, and its spans by number of the mark.
    """
    for place, other in donors.items():
        person, donor = people[place], people[other]
        if is_shown_alike(person, donor, task):
            trial, spans = human[donor.experiment, donor.participant]
            row = {"history": "other", "draw": 0, "layout": layout, "trial_id": trial, "reason": None}
            for mark in asked_marks(person):
                key = AskedMark(person.experiment, person.participant, mark.number)
                yield row | key._asdict() | {"span": spans[mark.number]}
