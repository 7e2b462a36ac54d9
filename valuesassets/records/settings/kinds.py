"""The building blocks of a study file's tables: records, instruments' tables, paths, and numbers with units."""

import glob
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import pydantic

from valuesassets.records.errors import StudyError

if TYPE_CHECKING:
    from valuesassets.records.study import Study


def unit(name: str) -> Any:
    """The unit of a number in a study file, for docs/study_file.md."""
    return pydantic.Field(json_schema_extra={"unit": name})


def _from_the_study_file(path: Path, info: pydantic.ValidationInfo) -> Path:
    folder = (info.context or {}).get("folder")
    return path if folder is None else Path(folder, os.path.expanduser(path)).resolve()


StudyPath = Annotated[Path, pydantic.AfterValidator(_from_the_study_file)]
"""A path relative to the folder of the study file; `~` is the home folder."""


def model_from_the_study_file(name: str, info: pydantic.ValidationInfo) -> str:
    """A model's name; a folder or file, relative to the study file, becomes an absolute path.

    Raises:
        ValueError: the path is relative to the working directory instead.
    """
    folder = (info.context or {}).get("folder")
    if folder is None or name in NO_MODELS or name.startswith("index:") or info.data.get("kind") in BEHIND_AN_API:
        return name
    place = Path(folder, os.path.expanduser(name))
    if is_model_path(name) or is_there(place):
        return str(Path(os.path.normpath(place)))
    if is_there(Path(name)):
        raise ValueError(
            f"{name}: paths count from the folder of the file that names them, {folder}, where it is not; write "
            f"{os.path.relpath(name, folder)}"
        )
    return name


def is_model_path(name: str) -> bool:
    """Whether a model's name looks like a path, not like the name of a model on the hub.

    >>> is_model_path("../models/{lang}"), is_model_path("owner/name")
    (True, False)
    """
    return name.startswith(("/", "./", "../", "~")) or name.lower().endswith(".gguf")


def is_there(place: Path) -> bool:
    """Whether a file or folder exists; with `{lang}` in its name, for any language."""
    if "{lang}" not in str(place):
        return place.exists()
    fixed, _, rest = str(place).partition("{lang}")
    parent, beginning = os.path.split(fixed)
    return any(Path(parent).glob(f"{glob.escape(beginning)}[a-z][a-z][a-z]{rest.replace('{lang}', '*')}"))


def _once(entries: Any) -> Any:
    """Entries of which none stands there twice; a text is no list of entries."""
    if isinstance(entries, tuple) and (repeated := first_repeated(map(str, entries))):
        raise ValueError(f"{repeated} stands there twice; name it once")
    return entries


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs twice; None where there is none."""
    return next((name for name, times in Counter(names).items() if times > 1), None)


NamedOnce = pydantic.AfterValidator(_once)
"""Of arrays in which nothing may stand twice."""
NO_MODELS = ("planted", "lexical")
"""Names of embedders that are made here, which are no models' names."""
BEHIND_AN_API = ("gemini", "openai")
"""Kinds of families whose models have their servers' names."""
ModelPlace = Annotated[str, pydantic.AfterValidator(model_from_the_study_file)]
"""Hub id, or a folder or file relative to the folder of the study file."""
Share = Annotated[float, pydantic.Field(ge=0, le=1), unit("share, 0 to 1")]
Count = Annotated[int, pydantic.Field(ge=0)]
Positive = Annotated[int, pydantic.Field(gt=0)]
Seconds = Annotated[float, pydantic.Field(gt=0), unit("seconds")]

LANGUAGE = "^[a-z]{3}$"
FAMILY_NAME = "^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"
CELL_NAME = "^[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*$"
VARIABLE = "^[A-Z][A-Z0-9_]*$"
LanguageCode = Annotated[str, pydantic.Field(pattern=LANGUAGE)]
CellName = Annotated[str, pydantic.Field(pattern=CELL_NAME)]
FamilyName = Annotated[str, pydantic.Field(pattern=FAMILY_NAME)]
STUDY_NAME, COUNTRY, SHA256 = "^[a-z0-9][a-z0-9_-]{0,99}$", "^[A-Z]{2}$", "^[0-9a-fA-F]{64}$"
HOST = r"^[A-Za-z0-9_][A-Za-z0-9_.:@%\[\]-]*$"
OWNER = r"^(team:[A-Za-z0-9_.-]+|[^@\s]+@[^@\s]+\.[^@\s]+)$"
PATTERNS = {
    STUDY_NAME: "a name of up to 100 small letters, digits, _ and -",
    LANGUAGE: "an ISO 639-3 code such as deu",
    COUNTRY: "an ISO 3166 code such as DE",
    FAMILY_NAME: "a name of up to 100 letters, digits, _, . and -",
    CELL_NAME: "a cell as <model>/<part>",
    SHA256: "64 hexadecimal digits",
    HOST: "a host, or user@host",
    OWNER: "a mail address, or team:<name>",
    VARIABLE: "the name of a variable, in capitals",
}
"""The description of each pattern, for messages."""


class Record(pydantic.BaseModel):
    """A frozen part of a study file. Unknown keys are errors; the text below a key is its description in the docs."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


def records_below(record: type[Record]) -> list[type[Record]]:
    """All subclasses of a record, also indirect ones."""
    return [each for part in record.__subclasses__() for each in (part, *records_below(part))]


class InstrumentTable(Record):
    """An instrument's table in the study file; a study runs the instruments whose tables it has."""

    needs_languages: ClassVar[bool] = True
    """Whether the study has to name its languages; if no instrument needs them, English is the only one."""

    @classmethod
    def of(cls, study: "Study") -> Self:
        """The table of this class in a study.

        Raises:
            StudyError: the study has no such table.
        """
        for table in study.instrument_tables().values():
            if isinstance(table, cls):
                return table
        raise StudyError(f"study {study.name}: has no table of its {cls.__name__}, which is needed here; add it")

    def placed_in(self, study: "Study") -> "Study":
        """The study with this table instead of its own of the same class."""
        tables = study.instrument_tables().items()
        return study.model_copy(update={key: self for key, table in tables if type(table) is type(self)})

    def check(self, study: "Study") -> None:
        """Require that this table agrees with the rest of the study.

        Raises:
            ValueError: it does not; names the key.
        """
