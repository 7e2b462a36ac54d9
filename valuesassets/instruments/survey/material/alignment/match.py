"""`Match` and `Alignment`: the status of each record of a language, and of each master question."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from valuesassets.records.csv_tables import csv_text
from valuesassets.records.files import write_text
from valuesassets.records.questions import Question

if TYPE_CHECKING:
    import pandas as pd

SURE = 0.5  # least probability of a match at which a question is asked without a person's decision
NOT_FOUND = "not found in this language's questionnaire"
MOST_NAMED = 5  # candidates that the row of a missing question names


@dataclass(frozen=True)
class Match:
    """The status of one question of a language, or of a master question that it lacks.

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
        masked: how many records that print a master code are matched to it with all codes masked, and their number.
    """

    questions: tuple[Question, ...]
    matches: tuple[Match, ...]
    masked: tuple[int, int]

    @property
    def coverage(self) -> float:
        """Share of the master's questions that can be asked, without those that a person says are not asked."""
        fit = sum(match.status == "aligned" for match in self.matches)
        wanted = fit + sum(match.status in ("missing", "unfit") for match in self.matches)
        return fit / wanted if wanted else 0.0

    def __str__(self) -> str:
        """In words: the aligned questions, and the accuracy without codes."""
        counts = Counter(match.status for match in self.matches)
        text = f"{counts['aligned']} of {len(self.questions) + counts['missing']} questions aligned"
        text += f", {counts['unfit']} more cannot be asked" if counts["unfit"] else ""
        if self.masked_accuracy is None:
            return text
        alike, total = self.masked
        return f"{text}; without looking at ids, {'all' if alike == total else f'{alike} of'} {total} are matched alike"

    @property
    def masked_accuracy(self) -> float | None:
        """Share of the printed codes that the other evidence confirms; None where no code is printed."""
        return self.masked[0] / self.masked[1] if self.masked[1] else None


def match_of_missing(code: str, order: Sequence[str], places: Mapping[str, int], unmatched: Sequence[Match]) -> Match:
    """The row of a missing question, with the unmatched records between its neighbours in the form.

    Args:
        order: all ids of the master.
        places: the place in the form of each id that has the master's order there.
        unmatched: records that are no question of the master.
    """
    at = order.index(code)
    after = max((places[each] for each in order[:at] if each in places), default=-1)
    before = min((places[each] for each in order[at:] if each in places), default=math.inf)
    candidates = [match for match in unmatched if match.position is not None and after < match.position < before]
    named = ", ".join(
        f"{each.source_id or 'a record without an id'} ({f'page {each.page}, ' if each.page else ''}mark {each.mark})"
        for each in candidates[:MOST_NAMED]
    )
    named += f" and {len(candidates) - MOST_NAMED} more" if len(candidates) > MOST_NAMED else ""
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


def matches_frame(alignments: Mapping[str, Alignment]) -> "pd.DataFrame":
    """Every match of every language, a row each."""
    import pandas as pd

    rows = [{"language": language} | asdict(match) for language, a in alignments.items() for match in a.matches]
    return pd.DataFrame(rows, columns=pd.Index(["language", *(field.name for field in fields(Match))]))


def write_matches(path: Path, alignments: Mapping[str, Alignment]) -> None:
    """Write every match of every language as one CSV table."""
    write_text(path, csv_text(matches_frame(alignments)))
