"""`Record`: an extracted question and its target; and the choice between several records of a variable."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from valuesassets.instruments.survey.material.alignment.evidence import SAME_WORDING, Matrix
from valuesassets.instruments.survey.material.alignment.match import SURE, Match
from valuesassets.instruments.survey.material.alignment.matching import match_questions
from valuesassets.instruments.survey.material.alignment.targets import Target
from valuesassets.instruments.survey.material.forms.overrides import PINNED, fingerprint
from valuesassets.people.variables import canonical_id
from valuesassets.records.questions import Question, question_faults


@dataclass(frozen=True)
class Record:
    """An extracted question, its position in the extraction, and its target."""

    question: Question
    positions: tuple[int, ...]
    is_foreign: bool
    code: str | None
    target: Target | None
    confidence: float
    masked: Target | None

    @property
    def contradiction(self) -> str | None:
        """How the printed code and the other evidence contradict each other, in words, or None."""
        if self.code is None or (self.question.model_extra or {}).get(PINNED):
            return None
        target, masked = (each.code if each else "no question of the master" for each in (self.target, self.masked))
        if target != self.code:
            return f"the code printed is {self.code}, order, shape and wording say {target}"
        return None if masked == self.code else f"without its code, order, shape and wording say {masked}"

    def match(self, status: str, evidence: str, is_settled: bool = False, is_out_of_order: bool = False) -> Match:
        """The record's row; a contradiction of a settled record is left out."""
        question, masked_id = self.question, self.masked.code if self.masked else None
        code, source_id = self.target.code if self.target else question.id, question.source_id or question.id
        contradiction = None if is_settled else self.contradiction
        facts = (question.page, self.confidence, contradiction, masked_id, self.positions[0], fingerprint(question))
        return Match(code, source_id, status, evidence, *facts, is_out_of_order)


def matched_records(
    questions: Sequence[Question],
    positions: Sequence[tuple[int, ...]],
    targets: Sequence[Target],
    likeness: Matrix | None = None,
    is_foreign: bool = False,
) -> list[Record]:
    """Every question of a language with its target.

    Args:
        positions: for each question, the places of the records that were merged into it.
        likeness: log odds of an embedder for every pair.
        is_foreign: whether the questions are in the form's other language.
    """
    if not questions or not targets:
        return []
    survey_codes = {target.code for target in targets}
    codes = [printed_code(question, survey_codes) for question in questions]
    pinned = [bool((question.model_extra or {}).get(PINNED)) for question in questions]
    path, masked = match_questions(questions, targets, codes, pinned, likeness)
    matches, masked_matches = (
        [None if place is None else targets[place] for place in each.places] for each in (path, masked)
    )
    columns = zip(questions, positions, codes, matches, path.confidence, masked_matches, strict=True)
    return [Record(question, places, is_foreign, *rest) for question, places, *rest in columns]


def best_records(extracted: Sequence[Question], targets: Sequence[Target]) -> list[Question]:
    """The best record of each target, under its code, in the order of the targets."""
    by_code: dict[str, Record] = {}
    for record in matched_records(extracted, [(n,) for n in range(len(extracted))], targets):
        if record.target is not None:
            by_code[record.target.code] = max(by_code.get(record.target.code, record), record, key=worth)
    best = ((target.code, by_code[target.code].question) for target in targets if target.code in by_code)
    return [question.replace(id=code, source_id=question.source_id or question.id) for code, question in best]


def printed_code(question: Question, codes: Collection[str]) -> str | None:
    """The code that a question prints, if it is one of the survey's `codes`."""
    for printed in (question.id, question.source_id or ""):
        code = printed if printed in codes else canonical_id(printed)
        if code is not None and (code in codes or printed == question.id):
            return code
    return None


def worth(record: Record) -> tuple[bool, bool, bool, bool, bool, int, int]:
    """The sort key of a variable's records: language, confidence, code, soundness, parts, length, place."""
    question = record.question
    return (
        not record.is_foreign,
        record.confidence >= SURE,
        record.target is not None and record.code == record.target.code,
        not question_faults(question.model_copy(update={"id": "-"})),
        bool(question.item and question.stem),
        len(question.text),
        -record.positions[0],
    )


def is_same(one: Record, other: Record) -> bool:
    """Whether two records of a variable ask the same: by their items, or by all their words if one has no item."""
    mine, theirs = one.question, other.question
    texts = [(question.item or question.text).casefold() for question in (mine, theirs)]
    if not (mine.item and theirs.item):
        texts = [" ".join([q.text, *(option.label for option in q.options)]).casefold() for q in (mine, theirs)]
    return fuzz.token_set_ratio(*texts) >= SAME_WORDING
