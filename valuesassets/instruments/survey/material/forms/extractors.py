"""The extractors behind one function: layout of the PDF, Gemini, or a file made elsewhere."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valuesassets.instruments.survey.material.forms.changes import Change
from valuesassets.people.variables import OWN_IDS, load_variables
from valuesassets.records.errors import PdfError, StudyError
from valuesassets.records.files import no_such_file
from valuesassets.records.questions import Question
from valuesassets.records.settings.cells import Extractor
from valuesassets.records.settings.questionnaires import IMPORTED, GeminiSettings, Questionnaires

OnPage = Callable[[int, int], None]
SURVEYS = {"v": "EVS 2017", "Q": "WVS-7"}
"""Surveys by the letter of their codes."""


@dataclass(frozen=True)
class Extraction:
    """Questions as an extractor has them.

    Attributes:
        changes: what had to be changed so that they are questions.
        facts: what is worth knowing of how they were had: requests, tokens, cost.
    """

    questions: list[Question]
    changes: tuple[Change, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)


def extract(
    extractor: Extractor,
    pdf: Path | None,
    language: str,
    settings: Questionnaires,
    cache: Path,
    on_page: OnPage | None = None,
) -> Extraction:
    """The questions of a form; where the study declares that its ids are its own, each is marked so.

    Args:
        pdf: the form; None where there is none, which only imported questions can do without.
        cache: folder in which answers that were paid for are kept.
        on_page: told (pages read, pages in all) as it goes on.

    Raises:
        PdfError: not a readable PDF, or none.
        QuestionError: an imported file cannot be read.
        StudyError: no folder to import from.
    """
    return with_own_ids(_extract(extractor, pdf, language, settings, cache, on_page), settings)


def with_own_ids(extraction: Extraction, settings: Questionnaires) -> Extraction:
    """An extraction whose questions are marked where the study declares that their ids are their own."""
    if settings.survey == "auto":
        return extraction if extraction.facts.keys() - {"imported_from"} else _with_codes(extraction)
    marked = [question.replace(**{OWN_IDS: True}) for question in extraction.questions]
    return dataclasses.replace(extraction, questions=marked)


def _with_codes(extraction: Extraction) -> Extraction:
    """An imported extraction that says whether its ids are taken for a survey's codes, which may be a mistake."""
    letters = load_variables().letters_of(extraction.questions)
    codes = [question.id for question in extraction.questions if question.id[:1] in letters]
    if not codes:
        return extraction
    surveys = " and ".join(sorted({SURVEYS.get(code[0], code[0]) for code in codes}))
    fact = f'{codes[0]} and others are taken for variables of {surveys}; where they are your own, say survey = "own"'
    return dataclasses.replace(extraction, facts={**extraction.facts, "ids": fact})


def _extract(
    extractor: Extractor,
    pdf: Path | None,
    language: str,
    settings: Questionnaires,
    cache: Path,
    on_page: OnPage | None,
) -> Extraction:
    if extractor == "imported":
        from valuesassets.instruments.survey.material.forms.imported_questions import read_imported

        path = import_path(settings, language)
        questions, changes = read_imported(path)
        return Extraction(questions, tuple(changes), {"imported_from": path.name})
    if pdf is None:
        raise PdfError(f"{language}: no PDF, which the extractor {extractor} needs; name where it comes from")
    if extractor == "gemini":
        return _ask_gemini(pdf, language, settings.gemini, cache, on_page)
    from valuesassets.instruments.survey.material.extracted_questions import extract_with_layout

    questions, form = extract_with_layout(pdf, language, on_page)
    return Extraction(questions, (), {"layout": f"{form.layout}: {form.why}" if form.layout else f"none: {form.why}"})


def second_extractor(extractor: Extractor, settings: Questionnaires, language: str, has_pdf: bool) -> Extractor | None:
    """What an extraction is compared with: what the study names, or else the layout of the form; None if neither is."""
    named = settings.second_extractor
    second = "layout" if named is None or named == extractor else named
    return second if second != extractor and (has_pdf or second == "imported") else None


def import_path(settings: Questionnaires, language: str) -> Path:
    """The file that a language's questions are imported from: `<language>.json`, or a table of another ending.

    Raises:
        StudyError: the study names no folder, the file is not there, or there are two.
    """
    if settings.extractions is None:
        raise StudyError(f"{language}: no folder to import from; name it as questionnaires.extractions in the study")
    found = [path for end in IMPORTED for path in [settings.extractions / f"{language}{end}"] if path.is_file()]
    if not found:
        missing = no_such_file(settings.extractions / f"{language}.json")
        raise StudyError(f"{missing}; put the extraction of {language} there, or name another extractor")
    if len(found) > 1:
        raise StudyError(f"{found[0]}: {found[1].name} is there as well; leave one of them")
    return found[0]


def _ask_gemini(pdf: Path, language: str, settings: GeminiSettings, cache: Path, on_page: OnPage | None) -> Extraction:
    from valuesassets.instruments.survey.material.forms.gemini.extraction import extract_with_gemini
    from valuesassets.instruments.survey.material.forms.imported_questions import import_questions

    answered = extract_with_gemini(pdf, language, settings, cache=cache, on_page=on_page)
    questions, changes = import_questions(answered.rows, f"{pdf.name} as read by {settings.model}")
    cost = answered.cost_usd
    facts = {
        "model": settings.model,
        "requests": answered.usage.requests,
        "input_tokens": answered.usage.prompt_tokens,
        "output_tokens": answered.usage.output_tokens + answered.usage.thought_tokens,
        "cost": "not known: name the model's prices" if cost is None else f"at most {cost:.2f} US dollars",
        "paid_before": f"{answered.paid_before.requests} requests",
        "notes": "; ".join(answered.notes) or "none",
    }
    return Extraction(questions, tuple(changes), facts)
