"""The first section of the survey's report: a sentence for each family of models, and boxes with first questions.

Each puts a number in words, with the number; if there is no number, it gives the reason.
"""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from valuesassets.comparing.signal import HEADLINE, SIGNAL
from valuesassets.records.frames import records, rows_where
from valuesassets.reporting.claims import coefficients_in_words, exactness, unreliable
from valuesassets.reporting.interval_words import NARROW, spelled
from valuesassets.reporting.methods import capital, counted, share_of
from valuesassets.reporting.option_orders import (
    is_unknown,
    is_without_evidence,
    measured_cells,
    order_sentence,
    without_evidence,
)
from valuesassets.reporting.parts import Box, Refused, Section, is_absent
from valuesassets.reporting.run import Run

MOST_LANGUAGES = 4
"""The most languages that a sentence lists one by one."""
NOT_MEASURED = "whether that would replicate in other wordings was not measured"
NOT_COMPARED = "whether they follow the options is not known"


def opening(run: Run) -> Section:
    """The section that opens a page, with a sentence for each family; the instrument adds a figure and boxes."""
    return Section("answer", "In short", lead={family: _sentence(run, family) for family in run.study.families})


def boxes(run: Run) -> Iterator[Box]:
    """The boxes on calibration, on orders of options, on readings and, if the study has people, on the signal."""
    yield _calibration(run)
    yield _orders(run)
    yield _readings(run)
    if has_people(run):
        yield _signal(run)


def has_people(run: Run) -> bool:
    """Whether the study compares models with people."""
    return run.study.human.source != "none"


def _sentence(run: Run, family: str) -> str:
    """How a family compares with the people of its countries, and whether its differences would replicate."""
    follows = order_sentence(run, family)
    if follows is not None and is_without_evidence(run, family):
        return f"{follows}."
    caveat = f" But it {follows}." if follows else ""
    if not has_people(run):
        return f"{_answered(run, family)}.{caveat}"
    verdict, reason = _verdict(run, family)
    if verdict is None:
        return f"whether it answers like the countries of its languages cannot be said: {reason.rstrip('.')}.{caveat}"
    correlations = rows_where(run.frames("signal").get("correlations", pd.DataFrame()), model=family, kind=HEADLINE)
    sentence = "answers like the countries of its languages" if verdict == SIGNAL else verdict
    for row in records(correlations):
        number = f"r{NARROW}{spelled(row['r'], row.get('low'), row.get('high'), digits=2)}"
        sentence += f" ({number} with the people of its countries, over {counted(int(row['n_languages']), 'language')})"
    return f"{sentence}; {_replication(run, family)}.{caveat}"


def _answered(run: Run, family: str) -> str:
    """How many of a family's answers can be used, in each language if there are at most `MOST_LANGUAGES`; where orders
    could not be compared, how many were read."""
    readings = run.quality.get("readings", pd.DataFrame())
    family_readings = rows_where(readings, model=family) if len(readings) else readings
    if not len(family_readings):
        reasons = [str(row["reason"]) for row in records(run.cells_that("is_missing")) if row["model"] == family]
        return f"none of its answers were read{f': {reasons[0]}' if reasons else ''}"
    counts = [
        (run.study.languages[str(code)].name, int(rows["is_usable"].astype(bool).sum()), len(rows))
        for code, rows in family_readings.groupby("language", sort=False)
    ]
    if len(counts) > MOST_LANGUAGES:
        _, n_good, n_all = zip(*counts, strict=True)
        counts = [(counted(len(counts), "language"), sum(n_good), sum(n_all))]
    listed_counts = ", ".join(f"{good} of {total} in {where}" for where, good, total in counts)
    if is_unknown(run, family):
        return f"answers were read: {listed_counts}; {NOT_COMPARED}"
    return f"answers can be used: {listed_counts}"


def _verdict(run: Run, family: str) -> tuple[str | None, str]:
    """The verdict on the correlations of a family and an empty text; without a verdict, None and the reason."""
    tables = run.part("signal")
    if isinstance(tables, Refused):
        return None, tables.reason
    verdicts = tables.get("verdicts", pd.DataFrame())
    for row in records(rows_where(verdicts, model=family)) if len(verdicts) else ():
        return (row["verdict"], "") if isinstance(row["verdict"], str) else (None, str(row["reason"]))
    if len(verdicts):  # of other families
        return None, _answered(run, family)
    return None, " ".join(run.notes("signal")[:1]) or "no test of it was handed to the report"


def _replication(run: Run, family: str) -> str:
    """Whether the differences between a family's languages would replicate, with their generalizability."""
    families = run.frames("reliability").get("families", pd.DataFrame())
    row: dict[str, Any] = next(iter(records(rows_where(families, model=family))), {}) if len(families) else {}
    if is_absent(row.get("generalizability")):
        return NOT_MEASURED
    share = coefficients_in_words(row)
    if family in unreliable(run):
        return f"but what sets its languages apart does not replicate in other wordings ({share})"
    return f"what sets its languages apart replicates in other wordings ({share})"


def _calibration(run: Run) -> Box:
    """The box on whether planted answers were recovered."""
    (claim,) = exactness(run)
    is_known = not isinstance(run.part("calibration"), Refused)
    outcome, answer = ("yes", "Yes") if claim.is_supported else ("no", "No") if is_known else ("unknown", "Not known")
    return Box("Is the instrument calibrated?", outcome, answer, f"{capital(claim.because)}.", "calibration")


def _orders(run: Run) -> Box:
    """The box on the number of cells whose answers follow the options rather than their positions."""
    question = "Do answers follow the options?"
    anchor = "position-bias" if "position_bias" in run.analyses else "claims"
    families = [family for family in run.study.families if len(measured_cells(run, family))]
    if not families:
        part = run.part("position_bias")
        because = part.reason if isinstance(part, Refused) else "too few answers were read in both orders"
        return Box(question, "unknown", "Not known", f"{capital(because.rstrip('.'))}.", anchor)
    measured = sum(len(measured_cells(run, family)) for family in families)
    weak = {family: len(without_evidence(run, family)) for family in families}
    n_weak = sum(weak.values())
    because = "Answers replicate once the options are reversed."
    if n_weak:
        names = ", ".join(family for family, number in weak.items() if number)
        because = f"Answers follow position alone, or do not replicate once the options are reversed: {names}."
    outcome = "yes" if not n_weak else "no" if n_weak == measured else "partly"
    answer = "Yes" if not n_weak else f"In {measured - n_weak or 'none'} of {measured} cells"
    return Box(question, outcome, answer, because, anchor)


def _readings(run: Run) -> Box:
    """The box on the number of usable answers, and on cells that are missing or flagged."""
    question = "Are the readings usable?"
    readings = run.quality.get("readings", pd.DataFrame())
    if not len(readings):
        part = run.part("quality_report")
        reason = part.reason if isinstance(part, Refused) else "no answers stand in its quality report"
        return Box(question, "unknown", "Not known", f"{capital(reason)}.", "quality")
    n_usable = int(readings["is_usable"].astype(bool).sum())
    n_doubtful = len(run.cells_that("is_missing", "is_flagged"))
    outcome = "no" if not n_usable else "partly" if n_doubtful else "yes"
    n_cells = len(run.quality["cells"])
    n_missing = len(run.cells_that("is_missing"))
    # No table has the readings of a missing cell, so a share of the readings would hide it.
    answer = f"In {n_cells - n_missing} of {n_cells} cells" if n_missing else f"{n_usable / len(readings):.0%} of them"
    doubtful = f"{share_of(n_doubtful or 'none', n_cells, 'cell')} missing or flagged"
    because = f"{n_usable:,} of {len(readings):,} answers; {doubtful}."
    n_weak = sum(len(without_evidence(run, family)) for family in run.study.families)
    if all(is_unknown(run, family) for family in run.study.families):
        outcome, answer = "unknown" if outcome == "yes" else outcome, f"Read: {answer[:1].lower()}{answer[1:]}"
        because += f" {capital(NOT_COMPARED)}."
    if n_weak:  # usable readings that follow position are no evidence of values
        outcome, answer = "partly", f"Read: {answer[:1].lower()}{answer[1:]}"
        if all(is_without_evidence(run, family) for family in run.study.families):
            outcome = "no"
        because += f" In {counted(n_weak, 'cell')} they do not follow the options."
    return Box(question, outcome, answer, because, "quality")


def _signal(run: Run) -> Box:
    """The box on the number of families whose languages answer like their own countries, beyond scales and style."""
    question, anchor = "Does a signal survive the nulls?", "signal" if "signal" in run.analyses else "claims"
    verdicts = {family: _verdict(run, family) for family in run.study.families}
    known_verdicts = {family: verdict for family, (verdict, _) in verdicts.items() if verdict is not None}
    if all(is_without_evidence(run, family) for family in verdicts):
        answer, because = f"In none of {_families(len(verdicts))}", "No answers follow what the options say."
        return Box(question, "no", answer, because, anchor)
    if not known_verdicts:
        reasons = dict.fromkeys(reason.rstrip(".") for _, reason in verdicts.values())
        return Box(question, "unknown", "Not known", f"{capital('; '.join(reasons))}.", anchor)
    surviving = [
        family for family, verdict in known_verdicts.items() if verdict == SIGNAL and family not in unreliable(run)
    ]
    outcome = "no" if not surviving else "yes" if len(surviving) == len(verdicts) else "partly"
    answer = f"In {len(surviving) or 'none'} of {_families(len(verdicts))}"
    because = "Against permuted countries, scales and response style"
    if faint := [family for family in known_verdicts if family in unreliable(run)]:
        because += f"; not reliable: {', '.join(faint)}"
    if unknown := [family for family in verdicts if family not in known_verdicts]:
        because += f"; not known: {', '.join(unknown)}"
    return Box(question, outcome, answer, f"{because}.", anchor)


def _families(number: int) -> str:
    return f"{number} famil{'y' if number == 1 else 'ies'}"
