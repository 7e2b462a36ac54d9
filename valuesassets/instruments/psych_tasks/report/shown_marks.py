"""The contents of one mark on the page of transcripts: q of the answer, the likeliest candidates, every history."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.material.marks import Person, TaskMark
from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.report.pictures import LOST
from valuesassets.records.frames import records
from valuesassets.reporting.parts import is_absent

MOST_CANDIDATES = 12
TONES = (0.05, 0.15, 0.3, 0.5, 0.75)
"""Shares at which the next darker colour begins."""
MarkKey = tuple[str, str, int]
PLACE = ["experiment", "participant", "mark"]


@dataclass(frozen=True)
class ShownMark:
    """A mark of a transcript on the page.

    Attributes:
        tone: its colour: `q0` to `q5` by the share of the answer, `open`, `unlisted`, `unread`, `unasked`.
        label: the text behind it; title: its tooltip.
        histories: each with the share of the answer after it, or its status.
        reason: why it was not read, or why its answer is no candidate.
        candidates: the likeliest, each with its share and whether it is the answer; left_out: number of others.
        anchor: its id; text: the answer with its delimiters.
    """

    tone: str
    label: str
    title: str
    histories: Sequence[tuple[str, str]]
    reason: str | None = None
    candidates: Sequence[tuple[str, str, bool]] = ()
    left_out: int = 0
    anchor: str = ""
    text: str = ""


def anchors_of(people: Sequence[Person]) -> dict[tuple[str, str], str]:
    """Each person's name in ids: letters and digits, with a number behind it where another person has the same."""
    anchors: dict[tuple[str, str], str] = {}
    for person in people:
        plain = re.sub(r"[^A-Za-z0-9_.]", "_", person.participant) or "_"
        names = chain([plain], (f"{plain}.{number}" for number in count(2)))
        anchors[person.key] = next(name for name in names if name not in anchors.values())
    return anchors


def rows_by_mark(marks: pd.DataFrame) -> dict[MarkKey, list[dict[str, Any]]]:
    """The rows of each mark, one for each history, draw and layout."""
    by_mark: dict[MarkKey, list[dict[str, Any]]] = {}
    for row in records(marks):
        if not is_absent(row["mark"]):
            by_mark.setdefault((row["experiment"], row["participant"], int(row["mark"])), []).append(row)
    return by_mark


def shares_by_mark(candidates: pd.DataFrame) -> dict[MarkKey, dict[str, float]]:
    """The share of each candidate of each mark, in the first layout and draw."""
    by_mark: dict[MarkKey, dict[str, float]] = {}
    first = candidates.loc[:, [*PLACE, "layout", "draw"]].drop_duplicates(PLACE)
    only = candidates.merge(first, on=[*PLACE, "layout", "draw"])
    for (experiment, participant, mark), part in only.groupby(PLACE, sort=False):  # type: ignore[misc]
        logs = part["log_prob"].to_numpy(float)
        if np.isfinite(logs).any():
            shares = np.exp(logs - np.logaddexp.reduce(logs))
            by_mark[experiment, participant, int(mark)] = dict(zip(part["candidate"], shares.tolist(), strict=True))
    return by_mark


def shown_mark(
    mark: TaskMark, history: str | None, mark_rows: Sequence[Mapping[str, Any]], shares: Mapping[str, float]
) -> ShownMark:
    """The contents of a mark.

    Args:
        history: whose share colours it.
        mark_rows: its rows; none where there are no readings.
        shares: of the candidates after that history.
    """
    row = next((each for each in mark_rows if each["history"] == history), next(iter(mark_rows), {}))
    status = str(row.get("status", MarkStatus.NOT_ASKED))
    reason = row.get("reason") if isinstance(row.get("reason"), str) else None
    name, histories = f"mark {mark.number}, {mark.kind or 'of no kind'}", _histories(mark_rows)
    if status in LOST:
        reason, words = reason or "no reason was given", status.replace("_", " ")
        return ShownMark("unread", words, f"{name}: {words}: {reason}", histories, reason)
    if status == MarkStatus.NOT_ASKED:
        reason = reason or "not asked"
        return ShownMark("unasked", "not asked", f"{name}: {reason}", histories, reason)
    if status == MarkStatus.OPEN:
        log_prob = _log_prob(row)
        return ShownMark("open", log_prob, f"{name}, anything may be answered: {log_prob}", histories)
    q, likeliest = share_of_answer(row), row.get("likeliest")
    best = f"likeliest {likeliest} ({spell(row.get('share_likeliest'))})" if isinstance(likeliest, str) else ""
    is_best = row.get("is_likeliest")
    tone, label = ("unlisted", "unlisted") if q is None else (f"q{sum(q >= step for step in TONES)}", spell(q))
    if best and (q is None or is_absent(is_best) or not is_best):
        label += f"; {best}"
    lost = list(dict.fromkeys(str(each["history"]) for each in mark_rows if str(each["status"]) in LOST))
    label += f"; not read after {', '.join(lost)}" if lost else ""
    title = f"{name}: q {spell(q)}" + (f", {best}" if best else "")
    if not is_absent(row.get("p_valid")):
        title += f", P_valid {spell(row['p_valid'])}"
    answer, ordered = (mark.answer or "").strip(), sorted(shares.items(), key=lambda each: -each[1])
    return ShownMark(
        tone,
        label,
        title,
        histories,
        reason if status == MarkStatus.UNLISTED else None,
        [(text, spell(share), text == answer) for text, share in ordered[:MOST_CANDIDATES]],
        max(0, len(ordered) - MOST_CANDIDATES),
    )


def share_of_answer(row: Mapping[str, Any]) -> float | None:
    """q of the answer; None where it is no candidate or was not read."""
    log_prob: Any = row.get("log_prob_human")
    p_valid: Any = row.get("p_valid")
    if row.get("status") != MarkStatus.READ or is_absent(log_prob) or is_absent(p_valid) or not float(p_valid) > 0:
        return None
    return min(1.0, math.exp(float(log_prob)) / float(p_valid))


def spell(share: Any) -> str:
    """A share in print.

    >>> spell(0.617), spell(0.0004), spell(0.9999), spell(None)
    ('.62', '<.01', '>.99', 'not available')
    """
    if is_absent(share):
        return "not available"
    if float(share) < 0.005:
        return "<.01"
    return ">.99" if float(share) > 0.995 else f"{float(share):.2f}".removeprefix("0")


def _histories(mark_rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Each history with the share of the answer after it, the mean over draws; else with its status."""
    by_history: dict[str, list[Mapping[str, Any]]] = {}
    several = len({row["layout"] for row in mark_rows if isinstance(row["layout"], str)}) > 1
    for row in mark_rows:
        if isinstance(row["history"], str):
            layout = f", {row['layout']}" if several and isinstance(row["layout"], str) else ""
            by_history.setdefault(row["history"] + layout, []).append(row)
    histories = []
    for name, draws in by_history.items():
        shares = [q for q in map(share_of_answer, draws) if q is not None]
        status = str(draws[0]["status"])
        text = _log_prob(draws[0]) if status == MarkStatus.OPEN else status.replace("_", " ")
        number = f" ({len(draws)} draws)" if len(draws) > 1 else ""
        histories.append((name + number, spell(float(np.mean(shares))) if shares else text))
    return histories


def _log_prob(row: Mapping[str, Any]) -> str:
    value: Any = row.get("log_prob_human")
    return "open" if is_absent(value) else f"log P {float(value):.1f}"
