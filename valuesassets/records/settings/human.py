"""`[human]`: the source of people's answers."""

from pathlib import Path
from typing import Annotated, Literal

import pydantic

from valuesassets.records.files import no_such_file
from valuesassets.records.settings.cells import require_country
from valuesassets.records.settings.kinds import NamedOnce, Positive, Record, StudyPath


def _is_there(path: Path, info: pydantic.ValidationInfo) -> Path:
    if info.context and not path.is_file():
        raise ValueError(no_such_file(path, "file"))
    return path


DataFile = Annotated[StudyPath, pydantic.AfterValidator(_is_there)]
"""A file that has to exist when the study file is read."""


class HumanFile(Record):
    """One file of respondents as its archive provides it: .sav, .dta, .csv or .parquet."""

    path: DataFile
    """Path of the file."""
    survey: Literal["evs2017", "wvs7", "joint"]
    """The survey that defines its variables: EVS 2017 (ZA7500), WVS wave 7, or the joint EVS/WVS 2017-2022 file."""
    weight: str | None = None
    """Column of the weights, or `"none"` for no weights; the survey's usual column if left out."""
    language: str | None = None
    """Column of the interview's language, as ISO 639 codes; the survey's usual column if left out. Only used with
    `interview_language = "own"`."""


class HumanData(Record):
    """The source of people's answers."""

    source: Literal["planted", "files", "means", "none"] = "none"
    """`planted`: made-up respondents; `files`: files of respondents; `means`: published means only; `none`: no
    people."""
    respondents: Positive = 1000
    """Made-up respondents per country, with `source = "planted"`."""
    files: tuple[HumanFile, ...] = ()
    """Files of respondents, with `source = "files"`."""
    interview_language: Literal["any", "own"] = "any"
    """The respondents who stand for a country: all of them, whatever the language of the interview (`any`), or only
    those interviewed in a language that the study assigns to the country (`own`)."""
    countries: Annotated[tuple[str, ...], NamedOnce] = pydantic.Field(default=(), exclude_if=lambda names: not names)
    """Further countries whose people are read from the same files, ISO 3166 alpha-2. They need no language; models are
    compared with their people too."""
    means: DataFile | None = None
    """Published means, with `source = "means"`: a CSV with a row per question and a column per language or country.
    They allow fewer analyses: no W1, no map of people ([human data](human_data.md))."""

    @pydantic.model_validator(mode="after")
    def _source_is_named(self) -> "HumanData":
        for key, value in (("files", self.files), ("means", self.means)):
            if (self.source == key) != bool(value):
                raise ValueError(f"source = '{key}' needs {key}, and {key} need source = '{key}'; mend one of the two")
        if self.interview_language == "own" and self.source != "files":
            raise ValueError(
                f"interview_language = 'own' needs files of respondents, source is '{self.source}'; leave it out"
            )
        for country in self.countries:
            require_country(country)
        if self.countries and self.source != "files":
            raise ValueError(f"countries are read from files of respondents, source is '{self.source}'; leave them out")
        if self.countries and self.interview_language == "own":
            raise ValueError(
                "countries have no language of the study, which interview_language = 'own' asks for; leave one out"
            )
        return self
