"""The gates of the psych tasks page: whether the instrument works, every mark is accounted for, and models answer."""

from collections.abc import Iterator, Mapping

import pandas as pd

from valuesassets.instruments.psych_tasks.mark_ledger import LEFT_OUT
from valuesassets.instruments.psych_tasks.pictures import LOST
from valuesassets.instruments.psych_tasks.statuses import MarkStatus
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


def gates(frames: Frames) -> list[Gate]:
    """In the order of the page: calibration, marks, P_valid."""
    return [_recovered(frames, "recovery", RECOVERED), _recovered(frames, "gains", GAINED), *_of_marks(frames)]


def _recovered(frames: Frames, name: str, sentence: str) -> Gate:
    table = frames.get(f"calibration/{name}")
    if table is None or not len(table):
        return Gate(sentence, False, "no reference model was read: nothing was planted", is_missing=True)
    off = records(rows(table, ~table["is_recovered"].astype(bool)))
    of, what = ("history", "after") if name == "recovery" else ("gain", "in")
    if off:
        named = some_of([f"{row['model']} in {row['task']} {what} {row[of]}" for row in off])
        return Gate(sentence, False, f"{len(off)} of {len(table)} not: {named}")
    if name == "recovery":
        worst = column(table, "tvd_mean").astype(float).max()
        return Gate(sentence, True, f"all {len(table)}; largest mean total variation {worst:.3f}")
    worst = (column(table, "estimate").astype(float) - column(table, "planted").astype(float)).abs().max()
    return Gate(sentence, True, f"all {len(table)}; largest error {worst:.4f} nats")


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
