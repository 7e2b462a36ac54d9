"""`Variables`: facts about the variables of EVS 2017 and WVS-7, independent of language (studies/facts)."""

import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Annotated, Any

import pydantic

from valuesassets.records.errors import StudyError
from valuesassets.records.faults import validated
from valuesassets.records.places import STUDIES
from valuesassets.records.questions import OPTION_COUNTS, Question, ResponseType, is_missing_code

BY_COUNT = {count: kind for kind, count in OPTION_COUNTS.items() if kind is not ResponseType.ACTION}
"""Response type by number of options, for questions without known facts."""
FACTS_FILES = "*_variables.toml"
"""Facts files, one for each survey."""
DISTINCT = 0.8
"""Least share of distinct, known ids among ids that look like codes; question numbers repeat for items of a list."""
AGREEING = 0.6
"""Least share with the variables' number of options among ids that may be another survey's question numbers."""
FEWEST_CODED = 6
"""Fewest questions with a code whose options say whether the codes are a survey's."""
FEWEST_LISTS = 3
"""Fewest lists with several items under their question's number by which a form without codes is recognised."""
OWN_IDS = "own_ids"
"""Marks a question whose id is its questionnaire's own, even if a survey has such a code."""
CODE = re.compile(r"([a-zA-Z])(\d+)([a-zA-Z]?\d?)")
"""A variable's canonical id: the survey's letter, the number without leading zeros, and the letter of a further row."""


def canonical_id(printed: str) -> str | None:
    """The EVS variable code in a printed id, or None.

    >>> canonical_id("V 39"), canonical_id("(v45a)"), canonical_id("Q12")
    ('v39', 'v45a', None)
    """
    match = re.fullmatch(r"[^\w]*[vV]\s*0*(\d{1,3})\s*_?([a-zA-Z]?\d?)[^\w]*", printed)
    return f"v{match[1]}{match[2].lower()}" if match else None


def expand_codes(ranges: Iterable[str]) -> tuple[str, ...]:
    """Variable codes, with ranges expanded.

    >>> expand_codes(["v7", "v9-v11"])
    ('v7', 'v9', 'v10', 'v11')
    """
    codes: list[str] = []
    for text in ranges:
        match = re.fullmatch(r"([a-zA-Z])(\d+)(?:-\1(\d+))?", text)
        if match is None:
            raise ValueError(f"'{text}' is neither a code such as v9 nor a range such as v9-v19")
        letter, first, last = match.groups()
        codes += [f"{letter}{number}" for number in range(int(first), int(last or first) + 1)]
    return tuple(codes)


Codes = Annotated[tuple[str, ...], pydantic.BeforeValidator(expand_codes)]


def _with_number(pattern: re.Pattern[str]) -> re.Pattern[str]:
    if "number" not in pattern.groupindex:
        raise ValueError("names no group `number` for what follows the letter")
    return pattern


class _Record(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class CodePattern(_Record):
    """The pattern of variable codes in a survey's printed forms.

    Attributes:
        letter: with which canonical ids begin.
        pattern: regular expression of a printed word; its group `number` is what follows the letter, `rest` what is
            printed behind the code without a space.
        is_question_number: whether the questions are numbered by their codes; then only a word that leads a line is a
            code.
        offers_all: whether every printed figure is an answer, as those for don't know and the like are negative.
    """

    letter: Annotated[str, pydantic.StringConstraints(pattern="[a-zA-Z]")]
    pattern: Annotated[re.Pattern[str], pydantic.AfterValidator(_with_number)]
    is_question_number: bool = False
    offers_all: bool = False

    def code(self, printed: str) -> tuple[str, int | None] | None:
        """The canonical id in a printed word, and where what is glued to it begins; None where it is no code."""
        match = self.pattern.fullmatch(printed)
        if match is None:
            return None
        digits, row = re.match(r"0*(\d+)(.*)", match["number"]).groups()  # type: ignore[union-attr]
        rest = match.start("rest") if "rest" in self.pattern.groupindex and match["rest"] else None
        return f"{self.letter}{digits}{row.lower()}", rest


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
    """Variables that are never asked of a model, and why: by code, codes with a letter, or questions without a code."""

    reason: Annotated[str, pydantic.StringConstraints(min_length=1)]
    variables: Codes = ()
    lettered: bool = False
    questions: tuple[str, ...] = ()

    def names(self, variable: str) -> bool:
        """Whether a variable (or a question such as `Q78A`) is excluded."""
        code = CODE.fullmatch(variable)
        has_letter = code is not None and bool(code[3]) and variable not in self.questions
        return variable in self.variables or variable in self.questions or (self.lettered and has_letter)


class _Named(_Record):
    variables: Codes


class Variables(_Record):
    """Facts about variable codes such as `v39` of EVS 2017 and `Q46` of WVS-7."""

    source: str
    codes: tuple[CodePattern, ...]
    excluded: tuple[Excluded, ...]
    lists: dict[str, Codes]
    """Mentioned / not mentioned lists by name."""
    depends_on: dict[str, str]
    """By variable: the earlier one whose answer belongs into its prompt."""
    asked_of: dict[str, str] = {}
    """By variable: the filter under which respondents are asked (`v51 != 1`)."""
    numbers: Annotated[dict[str, Codes], pydantic.Field(alias="question_numbers")] = {}
    """By the number that a form prints before a question: the variables of its items, in their order."""
    topics: dict[str, str] = {}
    """What a variable asks about, in a few words."""
    volunteered: dict[str, tuple[int, ...]]
    """By variable: codes of answers that are noted when given but never offered."""
    names_country: _Named
    """The questions that name the country or its people."""
    response_types: dict[ResponseType, Codes]
    option_counts: dict[int, Codes]
    same_in_wvs: dict[str, str] = {}
    """By variable of EVS 2017: the same question in WVS-7; answers may be counted otherwise."""
    indicators: tuple[Indicator, ...] = ()

    def of(self, questions: Sequence[Question]) -> "Variables":
        """The facts that hold for some questions: none where their ids are declared to be their own (`OWN_IDS`)."""
        return NO_FACTS if any((question.model_extra or {}).get(OWN_IDS) for question in questions) else self

    @functools.cached_property
    def list_of(self) -> MappingProxyType[str, str]:
        """By variable: the mentioned / not mentioned list that it belongs to."""
        return _by_code(self.lists)

    @functools.cached_property
    def type_of(self) -> MappingProxyType[str, ResponseType]:
        """By variable: how it is answered in the master."""
        return _by_code(self.response_types)

    @functools.cached_property
    def _counts(self) -> MappingProxyType[str, int]:
        return _by_code(self.option_counts)

    @pydantic.model_validator(mode="after")
    def _each_code_once(self) -> "Variables":
        for name, codes in (("response_types", self.response_types), ("lists", self.lists)):
            all_codes = [code for each in codes.values() for code in each]
            repeated = sorted({code for code in all_codes if all_codes.count(code) > 1})
            if repeated:
                raise ValueError(f"{name}: {', '.join(repeated)} stand twice")
        return self

    @functools.cached_property
    def variables(self) -> frozenset[str]:
        """Every variable that the facts give a type or a question number, left-out ones among them."""
        return frozenset(self.type_of) | {code for codes in self.numbers.values() for code in codes}

    @functools.cached_property
    def question_letters(self) -> frozenset[str]:
        """The letters of the surveys whose codes are the numbers of their questions."""
        return frozenset(pattern.letter for pattern in self.codes if pattern.is_question_number)

    def is_converted(self, question: Question) -> bool:
        """Whether a question is an item of a list, asked as a statement to agree or disagree with."""
        return question.id in self.list_of and bool(question.item) and question.response_type is ResponseType.BINARY

    def is_excluded(self, variable: str) -> bool:
        """Whether a variable (or a question such as `Q78A`) is excluded, such as demographics."""
        return self.reason_to_exclude(variable) is not None

    def reason_to_exclude(self, variable: str) -> str | None:
        """Why a variable is excluded; None for opinion items and for variables without facts."""
        if variable[:1] not in {pattern.letter for pattern in self.codes}:
            return None
        return next((each.reason for each in self.excluded if each.names(variable)), None)

    @functools.cached_property
    def opinion_items(self) -> frozenset[str]:
        """The variables that models are asked: all with a response type that are not excluded."""
        return frozenset(code for code in self.type_of if not self.is_excluded(code))

    def fitting_type(self, variable: str, n_options: int) -> ResponseType:
        """The master's response type of a variable; for unknown variables the type for this number of options."""
        return self.type_of.get(variable) or BY_COUNT.get(n_options, ResponseType.CATEGORICAL)

    def option_count(self, variable: str) -> int | None:
        """Number of answers in the master, or None where it is unknown."""
        kind = self.type_of.get(variable)
        return self._counts.get(variable) or (OPTION_COUNTS.get(kind) if kind else None)

    def letters_of(self, questions: Sequence[Question]) -> frozenset[str]:
        """The letters of the surveys to whose codes the ids of a file belong.

        A code may also be an id of another questionnaire (`v1`): most questions with a code must have the number of
        options of its variable. Where a survey's codes are question numbers (`Q46` of WVS-7), they may be another
        survey's numbers as well. Then most questions without another survey's code must have one, too.
        """
        letters = set()
        for pattern in self.codes:
            if not pattern.is_question_number:
                if self._have_their_options(questions):
                    letters.add(pattern.letter)
                continue
            coded = [question for question in questions if question.id[:1] == pattern.letter]
            ids = {question.id for question in coded if question.id in self.type_of}
            agreeing = [question for question in coded if self._has_its_options(question, question.id)]
            uncoded = [q for q in questions if q.id[:1] != pattern.letter and canonical_id(q.id) not in self.variables]
            is_match = len(ids) >= DISTINCT * len(coded) and len(agreeing) >= AGREEING * len(coded)
            if ids and len(coded) > len(uncoded) and is_match:
                letters.add(pattern.letter)
        return frozenset(letters)

    def survey_of(self, questions: Sequence[Question], numbers: Sequence[str | None]) -> str | None:
        """The letter of a file's survey, from its codes or its question numbers; None if neither identifies it.

        Numbers identify a survey if several of its lists occur, with each item under the number of its list.

        Args:
            numbers: number of each question on its form (`38`).
        """
        letters = self.letters_of(questions)
        codes = [question.id if question.id in self.variables else canonical_id(question.id) for question in questions]
        counts = Counter(code[0] for code in codes if code in self.variables and code[0] in letters)
        if counts:
            return counts.most_common(1)[0][0]
        lists = {number[1:]: codes for number, codes in self.numbers.items() if len(codes) > 1}
        list_numbers = [number for number, count in Counter(numbers).items() if number in lists and count > 1]
        return lists[list_numbers[0]][0][0] if len(list_numbers) >= FEWEST_LISTS else None

    def _have_their_options(self, questions: Sequence[Question]) -> bool:
        """Whether most of the questions with a code that is printed as such offer as many answers as its variable."""
        codes = [canonical_id(question.id) for question in questions]
        coded = [(each, code) for each, code in zip(questions, codes, strict=True) if code in self.type_of]
        agreeing = [each for each, code in coded if code is not None and self._has_its_options(each, code)]
        return len(coded) < FEWEST_CODED or len(agreeing) >= AGREEING * len(coded)

    def _has_its_options(self, question: Question, code: str) -> bool:
        values = question.values
        offered = [value for value in values if not is_missing_code(value, len(values))]
        return len(offered) in (self.option_count(code), 0)


NO_FACTS = Variables(
    source="", codes=(), excluded=(), lists={}, depends_on={}, volunteered={}, names_country=_Named(variables=()),
    response_types={}, option_counts={},
)  # fmt: skip
"""Of questions whose ids are no codes of a survey."""


@functools.cache
def load_variables() -> Variables:
    """The bundled facts of all surveys together; their codes differ.

    Raises:
        StudyError: a file is malformed; names key and reason.
    """
    files = sorted((STUDIES / "facts").glob(FACTS_FILES))
    tables = [tomllib.loads(file.read_text(encoding="utf-8")) for file in files]
    source = " and ".join(file.name for file in files)
    return validated(Variables, functools.reduce(_together, tables), StudyError, source)


def _together(one: Any, other: Any) -> Any:
    """Two tables of facts merged: the keys of both, with lists concatenated."""
    if isinstance(one, dict):
        both = one.keys() & other.keys()
        return {**one, **other, **{key: _together(one[key], other[key]) for key in both}}
    return f"{one}; {other}" if isinstance(one, str) else one + other


def _by_code(table: dict[Any, tuple[str, ...]]) -> MappingProxyType[str, Any]:
    return MappingProxyType({code: name for name, codes in table.items() for code in codes})
