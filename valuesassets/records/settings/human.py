"""`[human]`: where the answers of real people come from."""

from pathlib import Path
from typing import Annotated, Literal

import pydantic

from valuesassets.records.files import no_such_file
from valuesassets.records.settings.kinds import Positive, Record, StudyPath


def _is_there(path: Path, info: pydantic.ValidationInfo) -> Path:
    if info.context and not path.is_file():
        raise ValueError(no_such_file(path, "file"))
    return path


DataFile = Annotated[StudyPath, pydantic.AfterValidator(_is_there)]
"""A file that has to be there when its study file is read."""


class HumanFile(Record):
    """One file of respondents, as its archive hands it out: .sav, .dta, .csv or .parquet."""

    path: DataFile
    """The file."""
    survey: Literal["evs2017", "wvs7", "joint"]
    """Whose variables it holds: EVS 2017 (ZA7500), WVS wave 7, or the joint EVS/WVS 2017-2022 file."""
    weight: str | None = None
    """Column of the weights, or `"none"` for no weights; the survey's usual column if left out."""
    language: str | None = None
    """Column of the language in which people were interviewed, in codes of ISO 639; the survey's usual column if left
    out. Read with `interview_language = "own"` alone."""


class HumanData(Record):
    """Where the answers of real people come from."""

    source: Literal["planted", "files", "means", "none"] = "none"
    """`planted`: made-up respondents; `files`: files of respondents; `means`: published means only; `none`: nobody."""
    respondents: Positive = 1000
    """Made-up respondents per country, with `source = "planted"`."""
    files: tuple[HumanFile, ...] = ()
    """Files of respondents, with `source = "files"`."""
    interview_language: Literal["any", "own"] = "any"
    """Whose answers stand for a language's country: its whole sample, in whatever language people were interviewed
    (`any`), or those alone who were interviewed in a language of the study that names the country (`own`)."""
    means: DataFile | None = None
    """Published means, with `source = "means"`: a CSV with a row per question and a column per language or country.
    They allow less: no W1, no map of people ([human data](human_data.md))."""

    @pydantic.model_validator(mode="after")
    def _source_is_named(self) -> "HumanData":
        for key, given in (("files", self.files), ("means", self.means)):
            if (self.source == key) != bool(given):
                raise ValueError(f"source = '{key}' needs {key}, and {key} need source = '{key}'; mend one of the two")
        if self.interview_language == "own" and self.source != "files":
            raise ValueError(
                f"interview_language = 'own' needs files of respondents, source is '{self.source}'; leave it out"
            )
        return self
