"""`survey/extracted_questions`: the questions of a questionnaire PDF, each with page and box."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from valuesassets.instruments.survey.material.forms.agreement import (
    Agreement,
    compare_extractions,
    find_twins,
    with_codes_of,
)
from valuesassets.instruments.survey.material.forms.changes import Change
from valuesassets.instruments.survey.material.forms.damaged_words import DAMAGED_SHARE, damaged_words
from valuesassets.instruments.survey.material.forms.guessed_types import GUESSED
from valuesassets.instruments.survey.material.forms.layout.blocks import Reading
from valuesassets.instruments.survey.material.forms.layout.checks import Fault, extraction_faults, language_faults
from valuesassets.instruments.survey.material.forms.layout.grounding import Form, GroundedString
from valuesassets.instruments.survey.material.forms.layout.pages import read_pages
from valuesassets.instruments.survey.material.forms.layout.readings import FormReading, read_form
from valuesassets.instruments.survey.material.forms.layout.text_layer import own_pages
from valuesassets.instruments.survey.material.forms.layout.wording import question_text
from valuesassets.instruments.survey.material.forms.overrides import (
    WHOLE_FORM,
    Overridden,
    WholeForm,
    apply_overrides,
    extraction_mark,
    read_overrides,
    read_whole_form,
)
from valuesassets.instruments.survey.material.normalisation import normalise_questions
from valuesassets.people.variables import load_variables
from valuesassets.records.lexicon import Lexicon
from valuesassets.records.questions import Option, Question

SETTLED_BY_A_PERSON = {
    *("grounding", "damaged_text", "script", "duplicate_id"),
    *("code_without_question", "gap", "answers_without_code", "agreement"),
    *("type", "points", "own_numbers", "missing_answers", "lost_line"),
}
"""Checks that an override of a question settles; the other checks also apply to what the override says."""
NOT_ASKED = "not_asked"  # the check that fails if the words of a form are damaged, or in another language


def extract_questions(pdf: Path, language: str, on_page: Callable[[int, int], None] | None = None) -> list[Question]:
    """The value questions of a form's layout in reading order, also those that `extraction_faults` reports.

    Demographics, excluded variables, show cards and questions without a variable code are left out. In forms without
    variable codes the numbers name the questions.

    Args:
        language: ISO 639-3, of the form.
        on_page: called with (pages read, pages in all) after each page.

    Raises:
        PdfError: not a readable PDF, or one without a text layer.
    """
    return extract_with_layout(pdf, language, on_page)[0]


def extract_with_layout(
    pdf: Path, language: str, on_page: Callable[[int, int], None] | None = None
) -> tuple[list[Question], FormReading]:
    """The questions as `extract_questions`, and the reading of the form: its layout, and the evidence for it."""
    variables = load_variables()
    form = read_form(own_pages(read_pages(pdf, on_page), language))
    kept = [each for each in form.readings if each.code and not variables.is_excluded(each.code)]
    return [_question(each, each.code) for each in kept if each.code], form


@dataclass(frozen=True)
class Recovery:
    """Counts of opinion items: printed with a code, read, and read with all options of the master."""

    printed: int
    read: int
    with_all_options: int

    def __str__(self) -> str:
        return (
            f"{self.read} of {self.printed} opinion items printed in the form were read, {self.with_all_options} with "
            "the number of options of the master"
        )


@dataclass(frozen=True)
class Examined:
    """An extraction after normalisation, corrections and checks.

    Attributes:
        questions: the questions to align, also those with faults.
        faults: for a person to review, those of the whole form first.
        grounded: the strings of each question and their places on the form.
        recovery: None without a form.
        agreement: with a second extractor; None without one.
        mark: of the extraction before corrections; a person's decision on the whole form names it.
        guessed: ids of questions whose type nobody has given.
    """

    questions: tuple[Question, ...]
    changes: tuple[Change, ...]
    faults: tuple[Fault, ...]
    grounded: tuple[tuple[GroundedString, ...], ...]
    recovery: Recovery | None
    agreement: Agreement | None
    mark: str = ""
    guessed: frozenset[str] = frozenset()

    @property
    def why_not_asked(self) -> str | None:
        """Why no model is asked these questions before a person decides; None if models are asked."""
        return next((fault.message for fault in self.faults if fault.check == NOT_ASKED), None)


def examine_questions(
    extracted: Sequence[Question],
    pdf: Path | None,
    language: str,
    overrides: Path | None = None,
    second: Sequence[Question] | None = None,
    lexicon: Lexicon | None = None,
) -> Examined:
    """An extraction after normalisation and a person's overrides, with what is still in doubt.

    A question that a person has corrected is not compared with the page again, since the text layer may be wrong.

    Args:
        pdf: the form to compare with; None if there is none.
        overrides: file of this language's corrections; it may be absent.
        second: another extractor's reading of the form, for comparison.
        lexicon: the language's words around a question; the bundled ones if left out.

    Raises:
        StudyError: the overrides file cannot be used.
    """
    variables = load_variables().of(extracted)
    form = Form(own_pages(read_pages(pdf), language)) if pdf else None
    printed = extract_questions(pdf, language) if pdf else []
    by_id = {question.id: question for question in printed}
    normalised = normalise_questions(extracted, language, variables, by_id, lexicon)
    questions, named, twins = normalised.questions, [], []
    if second is not None:
        second = normalise_questions(second, language, variables, lexicon=lexicon).questions
        twins = find_twins(questions, second, variables)
        questions, named = with_codes_of(questions, twins)
    given = read_overrides(overrides) if overrides else {}
    answers = [Fault(code, None, check, f"{code}: {doubt}") for code, check, doubt in normalised.doubts]
    first = [*extraction_faults(questions, pdf, language, form, lexicon), *answers] if given else []
    doubts = {fault.question_id for fault in first if fault.question_id} | variables.opinion_items
    overridden = apply_overrides(questions, given, overrides or Path(), doubts, normalised.guessed)
    faults = [*extraction_faults(overridden.questions, pdf, language, form, lexicon), *answers]
    agreement = None
    if second is not None:
        corrected = _twins_of_corrected(overridden, questions, twins, second)
        agreement = compare_extractions(overridden.questions, corrected)
        faults += agreement.disagreements
    settled = overridden.settled
    doubtful = [each for each in faults if each.question_id not in settled or each.check not in SETTLED_BY_A_PERSON]
    mark, decision = extraction_mark(questions), read_whole_form(overrides) if overrides else None
    whole = _whole_form_faults(overridden.questions, language, mark, decision)
    return Examined(
        overridden.questions,
        (*normalised.changes, *named, *overridden.changes),
        (*whole, *doubtful, *overridden.faults),
        tuple(form.ground(question) if form else () for question in overridden.questions),
        count_recovered(overridden.questions, pdf) if pdf else None,
        agreement,
        mark,
        frozenset(normalised.guessed - overridden.settled),
    )


def _whole_form_faults(
    questions: Sequence[Question], language: str, mark: str, decision: WholeForm | None
) -> Iterator[Fault]:
    """The faults that keep all questions from models: damaged words, or words in another language."""
    strings = (s for q in questions for s in (q.stem or q.text, q.item, *(option.label for option in q.options)) if s)
    damage = damaged_words([*dict.fromkeys(strings)], language)
    problem = str(damage) if damage.share >= DAMAGED_SHARE else None
    problem = problem or next((fault.message for fault in language_faults(questions, language)), None)
    if decision is not None and decision.of != mark:
        why = "the extraction has changed since it was written" if problem else "nothing is in doubt any more"
        yield Fault(
            None, None, "overrides", f"{WHOLE_FORM} (of = {decision.of!r}): {why}; say of = {mark!r}, or take it away"
        )
    if problem and (decision is None or decision.of != mark):
        yield Fault(
            None, None, NOT_ASKED,
            f"no model is asked in {language}: {problem}; get another PDF of the form, or read what was extracted "
            f"in the review page and say under [{WHOLE_FORM}] in the overrides file why models are to be asked all the "
            "same",
        )  # fmt: skip


def count_recovered(questions: Sequence[Question], pdf: Path) -> Recovery:
    """How many of the opinion items that a form prints with a code are among the questions."""
    variables = load_variables()
    printed = {word.code for page in read_pages(pdf) for word in page.words} & variables.opinion_items
    read = {question.id: question for question in questions if question.id in printed}
    whole = [each for code, each in read.items() if len(each.options) == variables.option_count(code)]
    return Recovery(len(printed), len(read), len(whole))


def _twins_of_corrected(
    overridden: Overridden, questions: Sequence[Question], twins: Sequence[Question | None], second: Sequence[Question]
) -> list[Question | None]:
    """The second reading of each corrected question: that of its record, or of the id that a person gave."""
    by_id = {question.id: question for question in reversed(second)}
    corrected = []
    for question, place in zip(overridden.questions, overridden.places, strict=True):
        twin = None if place is None else twins[place]
        has_new_id = place is None or questions[place].id != question.id
        corrected.append(by_id.get(question.id, twin) if has_new_id else twin)
    return corrected


def _question(reading: Reading, code: str) -> Question:
    variables = load_variables()
    dropped = variables.volunteered.get(code, ())
    options = tuple(Option(value=value, label=label) for value, label in reading.options if value not in dropped)
    question = Question(
        id=code,
        section=reading.section,
        text=question_text(reading.stem, reading.item),
        stem=reading.stem if reading.item else None,
        item=reading.item,
        response_type=variables.fitting_type(code, len(options)),
        options=options,
        source_id=reading.source_id,
        page=reading.page,
        box=reading.box,
    )
    return question if code in variables.type_of else question.replace(**{GUESSED: True})
