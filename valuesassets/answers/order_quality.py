"""What agreement over orders and P_valid say of a model, in words: whether its answers are answers to the question."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from valuesassets.measure.order_agreement import FEWEST_ITEMS, OrderAgreement
from valuesassets.records.settings.measuring import Thresholds

OF_OPTIONS, UNDER_A_PULL, OF_POSITION, OF_NEITHER = ("options", "options under a pull", "position", "neither")
"""What answers follow: options; options, though position decides most single answers; position alone; nothing that
comes back in the other order."""
MOST_CHANGED = 0.5
"""Share of answers that change with the order from which position decides most single ones."""


@dataclass(frozen=True)
class Wording:
    """How an instrument speaks of answers.

    Attributes:
        verb: as in `gemma chooses by position`.
        things: as in `240 choices`.
        changes: as in `240 choices of 240 prefer another option once both are exchanged`.
        instead: what a reader can do where a pull is strong and leans come back.
        items: what answers are to, as in `48 dilemmas`.
    """

    verb: str
    things: str
    changes: str
    instead: str
    items: str = "items"


@dataclass(frozen=True)
class OrderQuality:
    """What answers of a model follow.

    Attributes:
        verdict: one of the four; None where it was not measured.
        is_evidence: whether analyses may rest on them; None where it was not measured.
        sentence: for a person; None where answers follow the options.
    """

    verdict: str | None
    is_evidence: bool | None
    sentence: str | None


def judge_orders(model: str, found: OrderAgreement, threshold: float, words: Wording) -> OrderQuality:
    """What a model's answers follow, of how they go with those in the other order."""
    is_evidence = found.is_evidence(threshold)
    n_changed = round(found.changed * found.n) if found.n else 0
    changed = f"{n_changed} of {found.n} {words.things} {words.changes}"
    if is_evidence is None:
        few = f"{found.n_items} {words.items} were read in both orders, {FEWEST_ITEMS} are needed"
        return OrderQuality(None, None, f"whether {words.things} of {model} follow position is not known: {few}")
    ends = f"{found.agreement:.2f} [{found.low:.2f}, {found.high:.2f}]" if found.agreement > 0 else "below 0"
    agreed = f"agreement {ends}, {threshold:g} is asked for"
    if is_evidence and found.changed < MOST_CHANGED:
        return OrderQuality(OF_OPTIONS, True, None)
    if is_evidence:
        said = f"position decides most single {words.things} of {model} ({changed}), but leans come back in the other "
        return OrderQuality(UNDER_A_PULL, True, f"{said}order ({agreed}); {words.instead}")
    verdict = OF_POSITION if found.changed >= MOST_CHANGED else OF_NEITHER
    by = "by position" if verdict == OF_POSITION else "neither by option nor by position"
    begun = f"{model} {words.verb} {by}"
    said = f"{begun}: {changed}, and leans in one order do not come back in the other ({agreed}); its {words.things} "
    return OrderQuality(verdict, False, f"{said}are no evidence of what it prefers")


def describe_orders(
    model: str, found: OrderAgreement, p_valid: np.ndarray, rules: Thresholds, words: Wording
) -> dict[str, Any]:
    """What instruments tell of a model's answers in both orders: how they agree, what they follow, and how often any
    answer is given at all.

    Args:
        found: how answers in one order go with those in the other.
        p_valid: P_valid of each answer, NaN where unknown; shape (answers,).

    Returns:
        The columns that `worldwise/reliability/orders` and `worldvaluesbench/benchmark_scores/orders` share.
    """
    quality = judge_orders(model, found, rules.reliability, words)
    known = p_valid[np.isfinite(p_valid)]
    median = float(np.median(known)) if known.size else np.nan
    said = [p_valid_sentence(model, median, rules.p_valid_cell, words.things), quality.sentence]
    return {
        "p_valid": median,
        "changed": found.changed,
        "agreement": found.agreement,
        "agreement_low": found.low,
        "agreement_high": found.high,
        "threshold": rules.reliability,
        "follow": quality.verdict,
        "is_evidence": quality.is_evidence,
        "reason": ". ".join(filter(None, said)) or None,
    }


def p_valid_sentence(model: str, median: Any, least: float, things: str) -> str | None:
    """What a median P_valid below the least says, for a person; None where it is not below."""
    if median is None or not np.isfinite(median) or median >= least:
        return None
    return (
        f"{model} seldom answers what was asked: the median P_valid of its {things} is {median:.2g}, {least:g} is "
        "asked for; most of its probability lies on no answer"
    )
