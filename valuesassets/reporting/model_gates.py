"""Gates about the models of a study: whether they answer what they are asked, and whether answers follow position."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from valuesassets.answers.order_quality import p_valid_sentence
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.reporting.methods import some_of
from valuesassets.reporting.parts import Gate, is_absent

ANSWERED = "Models answer what they are asked: their median P_valid is high enough."
MOST_SAID = 5
"""Rows that fail which a gate spells out."""
OF_ORDERS = ("p_valid", "changed", "agreement", "agreement_low", "agreement_high", "follow")
"""Columns of a table of orders that a reader sees first."""
Row = Mapping[str, Any]


def judged(
    sentence: str, rows: Sequence[Row], holds: Callable[[Row], bool | None], describe: Callable[[Row], str]
) -> Gate:
    """A gate over rows: it fails where one does, and was not looked at where there is none, or nothing is known of one.

    Args:
        holds: None where it is not known.
        said: what of a row that fails.
    """
    outcomes = [holds(row) for row in rows]
    failing = [describe(row) for row, outcome in zip(rows, outcomes, strict=True) if outcome is False]
    unknown = [_named(row) for row, outcome in zip(rows, outcomes, strict=True) if outcome is None]
    if failing:
        more = f" and {len(failing) - MOST_SAID} more" if len(failing) > MOST_SAID else ""
        return Gate(sentence, False, "; ".join(failing[:MOST_SAID]) + more)
    if unknown or not rows:
        return Gate(sentence, False, f"not known of {some_of(unknown) if unknown else 'any model'}", is_missing=True)
    return Gate(sentence, True, f"all of {len(rows)}")


def order_gates(orders: Sequence[Row], rules: Thresholds, things: str) -> Iterator[Gate]:
    """Whether every model answers what it is asked, and whether its answers follow the options.

    Args:
        orders: rows with the columns model, p_valid, is_evidence and reason.
        things: what answers are called, as in `choices`.
    """
    least = rules.p_valid_cell
    yield judged(
        ANSWERED,
        orders,
        lambda row: None if is_absent(row["p_valid"]) else bool(row["p_valid"] >= least),
        lambda row: str(p_valid_sentence(row["model"], row["p_valid"], least, things)),
    )
    yield judged(
        f"{things.capitalize()} follow what is offered, and not the places at which it stands.",
        orders,
        lambda row: None if is_absent(row["is_evidence"]) else bool(row["is_evidence"]),
        lambda row: str(row["reason"]),
    )


def preflight_word(verdict: Row | None) -> str | None:
    """In how many cells a family failed its preflight, in words; None where it had none."""
    parts = (verdict or {}).get("parts")
    if not parts:
        return None
    failed, overrides = ([cell[key] for cell in parts.values() if cell[key]] for key in ("reason", "override"))
    if not failed:
        return "passed"
    outcome = f"failed in {len(failed)} of {len(parts)} cells"
    return f"{outcome}, overridden: {'; '.join(dict.fromkeys(overrides))}" if overrides else outcome


def first_failure(verdict: Row | None) -> str:
    """Why the first cell of a family that failed its preflight did so."""
    parts = (verdict or {}).get("parts", {})
    return next((str(cell["reason"]) for cell in parts.values() if cell["reason"]), "no reason is known")


def _named(row: Row) -> str:
    return " ".join(str(row[name]) for name in ("model", "measure", "axis", "form") if not is_absent(row.get(name)))
