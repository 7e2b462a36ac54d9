"""What becomes of a mark: read, or why it was not."""

from enum import StrEnum

from valuesassets.records.trials import Reading, Status, fault_of


class MarkStatus(StrEnum):
    """What becomes of a mark; every opening delimiter of a file has one of these."""

    READ = "read"
    OPEN = "open"
    """Read; anything may be answered, so that only what was answered is looked at."""
    UNLISTED = "unlisted"
    """Read; what was answered is none of the candidates."""
    EMPTY = "empty"
    BROKEN = "broken"
    """Not closed before the next one opens, or closed on another line."""
    NO_CANDIDATES = "no_candidates"
    """No kind of the task is found before it, or nothing that may be answered."""
    BOUNDARY = "boundary"
    """What stands before it has other tokens once a candidate follows."""
    TEMPLATE = "template"
    """The chat template fails, or does not show earlier turns as they were."""
    TOO_LONG = "too_long"
    NOT_A_NUMBER = "not_a_number"
    """The model gives no number."""
    UNRESOLVED = "unresolved"
    """Where one candidate goes on to another, what ends the first could not be told."""
    FAILED = "failed"
    """Anything else; the reason says what."""
    NOT_ASKED = "not_asked"
    """This history cannot be had at this mark."""
    NO_MARKS = "no_marks"
    """A transcript without any."""


ASKED = frozenset([MarkStatus.READ, MarkStatus.OPEN, MarkStatus.UNLISTED])
"""Of marks that a model is asked at."""


def status_of(mark: MarkStatus, reading: Reading | None) -> MarkStatus:
    """What became of a mark that was asked for."""
    if reading is None:
        return MarkStatus.FAILED
    if reading.status is Status.OK:
        return mark
    if reading.status is Status.UNRESOLVED:
        return MarkStatus.UNRESOLVED
    fault = fault_of(reading.reason)
    return MarkStatus(fault.value) if fault is not None else MarkStatus.FAILED
