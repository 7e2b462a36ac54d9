"""From questionnaires to prompts: `extract`, `align`, `make_trials`."""

# pyright: strict, reportMissingTypeStubs=false

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from valuesassets.library.progress import OnProgress
from valuesassets.records.errors import InputError, PdfError
from valuesassets.records.files import kind_of_file
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.questions import Question
from valuesassets.records.settings.questionnaires import GeminiSettings, Questionnaires
from valuesassets.records.trials import Trial

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.instruments.survey.material.alignment.match import Alignment
    from valuesassets.instruments.survey.material.extracted_questions import Examined
    from valuesassets.instruments.survey.material.forms.exchange.entries import LeftOut
    from valuesassets.instruments.survey.material.forms.extractors import Extraction as FormExtraction


FORMS_THAT_ARE_READ = (
    "name the questionnaire's PDF, a table of questions (.csv, .tsv, .xlsx, .xls, .ods) or a form of a survey program "
    "(.qsf, .lss, .xlsx, .xml, .docx)"
)


@dataclass(frozen=True)
class Extraction:
    """The questions of one form.

    Attributes:
        form: as its extractor gave it, with what was changed and facts about the extraction.
        examined: the same after normalisation, corrections and checks.
        left_out: what the form holds beside closed questions with one answer, with reasons.
        second: the extractor that it was compared with; None without one.
    """

    form: "FormExtraction"
    examined: "Examined"
    left_out: tuple["LeftOut", ...] = ()
    second: str | None = None

    @property
    def questions(self) -> list[Question]:
        """The questions in the form's order, also those in doubt."""
        return list(self.examined.questions)

    @property
    def doubts(self) -> list[str]:
        """What a person should look at, a sentence each."""
        return [fault.message for fault in self.examined.faults]


@dataclass(frozen=True)
class Aligned:
    """The questions of several languages, each matched to the same question of a master list.

    Attributes:
        master: the list of all questions, in the master's language.
        alignments: each language against it, by ISO 639-3 code.
    """

    master: list[Question]
    alignments: dict[str, "Alignment"]

    @property
    def questions(self) -> dict[str, list[Question]]:
        """The questions by language, in the master's order; those with the key `unfit` cannot be asked."""
        return {language: list(each.questions) for language, each in self.alignments.items()}

    @property
    def reasons(self) -> "pd.DataFrame":
        """A row for every match: language, questions, status, evidence and confidence."""
        from valuesassets.instruments.survey.material.alignment.match import matches_frame

        return matches_frame(self.alignments)


def extract(
    form: Path | str,
    language: str,
    *,
    extractor: Literal["layout", "gemini"] = "layout",
    survey: Literal["auto", "own"] = "auto",
    overrides: Path | None = None,
    lexicon: Path | None = None,
    form_language: str | None = None,
    gemini: GeminiSettings | None = None,
    cache: Path | None = None,
    on_page: OnProgress | None = None,
) -> Extraction:
    """The questions of a questionnaire: a PDF, a table, or a form of a survey program.

    Args:
        language: of the questions, ISO 639-3.
        extractor: how a PDF is read, by its layout here or by a Gemini model.
        survey: whether ids such as v7 may be codes of EVS and WVS (`auto`) or are your own (`own`).
        overrides: file of a person's corrections (TOML).
        lexicon: file of your own words around questions; the bundled ones if left out.
        form_language: which language of a form to read, as the form names it.
        gemini: which Gemini model is asked, with `extractor="gemini"`.
        cache: folder of Gemini's answers; `gemini_answers` beside the form if left out.
        on_page: called with (pages read, pages in all).

    Raises:
        InputError, QuestionError, PdfError: the form cannot be read, or is not in this language.
        LexiconError: the language has no lexicon.
    """
    from valuesassets.answers.asked_languages import asked_language
    from valuesassets.instruments.survey.material.extracted_questions import examine_questions
    from valuesassets.instruments.survey.material.forms import extractors
    from valuesassets.instruments.survey.material.forms.imported_questions import read_with_left_out

    form = Path(form)
    words = load_lexicon(language, asked_language(language, lexicon).lexicon)
    settings = Questionnaires(source="folder", pdf_dir=Path(), gemini=gemini or GeminiSettings(), survey=survey)
    place, left_out, second, comparison = cache or form.parent / "gemini_answers", (), None, None
    pdf = None if is_table(form) else _sound_pdf(form)
    if pdf is None:
        questions, changes, left_out = read_with_left_out(form, language, form_language)
        extraction = extractors.with_own_ids(extractors.Extraction(questions, tuple(changes)), settings)
    else:
        extraction = extractors.extract(extractor, pdf, language, settings, place, on_page=on_page)
        second = extractors.second_extractor(extractor, settings, language, has_pdf=True)
        comparison = extractors.extract(second, pdf, language, settings, place).questions if second else None
    examined = examine_questions(extraction.questions, pdf, language, overrides, comparison, words)
    of_file = (fault for fault in examined.faults if fault.check in ("script", "language", "no_questions"))
    wrong_file = next(of_file, None)
    if wrong_file is not None and wrong_file.question_id is None:
        raise PdfError(f"{form}: {wrong_file.message}")
    return Extraction(extraction, examined, tuple(left_out), second)


def _sound_pdf(form: Path) -> Path:
    """The path of a file that is read as a PDF; PdfError where it is a text, which may have a wrong ending."""
    from valuesassets.instruments.survey.material.forms.misnamed_forms import misnamed_form

    if why := misnamed_form(form):
        raise PdfError(why)
    kind = kind_of_file(form) if form.is_file() and os.access(form, os.R_OK) else "a PDF"
    if kind is None and form.suffix.lower() != ".pdf" and not _has_pdf_mark(form):
        raise PdfError(f"{form}: not a PDF but another kind of file; {FORMS_THAT_ARE_READ}")
    return form


def _has_pdf_mark(form: Path) -> bool:
    """Whether a file is a PDF with other bytes before its beginning."""
    with open(form, "rb") as stream:
        return b"%PDF-" in stream.read(1024)


def is_table(form: Path) -> bool:
    """Whether a questionnaire is a table or a form of a survey program, and no PDF."""
    from valuesassets.instruments.survey.material.forms.imported_questions import has_form_ending
    from valuesassets.instruments.survey.material.forms.question_tables import ENDINGS

    return form.suffix.lower() in ENDINGS or has_form_ending(form)


def align(
    questions_by_language: Mapping[str, Sequence[Question]],
    master: str = "eng",
    *,
    embedder: str | None = None,
    sources: Mapping[str, str] | None = None,
) -> Aligned:
    """Which questions of several languages are the same question, and one master list of them.

    Args:
        questions_by_language: by ISO 639-3 code, as `extract` gives them.
        master: the language whose questions the others are aligned to.
        embedder: sentence-transformers model as further evidence, hub id or folder; none if left out.
        sources: names of the questions' files by language, for messages.

    Raises:
        InputError: there are no questions in the master's language, or some are in another language than they should.
    """
    from valuesassets.instruments.survey.material.aligned_questions import align_questions
    from valuesassets.instruments.survey.material.alignment.targets import master_targets
    from valuesassets.instruments.survey.material.forms.layout.checks import language_faults
    from valuesassets.instruments.survey.material.master_questions import canonical_questions, with_coverage
    from valuesassets.instruments.survey.material.normalisation import normalise_questions
    from valuesassets.people.variables import load_variables

    if master not in questions_by_language:
        raise InputError(f"{master}: no questions in this language, which makes the master list; add them")
    variables = load_variables()
    normalised = {code: normalise_questions(each, code, variables) for code, each in questions_by_language.items()}
    for language, each in normalised.items():
        fault = next(language_faults(each.questions, language), None)
        if fault is not None:
            raise InputError(f"{(sources or {}).get(language, language)}: {fault.message}")
    masters = canonical_questions(normalised[master].questions, master, variables)
    targets = master_targets(masters, variables)
    alignments: dict[str, Alignment] = {}
    for language, each in normalised.items():
        likeness = _likeness(embedder, each.questions, targets) if embedder else None
        alignments[language] = align_questions(each, language, masters, variables, likeness=likeness)
    return Aligned(list(with_coverage(masters, alignments)), alignments)


def _likeness(embedder: str, questions: Sequence[Question], targets: Any) -> Any:
    """How alike texts of questions and of the master's are by their vectors."""
    from valuesassets.instruments.survey.material.alignment.evidence import embedded_evidence, texts_to_embed
    from valuesassets.models.embedding import embed_texts

    return embedded_evidence(embed_texts(embedder, texts_to_embed(questions, targets)), len(questions))


def make_trials(
    questions: Sequence[Question],
    language: str,
    orders: str = "both",
    *,
    seed: int = 0,
    lexicon: Path | None = None,
) -> list[Trial]:
    """The prompts of questions, each in several orders of its answer options.

    Args:
        language: ISO 639-3.
        orders: `both` (forward and reversed), `all`, `cyclic`, or how many are drawn, as text.
        seed: of orders that are drawn.
        lexicon: file of your own words around questions; the bundled ones if left out.

    Raises:
        InputError: there is no such language, or there are no such orders.
        LexiconError: the language has no lexicon.
        QuestionError: a question cannot be asked.
    """
    from valuesassets.answers.asked_languages import asked_language, elicitation_of
    from valuesassets.instruments.survey.trials.trials import write_trials
    from valuesassets.people.variables import load_variables

    elicitation = elicitation_of(orders)
    words = load_lexicon(language, asked_language(language, lexicon).lexicon)
    return write_trials(questions, language, words, load_variables(), elicitation, seed)
