"""The building blocks of a study file's tables: records, instruments' tables, paths, and numbers with units."""

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import pydantic

from valuesassets.records.errors import StudyError

if TYPE_CHECKING:
    from valuesassets.records.study import Study


def unit(name: str) -> Any:
    """The unit of a number in a study file, as the reference of its keys prints it."""
    return pydantic.Field(json_schema_extra={"unit": name})


def _from_the_study_file(path: Path, info: pydantic.ValidationInfo) -> Path:
    folder = (info.context or {}).get("folder")
    return path if folder is None else Path(folder, os.path.expanduser(path)).resolve()


StudyPath = Annotated[Path, pydantic.AfterValidator(_from_the_study_file)]
"""A path that counts from the folder of the study file; `~` is the home folder."""


def model_from_the_study_file(name: str, info: pydantic.ValidationInfo) -> str:
    """A model's name as it is; of a folder or file, which counts from the study file, its absolute path.

    Raises:
        ValueError: it is a path that counts from the working folder.
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
    """Whether the name of a model is written as a path, and not as that of a model on the hub.

    >>> is_model_path("../models/{lang}"), is_model_path("owner/name")
    (True, False)
    """
    return name.startswith(("/", "./", "../", "~")) or name.lower().endswith(".gguf")


def is_there(place: Path) -> bool:
    """Whether a file or folder is there; of a name with `{lang}` that of any language."""
    if "{lang}" not in str(place):
        return place.exists()
    fixed, _, rest = str(place).partition("{lang}")
    parent, beginning = os.path.split(fixed)
    return any(Path(parent).glob(f"{glob.escape(beginning)}[a-z][a-z][a-z]{rest.replace('{lang}', '*')}"))


NO_MODELS = ("planted", "lexical")
"""Embedders that are made here, in place of a model's name."""
BEHIND_AN_API = ("gemini", "openai")
"""Kinds of families whose models' names are their servers' own."""
ModelPlace = Annotated[str, pydantic.AfterValidator(model_from_the_study_file)]
"""Hub id, or a folder or file that counts from the folder of the study file."""
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
"""What each pattern asks for, in words."""


class Record(pydantic.BaseModel):
    """A frozen part of a study file: unknown keys are errors, the line below a key is its description."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


def records_below(record: type[Record]) -> list[type[Record]]:
    """All kinds of a record, at whatever depth."""
    return [each for part in record.__subclasses__() for each in (part, *records_below(part))]


class InstrumentTable(Record):
    """An instrument's own table of the study file: a study runs the instruments whose tables stand in it."""

    needs_languages: ClassVar[bool] = True
    """Whether the study has to say its languages; where none needs them, English is its only one."""

    @classmethod
    def of(cls, study: "Study") -> Self:
        """This table of a study.

        Raises:
            StudyError: it does not stand in the study.
        """
        for table in study.instrument_tables().values():
            if isinstance(table, cls):
                return table
        raise StudyError(f"study {study.name}: has no table of its {cls.__name__}, which is needed here; add it")

    def placed_in(self, study: "Study") -> "Study":
        """The study with this table in place of its own of the kind."""
        tables = study.instrument_tables().items()
        return study.model_copy(update={key: self for key, table in tables if type(table) is type(self)})

    def check(self, study: "Study") -> None:
        """See that this table agrees with the rest of the study.

        Raises:
            ValueError: it does not; names the key.
        """
