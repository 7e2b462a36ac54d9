"""`survey/extracted_questions`: the questions read out of a questionnaire PDF, each with page and box."""

from collections.abc import Callable, Sequence
from pathlib import Path

from valuesassets.instruments.survey.layout.blocks import read_blocks
from valuesassets.instruments.survey.layout.checks import (
    Fault,
    code_faults,
    damage_faults,
    grounding_faults,
    presence_faults,
    shape_faults,
    text_faults,
)
from valuesassets.instruments.survey.layout.grounding import Form
from valuesassets.instruments.survey.layout.pages import read_pages
from valuesassets.instruments.survey.layout.reading import Reading
from valuesassets.instruments.survey.layout.readings import read_questions
from valuesassets.instruments.survey.layout.wording import question_text
from valuesassets.instruments.survey.variables import load_variables
from valuesassets.records.errors import StudyError
from valuesassets.records.questions import Option, Question, ResponseType

__all__ = ["Fault", "extract_questions", "extraction_faults"]
BY_COUNT = {2: "binary", 3: "likert3", 4: "likert4", 5: "likert5", 10: "likert10"}


def extract_questions(
    pdf: Path,
    language: str,
    extractor: str = "layout",
    on_page: Callable[[int, int], None] | None = None,
) -> list[Question]:
    """The value questions of a form in reading order, faulty ones included: `extraction_faults` names what is wrong.

    Left out: demographics and whatever the facts file excludes, show cards, and questions without a variable code.

    Args:
        language: ISO 639-3, of the form.
        on_page: told (pages read, pages in all) after each page.

    Raises:
        PdfError: not a readable PDF, or one without a text layer.
        StudyError: an extractor that there is not.
    """
    if extractor != "layout":
        raise StudyError(f"{extractor}: no such extractor; there is layout")
    variables = load_variables()
    readings = read_questions(read_blocks(read_pages(pdf, on_page)))
    return [_question(each) for each in readings if each.code is not None and not variables.is_excluded(each.code)]


def extraction_faults(questions: Sequence[Question], pdf: Path, language: str) -> list[Fault]:
    """What a person must look at before the questions are used, the whole form's faults first; empty when sound.

    Args:
        questions: as extracted from `pdf`, by whichever extractor.
        language: ISO 639-3, of the form.

    Raises:
        PdfError: not a readable PDF, or one without a text layer.
    """
    pages = read_pages(pdf)
    variables = load_variables()
    blocks = read_blocks(pages)
    return [
        *damage_faults(pages, language),
        *presence_faults(questions),
        *shape_faults(questions, variables),
        *text_faults(questions, language),
        *grounding_faults(questions, Form(pages)),
        *code_faults(questions, blocks, read_questions(blocks), pages, variables.is_excluded),
    ]


def _question(reading: Reading) -> Question:
    variables = load_variables()
    code = reading.code or reading.source_id
    dropped = variables.volunteered_values(code)
    options = tuple(Option(value=value, label=label) for value, label in reading.options if value not in dropped)
    kind = variables.response_type(code) or BY_COUNT.get(len(options), "categorical")
    return Question(
        id=code,
        section=reading.section,
        text=question_text(reading.stem, reading.item),
        stem=reading.stem if reading.item else None,
        item=reading.item,
        response_type=ResponseType(kind),
        options=options,
        source_id=reading.source_id,
        page=reading.page,
        box=reading.box,
    )
