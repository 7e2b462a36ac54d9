"""Reads a form by the ending of its file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from valuesassets.instruments.survey.material.forms.exchange.ddi import read_ddi
from valuesassets.instruments.survey.material.forms.exchange.entries import (
    FormContent,
    LeftOut,
    askable_content,
    record_of,
)
from valuesassets.instruments.survey.material.forms.exchange.form_languages import WantedLanguage
from valuesassets.instruments.survey.material.forms.exchange.lss import read_lss
from valuesassets.instruments.survey.material.forms.exchange.qsf import read_qsf
from valuesassets.instruments.survey.material.forms.exchange.word_documents import read_word_document
from valuesassets.instruments.survey.material.forms.exchange.xlsform import is_xlsform, read_xlsform
from valuesassets.records.questions import Question, parse_questions

READERS: dict[str, Callable[[Path, WantedLanguage], FormContent]] = {
    ".qsf": read_qsf,
    ".lss": read_lss,
    ".xml": read_ddi,
    ".docx": read_word_document,
    ".xls": read_xlsform,
    ".ods": read_xlsform,
    ".xlsx": read_xlsform,
}


@dataclass(frozen=True)
class ReadForm:
    """The questions of a form in its order, and what was left out."""

    questions: list[Question]
    left_out: tuple[LeftOut, ...]


def is_exchange_form(path: Path) -> bool:
    """Whether a file is a form that another program keeps."""
    ending = path.suffix.lower()
    return ending in READERS and (READERS[ending] is not read_xlsform or is_xlsform(path))


def read_exchange_form(path: Path, language: str | None = None, form_language: str | None = None) -> ReadForm:
    """The questions of a form.

    Args:
        language: ISO 639-3 of the questions that are wanted; chooses among the form's languages where it can.
        form_language: the form's language as it names it.

    Raises:
        QuestionError: no such form, none of its questions can be read, or it lacks the language.
    """
    content = READERS[path.suffix.lower()](path, WantedLanguage.of(language, form_language))
    content = askable_content(content, path)
    return ReadForm(parse_questions([record_of(entry) for entry in content.entries], str(path)), (*content.left_out,))
