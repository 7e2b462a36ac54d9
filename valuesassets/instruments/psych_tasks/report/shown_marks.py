"""What the page of transcripts shows at one mark: q of the person's answer, the likeliest candidates, every history."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.material.marks import Person, TaskMark
from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.report.pictures import LOST
from valuesassets.records.frames import records

MOST_CANDIDATES = 12
TONES = (0.05, 0.15, 0.3, 0.5, 0.75)
"""Shares at which the next darker colour begins."""
MarkKey = tuple[str, str, int]
PLACE = ["experiment", "participant", "mark"]


@dataclass(frozen=True)
class ShownMark:
    """A mark of a transcript.

    Attributes:
        tone: its colour: `q0` to `q5` by the share of what was answered, `open`, `unlisted`, `unread`, `unasked`.
        label: what stands behind it; title: what it says of itself.
        reason: why it was not read.
        candidates: the likeliest, each with its share and whether it was answered; left_out: how many more there are.
        histories: each with the share of what was answered after it, or its status.
        anchor: its id; text: what stands there, delimiters included.
    """

    tone: str
    label: str
    title: str
    reason: str | None = None
    candidates: Sequence[tuple[str, str, bool]] = ()
    left_out: int = 0
    histories: Sequence[tuple[str, str]] = field(default_factory=list)
    anchor: str = ""
    text: str = ""

    def placed(self, anchor: str, text: str) -> "ShownMark":
        """The same at its place."""
        return replace(self, anchor=anchor, text=text)


def anchors_of(people: Sequence[Person]) -> dict[tuple[str, str], str]:
    """What stands for each person in ids: their name, of letters and digits; a number behind one that is taken."""
    found: dict[tuple[str, str], str] = {}
    for person in people:
        plain = re.sub(r"[^A-Za-z0-9_.]", "_", person.participant) or "_"
        anchor, number = plain, 1
        while anchor in found.values():
            number += 1
            anchor = f"{plain}.{number}"
        found[person.experiment, person.participant] = anchor
    return found


def rows_by_mark(marks: pd.DataFrame) -> dict[MarkKey, list[dict[str, Any]]]:
    """By mark its rows, one for each history, draw and layout."""
    found: dict[MarkKey, list[dict[str, Any]]] = {}
    for row in records(marks):
        if not _is_nothing(row["mark"]):
            found.setdefault((row["experiment"], row["participant"], int(row["mark"])), []).append(row)
    return found


def shares_by_mark(candidates: pd.DataFrame) -> dict[MarkKey, dict[str, float]]:
    """By mark the share of each candidate, in the first layout and draw."""
    found: dict[MarkKey, dict[str, float]] = {}
    first = candidates.loc[:, [*PLACE, "layout", "draw"]].drop_duplicates(PLACE)
    only = candidates.merge(first, on=[*PLACE, "layout", "draw"])
    for (experiment, participant, mark), part in only.groupby(PLACE, sort=False):  # type: ignore[misc]
        logs = part["log_prob"].to_numpy(float)
        if np.isfinite(logs).any():
            shares = np.exp(logs - np.logaddexp.reduce(logs))
            found[experiment, participant, int(mark)] = dict(zip(part["candidate"], shares.tolist(), strict=True))
    return found


def shown_mark(
    mark: TaskMark, history: str | None, asked: Sequence[Mapping[str, Any]], shares: Mapping[str, float]
) -> ShownMark:
    """What is shown of a mark.

    Args:
        history: whose share colours it.
        asked: its rows; none where there are no readings.
        shares: of the candidates after that history.
    """
    row = next((each for each in asked if each["history"] == history), next(iter(asked), {}))
    status = str(row.get("status", MarkStatus.NOT_ASKED))
    kind = f"mark {mark.number}, {mark.kind or 'of no kind'}"
    if status in LOST:
        reason = row.get("reason") if isinstance(row.get("reason"), str) else "no reason was given"
        words = status.replace("_", " ")
        return ShownMark("unread", words, f"{kind}: {words}: {reason}", reason, histories=_histories(asked))
    if status == MarkStatus.NOT_ASKED:
        reason = row.get("reason") if isinstance(row.get("reason"), str) else "not asked"
        return ShownMark("unasked", "not asked", f"{kind}: {reason}", reason, histories=_histories(asked))
    if status == MarkStatus.OPEN:
        said = _log_prob(row)
        return ShownMark("open", said, f"{kind}, anything may be answered: {said}", histories=_histories(asked))
    q, likeliest = share_of_answer(row), row.get("likeliest")
    best = f"{likeliest} ({spell(row.get('share_likeliest'))})" if isinstance(likeliest, str) else ""
    is_best = row.get("is_likeliest")
    if q is None:
        tone, label = "unlisted", f"unlisted; likeliest {best}" if best else "unlisted"
    else:
        tone = f"q{sum(q >= step for step in TONES)}"
        label = (
            spell(q) if not best or (not _is_nothing(is_best) and bool(is_best)) else f"{spell(q)}; likeliest {best}"
        )
    lost = list(dict.fromkeys(str(each["history"]) for each in asked if str(each["status"]) in LOST))
    label += f"; not read after {', '.join(lost)}" if lost else ""
    ordered = sorted(shares.items(), key=lambda each: -each[1])
    title = f"{kind}: q {spell(q) if q is not None else 'not available'}" + (f", likeliest {best}" if best else "")
    if not _is_nothing(row.get("p_valid")):
        title += f", P_valid {spell(row['p_valid'])}"
    answer = (mark.answer or "").strip()
    return ShownMark(
        tone,
        label,
        title,
        row.get("reason") if status == MarkStatus.UNLISTED and isinstance(row.get("reason"), str) else None,
        [(text, spell(share), text == answer) for text, share in ordered[:MOST_CANDIDATES]],
        max(0, len(ordered) - MOST_CANDIDATES),
        _histories(asked),
    )


def share_of_answer(row: Mapping[str, Any]) -> float | None:
    """q of what was answered; None where it is no candidate or was not read."""
    log_prob: Any = row.get("log_prob_human")
    p_valid: Any = row.get("p_valid")
    if row.get("status") != MarkStatus.READ or _is_nothing(log_prob) or _is_nothing(p_valid) or not float(p_valid) > 0:
        return None
    return min(1.0, math.exp(float(log_prob)) / float(p_valid))


def spell(share: Any) -> str:
    """A share in print.

    >>> spell(0.617), spell(0.0004), spell(0.9999), spell(None)
    ('.62', '<.01', '>.99', 'not available')
    """
    if _is_nothing(share):
        return "not available"
    if float(share) < 0.005:
        return "<.01"
    return ">.99" if float(share) > 0.995 else f"{float(share):.2f}".removeprefix("0")


def _histories(asked: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """After each history the share of what was answered, the mean over draws; else its status."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    several = len({row["layout"] for row in asked if isinstance(row["layout"], str)}) > 1
    for row in asked:
        if isinstance(row["history"], str):
            layout = f", {row['layout']}" if several and isinstance(row["layout"], str) else ""
            found.setdefault(row["history"] + layout, []).append(row)
    told = []
    for name, drawn in found.items():
        known = [q for q in map(share_of_answer, drawn) if q is not None]
        over = f" ({len(drawn)} draws)" if len(drawn) > 1 else ""
        if known:
            told.append((name + over, spell(float(np.mean(known)))))
        elif str(drawn[0]["status"]) == MarkStatus.OPEN:
            told.append((name + over, _log_prob(drawn[0])))
        else:
            told.append((name + over, str(drawn[0]["status"]).replace("_", " ")))
    return told


def _log_prob(row: Mapping[str, Any]) -> str:
    value: Any = row.get("log_prob_human")
    return "open" if _is_nothing(value) else f"log P {float(value):.1f}"


def _is_nothing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
