"""Options that several commands share, and the checks of their values before any work begins."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from valuesassets.answers.asked_languages import elicitation_of
from valuesassets.cli.completion import offer_languages, offer_studies
from valuesassets.library.questionnaires import make_trials
from valuesassets.records.errors import InputError, QuestionError, StorageError
from valuesassets.records.files import kind_of_file
from valuesassets.records.places import storage_root
from valuesassets.records.questions import Question, askable, read_questions, require_sound
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.settings.questionnaires import IMPORTED
from valuesassets.records.study import EARLIER_NAMES, Study, load_study, stored_study
from valuesassets.records.trials import Trial

# `readable=False`: what cannot be read is said by whoever reads it, as any other fault of a file.
QuestionsFile = Annotated[
    Path, typer.Option("--questions", readable=False, help="Question file, as `extract` and `align` write it (JSON).")
]
LanguageCode = Annotated[
    str,
    typer.Option(
        "--language",
        autocompletion=offer_languages,
        help="Language of the questions, by its ISO 639-3 code, such as deu.",
    ),
]
STUDY = typer.Argument(
    metavar="STUDY", autocompletion=offer_studies, help="Name of a bundled study, or a study file (TOML)."
)
StudyName = Annotated[str, STUDY]
MaybeStudyName = Annotated[str | None, STUDY]
OwnLexicon = Annotated[
    Path | None,
    typer.Option(
        "--lexicon",
        readable=False,
        help="Your own words around questions, from `template lexicon` (TOML); the bundled ones if left out.",
    ),
]
Orders = Annotated[
    str,
    typer.Option(
        "--orders",
        help="Orders of the answer options: both (forward and reversed), all, cyclic, or how many are drawn.",
    ),
]
TrialsFile = Annotated[
    Path,
    typer.Option(
        "--output",
        help="File for the trials: parquet for `valuesassets read`, or text to look at where the name ends in .txt.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed; the same seed draws the same.")]
Resamples = Annotated[
    int, typer.Option("--resamples", min=99, help="Resamples for intervals, and permutations for p-values.")
]


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
TEXTS = ("text", "CSV")
"""Kinds without a signature in their first bytes, which may be replaced; a template, which people fill in, may not."""
OTHER_ENDINGS = (".tsv", ".jsonl", ".xlsx", ".xls", ".sav", ".dta", ".pdf", ".png", ".svg", ".feather")


def open_study(name: str) -> Study:
    """The study that a command names, under the name by which the storage has it.

    A line says where the name is an earlier one, or the files lie below an earlier one.
    """
    study = load_study(name)
    stored = stored_study(study, storage_root())
    files = f"its files stay in {storage_root() / stored.name}" if stored != study else ""
    if name in EARLIER_NAMES:
        end = f"; {files}" if files else ""
        print(f"{name} is now called {study.name}; the old name is accepted in this release{end}", file=sys.stderr)
    elif files:
        print(f"{name} was called {stored.name} when it was first run: {files}", file=sys.stderr)
    return stored


def read_sound_questions(path: Path) -> list[Question]:
    """The questions of a file that can be asked; those that alignment has marked `unfit` are named and left out."""
    questions = _read_question_file(path)
    fit = askable(questions)
    for question in questions:
        if question not in fit:
            print(f"{path}: {question.id} is left out: {(question.model_extra or {})['unfit']}", file=sys.stderr)
    return require_sound(fit, str(path))


def _read_question_file(path: Path) -> list[Question]:
    """The questions of a file; of a table or a form that `extract` reads, the error says so."""
    try:
        return read_questions(path)
    except QuestionError as error:
        if path.is_file() and path.suffix.lower() in (".pdf", *IMPORTED) and path.suffix.lower() != ".json":
            raise QuestionError(
                f"{path}: is no question file (JSON); make one of it first: valuesassets extract "
                f"{shlex.quote(str(path))} --language CODE --output questions.json"
            ) from None
        raise error


def trials_of(
    source: Path, questions: Sequence[Question], language: str, orders: str, seed: int = 0, lexicon: Path | None = None
) -> list[Trial]:
    """The trials of the questions of a file, with a seed for orders that are drawn and a file of words around
    questions."""
    parse_orders(orders)
    try:
        return make_trials(questions, language, orders, seed=seed, lexicon=lexicon)
    except QuestionError as error:
        raise QuestionError(f"{source}: {error}") from None


def parse_orders(orders: str) -> Elicitation:
    """The orders of answer options that `--orders` names."""
    try:
        return elicitation_of(orders)
    except InputError as error:
        raise typer.BadParameter(f"--{error}") from None


def name_of_model(model: str, revision: str | None, option: str = "--revision") -> str:
    """The name of a model or an adapter in tables: of a folder or a file its own name, of the hub its id.

    Links to files are not followed: in the hub's cache they lead to files that are named by their hash.

    Args:
        option: the one that gives the revision.
    """
    of_index, is_local = model.removeprefix("index:"), os.path.exists(model)
    if (is_local or of_index != model) and revision is not None:
        kind = "folder" if Path(model).is_dir() else "file"
        raise typer.BadParameter(f"{option} {revision}: {model} is a {kind}, which has none; leave it out")
    if not is_local:
        return of_index
    return Path(model).resolve().name if Path(model).is_dir() else Path(model).name


def require_file_place(path: Path, kind: str) -> None:
    """See that a file can be written, before the hours that its content takes.

    Args:
        kind: of the file (see `kind_of`); one of another kind is never overwritten.

    Raises:
        InputError: the name's ending says that it is another kind of file.
        StorageError: it cannot be written.
    """
    if path.is_dir():
        raise StorageError(f"{path}: is a folder, a file name was expected; add one")
    require_folder_place(path.parent, written=path)
    may_be_replaced = (kind, "an empty file", *([None] if kind in TEXTS else ()))
    if path.is_file() and kind_of_file(path) not in may_be_replaced:
        raise StorageError(f"{path}: is there already and not {kind}; choose another name for the output")
    ending, suffix = ENDINGS[kind], path.suffix.lower()
    if suffix != ending and suffix in (*ENDINGS.values(), *OTHER_ENDINGS):
        raise InputError(f"{path}: a name that ends in {ending} was expected; name it {path.with_suffix(ending).name}")


def require_folder_place(path: Path, what_to_do: str = "choose another folder", written: Path | None = None) -> None:
    """See that files, or one file that is `written`, can be written into a folder, which need not be there yet."""
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise StorageError(f"{written or path}: cannot be written: {nearest} is a file, not a folder; {what_to_do}")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise StorageError(f"{written or path}: cannot be written: {nearest} is not writable for you; {what_to_do}")
