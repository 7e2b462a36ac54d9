"""The review page of one language: the form beside the extracted questions, those with most faults first."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2
from PIL import Image

from valuesassets.instruments.survey.material.extracted_questions import Examined
from valuesassets.instruments.survey.material.forms.changes import Change
from valuesassets.instruments.survey.material.forms.exchange.entries import PERHAPS_QUESTIONS, LeftOut
from valuesassets.instruments.survey.material.forms.form_pictures import (
    FRAME,
    MARGIN,
    draw_page,
    drawn_from,
    picture_of,
)
from valuesassets.instruments.survey.material.forms.layout.checks import Fault
from valuesassets.instruments.survey.material.forms.layout.grounding import GroundedString
from valuesassets.instruments.survey.material.forms.layout.words import union
from valuesassets.instruments.survey.material.forms.overrides import override_text, whole_form_text
from valuesassets.records.questions import Option, Question
from valuesassets.records.templates import template

HEAD = 130.0  # points above the box of a question without any grounded string
FOUND, IN_DOUBT = FRAME, "#c23b00"


@dataclass(frozen=True)
class Entry:
    """One question as the page shows it.

    Attributes:
        other: the question as a second extractor read it, if it differs.
        picture: the form at the question, as a data URL; None if its place is unknown.
        override: the first lines of a correction, to be copied.
        facts: what the form says beside the answers: `when`, `missing`, `unfit`; None where it says nothing.
        conditions: on which the form offers answers, by their codes.
    """

    question: Question
    faults: tuple[Fault, ...]
    changes: tuple[Change, ...]
    strings: tuple[GroundedString, ...]
    other: Question | None
    picture: str | None
    override: str
    facts: Mapping[str, Any]
    conditions: Mapping[int, str]


def render_review(
    examined: Examined, pdf: Path | None, language: str, overrides: Path, others: Sequence[LeftOut] = ()
) -> str:
    """A self-contained HTML page for one language; without a `pdf` it has no pictures.

    Args:
        overrides: the file for corrections, named on the page.
        others: what the form holds beside the questions.
    """
    entries = sorted(_entries(examined, pdf), key=lambda entry: -len(entry.faults))
    ids, clear = {question.id for question in examined.questions}, [each for each in entries if not each.faults]
    return template(__package__ or "", "review").render(
        language=language,
        pdf=pdf.name if pdf else "imported, without a PDF",
        overrides=str(overrides),
        doubtful=[entry for entry in entries if entry.faults],
        unfit=[entry for entry in clear if entry.facts["unfit"]],
        settled=[entry for entry in clear if entry.changes and not entry.facts["unfit"]],
        sound=[entry for entry in clear if not entry.changes and not entry.facts["unfit"]],
        of_form=[fault for fault in examined.faults if fault.question_id not in ids],
        whole_form=whole_form_text(examined.mark) if examined.why_not_asked else None,
        left_out=[change for change in examined.changes if change.question_id not in ids],
        counts=Counter(fault.check for fault in examined.faults).most_common(),
        total=len(examined.questions),
        uncertain=[each for each in others if each.reason in PERHAPS_QUESTIONS],
        others=[each for each in others if each.reason not in PERHAPS_QUESTIONS],
    )


def _entries(examined: Examined, pdf: Path | None) -> list[Entry]:
    pages = [question.page for question in examined.questions]
    if pdf is None:
        return [_entry(examined, place, None) for place in range(len(pages))]
    order = sorted(range(len(pages)), key=lambda place: pages[place] or 0)

    def draw(document: pypdfium2.PdfDocument) -> list[str | None]:
        pictures: list[str | None] = []
        for page, group in itertools.groupby(order, key=lambda place: pages[place]):
            drawn = draw_page(document, pdf, page) if page is not None else None
            pictures += [_picture(drawn, examined.questions[place], examined.grounded[place]) for place in group]
        return pictures

    return [_entry(examined, *drawn) for drawn in zip(order, drawn_from(pdf, draw), strict=True)]


def _entry(examined: Examined, place: int, picture: str | None) -> Entry:
    question, strings = examined.questions[place], examined.grounded[place]
    faults = tuple(fault for fault in examined.faults if fault.question_id == question.id)
    is_in_dispute = any(fault.check == "agreement" for fault in faults)
    return Entry(
        question,
        faults,
        tuple(change for change in examined.changes if change.question_id == question.id),
        strings,
        examined.agreement.twins[place] if examined.agreement and is_in_dispute else None,
        picture,
        override_text(question, sum(each.id == question.id for each in examined.questions) > 1),
        dict.fromkeys(("when", "missing", "unfit")) | (question.model_extra or {}),
        {each.value: str((each.model_extra or {})["when"]) for each in question.options if _is_conditional(each)},
    )


def _is_conditional(answer: Option) -> bool:
    return bool((answer.model_extra or {}).get("when"))


def _picture(page: Image.Image | None, question: Question, strings: Sequence[GroundedString]) -> str | None:
    """The form at a question, with a frame around every grounded string."""
    if page is None or question.box is None:
        return None
    placed = [each for each in strings if each.place is not None and each.place.page == question.page]
    boxes = [each.place.box for each in placed if each.place is not None]
    _, top, _, bottom = union([question.box, *boxes])
    colours = [IN_DOUBT if string.fault else FOUND for string in placed]
    frames = list(zip(boxes, colours, strict=True))
    return picture_of(page, top - MARGIN - (0 if boxes else HEAD), bottom + MARGIN, frames)
