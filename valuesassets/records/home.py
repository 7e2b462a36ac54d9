"""The home: the folder that keeps the files of all studies, and the settings with which Dagster finds them.

It is the folder that `VALUESASSETS_HOME` names (as `valuesassets --home` does), else the nearest one from the working
folder upwards that is a home or a checkout of this project, else the checkout that the package is part of, else
`valuesassets_home` in the working folder. Nothing is ever written beside an installed package.
"""

import contextlib
import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from valuesassets.records.errors import StorageError
from valuesassets.records.files import whole_file, write_text
from valuesassets.records.processes import PACKAGES, SAFE_PATH

VARIABLE = "VALUESASSETS_HOME"
MARKER = ".valuesassets"
"""The file by which a folder is known as a home."""
NEW_HOME = "valuesassets_home"
"""The folder that is made in the working folder where there is no home yet."""
ENVIRONMENT = ".env"
"""The file from which plain Dagster commands take the folders; Dagster accepts absolute paths only."""
DAGSTER_SETTINGS, WORKSPACE, STUDY_FILE = "dagster.yaml", "workspace.yaml", "study.toml"
OWN_VARIABLES = ("DAGSTER_HOME", "VALUESASSETS_STUDY", "VALUESASSETS_STORAGE", "VALUESASSETS_DAGSTER", SAFE_PATH)
"""The variables of .env that are written by us, by which plain Dagster finds the folders; other lines are a user's."""
FOUND_BY = ("dagster.yaml", "pyproject.toml", "valuesassets/definitions.py")
"""Files by which a checkout of this project is known."""
MARKER_TEXT = "This folder is a home of valuesassets: its commands keep studies, answers and histories here.\n"
WORKSPACE_TEXT = """\
# The graph that plain `dagster dev` serves in this folder; .env names its study.
load_from:
  - python_module:
      module_name: valuesassets.definitions
      location_name: valuesassets
"""


def is_checkout(folder: Path) -> bool:
    """Whether a folder is the root of a checkout of this project."""
    return all((folder / name).is_file() for name in FOUND_BY)


SHIPPED = PACKAGES if is_checkout(PACKAGES) else PACKAGES / "valuesassets" / "documentation"
"""The folder with documentation, mkdocs.yml and dagster.yaml: the root of a checkout, else within the package."""


def home_folder() -> Path:
    """The home by its absolute path; it may not be there yet."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).absolute()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / MARKER).is_file() or is_checkout(folder):
            return folder
    return PACKAGES if is_checkout(PACKAGES) else here / NEW_HOME


def dagster_home() -> Path:
    """The folder with Dagster's settings: the one that DAGSTER_HOME names, else the home."""
    return Path(os.environ.get("DAGSTER_HOME") or home_folder())


def own_study() -> Path | None:
    """The study file of the home; None where it has none."""
    path = home_folder() / STUDY_FILE
    return path if path.is_file() else None


def command_to(make: str, program: str) -> str:
    """The command to name in a message: of make where the home is a checkout, else of the program.

    >>> command_to("make ui PORT=3010", "valuesassets ui --port 3010") in ("make ui PORT=3010",
    ...     "valuesassets ui --port 3010")
    True
    """
    return make if (home_folder() / "Makefile").is_file() and is_checkout(home_folder()) else program


def ready_home(study: str, name: str, tell: Callable[[str], None], is_written: bool = True) -> None:
    """See that the home can be used, and make it where there is none, which is told in a line.

    Nothing is done where the environment names the folders that the home would keep, and in a checkout.

    Args:
        study: of a new home, a bundled study or the path of a file; for plain Dagster commands.
        name: of that study.
        is_written: whether files go into it; a read-only UI looks on.

    Raises:
        StorageError: it has moved, or cannot be written.
    """
    home = home_folder()
    if is_checkout(home) or (os.environ.get("VALUESASSETS_STORAGE") and os.environ.get("DAGSTER_HOME")):
        return
    if not (home / MARKER).is_file():
        make_home(home, study, name)
        tell(f"{home}: is the new home of studies, answers and histories; `valuesassets --home FOLDER` names another")
    _require_in_place(home)
    with contextlib.suppress(OSError):  # a person may have emptied it; what cannot be written is told below
        (home / "storage").mkdir(exist_ok=True)
    if is_written and not (os.environ.get("VALUESASSETS_STORAGE") or os.access(home / "storage", os.W_OK | os.X_OK)):
        raise StorageError(
            f"{home}: this home is read-only for you; name another with `valuesassets --home FOLDER`, or set "
            "VALUESASSETS_STORAGE to a folder that you may write"
        )


def make_home(home: Path, study: str, name: str, others: Mapping[str, str] | None = None) -> None:
    """Make a folder a home; a file that is there already stays as it is.

    Args:
        study: that plain Dagster commands show, a bundled study or the path of a file.
        name: of that study.
        others: further files by name, with their texts.

    Raises:
        StorageError: it cannot be written.
    """
    settings = (SHIPPED / DAGSTER_SETTINGS).read_text(encoding="utf-8")
    texts = {**(others or {}), DAGSTER_SETTINGS: settings, WORKSPACE: WORKSPACE_TEXT}
    try:
        (home / "storage").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"{home}: cannot be made here: {error.strerror}; name another home with `valuesassets --home FOLDER`"
        ) from None
    for file, text in texts.items():
        _write_new(home / file, text)
    if not (home / ENVIRONMENT).exists():
        write_environment(home, study, name)
    _write_new(home / MARKER, MARKER_TEXT)  # last: a home without it is made anew


def write_environment(home: Path, study: str, name: str) -> None:
    """Write a home's folders into its .env, whose other lines stay; StorageError where it cannot be written."""
    from dotenv import set_key

    path, storage = home / ENVIRONMENT, home / "storage"
    with whole_file(path) as temporary:
        if path.exists():
            shutil.copy(path, temporary)
        # The last has plain Dagster import nothing from this folder, in which it starts its servers.
        values = (home, study, storage, storage / name / "dagster", "1")
        for variable, value in zip(OWN_VARIABLES, values, strict=True):
            set_key(temporary, variable, str(value))


def users_variables(home: Path) -> dict[str, str]:
    """The lines of a home's .env that a user wrote, such as a password or a key, with their values."""
    from dotenv import dotenv_values

    lines = dotenv_values(home / ENVIRONMENT, interpolate=False)
    return {name: value for name, value in lines.items() if value is not None and name not in OWN_VARIABLES}


def _write_new(path: Path, text: str) -> None:
    if not path.exists():
        write_text(path, text)


def _require_in_place(home: Path) -> None:
    """Require that a home's .env names the home, else StorageError: plain Dagster would write elsewhere."""
    from dotenv import dotenv_values

    named = dotenv_values(home / ENVIRONMENT, interpolate=False).get("DAGSTER_HOME")
    if named is not None and Path(named).resolve() != home.resolve():
        raise StorageError(
            f"{home / ENVIRONMENT}: DAGSTER_HOME is {named}, so this home was moved or copied; "
            f"`valuesassets init --repair {shlex.quote(str(home))}` writes where it is now"
        )
