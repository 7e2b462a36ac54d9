"""The first section of an instrument's page: a sentence for each model, and boxes that answer the first questions."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten

from valuesassets.reporting.parts import Box, Claim, Gate, Section

LONGEST = 160
"""The most characters of the reason in a box; the page has the whole reason below."""


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
