"""Checks on single records: readings and answers of a cell, and embedded texts.

An instrument names its checks in its entry (`Instrument.checks`); a check applies to every asset that writes its table.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from valuesassets.orchestration.checks import ASK_AGAIN, WARN, Sentence
from valuesassets.orchestration.instruments import Instrument
from valuesassets.records.table import Table
from valuesassets.records.tables import ANSWERS, EMBEDDED_TEXTS, READINGS
from valuesassets.records.trials import Status

Row = Mapping[str, Any]
FEW = 0.05
"""Share of a cell's records up to which failures are a warning; above it the whole cell is faulty."""


@dataclass(frozen=True, kw_only=True)
class RecordCheck(Sentence):
    """A sentence that should be true of every record of a table.

    Attributes:
        table: the table whose rows it checks.
        fails: whether a row fails the check.
        concerns: whether a row is checked at all.
        most: largest share of failing rows for a warning; above it the check is an error.
        columns: columns of a failing row to show.
    """

    table: Table
    fails: Callable[[Row], bool]
    concerns: Callable[[Row], bool] = lambda row: True
    most: float = FEW
    columns: tuple[str, ...]

    def judge(self, rows: Iterable[Row], **metadata: Any) -> dg.AssetCheckResult:
        """The result for a file's rows, with the failing share and rows."""
        looked_at = [row for row in rows if self.concerns(row)]
        failing = [{name: row[name] for name in self.columns} for row in looked_at if self.fails(row)]
        share = len(failing) / len(looked_at) if looked_at else 0.0
        return self.result(failing, len(looked_at), share <= self.most, share=share, **metadata)


def _has_failed(row: Row) -> bool:
    return row["status"] in (Status.FAILED, Status.UNRESOLVED)


EVERY_SPAN_IS_READ = RecordCheck(
    "every_span_is_read",
    f"Every candidate has a probability at every span; an error above {FEW:.0%} of a cell's spans. None is dropped.",
    "each row names the span and the reason. If tokens change when a candidate follows, end the text before the span "
    f"differently or use another model; {ASK_AGAIN}",
    table=READINGS,
    fails=_has_failed,
    concerns=lambda row: row["span"] is not None,
    columns=("trial_id", "span", "status", "reason"),
)
EVERY_ANSWER_IS_WRITTEN = RecordCheck(
    "every_answer_is_written",
    f"The model wrote every requested answer; an error above {FEW:.0%} of a cell's answers.",
    f"each row gives the reason, and the log of the job has details; {ASK_AGAIN}",
    table=ANSWERS,
    fails=_has_failed,
    columns=("trial_id", "sample", "status", "reason"),
)
ANSWERS_COME_TO_AN_END = RecordCheck(
    "answers_come_to_an_end",
    "No answer was cut off at the limit of tokens.",
    "read some of them: if they break off, raise max_tokens of the trials; if the model never stops, nothing: its "
    "answers are marked as cut (finish = length).",
    WARN,
    table=ANSWERS,
    fails=lambda row: row["finish"] == "length",
    concerns=lambda row: row["status"] == Status.OK,
    columns=("trial_id", "sample", "n_tokens"),
)
EMBEDDED_TEXTS_ARE_WHOLE = RecordCheck(
    "embedded_texts_are_whole",
    "The embedder read every text to its end.",
    "the vectors represent only the beginnings of these texts: name an embedder for longer texts, or have shorter "
    "texts written.",
    WARN,
    table=EMBEDDED_TEXTS,
    fails=lambda row: row["is_truncated"],
    columns=("text_sha256", "n_tokens"),
)
CHECKS = {
    check.name: check
    for check in (EVERY_SPAN_IS_READ, EVERY_ANSWER_IS_WRITTEN, ANSWERS_COME_TO_AN_END, EMBEDDED_TEXTS_ARE_WHOLE)
}
"""The checks by the names that instruments' entries use."""


def checks_of(instrument: Instrument, table: Table) -> list[RecordCheck]:
    """An instrument's checks on a table."""
    return [check for name in instrument.checks if (check := CHECKS[name]).table is table]


def judge_rows(instrument: Instrument, table: Table, rows: Sequence[Row], **metadata: Any) -> list[dg.AssetCheckResult]:
    """The results of an instrument's checks on a file's rows; `metadata` goes with each of them."""
    return [check.judge(rows, **metadata) for check in checks_of(instrument, table)]
