"""`Record`: an extracted question and what it was matched to; which of several records of a variable goes on."""

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
    """An extracted question, where it stood, and what it was matched to."""

    question: Question
    positions: tuple[int, ...]
    is_foreign: bool
    code: str | None
    target: Target | None
    confidence: float
    masked: Target | None

    @property
    def contradiction(self) -> str | None:
        """What the printed code and the rest of the evidence say otherwise, in words, or None."""
        if self.code is None or (self.question.model_extra or {}).get(PINNED):
            return None
        found, masked = (each.code if each else "no question of the master" for each in (self.target, self.masked))
        if found != self.code:
            return f"the code printed is {self.code}, order, shape and wording say {found}"
        return None if masked == self.code else f"without its code, order, shape and wording say {masked}"

    def match(self, status: str, evidence: str, is_settled: bool = False, is_out_of_order: bool = False) -> Match:
        """What became of it.

        Args:
            is_settled: whether it does not matter any more what its code says otherwise.
        """
        question, masked_id = self.question, self.masked.code if self.masked else None
        code, source_id = self.target.code if self.target else question.id, question.source_id or question.id
        why = None if is_settled else self.contradiction
        seen = (question.page, self.confidence, why, masked_id, self.positions[0], fingerprint(question))
        return Match(code, source_id, status, evidence, *seen, is_out_of_order)


def matched_records(
    questions: Sequence[Question],
    positions: Sequence[tuple[int, ...]],
    targets: Sequence[Target],
    likeness: Matrix | None = None,
    is_foreign: bool = False,
) -> list[Record]:
    """Every question of a language with its target.

    Args:
        positions: of each question, the places of the records that it was made of.
        likeness: log odds for every pair, of an embedder.
        is_foreign: whether they are in the form's other language.
    """
    if not questions or not targets:
        return []
    known = {target.code for target in targets}
    codes = [printed_code(question, known) for question in questions]
    pinned = [bool((question.model_extra or {}).get(PINNED)) for question in questions]
    path, masked = match_questions(questions, targets, codes, pinned, likeness)
    found, without = ([None if at is None else targets[at] for at in each.places] for each in (path, masked))
    return [
        Record(question, at, is_foreign, code, target, confidence, masked)
        for question, at, code, target, confidence, masked in zip(
            questions, positions, codes, found, path.confidence, without, strict=True
        )
    ]


def best_records(extracted: Sequence[Question], targets: Sequence[Target]) -> list[Question]:
    """Of each target the record that is best matched to it, under its code, in the targets' order."""
    found: dict[str, Record] = {}
    for record in matched_records(extracted, [(n,) for n in range(len(extracted))], targets):
        if record.target is not None:
            found[record.target.code] = max(found.get(record.target.code, record), record, key=worth)
    best = ((target.code, found[target.code].question) for target in targets if target.code in found)
    return [question.replace(id=code, source_id=question.source_id or question.id) for code, question in best]


def printed_code(question: Question, known: Collection[str]) -> str | None:
    """The code that a question prints, where it is one of the survey's."""
    for printed in (question.id, question.source_id or ""):
        code = printed if printed in known else canonical_id(printed)
        if code is not None and (code in known or printed == question.id):
            return code
    return None


def worth(record: Record) -> tuple[bool, bool, bool, bool, bool, int, int]:
    """What the record of a variable is chosen by: language, sureness, code, soundness, parts, length, place."""
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
    """Whether two records of a variable are the same question: their items, or all that they say where one has none."""
    mine, theirs = one.question, other.question
    texts = [(question.item or question.text).casefold() for question in (mine, theirs)]
    if not (mine.item and theirs.item):
        texts = [" ".join([q.text, *(option.label for option in q.options)]).casefold() for q in (mine, theirs)]
    return fuzz.token_set_ratio(*texts) >= SAME_WORDING
