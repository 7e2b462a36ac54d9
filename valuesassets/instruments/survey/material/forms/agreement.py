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
LONGEST_QUOTE = 90  # letters of a string that a message quotes


@dataclass(frozen=True)
class Agreement:
    """How far two extractions agree.

    Attributes:
        twins: for each of our questions, the other extractor's reading of it, or None.
        disagreements: fields that differ, in our order.
        same: by field, the number of compared questions in which it is equal.
        compared: the number of questions that both have.
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
    """Each question as another extractor read it, or None; matched as two languages are (`alignment`).

    Of several `others` with one id only the first counts.
    """
    unique = {question.id: question for question in reversed(others) if question.id.strip()}
    targets = master_targets(list(reversed(unique.values())), variables)
    if not questions or not targets:
        return [None] * len(questions)
    target_codes = {target.code for target in targets}
    codes = [question.id if question.id in target_codes else canonical_id(question.id) for question in questions]
    places = match_questions(questions, targets, codes)[0].places
    return [None if place is None else targets[place].question for place in places]


def with_codes_of(
    questions: Sequence[Question], twins: Sequence[Question | None]
) -> tuple[list[Question], list[Change]]:
    """Questions without a printed code get their twin's, unless another question has it."""
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
    """Where words, codes or labels of two extractions differ; case, punctuation and blanks do not count."""
    same: Counter[str] = Counter()
    disagreements = []
    for (question, twin), field in itertools.product(zip(questions, twins, strict=True), FIELDS):
        if twin is None:
            continue
        ours, theirs = _content(question, field), _content(twin, field)
        if words_of(ours) == words_of(theirs):
            same[field] += 1
            continue
        page = question.page or twin.page
        where = f"{question.id} (page {page})" if page else question.id
        quotes = f"{ours[:LONGEST_QUOTE]!r} here, {theirs[:LONGEST_QUOTE]!r} by the other extractor"
        message = f"{where}: {field}: {quotes}; compare both with the page"
        disagreements.append(Fault(question.id, page, "agreement", message))
    compared = sum(twin is not None for twin in twins)
    return Agreement(tuple(twins), tuple(disagreements), {field: same[field] for field in FIELDS}, compared)


def _content(question: Question, field: str) -> str:
    if field == "codes":
        return " ".join(map(str, question.values))
    if field == "labels":
        return "; ".join(option.label for option in question.options if option.label)
    return getattr(question, field) or ""
