"""The page of one cell's transcripts: unread marks, then some people's texts with a model's answer at each mark.

Colours are of q, the model's share of the person's answer after history `human`, or else after the first one asked.
"""

from collections.abc import Sequence
from dataclasses import replace
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
"""Number of transcripts; those with unread marks first."""
MOST_LISTED = 40
"""Number of unread marks of each status that are named one by one."""
PACKAGE = "valuesassets.instruments.psych_tasks.report"
WHO = ["experiment", "participant"]
Key = tuple[str, str]


def render_transcript_page(
    people: Sequence[Person], task: Task, marks: pd.DataFrame, candidates: pd.DataFrame, title: str
) -> str:
    """One HTML page without any other file or script.

    Args:
        people: the people of the task, with their marks.
        marks: rows of `answer_distributions/marks` of one model; candidates: likewise.
        title: the cell's name.
    """
    unread = rows(marks, marks["status"].isin(list(LOST)))
    on_page = choose_people(people, unread)
    anchors = anchors_of(on_page)
    history = main_history(marks)
    by_mark = rows_by_mark(_of(marks, on_page))
    shares = shares_by_mark(_of(rows(candidates, candidates["history"] == history), on_page))
    without = [person for person in people if not person.marks]
    page = template(PACKAGE, "transcript_page").render(
        title=title,
        task=task.name,
        history=history,
        n_people=len(people),
        counts=_counts(marks),
        unread=list_unread(unread, anchors),
        without=[
            {"participant": person.participant, "reason": no_marks_reason(person.transcript.text, task)}
            for person in without[:MOST_LISTED]
        ],
        n_without=len(without),
        transcripts=[
            {
                "anchor": anchors[person.key],
                "name": _name(person, people),
                "n_marks": len(person.marks),
                "pieces": lay_out(person, task, anchors[person.key], history, by_mark, shares),
            }
            for person in on_page
        ],
    )
    return page.strip("\n") + "\n"


def choose_people(people: Sequence[Person], unread: pd.DataFrame) -> list[Person]:
    """At most `MOST_SHOWN` people with marks: those with unread ones first, in the order of the file."""
    with_unread = set(zip(unread["experiment"], unread["participant"], strict=True))
    marked = [person for person in people if person.marks]
    return sorted(marked, key=lambda person: person.key not in with_unread)[:MOST_SHOWN]


def main_history(marks: pd.DataFrame) -> str | None:
    """The history that the page shows: `human`, else the first one asked; None where none was."""
    histories = list(dict.fromkeys(column(marks, "history").dropna()))
    return "human" if "human" in histories else next(iter(histories), None)


def list_unread(unread: pd.DataFrame, anchors: dict[Key, str]) -> list[dict[str, Any]]:
    """For each status, most frequent first: numbers of marks and people, and the first marks with their reasons."""
    groups = []
    for status, part in unread.groupby("status", sort=False):
        once = part.drop_duplicates([*WHO, "mark"])
        listed = part.merge(once.loc[:, [*WHO, "mark"]].head(MOST_LISTED), on=[*WHO, "mark"])
        items = []
        for _, of_mark in listed.groupby([*WHO, "mark"], sort=False):
            row = records(of_mark.head(1))[0]
            anchor, number = anchors.get((row["experiment"], row["participant"])), int(row["mark"])
            items.append(
                {
                    "link": anchor and f"m-{anchor}-{number}",
                    "participant": row["participant"],
                    "mark": number,
                    "kind": row["kind"] if isinstance(row["kind"], str) else None,
                    "histories": list(dict.fromkeys(of_mark["history"].dropna())),
                    "reason": row["reason"] if isinstance(row["reason"], str) else "no reason was given",
                }
            )
        group = {"status": str(status).replace("_", " "), "n": len(once), "people": len(once.drop_duplicates(WHO))}
        groups.append(group | {"items": items, "more": len(once) - len(items)})
    return sorted(groups, key=lambda group: -group["n"])


def lay_out(
    person: Person,
    task: Task,
    anchor: str,
    history: str | None,
    by_mark: dict[tuple[str, str, int], list[dict[str, Any]]],
    shares: dict[tuple[str, str, int], dict[str, float]],
) -> list[str | ShownMark]:
    """A transcript, cut into texts and marks."""
    text, (opening, closing) = person.transcript.text, task.delimiters
    pieces: list[str | ShownMark] = []
    behind = 0
    for mark in person.marks:
        opened = mark.start - len(opening)
        end = mark.end + (len(closing) if text.startswith(closing, mark.end) else 0)
        key = (*person.key, mark.number)
        contents = shown_mark(mark, history, by_mark.get(key, []), shares.get(key, {}))
        place = replace(contents, anchor=f"m-{anchor}-{mark.number}", text=text[opened:end])
        pieces += [text[behind:opened], place]
        behind = end
    return [*pieces, text[behind:]]


def _counts(marks: pd.DataFrame) -> list[dict[str, Any]]:
    """Number of marks of each history and status; all draws of own answers count."""
    named = marks.assign(history=column(marks, "history").fillna("in no history"))
    return [
        {"history": history, "status": str(status).replace("_", " "), "n": len(part)}
        for (history, status), part in named.groupby(["history", "status"], sort=False)  # type: ignore[misc]
    ]


def _of(frame: pd.DataFrame, people: Sequence[Person]) -> pd.DataFrame:
    """The rows of these people."""
    keys = pd.MultiIndex.from_tuples([person.key for person in people], names=WHO)
    return rows(frame, pd.MultiIndex.from_frame(frame.loc[:, WHO]).isin(keys)) if len(keys) else frame.head(0)


def _name(person: Person, people: Sequence[Person]) -> str:
    several = any(each.experiment != person.experiment for each in people)
    turned = f", scale shown {person.transcript.presentation}" if person.transcript.presentation else ""
    return f"Participant {person.participant}{f' of {person.experiment}' if several else ''}{turned}"
