"""The entries of forms that no model was asked, with reasons: a box, a sentence for each language, and a table."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from valuesassets.records.questions import Question
from valuesassets.reporting.parts import Box, Section
from valuesassets.reporting.run import Run

MOST_REASONS = 3
"""The most reasons that a sentence lists; the table has all."""
COLUMNS = ("language", "id", "text", "reason")


@dataclass(frozen=True)
class NotAsked:
    """What one form holds beside the questions that models are asked.

    Attributes:
        n_asked: the number of its questions that can be asked.
        entries: the other entries, each with `id`, `text` and `reason`.
    """

    n_asked: int
    entries: Sequence[Mapping[str, str]]

    @property
    def n(self) -> int:
        """The number of all entries of the form."""
        return self.n_asked + len(self.entries)


def not_asked(questions: Sequence[Question], left_out: Sequence[Mapping[str, str]]) -> NotAsked:
    """The entries that no model is asked: those left out when the form was read, then the questions with `unfit`.

    Args:
        questions: as they were extracted.
        left_out: records with `id`, `text` and `reason`.
    """
    unfit = {question.id: (question.model_extra or {}).get("unfit") for question in questions}
    rows = [{"id": each.id, "text": each.text, "reason": str(unfit[each.id])} for each in questions if unfit[each.id]]
    return NotAsked(len(questions) - len(rows), [*left_out, *rows])


def not_asked_box(run: Run) -> Iterator[Box]:
    """The box on how much of the questionnaires was asked, if something of them was not."""
    forms = _forms(run)
    if forms:
        n, n_asked = (
            sum(numbers) for numbers in zip(*((form.n, form.n_asked) for form in forms.values()), strict=True)
        )
        answer = f"{n_asked} of {_counted(n, 'entry', 'entries')}"
        yield Box("Was all of the questionnaire asked?", "partly", answer, " ".join(_sentences(forms)), "claims")


def tabulate_not_asked(section: Section, run: Run) -> None:
    """Add a sentence for each language, and the table of all entries that no model was asked."""
    forms = _forms(run)
    section.paragraphs += _sentences(forms)
    rows: list[dict[str, Any]] = [
        {"language": language, **entry} for language, form in forms.items() for entry in form.entries
    ]
    section.tabulate("Entries of the questionnaire that no model was asked, and why.", rows, COLUMNS)


def is_all_asked(run: Run) -> bool:
    """Whether no entry of any questionnaire is known to have been left out."""
    return not _forms(run)


def _forms(run: Run) -> dict[str, NotAsked]:
    """The forms with entries that no model was asked, by language."""
    return {language: form for language, form in run.found.get("not_asked", {}).items() if form.entries}


def _sentences(forms: Mapping[str, NotAsked]) -> list[str]:
    """How many entries of each form were asked, and for which reasons the others were not."""
    return [f"{not_asked_sentence(language, form, 'more reasons in the table')}." for language, form in forms.items()]


def not_asked_sentence(language: str, form: NotAsked, further: str = "more reasons") -> str:
    """How many entries of a form are asked, and for which reasons the others are not."""
    # What stands after a colon concerns one entry.
    reasons = Counter(entry["reason"].partition(": ")[0] for entry in form.entries).most_common()
    listed = "; ".join(f"{reason} ({count})" for reason, count in reasons[:MOST_REASONS])
    rest = f"; {len(reasons) - MOST_REASONS} {further}" if len(reasons) > MOST_REASONS else ""
    return (
        f"{_counted(form.n, 'entry', 'entries')} of the questionnaire ({language}): "
        f"{_counted(form.n_asked, 'question', 'questions')} asked, {len(form.entries)} not: {listed}{rest}"
    )


def _counted(number: int, noun: str, plural: str) -> str:
    """A number in figures with its noun."""
    return f"{number} {noun if number == 1 else plural}"
