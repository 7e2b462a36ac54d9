"""`SurveyMap`: which columns and codes of a survey's file stand for which question (studies/facts/human_files.toml)."""

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
"""Why there is no answer, in every table of respondents."""
NOTHING = 0
"""The file holds nothing: never asked, or emptied. Only where answers begin at 1; else such places are masked."""
SILENT = (DONT_KNOW, NO_ANSWER, OTHER)
"""Of these a person was asked, and gave none of the question's answers."""

Recode = dict[int, int]
Text = Annotated[str, pydantic.StringConstraints(min_length=1)]


class _Record(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class Recoded(_Record):
    """Codes that mean something else in the survey's file than in EVS 2017, and why."""

    variables: Codes
    codes: Recode
    reason: Text


class LeftOut(_Record):
    """Questions that cannot be read from the survey's file safely, and why."""

    variables: Codes
    reason: Text


class Samples(_Record):
    """A column that tells several samples of one country apart; the first in `order` that a country has is taken."""

    column: str
    order: dict[int, str]


class SurveyMap(_Record):
    """One survey's file: where country, weight and id stand, and each question's column and codes.

    Attributes:
        country, weight, id, language: columns, the first that is there is taken; the last is the interview's.
        wave: columns that may be absent, with the values that they may have.
        columns: by question; `same_name` are questions whose column has their name.
        form_missing: codes of missing answers as printed on the form, where the question has fewer answers.
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
        gone = {variable for each in self.left_out for variable in each.variables}
        columns = dict(zip(self.same_name, self.same_name, strict=True)) | self.columns
        return {question: column for question, column in columns.items() if question not in gone}

    def recode(self, question: str) -> Recode:
        """How the file's codes become those of EVS 2017; codes that are not named stay."""
        return {old: new for each in self.recodes if question in each.variables for old, new in each.codes.items()}


class Countries(_Record):
    """Country codes that are not of ISO 3166-1: more spellings of a country, and samples that are none."""

    also: dict[str, tuple[str, ...]]
    left_out: dict[str, Text]


class HumanFiles(_Record):
    """All that is known of respondents' files."""

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
    found = validated(HumanFiles, table, StudyError, source)
    if "wvs7" in found.surveys:
        wvs = found.surveys["wvs7"]
        found.surveys["wvs7"] = wvs.model_copy(update={"columns": load_variables().same_in_wvs | wvs.columns})
    for name, survey in found.surveys.items():
        unknown = [question for question in survey.column_of if load_variables().option_count(question) is None]
        if unknown:
            raise StudyError(f"{source}: surveys.{name}: no number of answers is known for {unknown[0]}; leave it out")
    return found
