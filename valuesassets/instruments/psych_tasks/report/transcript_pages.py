"""The page of one cell's transcripts: what was not read, then some people's texts with what a model says at each mark.

Colours are of q, the share that the model gives to what the person answered, after the history `human` where it was
asked, else after the first history that was.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from valuesassets.instruments.psych_tasks.material.marks import Person, no_marks_reason
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.instruments.psych_tasks.report.pictures import LOST
from valuesassets.instruments.psych_tasks.report.shown_marks import (
    ShownMark,
    anchors_of,
    rows_by_mark,
    shares_by_mark,
    shown_mark,
)
from valuesassets.records.frames import column, records, rows
from valuesassets.records.templates import template

MOST_SHOWN = 12
"""Transcripts; those with unread marks first."""
MOST_LISTED = 40
"""Unread marks that are named one by one, of each status."""
PACKAGE = "valuesassets.instruments.psych_tasks.report"
WHO = ["experiment", "participant"]
Key = tuple[str, str]


def render_transcript_page(
    people: Sequence[Person], task: Task, marks: pd.DataFrame, candidates: pd.DataFrame, title: str
) -> str:
    """One HTML page that needs nothing else and runs no script.

    Args:
        people: of the task, with their marks.
        marks: rows of `answer_distributions/marks` of one model; candidates: likewise.
        title: what cell it is.
    """
    unread = rows(marks, marks["status"].isin(list(LOST)))
    shown = choose_people(people, unread)
    anchors = anchors_of(shown)
    history = main_history(marks)
    by_mark = rows_by_mark(_of(marks, shown))
    shares = shares_by_mark(_of(rows(candidates, candidates["history"] == history), shown))
    page = template(PACKAGE, "transcript_page").render(
        title=title,
        task=task.name,
        history=history,
        n_people=len(people),
        counts=_counts(marks),
        unread=list_unread(unread, anchors),
        without=[_without(person, task) for person in people if not person.marks][:MOST_LISTED],
        n_without=sum(not person.marks for person in people),
        transcripts=[
            {
                "anchor": anchors[_key(person)],
                "name": _name(person, people),
                "n_marks": len(person.marks),
                "pieces": lay_out(person, task, anchors[_key(person)], history, by_mark, shares),
            }
            for person in shown
        ],
    )
    return page.strip("\n") + "\n"


def choose_people(people: Sequence[Person], unread: pd.DataFrame) -> list[Person]:
    """At most twelve who have marks: those with unread ones first, in the order of the file."""
    lacking = set(zip(unread["experiment"], unread["participant"], strict=True))
    marked = [person for person in people if person.marks]
    return sorted(marked, key=lambda person: _key(person) not in lacking)[:MOST_SHOWN]


def main_history(marks: pd.DataFrame) -> str | None:
    """The history that the page shows: `human`, else the first that was asked; None where none was."""
    asked = list(dict.fromkeys(column(marks, "history").dropna()))
    return "human" if "human" in asked else next(iter(asked), None)


def list_unread(unread: pd.DataFrame, anchors: dict[Key, str]) -> list[dict[str, Any]]:
    """By status, most frequent first: how many marks of how many people, and the first of them with their reasons."""
    found = []
    for status, part in unread.groupby("status", sort=False):
        once = part.drop_duplicates([*WHO, "mark"])
        listed = part.merge(once.loc[:, [*WHO, "mark"]].head(MOST_LISTED), on=[*WHO, "mark"])
        items: dict[tuple[str, str, int], dict[str, Any]] = {}
        for row in records(listed):
            key = (row["experiment"], row["participant"])
            item = items.setdefault(
                (*key, int(row["mark"])),
                {
                    "link": f"m-{anchors[key]}-{int(row['mark'])}" if key in anchors else None,
                    "participant": row["participant"],
                    "mark": int(row["mark"]),
                    "kind": row["kind"] if isinstance(row["kind"], str) else None,
                    "histories": [],
                    "reason": row["reason"] if isinstance(row["reason"], str) else "no reason was given",
                },
            )
            if isinstance(row["history"], str) and row["history"] not in item["histories"]:
                item["histories"].append(row["history"])
        people = len(once.drop_duplicates(WHO))
        group = {
            "status": str(status).replace("_", " "),
            "n": len(once),
            "people": people,
            "items": list(items.values()),
        }
        found.append(group | {"more": len(once) - len(items)})
    return sorted(found, key=lambda group: -group["n"])


def lay_out(
    person: Person,
    task: Task,
    anchor: str,
    history: str | None,
    by_mark: dict[tuple[str, str, int], list[dict[str, Any]]],
    shares: dict[tuple[str, str, int], dict[str, float]],
) -> list[str | ShownMark]:
    """A transcript as it stands, cut into texts and marks."""
    text, (opening, closing) = person.transcript.text, task.delimiters
    pieces: list[str | ShownMark] = []
    behind = 0
    for mark in person.marks:
        opened = mark.start - len(opening)
        end = mark.end + (len(closing) if text.startswith(closing, mark.end) else 0)
        key = (person.experiment, person.participant, mark.number)
        found = shown_mark(mark, history, by_mark.get(key, []), shares.get(key, {}))
        pieces += [text[behind:opened], found.placed(f"m-{anchor}-{mark.number}", text[opened:end])]
        behind = end
    return [*pieces, text[behind:]]


def _counts(marks: pd.DataFrame) -> list[dict[str, Any]]:
    """How many marks there are of each history and status; of own answers, all draws."""
    named = marks.assign(history=column(marks, "history").fillna("in no history"))
    return [
        {"history": history, "status": str(status).replace("_", " "), "n": len(part)}
        for (history, status), part in named.groupby(["history", "status"], sort=False)  # type: ignore[misc]
    ]


def _without(person: Person, task: Task) -> dict[str, str]:
    return {"participant": person.participant, "reason": no_marks_reason(person.transcript.text, task)}


def _of(frame: pd.DataFrame, people: Sequence[Person]) -> pd.DataFrame:
    """The rows of these people."""
    wanted = {_key(person) for person in people}
    near = rows(frame, frame["participant"].isin([participant for _, participant in wanted]))
    is_theirs = [key in wanted for key in zip(near["experiment"], near["participant"], strict=True)]
    return rows(near, is_theirs)


def _key(person: Person) -> Key:
    return person.experiment, person.participant


def _name(person: Person, people: Sequence[Person]) -> str:
    several = any(each.experiment != person.experiment for each in people)
    turned = f", scale shown {person.transcript.presentation}" if person.transcript.presentation else ""
    return f"Participant {person.participant}{f' of {person.experiment}' if several else ''}{turned}"
