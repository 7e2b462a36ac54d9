"""`Match` and `Alignment`: what became of each record of a language, and of each question of the master."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from valuesassets.records.csv_tables import csv_text
from valuesassets.records.files import write_text
from valuesassets.records.questions import Question

SURE = 0.5
"""A question whose match is less probable is not asked until a person says what it is."""
NOT_FOUND = "not found in this language's questionnaire"
SHOWN = 5
"""Records that the row of a question that was not found names; more are counted."""


@dataclass(frozen=True)
class Match:
    """What became of one question of a language, or of one of the master that it lacks.

    Attributes:
        question_id: canonical id, or the printed one where it has none.
        source_id: the id as extracted; None where the language lacks the question.
        status: `aligned`, `merged` (the same question twice, or in the form's other language), `missing`,
            `not_asked` (a person says that the language does not have it), `left_out` (the facts say why),
            `beyond` (no question of the master), `unfit` (aligned, but cannot be asked, or not compared) or
            `contradicts` (another record is the same variable in other words).
        evidence: what the match rests on, or what is wrong, in words.
        page: page of the form, or None.
        confidence: probability of the match, all others considered; None for what was not extracted.
        contradiction: what the printed code says otherwise, in words, or None.
        masked_id: the canonical id without the evidence of the codes, or None.
        position: place of the record among the questions as extracted, or None.
        mark: of the record, for an override; None for what was not extracted.
        is_out_of_order: whether the form has the question at another place than the master.
    """

    question_id: str
    source_id: str | None
    status: str
    evidence: str
    page: int | None = None
    confidence: float | None = None
    contradiction: str | None = None
    masked_id: str | None = None
    position: int | None = None
    mark: str | None = None
    is_out_of_order: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether nothing is left for a person to review."""
        return self.status not in ("missing", "unfit", "contradicts") and self.contradiction is None


@dataclass(frozen=True)
class Alignment:
    """One language against the master: its questions in the master's order, and every match.

    Attributes:
        questions: those with the key `unfit` cannot be asked, and say why.
        masked: of the records that print a code of the master, how many come out under it with all codes masked, and
            how many there are.
    """

    questions: tuple[Question, ...]
    matches: tuple[Match, ...]
    masked: tuple[int, int]

    @property
    def coverage(self) -> float:
        """Share of the master's questions that were aligned and can be asked; those not asked by design aside."""
        fit = sum(match.status == "aligned" for match in self.matches)
        wanted = fit + sum(match.status in ("missing", "unfit") for match in self.matches)
        return fit / wanted if wanted else 0.0

    def __str__(self) -> str:
        """In words: how many of the master's questions, and how well they are found without codes."""
        counts = Counter(match.status for match in self.matches)
        said = f"{counts['aligned']} of {len(self.questions) + counts['missing']} questions aligned"
        said += f", {counts['unfit']} more cannot be asked" if counts["unfit"] else ""
        if self.masked_accuracy is None:
            return said
        alike, total = self.masked
        return f"{said}; without looking at ids, {'all' if alike == total else f'{alike} of'} {total} are matched alike"

    @property
    def masked_accuracy(self) -> float | None:
        """Share of the printed codes that the rest of the evidence finds; None where no code is printed."""
        return self.masked[0] / self.masked[1] if self.masked[1] else None


def match_of_missing(code: str, order: Sequence[str], places: Mapping[str, int], unmatched: Sequence[Match]) -> Match:
    """The row of a question that was not found, with the unmatched records between its neighbours in the form.

    Args:
        order: ids of the master, `code` among them.
        places: by id, where the form has those that it has in the master's order.
        unmatched: records of the language that are no question of the master.
    """
    at = order.index(code)
    after = max((places[each] for each in order[:at] if each in places), default=-1)
    before = min((places[each] for each in order[at:] if each in places), default=math.inf)
    candidates = [match for match in unmatched if match.position is not None and after < match.position < before]
    named = ", ".join(
        f"{each.source_id or 'a record without an id'} ({f'page {each.page}, ' if each.page else ''}mark {each.mark})"
        for each in candidates[:SHOWN]
    )
    named += f" and {len(candidates) - SHOWN} more" if len(candidates) > SHOWN else ""
    advice = (
        f'unmatched between its neighbours: {named}; id = "{code}" in the overrides pins one of them, '
        f"drop = true for {code} says that it is not asked"
    )
    if not candidates:
        advice = (
            f"no unmatched record stands between its neighbours; in the overrides drop = true for {code} says that it "
            "is not asked, add = true how the form asks it"
        )
    return Match(code, None, "missing", f"{NOT_FOUND}; {advice}")


def write_matches(path: Path, alignments: Mapping[str, Alignment]) -> None:
    """Every match of every language as a table (CSV), with a column `language`."""
    import pandas as pd

    rows = [{"language": language} | asdict(match) for language, a in alignments.items() for match in a.matches]
    columns = pd.Index(["language", *(field.name for field in fields(Match))])
    write_text(path, csv_text(pd.DataFrame(rows, columns=columns)))
