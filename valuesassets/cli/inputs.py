"""Options that several commands share, and the checks of their values before any work begins."""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from valuesassets.answers.language_codes import known_languages, language_code
from valuesassets.records.errors import InputError, QuestionError, StorageError
from valuesassets.records.files import kind_of_file
from valuesassets.records.lexicon import bundled_lexicons, load_lexicon
from valuesassets.records.questions import Question, askable, read_questions, require_sound
from valuesassets.records.settings.cells import Language
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.study import load_study
from valuesassets.records.trials import Trial

# `readable=False`: what cannot be read is said by whoever reads it, as any other fault of a file.
QuestionsFile = Annotated[Path, typer.Option("--questions", readable=False, help="Question file (JSON).")]
LanguageCode = Annotated[str, typer.Option("--language", help="ISO 639-3 code of the questions' language.")]
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="Bundled name or path.")]
OwnLexicon = Annotated[
    Path | None,
    typer.Option("--lexicon", readable=False, help="Your own words around questions (`template lexicon`)."),
]
Orders = Annotated[str, typer.Option("--orders", help="both, all, cyclic, or a number of seeded orders.")]


ENDINGS = {
    "a parquet file": ".parquet",
    "JSON": ".json",
    "an HTML page": ".html",
    "a CSV file": ".csv",
    "a TOML file": ".toml",
    "Markdown": ".md",
    "text": ".txt",
    "CSV": ".csv",
    "a ZIP archive or an Office document": ".zip",
}
"""How the names of files end, by the kinds of `kind_of`; a name with another ending may hold any kind."""
MADE_TEXTS = ("text", "CSV")
"""Kinds that first bytes do not tell and that are made anew; a template, which people fill in, is not."""
OTHER_ENDINGS = (".tsv", ".jsonl", ".xlsx", ".xls", ".sav", ".dta", ".pdf", ".png", ".svg", ".feather")


def named_language(language: str) -> Language:
    """A language that ISO 639-3 has, as the bundled studies or the study that the environment names call it.

    Raises:
        InputError: it is none.
    """
    if language_code(language) != language:
        known = ", ".join(bundled_lexicons())
        raise InputError(
            f"language {language}: unknown; an ISO 639-3 code was expected, one of {known}, or any other with --lexicon"
        )
    about = known_languages().get(language)
    return _said_languages().get(language) or Language(name=about.names[0] if about else language)


def asked_language(language: str, lexicon: Path | None) -> Language:
    """A language that questions are asked in, as `named_language` gives it; with a lexicon, its own or a bundled one.

    Raises:
        InputError: ISO 639-3 does not have it.
        LexiconError: it has no lexicon.
    """
    named = named_language(language)
    named = named.model_copy(update={"lexicon": lexicon or named.lexicon})
    load_lexicon(language, named.lexicon)
    return named


def _said_languages() -> dict[str, Language]:
    studies = filter(None, ("evs2017", "demo", os.environ.get("VALUESASSETS_STUDY")))
    return {code: each for name in studies for code, each in load_study(name).languages.items()}


def read_sound_questions(path: Path) -> list[Question]:
    """The questions of a file, every one fit to be asked; those that alignment found `unfit` are named and left out."""
    questions = read_questions(path)
    fit = askable(questions)
    for question in questions:
        if question not in fit:
            print(f"{path}: {question.id} is left out: {(question.model_extra or {})['unfit']}", file=sys.stderr)
    return require_sound(fit, str(path))


def trials_of(
    source: Path, questions: Sequence[Question], language: str, orders: str, seed: int = 0, lexicon: Path | None = None
) -> list[Trial]:
    """The trials of the questions that stand in the file `source`.

    Args:
        seed: of orders that are drawn.
        lexicon: the language's own words around questions.
    """
    from valuesassets.instruments.survey.trials import write_trials
    from valuesassets.people.variables import load_variables

    elicitation = parse_orders(orders)
    words = load_lexicon(language, asked_language(language, lexicon).lexicon)
    try:
        return write_trials(questions, language, words, load_variables(), elicitation, seed)
    except QuestionError as error:
        raise QuestionError(f"{source}: {error}") from None


def parse_orders(orders: str) -> Elicitation:
    """What `--orders` asks for."""
    is_number = re.fullmatch("[1-9][0-9]{0,3}", orders) is not None
    if not is_number and orders not in ("both", "all", "cyclic"):
        raise typer.BadParameter(f"--orders {orders[:40]}: both, all, cyclic or a number from 1 to 9999 was expected")
    return Elicitation.model_validate({"orders": int(orders) if is_number else orders})


def name_of_model(model: str, revision: str | None) -> str:
    """What tables call a model that a command asks: a folder by its own name, a file or a hub id as it was given.

    Links to files are not followed: in the hub's cache they lead to files that are named by their hash.
    """
    of_index, is_local = model.removeprefix("index:"), os.path.exists(model)
    if (is_local or of_index != model) and revision is not None:
        kind = "folder" if Path(model).is_dir() else "file"
        raise typer.BadParameter(f"--revision {revision}: {model} is a {kind}, which has none; leave it out")
    if not is_local:
        return of_index
    return Path(model).resolve().name if Path(model).is_dir() else Path(model).name


def require_file_place(path: Path, kind: str) -> None:
    """See that a file can be written, before the hours that it takes to make it.

    Args:
        kind: what it will be (see `kind_of`): a file of another kind is never overwritten.

    Raises:
        InputError: the name's ending says that it is another kind of file.
        StorageError: it cannot be written.
    """
    if path.is_dir():
        raise StorageError(f"{path}: is a folder, a file name was expected; add one")
    require_folder_place(path.parent, written=path)
    own = (kind, "an empty file", *([None] if kind in MADE_TEXTS else ()))
    if path.is_file() and kind_of_file(path) not in own:
        raise StorageError(f"{path}: is there already and not {kind}; choose another name for the output")
    ending, given = ENDINGS[kind], path.suffix.lower()
    if given != ending and given in (*ENDINGS.values(), *OTHER_ENDINGS):
        raise InputError(f"{path}: a name that ends in {ending} was expected; name it {path.with_suffix(ending).name}")


def require_folder_place(path: Path, what_to_do: str = "choose another folder", written: Path | None = None) -> None:
    """See that files can be written into a folder, which need not be there yet.

    Args:
        written: what is to be written, where that is not the folder itself.
    """
    standing = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not standing.is_dir():
        raise StorageError(f"{written or path}: cannot be written: {standing} is a file, not a folder; {what_to_do}")
    if not os.access(standing, os.W_OK | os.X_OK):
        raise StorageError(f"{written or path}: cannot be written: {standing} is not writable for you; {what_to_do}")
