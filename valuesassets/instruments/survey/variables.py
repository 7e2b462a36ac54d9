"""`Variables`: what is known of the EVS 2017 variables whatever the language (studies/facts/evs2017_variables.toml)."""

import functools
import re
import tomllib
from collections.abc import Iterable
from importlib import resources
from types import MappingProxyType
from typing import Annotated, Any

import pydantic

from valuesassets.records.errors import StudyError
from valuesassets.records.questions import OPTION_COUNTS, Question, ResponseType

BY_COUNT = {
    2: ResponseType.BINARY,
    3: ResponseType.LIKERT3,
    4: ResponseType.LIKERT4,
    5: ResponseType.LIKERT5,
    10: ResponseType.LIKERT10,
}
"""What so many options make of a question of which nothing else is known."""
FACTS_FILE = "facts/evs2017_variables.toml"


def expand_codes(ranges: Iterable[str]) -> tuple[str, ...]:
    """Variable codes, with ranges written out.

    >>> expand_codes(["v7", "v9-v11"])
    ('v7', 'v9', 'v10', 'v11')
    """
    codes: list[str] = []
    for written in ranges:
        first, _, last = written.partition("-")
        if not all(re.fullmatch(r"v\d+", code) for code in (first, last or first)):
            raise ValueError(f"'{written}' is neither a code such as v9 nor a range such as v9-v19")
        codes += [f"v{number}" for number in range(int(first[1:]), int((last or first)[1:]) + 1)]
    return tuple(codes)


Codes = Annotated[tuple[str, ...], pydantic.BeforeValidator(expand_codes)]


class _Record(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class Indicator(_Record):
    """One of the ten indicators of the Inglehart-Welzel map."""

    code: str
    """Code in the integrated EVS/WVS file."""
    name: str
    evs: tuple[str, ...]
    """EVS 2017 variables it is made of."""
    wvs: tuple[str, ...]
    """The same questions in WVS-7."""


class Excluded(_Record):
    """What is never asked of a model, by reason."""

    none_rows: Codes
    country_specific: Codes
    election_integrity: Codes
    questions: tuple[str, ...]


class _Named(_Record):
    variables: Codes


class Variables(_Record):
    """Facts about variable codes such as `v39`; ids are canonical (lower case, no leading zeros)."""

    source: str
    first_demographic: int
    excluded: Excluded
    lists: dict[str, Codes]
    """Mentioned / not mentioned lists by name."""
    dependencies: Annotated[dict[str, str], pydantic.Field(alias="depends_on")]
    filters: Annotated[dict[str, str], pydantic.Field(alias="asked_of")]
    volunteered: dict[str, tuple[int, ...]]
    naming_country: Annotated[_Named, pydantic.Field(alias="names_country")]
    response_types: dict[ResponseType, Codes]
    option_counts: dict[int, Codes]
    indicators: tuple[Indicator, ...]

    @functools.cached_property
    def _lists(self) -> MappingProxyType[str, str]:
        return _by_code(self.lists)

    @functools.cached_property
    def _types(self) -> MappingProxyType[str, ResponseType]:
        return _by_code(self.response_types)

    @functools.cached_property
    def _counts(self) -> MappingProxyType[str, int]:
        return _by_code(self.option_counts)

    @functools.cached_property
    def _wvs(self) -> dict[str, str]:
        return {evs: wvs for each in self.indicators for evs, wvs in zip(each.evs, each.wvs, strict=True)}

    @pydantic.model_validator(mode="after")
    def _each_code_once(self) -> "Variables":
        for name, codes in (("response_types", self.response_types), ("lists", self.lists)):
            listed = [code for each in codes.values() for code in each]
            twice = sorted({code for code in listed if listed.count(code) > 1})
            if twice:
                raise ValueError(f"{name}: {', '.join(twice)} stand twice")
        return self

    def list_of(self, variable: str) -> str | None:
        """Name of the mentioned / not mentioned list that a variable belongs to, or None."""
        return self._lists.get(variable)

    def is_converted(self, question: Question) -> bool:
        """Whether a question is an item of a list, asked as a statement to agree or disagree with."""
        return question.id in self._lists and bool(question.item) and question.response_type is ResponseType.BINARY

    def depends_on(self, variable: str) -> str | None:
        """The earlier variable whose answer belongs into this one's prompt, or None."""
        return self.dependencies.get(variable)

    def asked_of(self, variable: str) -> str | None:
        """The filter under which respondents are asked (`v51 != 1`), or None when everyone is."""
        return self.filters.get(variable)

    def names_country(self, variable: str) -> bool:
        """Whether the question names the country or its people."""
        return variable in self.naming_country.variables

    def is_excluded(self, variable: str) -> bool:
        """Whether a variable (or a question, `Q78A`) is left out: demographics, country-specific, "none of these"."""
        code = re.fullmatch(r"v(\d+)([a-z]?\d?)", variable)
        if code is None:
            return variable in self.excluded.questions
        left_out = (self.excluded.none_rows, self.excluded.country_specific, self.excluded.election_integrity)
        is_listed = any(variable in codes for codes in left_out)
        return is_listed or bool(code[2]) or not 1 <= int(code[1]) < self.first_demographic

    def response_type(self, variable: str) -> ResponseType | None:
        """How a variable is answered in the master, or None for codes that the master does not know."""
        return self._types.get(variable)

    def fitting_type(self, variable: str, n_options: int) -> ResponseType:
        """The master's type of a variable; of one that the master does not know, what so many options make."""
        return self._types.get(variable) or BY_COUNT.get(n_options, ResponseType.CATEGORICAL)

    def option_count(self, variable: str) -> int | None:
        """How many answers the master offers, or None where that is not known."""
        kind = self._types.get(variable)
        return self._counts.get(variable) or (OPTION_COUNTS.get(kind) if kind else None)

    def volunteered_values(self, variable: str) -> tuple[int, ...]:
        """Codes of answers that are noted when given but never offered."""
        return self.volunteered.get(variable, ())

    def wvs_id(self, variable: str) -> str | None:
        """The same question in WVS-7 (`Q46`), known for the ten indicators."""
        return self._wvs.get(variable)


@functools.cache
def load_variables() -> Variables:
    """The facts that ship with the package.

    Raises:
        StudyError: the file is malformed; names key and reason.
    """
    path = resources.files("valuesassets.studies") / FACTS_FILE
    return parse_variables(tomllib.loads(path.read_text(encoding="utf-8")), FACTS_FILE)


def parse_variables(table: dict[str, Any], source: str) -> Variables:
    """Facts from a parsed TOML table.

    Raises:
        StudyError: an unknown key, a malformed code or range, a code in two response types.
    """
    try:
        return Variables.model_validate(table)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise StudyError(f"{source}: {where}: {first['msg'].removeprefix('Value error, ').lower()}; mend it") from None


def _by_code(table: dict[Any, tuple[str, ...]]) -> MappingProxyType[str, Any]:
    return MappingProxyType({code: name for name, codes in table.items() for code in codes})
