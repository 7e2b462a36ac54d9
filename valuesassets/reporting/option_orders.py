"""Whether a family's answers are answers to the questions, in words: what they follow once the options are reversed."""

from collections.abc import Iterator

import pandas as pd

from valuesassets.answers.order_quality import OF_NEITHER, OF_POSITION
from valuesassets.records.frames import records, rows, rows_where
from valuesassets.reporting.methods import each_in, some_of
from valuesassets.reporting.parts import Claim, Gate, is_absent
from valuesassets.reporting.run import Run

FOLLOWS_OPTIONS = "The answers of {} follow the options, not the places at which these are shown."
NOT_EVIDENCE = (OF_POSITION, OF_NEITHER)


def measured_cells(run: Run, family: str) -> pd.DataFrame:
    """The rows of `position_bias/cells` of a family in which it was measured what its answers follow."""
    cells = run.frames("position_bias").get("cells", pd.DataFrame())
    if not len(cells) or "follows" not in cells:
        return pd.DataFrame()
    own = rows_where(cells, model=family)
    return rows(own, own["follows"].notna())


def without_evidence(run: Run, family: str) -> pd.DataFrame:
    """Those of the measured cells whose answers follow position, or nothing that comes back in the other order."""
    cells = measured_cells(run, family)
    return rows(cells, cells["follows"].isin(NOT_EVIDENCE)) if len(cells) else cells


def is_without_evidence(run: Run, family: str) -> bool:
    """Whether what was measured of a family's answers is no evidence of what it prefers in any of its cells."""
    return 0 < len(measured_cells(run, family)) == len(without_evidence(run, family))


def order_sentence(run: Run, family: str) -> str | None:
    """What a reader of a family's answers has to know first; None where they follow the options, or nobody looked."""
    cells, weak = measured_cells(run, family), without_evidence(run, family)
    if not len(weak):
        return None
    by_position = bool((weak["follows"] == OF_POSITION).all())
    follows = (
        "follows the position of the options"
        if by_position
        else ("gives answers that do not come back once the options are reversed")
    )
    where = "" if len(weak) == len(cells) == 1 else f" in {len(weak)} of {len(cells)} languages"
    changed = weak["share_changed"].astype(float)
    shares = " to ".join(dict.fromkeys(f"{share:.0%}" for share in (changed.min(), changed.max())))
    return (
        f"{follows}{where}, not what they say: {shares} of its answers cross its mean answer once the options are "
        "reversed. These answers are no evidence of values"
    )


def order_gates(run: Run) -> Iterator[Gate]:
    """One per family: whether its answers follow the options."""
    for family in run.study.families:
        cells, weak = measured_cells(run, family), without_evidence(run, family)
        sentence = FOLLOWS_OPTIONS.format(family)
        if not len(cells):
            yield Gate(sentence, False, "too few answers were read in both orders", is_missing=True)
            continue
        others = some_of(each_in(weak, "{language} ({follows})"))
        found = f"{len(cells) - len(weak)} of {len(cells)} cells" + (f"; not: {others}" if len(weak) else "")
        yield Gate(sentence, not len(weak), found)


def order_claims(run: Run) -> Iterator[Claim]:
    """What cannot be said of the values of families whose answers follow position."""
    for family in run.study.families:
        notes = [row["note"] for row in records(without_evidence(run, family)) if not is_absent(row["note"])]
        if notes:
            yield Claim(f"Anything about the values of {family} from these cells.", False, "; ".join(notes))
