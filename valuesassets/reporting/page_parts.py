"""Parts that pages of several instruments have: long tables, claims with their gates, and where answers are from."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from valuesassets.records.frames import records
from valuesassets.reporting.parts import Claim, Section, is_absent
from valuesassets.reporting.run import Run

MOST_ROWS = 1_000
"""Of a table on a page that may be long."""


def tabulate(
    section: Section,
    caption: str,
    rows: pd.DataFrame | Sequence[Any],
    columns: Sequence[str] | None = None,
    most: int = MOST_ROWS,
) -> None:
    """Show a table; of a long one the first rows, which the caption then says."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, dtype=object)
    if len(frame) > most:
        caption += f" The first {most:,} of {len(frame):,} rows; the stored table has all of them."
    section.tabulate(caption, frame.head(most), columns)


def claims_section(run: Run, claims: Iterable[Claim], sections: Iterable[Section]) -> Section:
    """What can be claimed, with the gates, and what the other sections do not show and why."""
    section = Section("claims", "What can be claimed", gates=run.gates, claims=list(claims))
    section.refusals += dict.fromkeys(f"{each.title}: {reason}" for each in sections for reason in each.refusals)
    return section


def origins_section(run: Run) -> Section:
    """Where answers come from, the versions of what computed them, and the seeds of what was drawn."""
    section = Section("origins", "Where answers are from")
    tabulate(section, "Files, models and cells, with their hashes.", run.provenance)
    seeds = {"the study": run.study.seed}
    for row in [] if run.tests is None else records(run.tests):
        if not is_absent(row.get("seed")):
            seeds[str(row["test_family"])] = row["seed"]
    entries = [{"what": f"seed of {name}", "version": str(seed)} for name, seed in seeds.items()]
    entries += [{"what": name, "version": version} for name, version in run.versions.items()]
    section.tabulate("Seeds and versions.", entries)
    return section
