"""The outcomes of a mark: read, or the kind of reason why it was not."""

from enum import StrEnum

from valuesassets.records.trials import Reading, Status, fault_of


class MarkStatus(StrEnum):
    """The outcome of a mark; every opening delimiter of a file has one (`STATUSES` explains them)."""

    READ = "read"
    OPEN = "open"
    UNLISTED = "unlisted"
    EMPTY = "empty"
    BROKEN = "broken"
    NO_CANDIDATES = "no_candidates"
    BOUNDARY = "boundary"
    TEMPLATE = "template"
    TOO_LONG = "too_long"
    NOT_A_NUMBER = "not_a_number"
    UNRESOLVED = "unresolved"
    FAILED = "failed"
    NOT_ASKED = "not_asked"
    NO_MARKS = "no_marks"


STATUSES = {
    MarkStatus.READ: "read",
    MarkStatus.OPEN: "read; anything may be answered, so only what was answered is looked at",
    MarkStatus.UNLISTED: "read; what was answered is none of the candidates",
    MarkStatus.EMPTY: "nothing stands between the marks",
    MarkStatus.BROKEN: "not closed before the next one opens, or closed on another line",
    MarkStatus.NO_CANDIDATES: "the task file does not say, or does not find, what may be answered there",
    MarkStatus.BOUNDARY: "what stands before it has other tokens once an answer follows",
    MarkStatus.TEMPLATE: "the chat template fails, or changes earlier turns",
    MarkStatus.TOO_LONG: "longer than the model can read",
    MarkStatus.NOT_A_NUMBER: "the model gives no number",
    MarkStatus.UNRESOLVED: "where one answer goes on to another, what ends the first could not be told",
    MarkStatus.FAILED: "anything else; the cell's page of transcripts has the reason",
    MarkStatus.NOT_ASKED: "this history cannot be had there; nothing was lost",
    MarkStatus.NO_MARKS: "a transcript without any mark",
}
"""Each status in words."""
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
