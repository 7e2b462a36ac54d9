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
"""Largest share of a cell's marks that may stay unread."""
LEAST_P_VALID = 0.5
RECOVERED = "What was planted into reference models is read back after every history."
GAINED = "The gains of reference models are those of their planted response models."
ACCOUNTED = "Every mark of the transcripts is accounted for, in every model and history."
FEW_LOST = f"No model lost more than {MOST_UNREAD:.0%} of a task's marks in any history."
MEANT = (
    f"What may be answered has at least {LEAST_P_VALID:.0%} of a model's probability (P_valid, median of each history)."
)
LEAST_MOVED = 0.02
"""Nats by which the question must move the median answer's share, or the model chooses by place alone."""
PASSED = "Every model passed its preflight in every task."
ASKED = "Every model was asked in every task."
MOVED = "What is asked moves what models say: none goes by the place of a label alone."


def gates(frames: Frames) -> list[Gate]:
    """The gates in the order of the page: models, calibration, marks, P_valid, places."""
    recovered = (_recovered(frames, "recovery", RECOVERED), _recovered(frames, "gains", GAINED))
    return [*_of_study(frames), *recovered, *_of_marks(frames), *_moved(frames)]


def weaknesses(frames: Frames) -> list[str]:
    """Sentences on faults of models that a reader has to know before anything else; none without faults."""
    sentences = [
        f"{row['model']} failed its preflight in {row['task']} ({_fate(row)}): {row['reason']}."
        for row in records(frames.get("preflight", pd.DataFrame()))
        if not row["passed"]
    ]
    for model, row in _worst_rows(frames, "p_valid").items():
        if row["p_valid"] < LEAST_P_VALID:
            sentences.append(
                f"{model} would mostly say something else: what may be answered has a median P_valid of "
                f"{row['p_valid']:.2f} in {row['task']} after {row['history']}; all its numbers are shares of that."
            )
    for model, row in _worst_rows(frames, "moved_by_item").items():
        if row["moved_by_item"] < LEAST_MOVED:
            sentences.append(
                f"{model} goes by place: in {row['task']} after {row['history']} what is asked moves its answers by "
                f"{row['moved_by_item']:.3f} nats in the median; such answers say nothing of any item."
            )
    return sentences


def preflight_rows(verdicts: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each cell: whether it passed its preflight, the reason, and the override.

    Args:
        verdicts: by family, as preflights are stored.
    """
    rows = [
        (model, task, not part["reason"], part["override"], part["reason"])
        for model, verdict in verdicts.items()
        for task, part in (verdict.get("parts") or {}).items()
    ]
    return pd.DataFrame(rows, columns=pd.Index(["model", "task", "passed", "override", "reason"]))


def _of_study(frames: Frames) -> Iterator[Gate]:
    """Whether every family of the study passed its preflight and was asked in every task."""
    verdicts = frames.get("preflight")
    if verdicts is not None:
        failed = [
            f"{row['model']} in {row['task']}: {row['reason']} ({_fate(row)})"
            for row in records(verdicts)
            if not row["passed"]
        ]
        outcome = some_of(failed) if failed else f"{len(verdicts)} did"
        yield Gate(PASSED, bool(len(verdicts)) and not failed, outcome, is_missing=not len(verdicts))
    wanted, ledger = frames.get("cells"), frames.get("mark_ledger")
    if wanted is not None:
        cells = set() if ledger is None else set(zip(ledger["model"], ledger["task"], strict=True))
        missing = [
            f"{row['model']} in {row['task']}" for row in records(wanted) if (row["model"], row["task"]) not in cells
        ]
        but = f"; not {some_of(missing)}" if missing else ""
        yield Gate(ASKED, not missing, f"{len(wanted) - len(missing)} of {len(wanted)} cells{but}")


def _fate(row: Mapping[str, Any]) -> str:
    return f"overridden: {row['override']}" if row["override"] else "left out"


def _worst_rows(frames: Frames, name: str) -> dict[str, dict[str, Any]]:
    """For each model the row of the ledger with the smallest value in a column, after histories `human` and `alone`."""
    ledger = frames.get("mark_ledger")
    if ledger is None or name not in ledger or not len(ledger):
        return {}
    measured = rows(ledger, ledger[name].notna() & ledger["history"].isin(["human", "alone"]))
    return {model: min(records(part), key=lambda row: row[name]) for (model,), part in parts_of(measured, ["model"])}


def _moved(frames: Frames) -> Iterator[Gate]:
    """Whether the questions move the models' answers."""
    if "mark_ledger" not in frames:
        return
    worst = {name: row["moved_by_item"] for name, row in _worst_rows(frames, "moved_by_item").items()}
    unmoved = [f"{name} by {moved:.3f} nats" for name, moved in worst.items() if moved < LEAST_MOVED]
    outcome = some_of(unmoved) if unmoved else f"by {min(worst.values(), default=0):.2f} nats at least, in the median"
    yield Gate(MOVED, bool(worst) and not unmoved, outcome if worst else "it was not read", is_missing=not worst)


def _recovered(frames: Frames, name: str, sentence: str) -> Gate:
    table = frames.get(f"calibration/{name}")
    if table is None or not len(table):
        why = "no reference model was read: nothing was planted"
        return Gate(sentence, False, why, is_missing=True, of_instrument=True)
    off = records(rows(table, ~table["is_recovered"].astype(bool)))
    if name == "recovery":
        key, preposition = "history", "after"
        worst = f"largest mean total variation {column(table, 'tvd_mean').astype(float).max():.3f}"
    else:
        key, preposition = "gain", "in"
        errors = column(table, "estimate").astype(float) - column(table, "planted").astype(float)
        worst = f"largest error {errors.abs().max():.4f} nats"
    outcome = f"all {len(table)}; {worst}"
    if off:
        names = some_of([f"{row['model']} in {row['task']} {preposition} {row[key]}" for row in off])
        outcome = f"{len(off)} of {len(table)} not: {names}"
    return Gate(sentence, not off, outcome, of_instrument=True)


def _of_marks(frames: Frames) -> Iterator[Gate]:
    ledger = frames.get("mark_ledger")
    if ledger is None or not len(ledger):
        for sentence in (ACCOUNTED, FEW_LOST, MEANT):
            yield Gate(sentence, False, "no mark ledger was handed to the report", is_missing=True)
        return
    cells = cell_counts(ledger)
    most = {task: int(part["marks"].max()) for (task,), part in parts_of(cells, ["task"])}
    short = [row for row in records(cells) if row["marks"] != most[row["task"]]]
    outcome = f"{len(cells)} of {len(cells)} histories of cells hold all marks of their task"
    if short:
        outcome = some_of([f"{_history(row)}: {row['marks']:,}" for row in short])
    yield Gate(ACCOUNTED, not short, outcome)
    over = [f"{_history(row)} {row['share_lost']:.1%}" for row in records(cells) if row["share_lost"] > MOST_UNREAD]
    yield Gate(FEW_LOST, not over, some_of(over) if over else f"at most {cells['share_lost'].max():.2%}")
    yield _p_valid(ledger)


def _p_valid(ledger: pd.DataFrame) -> Gate:
    """Whether the median P_valid of the marks that were read is high enough in every row of the ledger."""
    measured = [row for row in records(ledger) if not is_absent(row.get("p_valid"))]
    if not measured:
        outcome = "the mark ledger has no P_valid; see the checks of answer distributions"
        return Gate(MEANT, False, outcome, is_missing=True)
    low = [f"{_history(row)} {row['p_valid']:.2f}" for row in measured if row["p_valid"] < LEAST_P_VALID]
    least = f"at least {min(row['p_valid'] for row in measured):.2f}"
    return Gate(MEANT, not low, some_of(list(dict.fromkeys(low))) if low else least)


def _history(row: Mapping[str, Any]) -> str:
    return f"{row['model']} in {row['task']} after {row['history']}"


def cell_counts(ledger: pd.DataFrame) -> pd.DataFrame:
    """A row for each model, task and history: counts of `marks`, of `asked` and of `lost` ones, and `share_lost`."""
    status, marks = column(ledger, "status"), column(ledger, "marks").astype(int)
    is_asked = ~status.isin([*LEFT_OUT, str(MarkStatus.NO_MARKS)])
    counted = ledger.loc[:, CELL].assign(
        marks=marks, asked=marks.where(is_asked, 0), lost=marks.where(status.isin(list(LOST)), 0)
    )
    sums = counted.groupby(CELL, sort=False, dropna=False).sum().reset_index()
    return sums.assign(share_lost=sums["lost"] / sums["marks"].where(sums["marks"] > 0, 1))
