"""What a report says of models before and after a change: a box on the first screen, and a claim for each country."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from valuesassets.instruments.survey.measures.shift import AWAY, NOT_TOWARDS, TOWARDS, shift_sentence
from valuesassets.records.frames import parts_of, records
from valuesassets.reporting.claims import Claim
from valuesassets.reporting.option_orders import is_without_evidence
from valuesassets.reporting.parts import Box, Refused
from valuesassets.reporting.run import Run


def shift_boxes(run: Run) -> Iterator[Box]:
    """A box for each shift of the study: whether answers moved, and towards whom."""
    if not run.study.shift:
        return
    part = run.part("shift")
    for name in run.study.shift if isinstance(part, Refused) else ():
        yield Box(_question(name), "unknown", "Not known", f"{part.reason.rstrip('.')}.", "shift")
    verdicts = run.frames("shift").get("verdicts", pd.DataFrame())
    for (name,), rows in parts_of(verdicts, ["shift"]) if len(verdicts) else ():
        yield _box(run, str(name), records(rows))


def shift_claims(run: Run) -> Iterator[Claim]:
    """A claim for each shift and country: that answers moved towards it."""
    for row in records(run.frames("shift").get("verdicts", pd.DataFrame())):
        conclusion, weak = _conclusion(row), _without_evidence(run, row["shift"])
        is_claimed = conclusion == TOWARDS.format(row["toward"]) and not weak
        sentence = shift_sentence(run.study, row["shift"], row["toward"])
        yield Claim(sentence, is_claimed, f"shift: {conclusion}{_but(weak)}")


def _question(name: str) -> str:
    return f"Did answers move ({name})?"


def _conclusion(row: dict[str, Any]) -> str:
    return row["verdict"] if isinstance(row["verdict"], str) else str(row["reason"])


def _box(run: Run, name: str, rows: list[dict[str, Any]]) -> Box:
    conclusions, weak = {row["toward"]: _conclusion(row) for row in rows}, _without_evidence(run, name)
    towards = [country for country, text in conclusions.items() if text == TOWARDS.format(country)]
    others = [(country, (NOT_TOWARDS.format(country), AWAY.format(country))) for country in conclusions]
    moved = [country for country, verdicts in others if conclusions[country] in verdicts]
    if towards:
        outcome, answer = "yes", f"Towards {', '.join(towards)}"
    elif moved:
        outcome, answer = "partly", f"Not towards {', '.join(moved)}"
    else:
        is_known = any(isinstance(row["verdict"], str) for row in rows)
        outcome, answer = ("no", "Not shown") if is_known else ("unknown", "Not known")
    because = "; ".join(f"{country}: {text.rstrip('.')}" for country, text in conclusions.items())
    return Box(_question(name), "partly" if weak and towards else outcome, answer, f"{because}{_but(weak)}.", "shift")


def _without_evidence(run: Run, name: str) -> list[str]:
    """The families of a shift whose answers follow the position of options."""
    shift = run.study.shift[name]
    return [family for family in (*shift.befores, *shift.afters) if is_without_evidence(run, family)]


def _but(weak: list[str]) -> str:
    return f"; but answers of {' and '.join(weak)} do not follow what the options say" if weak else ""
