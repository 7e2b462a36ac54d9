"""`Change`: a change made to a question after it was read from its page, and the reason."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from valuesassets.records.questions import Option, Question

COLUMNS_FIELD = "columns"
"""The field of the change that says which columns of a table were not read; it is of no question."""


@dataclass(frozen=True)
class Change:
    """One field of one question, before and after; None stands for nothing."""

    question_id: str
    field: str
    before: str | None
    after: str | None
    why: str


def changes_between(before: Question, after: Question, fields: Sequence[str], why: str) -> Iterator[Change]:
    """The fields in which two versions of a question differ."""
    for field in fields:
        old, new = getattr(before, field), getattr(after, field)
        if old != new:
            yield Change(after.id, field, _content_text(old), _content_text(new), why)


def listed(options: Iterable[Option]) -> str:
    """Options in a line, as changes show them."""
    return "; ".join(f"{option.value} {option.label}".rstrip() for option in options)


def _content_text(content: Any) -> str | None:
    return None if content is None else listed(content) if isinstance(content, tuple) else str(content)
