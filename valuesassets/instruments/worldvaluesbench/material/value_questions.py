"""`worldvaluesbench/value_questions`: the 239 questions of WVS-7 whose answers are ordered, in our wording."""

import functools
import tomllib
from collections.abc import Sequence
from typing import Annotated

import pydantic

from valuesassets.records.errors import StudyError
from valuesassets.records.faults import validated
from valuesassets.records.places import STUDIES
from valuesassets.records.settings.kinds import Record

FILE = STUDIES / "worldvaluesbench" / "value_questions.toml"


class ValueQuestion(Record):
    """A question about values and its answers, in the order of their scale.

    Attributes:
        id: the variable of WVS-7, as `Q1`.
        text: the question without its scale.
        lo, hi: codes of the first and last answer on the scale, which has an answer for each number between them.
        labels: one for each answer, `lo` to `hi`; of ten points only the ends have a text, the others have "".
        recodes: codes on the scale by code of the survey's file, if they differ.
        missing: codes of the file that count as missing because they are not on the scale.
    """

    id: str
    category: str
    text: str
    lo: int
    hi: int
    labels: tuple[str, ...]
    recodes: dict[int, int] = pydantic.Field(default_factory=dict)
    missing: tuple[int, ...] = ()

    @property
    def values(self) -> tuple[int, ...]:
        """Codes of the K answers."""
        return tuple(range(self.lo, self.hi + 1))


class _File(Record):
    probe: tuple[str, ...]
    questions: Annotated[tuple[ValueQuestion, ...], pydantic.Field(min_length=1)]


@functools.cache
def load_value_questions() -> dict[str, ValueQuestion]:
    """The bundled questions by id, in the order of WVS-7; StudyError names key and reason if the file is malformed."""
    return {question.id: question for question in _load().questions}


def probe_questions() -> tuple[str, ...]:
    """Ids of the 36 questions of the probe, the first three of each category."""
    return _load().probe


def chosen_questions(choice: str | Sequence[str]) -> list[ValueQuestion]:
    """The questions of a set: `probe`, `all`, or ids.

    Raises:
        StudyError: an id is unknown.
    """
    questions = load_value_questions()
    ids = {"probe": probe_questions(), "all": tuple(questions)}[choice] if isinstance(choice, str) else choice
    if unknown := [name for name in ids if name not in questions]:
        raise StudyError(f"questions: {', '.join(unknown[:3])} unknown; ids such as Q1 to Q259, Q234A were expected")
    return [questions[name] for name in dict.fromkeys(ids)]


@functools.cache
def _load() -> _File:
    return validated(_File, tomllib.loads(FILE.read_text(encoding="utf-8")), StudyError, FILE.name)
