"""Homes: the command `init`, and the study of the home, which needs no name."""

import json
import os
import re
import shlex
import sys
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from valuesassets.cli.completion import offer_studies
from valuesassets.records.errors import StorageError
from valuesassets.records.files import no_such_file
from valuesassets.records.home import (
    ENVIRONMENT,
    MARKER,
    STUDY_FILE,
    home_folder,
    make_home,
    own_study,
    ready_home,
    users_variables,
    write_environment,
)
from valuesassets.records.settings.kinds import STUDY_NAME
from valuesassets.records.study import DEMO, load_study

COMPLETING = "_VALUESASSETS_COMPLETE"
"""Variable with which a shell asks what may stand in a command line; nothing is run then."""
SCHEMA, QUESTIONS, README = "study.schema.json", "questions/eng.csv", "README.md"


def ready(is_written: bool = True) -> None:
    """See that the home can be used, and make it where there is none (see `ready_home`); a user's own lines of its .env
    hold for this command, where the environment does not say otherwise."""
    ready_home(DEMO, DEMO, lambda line: print(line, file=sys.stderr, flush=True), is_written)
    home = home_folder()
    if (home / MARKER).is_file():
        os.environ.update(users_variables(home) | os.environ)


def named_study() -> str:
    """The study of a command that names none: VALUESASSETS_STUDY, else the home's own; none while a shell completes."""
    if COMPLETING in os.environ:
        return ""
    study = os.environ.get("VALUESASSETS_STUDY") or own_study()
    if study is None:
        raise typer.BadParameter(
            "no study is named, and this folder is in no home with a study; name a study or its file, or make a home "
            "with `valuesassets init FOLDER`"
        )
    return str(study)


OwnStudy = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        default_factory=named_study,
        autocompletion=offer_studies,
        show_default=False,
        help="Name of a bundled study, or a study file (TOML); the study of the home if left out.",
    ),
]


def init(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", show_default=False, help="Folder to make, or to add files to.")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Write where a home is now, after it was moved; and files that it lacks.")
    ] = False,
) -> None:
    """Make a home: a folder with a study to begin with, in which commands and plain Dagster need no further setting."""
    if repair:
        _repair(folder or home_folder())
        return
    if folder is None:
        raise typer.BadParameter("Missing argument 'FOLDER': name the folder to make")
    home = Path(os.path.abspath(folder))
    files = _first_files(_study_name(home.name))
    _require_no(home, (MARKER, ENVIRONMENT, *files))
    make_home(home, str(home / STUDY_FILE), _study_name(home.name), files)
    print(f"{home}: is made; go there, then `valuesassets study`, `valuesassets run` and `valuesassets ui`")


def _first_files(name: str) -> dict[str, str]:
    """The files with which a home begins, by their names; `name` is that of the study."""
    from valuesassets.instruments.survey.material.forms.question_tables import TEMPLATE
    from valuesassets.records.study_schema import study_schema

    shipped = resources.files("valuesassets.cli") / "new_home"
    study = (shipped / STUDY_FILE).read_text(encoding="utf-8").replace('"my_study" ', f'"{name}" ', 1)
    readme = (shipped / README).read_text(encoding="utf-8")
    schema = json.dumps(study_schema(), ensure_ascii=False, indent=2) + "\n"
    return {STUDY_FILE: study, QUESTIONS: TEMPLATE, SCHEMA: schema, README: readme}


def _study_name(folder: str) -> str:
    """A study's name made of a folder's.

    >>> _study_name("My Study (2)"), _study_name("研究")
    ('my_study_2', 'my_study')
    """
    name = re.sub("[^a-z0-9]+", "_", folder.lower()).strip("_")
    return name if re.fullmatch(STUDY_NAME, name) else "my_study"


def _require_no(home: Path, names: tuple[str, ...]) -> None:
    """Require that a folder has none of the files that are to be written."""
    if (home / MARKER).is_file():
        raise StorageError(
            f"{home}: is a home already; `valuesassets init --repair {shlex.quote(str(home))}` writes what it lacks"
        )
    present = [name for name in names if (home / name).exists()]
    if home.exists() and not home.is_dir():
        raise StorageError(f"{home}: is a file, a folder was expected; choose another name")
    if present:
        raise StorageError(f"{home}: has {', '.join(present)} already, and nothing is overwritten; name another folder")


def _repair(folder: Path) -> None:
    home = Path(os.path.abspath(folder))
    if not (home / MARKER).is_file():
        raise StorageError(
            f"{no_such_file(home / MARKER)}: {home} is no home; make one with `valuesassets init FOLDER`"
        )
    study = home / STUDY_FILE
    own = str(study) if study.is_file() else DEMO
    name = load_study(own).name
    write_environment(home, own, name)
    make_home(home, own, name)
    print(f"{home / ENVIRONMENT}: names this folder, and the history of study {name}")
