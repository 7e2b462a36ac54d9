"""What a look at the backfills finds: which have ended since the last one, and a page and a notice of each."""

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
"""A backfill is in the database a little later than the time that it carries."""


def look(
    instance: dg.DagsterInstance, repository: dg.RepositoryDefinition, root: Path, study: str, cursor: str | None
) -> tuple[list[str], str]:
    """Summarise what has ended since the last look.

    Args:
        cursor: what the last look remembered, as JSON: backfills that began after `until` are new, `going_on` had not
            ended, `ended` had since the overlap before; None before the first look, which summarises nothing.

    Returns:
        Lines for the log, and what is to be remembered.
    """
    now = time.time()
    before = json.loads(cursor) if cursor else {"until": now, "going_on": [], "ended": []}
    known = _known_backfills(instance, before["until"], before["going_on"])
    ended = [each for each in known if each.status in BULK_ACTION_TERMINAL_STATUSES]
    if cursor:
        new = [each for each in ended if each.backfill_id not in before["ended"]]
        lines = summarise(new, root, study, repository, instance)
        unfinished = [each for each in known if each not in ended]
    else:
        lines = ["backfills that end from now on are summarised"]
        unfinished = Unfinished(instance).backfills
    recent = [each.backfill_id for each in ended if each.backfill_timestamp > now - 2 * OVERLAP_SECONDS]
    going_on = [each.backfill_id for each in unfinished]
    return lines, json.dumps({"until": now, "going_on": going_on, "ended": recent})


def summarise(
    backfills: Sequence[PartitionBackfill],
    root: Path,
    study: str,
    repository: dg.RepositoryDefinition,
    instance: dg.DagsterInstance,
) -> list[str]:
    """Write the page of each backfill that has none, and send one notice of all of them.

    The page is written first: whoever comes again after a crash finds it, and nothing is sent twice.

    Returns:
        A line for each of them, and one on the notices where any was to be sent.
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
        except Exception as error:  # one backfill that cannot be told must not hide the others, nor come for ever
            said = next(iter(str(error).strip().splitlines()), type(error).__name__)
            lines.append(f"backfill {backfill.backfill_id}: no summary could be written: {said}")
            continue
        address = page_link(root, page, pages_address())
        lines.append(f"{summary.line}; {address}")
        notices.append(summary.notice(address))
    if notices and is_asked_for():
        title = lines[0].partition("; http")[0] if len(lines) == 1 else f"{len(lines)} backfills have ended"
        lines.append(send_notices(f"{study}: {title}", "\n\n".join(notices)))
    return lines


def _known_backfills(instance: dg.DagsterInstance, until: float, going_on: list[str]) -> list[PartitionBackfill]:
    """Those that were going on at the last look, and those that are new since, oldest first."""
    since = datetime.fromtimestamp(until - OVERLAP_SECONDS, UTC)
    found = {each.backfill_id: each for each in instance.get_backfills(filters=BulkActionsFilter(created_after=since))}
    if left := [name for name in going_on if name not in found]:
        older = instance.get_backfills(filters=BulkActionsFilter(backfill_ids=left))
        found |= {each.backfill_id: each for each in older}
    return sorted(found.values(), key=lambda each: each.backfill_timestamp)
