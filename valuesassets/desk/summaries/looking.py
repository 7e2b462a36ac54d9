"""Finds backfills that have ended since the last look, and writes a page and a notice for each."""

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from valuesassets.dagster_internals.backfills import (
    BULK_ACTION_TERMINAL_STATUSES,
    BulkActionsFilter,
    PartitionBackfill,
)
from valuesassets.desk.summaries.gathering import gather_summary
from valuesassets.desk.summaries.notices import is_asked_for, send_notices
from valuesassets.desk.unfinished import Unfinished
from valuesassets.records.files import write_text
from valuesassets.records.pages import page_link, pages_address, ui_address

OVERLAP_SECONDS = 120.0
"""Longest delay between a backfill's time stamp and its appearance in the database."""


def look(
    instance: dg.DagsterInstance, repository: dg.RepositoryDefinition, root: Path, study: str, cursor: str | None
) -> tuple[list[str], str]:
    """Summarise backfills that have ended since the last look.

    Args:
        cursor: the state after the last look, as JSON: its time (`until`), backfills that had not ended (`going_on`),
            and those that had just ended (`ended`). None at the first look, which summarises nothing.

    Returns:
        Lines for the log, and the new state.
    """
    now = time.time()
    last = json.loads(cursor) if cursor else {"until": now, "going_on": [], "ended": []}
    backfills = _known_backfills(instance, last["until"], last["going_on"])
    finished = [each for each in backfills if each.status in BULK_ACTION_TERMINAL_STATUSES]
    if cursor:
        new = [each for each in finished if each.backfill_id not in last["ended"]]
        lines = summarise(new, root, study, repository, instance)
        unfinished = [each for each in backfills if each not in finished]
    else:
        lines = ["backfills that end from now on are summarised"]
        unfinished = Unfinished(instance).backfills
    recent = [each.backfill_id for each in finished if each.backfill_timestamp > now - 2 * OVERLAP_SECONDS]
    going_on = [each.backfill_id for each in unfinished]
    return lines, json.dumps({"until": now, "going_on": going_on, "ended": recent})


def summarise(
    backfills: Sequence[PartitionBackfill],
    root: Path,
    study: str,
    repository: dg.RepositoryDefinition,
    instance: dg.DagsterInstance,
) -> list[str]:
    """Write the page of each backfill without one, and send one notice on all of them.

    The page is written first, so that nothing is sent twice after a crash.

    Returns:
        A line for each backfill, and one on the notices if any was sent.
    """
    lines: list[str] = []
    notices: list[str] = []
    for backfill in backfills:
        page = root / study / "summaries" / f"{backfill.backfill_id}.html"
        if page.exists():
            continue
        try:
            summary = gather_summary(backfill, study, repository, instance)
            write_text(page, summary.page(ui_address()))
        except Exception as error:  # one faulty backfill must not hide the others, nor be tried for ever
            message = next(iter(str(error).strip().splitlines()), type(error).__name__)
            lines.append(f"backfill {backfill.backfill_id}: no summary could be written: {message}")
            continue
        address = page_link(root, page, pages_address())
        lines.append(f"{summary.line}; {address}")
        notices.append(summary.notice(address))
    if notices and is_asked_for():
        title = lines[0].partition("; http")[0] if len(lines) == 1 else f"{len(lines)} backfills have ended"
        lines.append(send_notices(f"{study}: {title}", "\n\n".join(notices)))
    return lines


def _known_backfills(instance: dg.DagsterInstance, until: float, going_on: list[str]) -> list[PartitionBackfill]:
    """Backfills that had not ended at the last look, and new ones, oldest first."""
    since = datetime.fromtimestamp(until - OVERLAP_SECONDS, UTC)
    backfills = {
        each.backfill_id: each for each in instance.get_backfills(filters=BulkActionsFilter(created_after=since))
    }
    if missing := [name for name in going_on if name not in backfills]:
        older = instance.get_backfills(filters=BulkActionsFilter(backfill_ids=missing))
        backfills |= {each.backfill_id: each for each in older}
    return sorted(backfills.values(), key=lambda each: each.backfill_timestamp)
