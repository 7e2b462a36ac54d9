"""The extractors behind one function: layout of the PDF, Gemini, or a file made elsewhere."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valuesassets.instruments.survey.material.forms.changes import Change
from valuesassets.instruments.survey.material.forms.exchange.entries import LeftOut, counted_entries
from valuesassets.people.variables import OWN_IDS, load_variables
from valuesassets.records.errors import PdfError, StudyError
from valuesassets.records.files import no_such_file
from valuesassets.records.questions import Question
from valuesassets.records.settings.cells import Extractor
from valuesassets.records.settings.questionnaires import GeminiSettings, Questionnaires

OnPage = Callable[[int, int], None]
SURVEYS = {"v": "EVS 2017", "Q": "WVS-7"}  # by the letter of their codes


@dataclass(frozen=True)
class Extraction:
    """Questions as an extractor gives them.

    Attributes:
        changes: made so that the records are valid questions.
        facts: about the extraction, such as requests, tokens and cost.
        left_out: what a form holds beside closed questions with one answer, with reasons.
    """

    questions: list[Question]
    changes: tuple[Change, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()


def extract(
    extractor: Extractor,
    pdf: Path | None,
    language: str,
    settings: Questionnaires,
    cache: Path,
    on_page: OnPage | None = None,
) -> Extraction:
    """The questions of a form, marked if the study declares that their ids are its own.

    Args:
        pdf: the form; None is valid for imported questions alone.
        cache: folder of the answers that were paid for.
        on_page: called with (pages read, pages in all).

    Raises:
        PdfError: not a readable PDF, or none.
        QuestionError: an imported file cannot be read.
        StudyError: no folder to import from.
    """
    if extractor == "imported":
        from valuesassets.instruments.survey.material.forms.imported_questions import read_with_left_out

        path = import_path(settings, language)
        questions, changes, left_out = read_with_left_out(path, language)
        facts = {"left_out": counted_entries(len(left_out))} if left_out else {}
        extraction = Extraction(questions, tuple(changes), {"imported_from": path.name, **facts}, left_out)
    elif pdf is None:
        raise PdfError(f"{language}: no PDF, which the extractor {extractor} needs; name where it comes from")
    elif extractor == "gemini":
        extraction = _ask_gemini(pdf, language, settings.gemini, cache, on_page)
    else:
        from valuesassets.instruments.survey.material.extracted_questions import extract_with_layout

        questions, form = extract_with_layout(pdf, language, on_page)
        extraction = Extraction(questions, (), {"layout": f"{form.layout or 'none'}: {form.why}"})
    return with_own_ids(extraction, settings)


def with_own_ids(extraction: Extraction, settings: Questionnaires) -> Extraction:
    """The extraction, its questions marked if the study declares that their ids are its own."""
    if settings.survey == "auto":
        return extraction if extraction.facts.keys() - {"imported_from", "left_out"} else _with_codes(extraction)
    marked = [question.replace(**{OWN_IDS: True}) for question in extraction.questions]
    return dataclasses.replace(extraction, questions=marked)


def _with_codes(extraction: Extraction) -> Extraction:
    """An imported extraction with a fact that says if its ids are read as codes of a survey."""
    letters = load_variables().letters_of(extraction.questions)
    codes = [each.id for each in extraction.questions if each.id[:1] in letters and each.id[1:2].isdecimal()]
    if not codes:
        return extraction
    surveys = " and ".join(sorted({SURVEYS.get(code[0], code[0]) for code in codes}))
    fact = f'{codes[0]} and others are taken for variables of {surveys}; where they are your own, say survey = "own"'
    return dataclasses.replace(extraction, facts={**extraction.facts, "ids": fact})


def second_extractor(extractor: Extractor, settings: Questionnaires, language: str, has_pdf: bool) -> Extractor | None:
    """The extractor to compare with: the study's second one, else the layout of the form; None without either."""
    named = settings.second_extractor
    second = "layout" if named is None or named == extractor else named
    return second if second != extractor and (has_pdf or second == "imported") else None


def import_path(settings: Questionnaires, language: str) -> Path:
    """The file that a language's questions are imported from: `<language>.json`, or a table of another ending.

    Raises:
        StudyError: the study names no folder, or there is no file, or more than one.
    """
    if settings.extractions is None:
        raise StudyError(f"{language}: no folder to import from; name it as questionnaires.extractions in the study")
    paths = settings.imported_files(language)
    if not paths:
        missing = no_such_file(settings.extractions / f"{language}.json")
        raise StudyError(f"{missing}; put the extraction of {language} there, or name another extractor")
    if clash := settings.clash(language):
        raise StudyError(clash)
    return paths[0]


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
