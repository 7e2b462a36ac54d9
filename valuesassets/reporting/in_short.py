"""What an instrument's page opens with: a sentence for each model, and the questions that come before any figure."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten

from valuesassets.reporting.parts import Box, Claim, Gate, Section

LONGEST = 160
"""Characters of the reason in a box; the page says the rest below."""


def in_short(
    answers: Mapping[str, str], gates: Sequence[Gate], claims: Sequence[Claim], weaknesses: Iterable[str] = ()
) -> Section:
    """The first section of a page.

    Args:
        answers: a sentence by model, which answers the instrument's question.
        weaknesses: what a reader has to know of models before anything else, in sentences.
    """
    boxes = (
        _of_gates("Does the instrument work?", [gate for gate in gates if gate.of_instrument]),
        _of_gates("Can the answers be used?", [gate for gate in gates if not gate.of_instrument]),
        _of_claims(claims),
    )
    return Section("answer", "In short", list(weaknesses), lead=answers, boxes=boxes)


def _of_gates(question: str, gates: Sequence[Gate]) -> Box:
    """How many checks were passed; the first that was not says why."""
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
    """What a gate that did not pass says, shortened; without one that all is well."""
    if gate is None:
        return "Every check was passed."
    if gate.by_plan:
        return f"By plan: {gate.by_plan}"
    return shorten(f"Not passed: {gate.sentence} {gate.found}", LONGEST, placeholder=" …")


def _of_claims(claims: Sequence[Claim]) -> Box:
    n_supported = sum(claim.is_supported for claim in claims)
    outcome = "partly" if n_supported else "no"
    answer = f"{n_supported} of {len(claims)} claims"
    because = "Each with the numbers that it rests on, and what may not be claimed."
    return Box("What does this run support?", outcome, answer, because, "claims")
