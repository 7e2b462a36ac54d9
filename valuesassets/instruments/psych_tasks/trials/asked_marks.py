"""`psych_tasks/asked_marks`: which trial and span ask each mark in each history; several people may share one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from valuesassets.instruments.psych_tasks.material.histories import (
    HISTORIES,
    Asked,
    History,
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
from valuesassets.instruments.psych_tasks.trials.trials import AskedLayout, write_trial
from valuesassets.records.trials import Trial


@dataclass(frozen=True)
class Asking:
    """A task as models are asked it: trials, and what each of their spans stands for.

    Attributes:
        passages: by trial.
        rows: of the table `asked_marks`: a mark of a person in one history, with the trial and span that ask it, or
            why none does.
    """

    trials: list[Trial]
    passages: dict[str, Passage]
    rows: pd.DataFrame


def ask_task(
    people: Sequence[Person],
    task: Task,
    histories: Sequence[History] = HISTORIES,
    layouts: Sequence[AskedLayout] = ("auto",),
    own_draws: int = 1,
    language: str = "eng",
) -> Asking:
    """Everything that a task asks: each history in each layout.

    Args:
        own_draws: how often the model's own answers are drawn; the first draw takes the likeliest each time.
    """
    trials: list[Trial] = []
    passages: dict[str, Passage] = {}
    rows: list[dict[str, Any]] = []
    donors = find_donors(people, task) if "other" in histories else {}
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
            for made in makers[history](people, task):
                if isinstance(made, NotAsked):
                    rows += _not_asked(made, layout)
                    continue
                trial = write_trial(made, layout, task, language)
                trials.append(trial)
                passages[trial.trial_id] = made
                rows += _asked(made, trial, layout)
                if history == "human":
                    person = made.asked[0][0]
                    spans = {group[0].mark: span for span, group in enumerate(made.asked)}
                    human[person.experiment, person.participant] = trial.trial_id, spans
        if "other" in histories and human:
            rows += _free(people, task, donors, human, layout)
    columns = ["trial_id", "span", "experiment", "participant", "mark", "history", "draw", "layout", "reason"]
    return Asking(trials, passages, pd.DataFrame(rows, columns=pd.Index(columns)))


def _asked(made: Passage, trial: Trial, layout: str) -> Iterator[dict[str, Any]]:
    for span, group in enumerate(made.asked):
        for asked in group:
            yield _row(asked, made.history, made.draw, layout, trial.trial_id, span)


def _not_asked(made: NotAsked, layout: str) -> Iterator[dict[str, Any]]:
    for asked in made.asked:
        yield _row(asked, made.history, made.draw, layout) | {"reason": made.reason}


def _free(
    people: Sequence[Person],
    task: Task,
    donors: dict[int, int],
    human: dict[tuple[str, str], tuple[str, dict[int, int]]],
    layout: str,
) -> Iterator[dict[str, Any]]:
    """Marks before which another person's blocks stand already: in that person's own transcript."""
    for place, other in donors.items():
        person, donor = people[place], people[other]
        if is_shown_alike(person, donor, task):
            trial, spans = human[donor.experiment, donor.participant]
            for mark in asked_marks(person):
                asked = Asked(person.experiment, person.participant, mark.number)
                yield _row(asked, "other", 0, layout, trial, spans[mark.number])


def _row(
    asked: Asked, history: str, draw: int, layout: str, trial_id: str | None = None, span: int | None = None
) -> dict[str, Any]:
    place = {"history": history, "draw": draw, "layout": layout}
    return {"trial_id": trial_id, "span": span, **asked._asdict(), **place, "reason": None}
