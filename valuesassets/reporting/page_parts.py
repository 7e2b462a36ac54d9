"""Parts of the pages of several instruments: the first section, long tables, and the sections of claims and origins."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten
from typing import Any

import pandas as pd

from valuesassets.records.frames import records
from valuesassets.reporting.parts import Box, Claim, Gate, Section, is_absent
from valuesassets.reporting.run import Run

MOST_ROWS = 1_000
"""The most rows of a table on a page."""
LONGEST = 160
"""The most characters of the reason in a box; the page has the whole reason below."""


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
    versions = {**run.packages, **run.versions}
    entries += [{"what": name, "version": version} for name, version in versions.items()]
    section.tabulate("Seeds and versions.", entries)
    return section


def in_short(
    answers: Mapping[str, str], gates: Sequence[Gate], claims: Sequence[Claim], weaknesses: Iterable[str] = ()
) -> Section:
    """The first section of a page.

    Args:
        answers: by model, a sentence that answers the instrument's question.
        weaknesses: sentences on weaknesses of the models that readers have to know first.
    """
    boxes = (
        _gates_box("Does the instrument work?", [gate for gate in gates if gate.of_instrument]),
        _gates_box("Can the answers be used?", [gate for gate in gates if not gate.of_instrument]),
        _claims_box(claims),
    )
    return Section("answer", "In short", list(weaknesses), lead=answers, boxes=boxes)


def _gates_box(question: str, gates: Sequence[Gate]) -> Box:
    """A box with the number of checks that passed, and the reason of the first that did not."""
    n_passed = sum(gate.is_passed for gate in gates)
    failed = [gate for gate in gates if gate.outcome == "failed"]
    missing = [gate for gate in gates if gate.is_missing]
    if not gates or len(missing) == len(gates):
        return Box(question, "unknown", "Not known", "It was not checked.", "claims")
    unplanned = [gate for gate in failed if not gate.by_plan]
    outcome = "no" if unplanned else "partly" if failed else "unknown" if missing else "yes"
    answer = "Yes" if outcome == "yes" else f"{n_passed} of {len(gates)} checks passed"
    return Box(question, outcome, answer, _because(next(iter(unplanned or failed or missing), None)), "claims")


def _because(gate: Gate | None) -> str:
    """The shortened outcome of a gate that did not pass; without a gate, that every check passed."""
    if gate is None:
        return "Every check was passed."
    if gate.by_plan:
        return f"By plan: {gate.by_plan}"
    return shorten(f"Not passed: {gate.sentence} {gate.found}", LONGEST, placeholder=" …")


def _claims_box(claims: Sequence[Claim]) -> Box:
    """A box with the number of claims that the run supports."""
    n_supported = sum(claim.is_supported for claim in claims)
    outcome = "partly" if n_supported else "no"
    answer = f"{n_supported} of {len(claims)} claims"
    because = "Each claim stands with its numbers, beside what may not be claimed."
    return Box("What does this run support?", outcome, answer, because, "claims")
