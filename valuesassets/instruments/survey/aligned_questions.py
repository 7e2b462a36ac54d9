"""`survey/aligned_questions`: one language's questions under the master's canonical ids.

Evidence so far is the variable code printed in the form (`v39`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from valuesassets.records.questions import Question, question_faults

CARRIED_FACTS = ("wvs_id", "asked_of", "names_country", "is_converted")
"""What the master knows of a variable whatever the language, and each language's question carries along."""


@dataclass(frozen=True)
class Match:
    """What became of one question of a language, or of one of the master that it lacks.

    Attributes:
        question_id: canonical id, or the printed one where it has none.
        source_id: the id as extracted; None where the language lacks the question.
        status: `aligned`, `merged` (the same question twice), `missing`, `unknown` (no such code in the master),
            `faulty` (not fit to be asked) or `contradicts` (another shape than the master's).
        evidence: what the match rests on, or what is wrong, in words.
        page: page of the form, or None.
    """

    question_id: str
    source_id: str | None
    status: str
    evidence: str
    page: int | None = None

    @property
    def is_sound(self) -> bool:
        """Whether nothing is left for a person to review."""
        return self.status in ("aligned", "merged")


@dataclass(frozen=True)
class Alignment:
    """One language against the master: the questions fit to be asked, in the master's order, and every match."""

    questions: tuple[Question, ...]
    matches: tuple[Match, ...]

    @property
    def coverage(self) -> float:
        """Share of the master's questions that were aligned."""
        wanted = sum(match.status not in ("unknown", "merged") for match in self.matches)
        return len(self.questions) / wanted if wanted else 0.0


def canonical_id(printed: str) -> str | None:
    """The EVS variable code in a printed id, or None.

    >>> canonical_id("V 39"), canonical_id("(v45a)"), canonical_id("Q12")
    ('v39', 'v45a', None)
    """
    found = re.fullmatch(r"[^\w]*[vV]\s*0*(\d{1,3})\s*_?([a-zA-Z]?\d?)[^\w]*", printed)
    return f"v{found[1]}{found[2].lower()}" if found else None


def align_questions(extracted: Sequence[Question], master: Sequence[Question]) -> Alignment:
    """One language's questions under canonical ids, in the master's order.

    A question that cannot be asked, or whose options contradict the master's, is reported and left out, never mended
    in silence. Unknown keys of a question ride along; merged duplicates carry the positions of all in `merged_from`.
    """
    wanted = {question.id: question for question in master}
    found: dict[str, list[tuple[int, Question]]] = {}
    matches: list[Match] = []
    for position, question in enumerate(extracted):
        code = canonical_id(question.id) or canonical_id(question.source_id or "")
        if code in wanted:
            found.setdefault(code, []).append((position, question))
        else:
            matches.append(Match(question.id, question.id, "unknown", "no such variable in the master", question.page))
    aligned = []
    for code, model in wanted.items():
        if code not in found:
            matches.append(Match(code, None, "missing", "not found in this language's questionnaire"))
            continue
        (_, first), *others = found[code]
        fault = _fault(first, model)
        if fault is None:
            merged = [position for position, _ in found[code]] if others else None
            aligned.append(_canonical(first, model, merged))
            matches.append(Match(code, first.id, "aligned", "variable code, options as the master's", first.page))
        else:
            matches.append(Match(code, first.id, *fault, first.page))
        for _, other in others:
            same = other.options == first.options and other.text == first.text
            status, evidence = ("merged", "the same question twice") if same else ("contradicts", "code used twice")
            matches.append(Match(code, other.id, status, evidence, other.page))
    return Alignment(tuple(aligned), tuple(matches))


def _fault(question: Question, model: Question) -> tuple[str, str] | None:
    faults = question_faults(question)
    if faults:
        return "faulty", "; ".join(faults)
    if sorted(question.values) != sorted(model.values):
        return "contradicts", f"option codes {list(question.values)}, the master has {list(model.values)}"
    return None


def _canonical(question: Question, model: Question, merged_from: list[int] | None) -> Question:
    changes: dict[str, object] = {
        "id": model.id,
        "source_id": question.source_id or question.id,
        "response_type": model.response_type,
    }
    master_facts = model.model_extra or {}
    changes |= {name: master_facts[name] for name in CARRIED_FACTS if master_facts.get(name) is not None}
    if merged_from:
        changes["merged_from"] = merged_from
    return question.replace(**changes)
