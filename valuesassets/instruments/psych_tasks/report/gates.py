"""The gates of the psych tasks page: whether the instrument works, every mark is accounted for, and models answer."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from valuesassets.instruments.psych_tasks.answers.mark_ledger import LEFT_OUT
from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.report.pictures import LOST
from valuesassets.records.frames import column, parts_of, records, rows
from valuesassets.reporting.methods import some_of
from valuesassets.reporting.parts import Gate, is_absent

Frames = Mapping[str, pd.DataFrame]
CELL = ["task", "model", "history", "draw", "layout"]
MOST_UNREAD = 0.01
"""Largest share of a cell's marks that may stay unread, where the study says nothing else."""
LEAST_P_VALID = 0.5
RECOVERED = "What was planted into reference models is read back after every history."
GAINED = "The gains of reference models are those of their law."
ACCOUNTED = "Every mark of the transcripts is accounted for, in every model and history."
FEW_LOST = f"No model lost more than {MOST_UNREAD:.0%} of a task's marks in any history."
SAID = (
    f"What may be answered has at least {LEAST_P_VALID:.0%} of a model's probability (P_valid, median of each history)."
)
LEAST_MOVED = 0.02
"""Nats by which what is asked has to move the median answer's share, or the model goes by place alone."""
PASSED = "Every model passed its preflight in every task."
ASKED = "Every model was asked in every task."
MOVED = "What is asked moves what models say: none goes by the place of a label alone."


def gates(frames: Frames) -> list[Gate]:
    """In the order of the page: models, calibration, marks, P_valid, places."""
    found = [*_of_study(frames), _recovered(frames, "recovery", RECOVERED), _recovered(frames, "gains", GAINED)]
    return [*found, *_of_marks(frames), *_moved(frames)]


def weaknesses(frames: Frames) -> list[str]:
    """What a reader has to know of each model before anything else, in sentences; none where nothing is amiss."""
    found = [
        f"{row['model']} failed its preflight in {row['task']} ({_fate(row)}): {row['reason']}."
        for row in records(frames.get("preflight", pd.DataFrame()))
        if not row["passed"]
    ]
    for model, row in _worst_rows(frames, "p_valid").items():
        if row["p_valid"] < LEAST_P_VALID:
            found.append(
                f"{model} would mostly say something else: what may be answered has a median P_valid of "
                f"{row['p_valid']:.2f} in {row['task']} after {row['history']}; all its numbers are shares of that."
            )
    for model, row in _worst_rows(frames, "moved_by_item").items():
        if row["moved_by_item"] < LEAST_MOVED:
            found.append(
                f"{model} goes by place: in {row['task']} after {row['history']} what is asked moves its answers by "
                f"{row['moved_by_item']:.3f} nats in the median; such answers say nothing of any item."
            )
    return found


def preflight_rows(verdicts: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each cell: whether it passed its preflight, why not, and what was overridden.

    Args:
        verdicts: by family, as preflights are stored.
    """
    found = [
        {"model": model, "task": task, "passed": not said["reason"], "override": said["override"]}
        | {"reason": said["reason"]}
        for model, verdict in verdicts.items()
        for task, said in (verdict.get("parts") or {}).items()
    ]
    return pd.DataFrame(found, columns=pd.Index(["model", "task", "passed", "override", "reason"]))


def _of_study(frames: Frames) -> Iterator[Gate]:
    """Whether every family passed its preflight and was asked everything; of a study, which knows what should be."""
    verdicts = frames.get("preflight")
    if verdicts is not None:
        failed = [
            f"{row['model']} in {row['task']}: {row['reason']} ({_fate(row)})"
            for row in records(verdicts)
            if not row["passed"]
        ]
        said = some_of(failed) if failed else f"{len(verdicts)} did"
        yield Gate(PASSED, bool(len(verdicts)) and not failed, said, is_missing=not len(verdicts))
    wanted, ledger = frames.get("cells"), frames.get("mark_ledger")
    if wanted is not None:
        there = set() if ledger is None else set(zip(ledger["model"], ledger["task"], strict=True))
        lacking = [
            f"{row['model']} in {row['task']}" for row in records(wanted) if (row["model"], row["task"]) not in there
        ]
        said = f"{len(wanted) - len(lacking)} of {len(wanted)} cells" + (f"; not {some_of(lacking)}" if lacking else "")
        yield Gate(ASKED, not lacking, said)


def _fate(row: Mapping[str, Any]) -> str:
    return f"overridden: {row['override']}" if row["override"] else "left out"


def _worst_rows(frames: Frames, name: str) -> dict[str, dict[str, Any]]:
    """By model the row of the ledger with the least of a median, after people's own history where that was read."""
    ledger = frames.get("mark_ledger")
    if ledger is None or name not in ledger or not len(ledger):
        return {}
    known = rows(ledger, ledger[name].notna() & ledger["history"].isin(["human", "alone"]))
    return {model: min(records(part), key=lambda row: row[name]) for (model,), part in parts_of(known, ["model"])}


def _moved(frames: Frames) -> Iterator[Gate]:
    """Whether models are moved by what is asked."""
    if "mark_ledger" not in frames:
        return
    worst = {name: row["moved_by_item"] for name, row in _worst_rows(frames, "moved_by_item").items()}
    still = [f"{name} by {moved:.3f} nats" for name, moved in worst.items() if moved < LEAST_MOVED]
    said = some_of(still) if still else f"by {min(worst.values(), default=0):.2f} nats at least, in the median"
    yield Gate(MOVED, bool(worst) and not still, said if worst else "it was not read", is_missing=not worst)


def _recovered(frames: Frames, name: str, sentence: str) -> Gate:
    table = frames.get(f"calibration/{name}")
    if table is None or not len(table):
        why = "no reference model was read: nothing was planted"
        return Gate(sentence, False, why, is_missing=True, of_instrument=True)
    off = records(rows(table, ~table["is_recovered"].astype(bool)))
    of, what = ("history", "after") if name == "recovery" else ("gain", "in")
    if off:
        named = some_of([f"{row['model']} in {row['task']} {what} {row[of]}" for row in off])
        return Gate(sentence, False, f"{len(off)} of {len(table)} not: {named}", of_instrument=True)
    if name == "recovery":
        worst = column(table, "tvd_mean").astype(float).max()
        return Gate(sentence, True, f"all {len(table)}; largest mean total variation {worst:.3f}", of_instrument=True)
    worst = (column(table, "estimate").astype(float) - column(table, "planted").astype(float)).abs().max()
    return Gate(sentence, True, f"all {len(table)}; largest error {worst:.4f} nats", of_instrument=True)


def _of_marks(frames: Frames) -> Iterator[Gate]:
    ledger = frames.get("mark_ledger")
    if ledger is None or not len(ledger):
        for sentence in (ACCOUNTED, FEW_LOST, SAID):
            yield Gate(sentence, False, "no mark ledger was handed to the report", is_missing=True)
        return
    cells = cell_counts(ledger)
    most = {task: int(part["marks"].max()) for (task,), part in parts_of(cells, ["task"])}
    short = [row for row in records(cells) if row["marks"] != most[row["task"]]]
    said = f"{len(cells)} of {len(cells)} histories of cells hold all marks of their task"
    if short:
        said = some_of([f"{row['model']} in {row['task']} after {row['history']}: {row['marks']:,}" for row in short])
    yield Gate(ACCOUNTED, not short, said)
    over = records(rows(cells, cells["share_lost"] > MOST_UNREAD))
    most_lost = max(row["share_lost"] for row in records(cells))
    named = [f"{row['model']} in {row['task']} after {row['history']} {row['share_lost']:.1%}" for row in over]
    yield Gate(FEW_LOST, not over, some_of(named) if over else f"at most {most_lost:.2%}")
    yield _p_valid(ledger)


def _p_valid(ledger: pd.DataFrame) -> Gate:
    """Where the ledger has the median P_valid of the marks that were read, in a column `p_valid`."""
    found = [row for row in records(ledger) if not is_absent(row.get("p_valid"))]
    if not found:
        said = "the mark ledger has no P_valid; see the checks of answer distributions"
        return Gate(SAID, False, said, is_missing=True)
    low = [row for row in found if row["p_valid"] < LEAST_P_VALID]
    if low:
        named = [f"{row['model']} in {row['task']} after {row['history']} {row['p_valid']:.2f}" for row in low]
        return Gate(SAID, False, some_of(list(dict.fromkeys(named))))
    return Gate(SAID, True, f"at least {min(row['p_valid'] for row in found):.2f}")


def cell_counts(ledger: pd.DataFrame) -> pd.DataFrame:
    """A row for each model, task and history: `marks`, the `asked` and the `lost` of them, and `share_lost` of all."""
    status, marks = column(ledger, "status"), column(ledger, "marks").astype(int)
    is_asked = ~status.isin([*LEFT_OUT, str(MarkStatus.NO_MARKS)])
    counted = ledger.loc[:, CELL].assign(
        marks=marks, asked=marks.where(is_asked, 0), lost=marks.where(status.isin(list(LOST)), 0)
    )
    found = counted.groupby(CELL, sort=False, dropna=False).sum().reset_index()
    return found.assign(share_lost=found["lost"] / found["marks"].where(found["marks"] > 0, 1))
