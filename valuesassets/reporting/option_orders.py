"""Sentences, gates and claims on whether a family's answers follow the options or their positions."""

from collections.abc import Iterator

import pandas as pd

from valuesassets.answers.order_quality import OF_NEITHER, OF_POSITION
from valuesassets.records.frames import records, rows, rows_where
from valuesassets.reporting.methods import counted, each_in, some_of
from valuesassets.reporting.parts import Claim, Gate, is_absent
from valuesassets.reporting.run import Run

FOLLOWS_OPTIONS = "The answers of {} follow the options, not the places at which these are shown."
NOT_EVIDENCE = (OF_POSITION, OF_NEITHER)
MOST_WITHOUT_EVIDENCE = 0.5
"""A share of a family's measured cells; if more are no evidence of values, the report concludes nothing about it."""


def measured_cells(run: Run, family: str) -> pd.DataFrame:
    """The rows of `position_bias/cells` of a family for which the table says what its answers follow."""
    cells = run.frames("position_bias").get("cells", pd.DataFrame())
    if not len(cells) or "follows" not in cells:
        return pd.DataFrame()
    family_cells = rows_where(cells, model=family)
    return rows(family_cells, family_cells["follows"].notna())


def is_unknown(run: Run, family: str) -> bool:
    """Whether a family's answers were to be compared in both orders, and none of its cells allowed it."""
    return "position_bias" in run.found and not len(measured_cells(run, family))


def without_evidence(run: Run, family: str) -> pd.DataFrame:
    """The measured cells whose answers follow position, or do not replicate in the other order."""
    cells = measured_cells(run, family)
    return rows(cells, cells["follows"].isin(NOT_EVIDENCE)) if len(cells) else cells


def is_without_evidence(run: Run, family: str) -> bool:
    """Whether most measured cells of a family are no evidence of values, so that nothing can be concluded about it."""
    return len(without_evidence(run, family)) > MOST_WITHOUT_EVIDENCE * len(measured_cells(run, family))


def order_sentence(run: Run, family: str) -> str | None:
    """The weakness of a family's answers; None if they follow the options or were not measured in both orders."""
    cells, weak = measured_cells(run, family), without_evidence(run, family)
    if not len(weak):
        return None
    where = "" if len(weak) == len(cells) == 1 else f" in {len(weak)} of {len(cells)} languages"
    changed = weak["share_changed"].astype(float)
    shares = " to ".join(dict.fromkeys(f"{share:.0%}" for share in (changed.min(), changed.max())))
    if (weak["follows"] == OF_POSITION).all():
        words = f"follows the position of the options{where}, not what they say"
    else:
        words = f"gives answers{where} that do not replicate once the options are reversed"
    return (
        f"{words}: {shares} of the answers{' there' if where else ''} cross their mean answer in the other order. "
        "These answers are no evidence of values"
    )


def order_gates(run: Run) -> Iterator[Gate]:
    """One gate per family: whether its answers follow the options."""
    for family in run.study.families:
        cells, weak = measured_cells(run, family), without_evidence(run, family)
        sentence = FOLLOWS_OPTIONS.format(family)
        if not len(cells):
            yield Gate(sentence, False, "too few answers were read in both orders", is_missing=True)
            continue
        failures = some_of(each_in(weak, "{language} ({follows})"))
        outcome = f"{len(cells) - len(weak)} of {len(cells)} cells" + (f"; not: {failures}" if len(weak) else "")
        if n_unknown := len(rows_where(run.frames("position_bias")["cells"], model=family)) - len(cells):
            outcome += f"; too few answers in both orders to tell in {counted(n_unknown, 'cell')}"
        yield Gate(sentence, not len(weak), outcome)


def order_claims(run: Run) -> Iterator[Claim]:
    """The unsupported claims on families with answers that follow position or do not replicate."""
    for family in run.study.families:
        notes = [row["note"] for row in records(without_evidence(run, family)) if not is_absent(row["note"])]
        if notes:
            yield Claim(f"Anything about the values of {family} from these cells.", False, "; ".join(notes))
