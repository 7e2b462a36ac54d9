"""Two extractions of one form compared, question by question and field by field."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from valuesassets.instruments.survey.material.alignment.matching import match_questions
from valuesassets.instruments.survey.material.alignment.targets import master_targets
from valuesassets.instruments.survey.material.forms.changes import Change
from valuesassets.instruments.survey.material.forms.layout.checks import Fault
from valuesassets.instruments.survey.material.forms.layout.word_graph import words_of
from valuesassets.people.variables import Variables, canonical_id
from valuesassets.records.questions import Question

FIELDS = ("text", "item", "codes", "labels")
SHOWN = 90
"""Letters of a string that a message quotes."""


@dataclass(frozen=True)
class Agreement:
    """What two extractions have in common.

    Attributes:
        twins: by place among ours, their reading of the same question, or None.
        disagreements: fields that are read otherwise, in the order of ours.
        same: by field, in how many of the questions that both have it is the same.
        compared: how many questions both have.
    """

    twins: tuple[Question | None, ...]
    disagreements: tuple[Fault, ...]
    same: dict[str, int]
    compared: int

    def __str__(self) -> str:
        if not self.compared:
            return "no question in common"
        shares = ", ".join(f"{field} {self.same[field] / self.compared:.0%}" for field in FIELDS)
        return f"{self.compared} questions in common; the same: {shares}"


def find_twins(
    questions: Sequence[Question], others: Sequence[Question], variables: Variables
) -> list[Question | None]:
    """Each question as another extractor read it, or None: matched as two languages are (`alignment`).

    Args:
        others: each id once; later ones of the same id are not looked at.
    """
    unique = {question.id: question for question in reversed(others) if question.id.strip()}
    targets = master_targets(list(reversed(unique.values())), variables)
    if not questions or not targets:
        return [None] * len(questions)
    known = {target.code for target in targets}
    codes = [question.id if question.id in known else canonical_id(question.id) for question in questions]
    places = match_questions(questions, targets, codes)[0].places
    return [None if place is None else targets[place].question for place in places]


def with_codes_of(
    questions: Sequence[Question], twins: Sequence[Question | None]
) -> tuple[list[Question], list[Change]]:
    """Questions that print no code, under the code of their twin, where no other question has it."""
    taken = {question.id for question in questions}
    named, changes = [], []
    for question, twin in zip(questions, twins, strict=True):
        if twin is None or canonical_id(question.id) or twin.id in taken or canonical_id(twin.id) is None:
            named.append(question)
            continue
        taken.add(twin.id)
        named.append(question.replace(id=twin.id, source_id=question.source_id or question.id))
        changes.append(Change(twin.id, "id", question.id, twin.id, "the code that the form prints there"))
    return named, changes


def compare_extractions(questions: Sequence[Question], twins: Sequence[Question | None]) -> Agreement:
    """Where the words, codes or labels of two extractions differ; case, marks and blanks aside."""
    same: Counter[str] = Counter()
    disagreements = []
    for (question, twin), field in itertools.product(zip(questions, twins, strict=True), FIELDS):
        if twin is None:
            continue
        ours, theirs = _said(question, field), _said(twin, field)
        if words_of(ours) == words_of(theirs):
            same[field] += 1
            continue
        page = question.page or twin.page
        where = f"{question.id} (page {page})" if page else question.id
        said = f"{ours[:SHOWN]!r} here, {theirs[:SHOWN]!r} by the other extractor; compare both with the page"
        disagreements.append(Fault(question.id, page, "agreement", f"{where}: {field}: {said}"))
    compared = sum(twin is not None for twin in twins)
    return Agreement(tuple(twins), tuple(disagreements), {field: same[field] for field in FIELDS}, compared)


def _said(question: Question, field: str) -> str:
    if field == "codes":
        return " ".join(map(str, question.values))
    if field == "labels":
        return "; ".join(option.label for option in question.options if option.label)
    return getattr(question, field) or ""
