"""`SurveyMap`: the columns and codes of each question in a survey's file (studies/facts/human_files.toml)."""

import functools
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any

import pydantic

from valuesassets.people.variables import Codes, load_variables
from valuesassets.records.errors import StudyError
from valuesassets.records.faults import validated
from valuesassets.records.places import STUDIES

FILE = "human_files.toml"
DONT_KNOW, NO_ANSWER, NOT_APPLICABLE, NOT_ASKED, OTHER = -1, -2, -3, -4, -5
"""Codes of the reasons of missing answers, in every table of respondents."""
NOTHING = 0
"""Code of an empty value in the file, used only where answers begin at 1; elsewhere such values are masked."""
SILENT = (DONT_KNOW, NO_ANSWER, OTHER)
"""Reasons of people who were asked but gave none of the question's answers."""

Recode = dict[int, int]
Text = Annotated[str, pydantic.StringConstraints(min_length=1)]


class _Record(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class Recoded(_Record):
    """Codes with another meaning in the survey's file than in EVS 2017, and the reason."""

    variables: Codes
    codes: Recode
    reason: Text


class LeftOut(_Record):
    """Questions that cannot be read reliably from the survey's file, and the reason."""

    variables: Codes
    reason: Text


class Samples(_Record):
    """A column that distinguishes samples of a country; the first one in `order` that a country has is used."""

    column: str
    order: dict[int, str]


class SurveyMap(_Record):
    """A survey's file: the columns of country, weight and id, and the column and codes of each question.

    Attributes:
        country, weight, id, language: possible columns, of which the first present one is used; `language` is that of
            the interview.
        wave: optional columns with their permitted values.
        columns: column of each question; `same_name` are questions whose column has their own name.
        form_missing: codes of missing answers as printed on the form, where they are above the question's answers.
    """

    title: Text
    country: tuple[str, ...]
    weight: tuple[str, ...]
    id: tuple[str, ...]
    language: tuple[str, ...] = ()
    wave: dict[str, tuple[int, ...]]
    columns: dict[str, str] = {}
    same_name: Codes = ()
    samples: Samples | None = None
    form_missing: Recode = {}
    left_out: tuple[LeftOut, ...] = ()
    recodes: tuple[Recoded, ...] = ()

    @functools.cached_property
    def column_of(self) -> dict[str, str]:
        """The column of every question that the survey can answer."""
        left_out_variables = {variable for each in self.left_out for variable in each.variables}
        columns = dict(zip(self.same_name, self.same_name, strict=True)) | self.columns
        return {question: column for question, column in columns.items() if question not in left_out_variables}

    def recode(self, question: str) -> Recode:
        """Code of EVS 2017 by code in the file; other codes are the same in both."""
        return {old: new for each in self.recodes if question in each.variables for old, new in each.codes.items()}


class Countries(_Record):
    """Country codes beyond ISO 3166-1: other spellings of countries, and samples that are not countries."""

    also: dict[str, tuple[str, ...]]
    left_out: dict[str, Text]


class HumanFiles(_Record):
    """The facts about respondents' files."""

    missing: dict[int, Text]
    countries: Countries
    surveys: dict[str, SurveyMap]


@functools.cache
def load_human_files() -> HumanFiles:
    """The facts that ship with the package.

    Raises:
        StudyError: the file is malformed; names key and reason.
    """
    return parse_human_files(tomllib.loads((STUDIES / "facts" / FILE).read_text(encoding="utf-8")), FILE)


def parse_human_files(table: Mapping[str, Any], source: str) -> HumanFiles:
    """Facts from a parsed TOML table; WVS-7 takes the columns of the common questions from `same_in_wvs`.

    Raises:
        StudyError: an unknown key, a malformed code or range, a question that EVS 2017 does not have.
    """
    human_files = validated(HumanFiles, table, StudyError, source)
    if "wvs7" in human_files.surveys:
        wvs = human_files.surveys["wvs7"]
        human_files.surveys["wvs7"] = wvs.model_copy(update={"columns": load_variables().same_in_wvs | wvs.columns})
    for name, survey in human_files.surveys.items():
        unknown = [question for question in survey.column_of if load_variables().option_count(question) is None]
        if unknown:
            raise StudyError(f"{source}: surveys.{name}: no number of answers is known for {unknown[0]}; leave it out")
    return human_files
