"""The outcomes of a mark: read, or the kind of reason why it was not."""

from enum import StrEnum

from valuesassets.records.trials import Reading, Status, fault_of


class MarkStatus(StrEnum):
    """The outcome of a mark; every opening delimiter of a file has one."""

    READ = "read"
    OPEN = "open"
    """Read; anything may be answered, so only the participant's answer has a probability."""
    UNLISTED = "unlisted"
    """Read; the participant's answer is none of the candidates."""
    EMPTY = "empty"
    BROKEN = "broken"
    """Not closed before the next one opens, or closed on another line."""
    NO_CANDIDATES = "no_candidates"
    """The text before it matches no kind of the task, or has no candidates."""
    BOUNDARY = "boundary"
    """The text before it has other tokens once a candidate follows."""
    TEMPLATE = "template"
    """The chat template fails, or does not show earlier turns as they were."""
    TOO_LONG = "too_long"
    NOT_A_NUMBER = "not_a_number"
    """The model gives no number."""
    UNRESOLVED = "unresolved"
    """One candidate begins with another, and the end of the shorter one could not be read."""
    FAILED = "failed"
    """Anything else; the reason says what."""
    NOT_ASKED = "not_asked"
    """The mark has no such history."""
    NO_MARKS = "no_marks"
    """A transcript without marks."""


ASKED = frozenset([MarkStatus.READ, MarkStatus.OPEN, MarkStatus.UNLISTED])
"""Statuses of marks that a model can be asked at."""


def status_of(mark: MarkStatus, reading: Reading | None) -> MarkStatus:
    """The status of a mark after its reading."""
    if reading is not None and reading.status is Status.OK:
        return mark
    if reading is not None and reading.status is Status.UNRESOLVED:
        return MarkStatus.UNRESOLVED
    fault = fault_of(reading.reason) if reading is not None else None
    return MarkStatus(fault.value) if fault is not None else MarkStatus.FAILED
