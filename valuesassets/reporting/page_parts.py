"""Parts of the pages of several instruments: long tables, the section of claims and the section of origins."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from valuesassets.records.frames import records
from valuesassets.reporting.parts import Claim, Section, is_absent
from valuesassets.reporting.run import Run

MOST_ROWS = 1_000
"""The most rows of a table on a page."""


def tabulate(
    section: Section,
    caption: str,
    rows: pd.DataFrame | Sequence[Any],
    columns: Sequence[str] | None = None,
    most: int = MOST_ROWS,
) -> None:
    """Add a table to a section; a long one with its first rows alone, which its caption says."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, dtype=object)
    if len(frame) > most:
        caption += f" The first {most:,} of {len(frame):,} rows; the stored table has all of them."
    section.tabulate(caption, frame.head(most), columns)


def claims_section(run: Run, claims: Iterable[Claim], sections: Iterable[Section]) -> Section:
    """The section of claims, with the gates, and the reasons for what other sections do not show."""
    section = Section("claims", "What can be claimed", gates=run.gates, claims=list(claims))
    section.refusals += dict.fromkeys(f"{each.title}: {reason}" for each in sections for reason in each.refusals)
    return section


def origins_section(run: Run) -> Section:
    """The section on the origins of answers: files, models and cells, versions of programs, and random seeds."""
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
