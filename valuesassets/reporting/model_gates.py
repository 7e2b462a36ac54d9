"""Gates on the models of a study: whether they answer the questions, and whether answers follow the options."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from valuesassets.answers.order_quality import p_valid_sentence
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.reporting.methods import some_of
from valuesassets.reporting.parts import Gate, is_absent

ANSWERED = "Models answer what they are asked: their median P_valid is high enough."
MOST_SAID = 5
"""The most failing rows that a gate describes."""
OF_ORDERS = ("p_valid", "changed", "agreement", "agreement_low", "agreement_high", "follow")
"""The columns of a table of orders that stand first."""
Row = Mapping[str, Any]


def judged(
    sentence: str, rows: Sequence[Row], holds: Callable[[Row], bool | None], describe: Callable[[Row], str]
) -> Gate:
    """A gate over rows: it fails if a row fails, and is missing if there are no rows or one is unknown.

    Args:
        holds: whether a row passes; None if that is unknown.
        describe: the description of a failing row.
    """
    outcomes = [holds(row) for row in rows]
    failing = [describe(row) for row, outcome in zip(rows, outcomes, strict=True) if outcome is False]
    unknown = [_row_name(row) for row, outcome in zip(rows, outcomes, strict=True) if outcome is None]
    if failing:
        more = f" and {len(failing) - MOST_SAID} more" if len(failing) > MOST_SAID else ""
        return Gate(sentence, False, "; ".join(failing[:MOST_SAID]) + more)
    if unknown or not rows:
        return Gate(sentence, False, f"not known of {some_of(unknown) if unknown else 'any model'}", is_missing=True)
    return Gate(sentence, True, f"all of {len(rows)}")


def order_gates(orders: Sequence[Row], rules: Thresholds, things: str) -> Iterator[Gate]:
    """The gates on whether every model answers the questions, and whether its answers follow the options.

    Args:
        orders: rows with the columns model, p_valid, is_evidence and reason.
        rules: the thresholds of the study.
        things: the plural noun for answers, such as `choices`.
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
    """The outcome of a family's preflight in words; None if it had no preflight."""
    parts = (verdict or {}).get("parts")
    if not parts:
        return None
    failed, overrides = ([cell[key] for cell in parts.values() if cell[key]] for key in ("reason", "override"))
    if not failed:
        return "passed"
    outcome = f"failed in {len(failed)} of {len(parts)} cells"
    return f"{outcome}, overridden: {'; '.join(dict.fromkeys(overrides))}" if overrides else outcome


def first_failure(verdict: Row | None) -> str:
    """The reason of the first cell of a family that failed its preflight."""
    parts = (verdict or {}).get("parts", {})
    return next((str(cell["reason"]) for cell in parts.values() if cell["reason"]), "no reason is known")


def _row_name(row: Row) -> str:
    """The name of a row: its model and, if it has them, measure, axis and form."""
    return " ".join(str(row[name]) for name in ("model", "measure", "axis", "form") if not is_absent(row.get(name)))
