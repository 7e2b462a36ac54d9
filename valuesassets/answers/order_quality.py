"""Sentences on a model's agreement over orders and its P_valid: do its answers depend on the question?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from valuesassets.measure.order_agreement import FEWEST_ITEMS, OrderAgreement
from valuesassets.records.settings.measuring import Thresholds

OF_OPTIONS, UNDER_A_PULL, OF_POSITION, OF_NEITHER = ("options", "options under a pull", "position", "neither")
"""Verdicts: answers follow the options; the options, although position decides most single answers; position alone; or
nothing that replicates in the other order."""
MOST_CHANGED = 0.5
"""Share of answers that change with the order, from which on position decides most single answers."""


@dataclass(frozen=True)
class Wording:
    """An instrument's words for its answers.

    Attributes:
        verb: as in `gemma chooses by position`.
        things: as in `240 choices`.
        changes: as in `240 choices of 240 prefer another option once both are exchanged`.
        instead: advice for a strong position bias with leans that replicate in the other order.
        items: name of the items, as in `48 dilemmas`.
    """

    verb: str
    things: str
    changes: str
    instead: str
    items: str = "items"


@dataclass(frozen=True)
class OrderQuality:
    """The verdict on a model's answers in two orders.

    Attributes:
        verdict: one of the four verdicts; None where it was not measured.
        is_evidence: whether analyses may use the answers; None where it was not measured.
        sentence: the verdict in words; None where answers follow the options.
    """

    verdict: str | None
    is_evidence: bool | None
    sentence: str | None


def judge_orders(model: str, agreement: OrderAgreement, threshold: float, words: Wording) -> OrderQuality:
    """The verdict on a model's answers from their agreement over both orders."""
    is_evidence = agreement.is_evidence(threshold)
    n_changed = round(agreement.changed * agreement.n) if agreement.n else 0
    changed = f"{n_changed} of {agreement.n} {words.things} {words.changes}"
    if is_evidence is None:
        few = f"{agreement.n_items} {words.items} were read in both orders, {FEWEST_ITEMS} are needed"
        return OrderQuality(None, None, f"whether {words.things} of {model} follow position is not known: {few}")
    estimate = f"{agreement.agreement:.2f} [{agreement.low:.2f}, {agreement.high:.2f}]"
    agreed = f"agreement {estimate if agreement.agreement > 0 else 'below 0'}, {threshold:g} is asked for"
    if is_evidence and agreement.changed < MOST_CHANGED:
        return OrderQuality(OF_OPTIONS, True, None)
    if is_evidence:
        pulled = f"position decides most single {words.things} of {model} ({changed})"
        summary = f"{pulled}, but leans come back in the other order ({agreed}); {words.instead}"
        return OrderQuality(UNDER_A_PULL, True, summary)
    verdict = OF_POSITION if agreement.changed >= MOST_CHANGED else OF_NEITHER
    by = "by position" if verdict == OF_POSITION else "neither by option nor by position"
    summary = f"{model} {words.verb} {by}: {changed}, and leans in one order do not come back in the other ({agreed})"
    return OrderQuality(verdict, False, f"{summary}; its {words.things} are no evidence of what it prefers")


def describe_orders(
    model: str, agreement: OrderAgreement, p_valid: np.ndarray, rules: Thresholds, words: Wording
) -> dict[str, Any]:
    """Columns on a model's answers in both orders: their agreement, the verdict, and how often there is any answer.

    Args:
        agreement: agreement of answers in one order with those in the other.
        p_valid: P_valid of each answer, NaN where unknown; shape (answers,).

    Returns:
        The columns that `worldwise/reliability/orders` and `worldvaluesbench/benchmark_scores/orders` share.
    """
    quality = judge_orders(model, agreement, rules.reliability, words)
    measured = p_valid[np.isfinite(p_valid)]
    median = float(np.median(measured)) if measured.size else np.nan
    sentences = [p_valid_sentence(model, median, rules.p_valid_cell, words.things), quality.sentence]
    return {
        "p_valid": median,
        "changed": agreement.changed,
        "agreement": agreement.agreement,
        "agreement_low": agreement.low,
        "agreement_high": agreement.high,
        "threshold": rules.reliability,
        "follow": quality.verdict,
        "is_evidence": quality.is_evidence,
        "reason": ". ".join(filter(None, sentences)) or None,
    }


def p_valid_sentence(model: str, median: Any, least: float, things: str) -> str | None:
    """A sentence on a median P_valid below the least acceptable one; None where it is not below."""
    if median is None or not np.isfinite(median) or median >= least:
        return None
    return (
        f"{model} seldom answers what was asked: the median P_valid of its {things} is {median:.2g}, {least:g} is "
        "asked for; most of its probability lies on no answer"
    )
