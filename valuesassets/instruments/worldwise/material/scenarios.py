"""`worldwise/scenarios`: reads dilemmas from a file and checks them."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pandas as pd
import pydantic

from valuesassets.answers.language_codes import language_code
from valuesassets.instruments.worldwise.answers.answer_texts import country_pattern
from valuesassets.instruments.worldwise.material.dimensions import AXES, HIGH, LOW
from valuesassets.records.bundled import BUNDLED, given_or_bundled
from valuesassets.records.errors import QuestionError
from valuesassets.records.faults import kind_of_value, validated
from valuesassets.records.files import read_json
from valuesassets.records.frames import records
from valuesassets.records.settings.kinds import FAMILY_NAME

FEWEST = 2
"""Dilemmas that an axis needs; a mean over one says nothing."""
LONGER = 2
"""A model may prefer an option just because it is more than this many times as long as the other."""
AXIS_WORDS = {
    "IDV": ("individualis", "collectivis"),
    "PDI": ("power distance", "hierarch"),
    "MAS": ("masculin", "feminin", "achievement"),
    "UAI": ("uncertain",),
    "LTO": ("long-term", "short-term", "orientation"),
    "IVR": ("indulg", "restrain"),
}
"""Beginnings of words that give the axis away, besides its code."""
SCHOOL_WORDS = ("cultur", "hofstede")
"""Beginnings of words that give the subject of the study away."""

Text = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1)]


def _of_one_line(text: str) -> str:
    if len(text.splitlines()) > 1:
        raise ValueError("one line was expected, several were found; write the option in one")
    return text


def _known_axis(written: str) -> str:
    if written not in AXES:
        raise ValueError(f"one of {', '.join(AXES)} was expected (found {json.dumps(written)})")
    return written


def _known_language(written: str) -> str:
    if (code := language_code(written)) is None:
        raise ValueError(f"an ISO 639-3 code such as eng was expected (found {json.dumps(written)})")
    return code


Option = Annotated[Text, pydantic.AfterValidator(_of_one_line)]


class Scenario(pydantic.BaseModel):
    """A dilemma: a situation, a question, and two options that stand for the poles of one axis.

    Attributes:
        id: unique in its file.
        domain: its part of life, such as work.
        language: ISO 639-3.
        high, low: the options of the two poles.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="allow")

    id: Annotated[str, pydantic.Field(pattern=FAMILY_NAME)]
    axis: Annotated[str, pydantic.AfterValidator(_known_axis)]
    domain: Text
    language: Annotated[str, pydantic.AfterValidator(_known_language)]
    situation: Text
    question: Text
    high: Option
    low: Option

    @pydantic.model_validator(mode="after")
    def _require_two_options(self) -> "Scenario":
        if plain(self.high) == plain(self.low):
            raise ValueError(f"both options are {json.dumps(self.high, ensure_ascii=False)}; write two that differ")
        return self

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """All of its texts that models see."""
        return self.situation, self.question, self.high, self.low

    @property
    def more(self) -> str | None:
        """Further keys of its file as JSON; None if it has none."""
        return json.dumps(self.model_extra, ensure_ascii=False, sort_keys=True) if self.model_extra else None


def read_scenarios(path: Path | str = BUNDLED) -> list[Scenario]:
    """The dilemmas of a JSON file (an array of objects), or the bundled 48, in their order.

    Raises:
        QuestionError: a key is missing or of the wrong kind, an axis is unknown, an id or text is repeated, options are
            empty or equal, or an axis has only one dilemma; names file and id.
    """
    place = given_or_bundled(path, "worldwise", "scenarios.json")
    content = read_json(place, QuestionError)
    if not isinstance(content, list):
        raise QuestionError(f"{place}: {kind_of_value(content)} found, an array of scenarios was expected; mend it")
    if not content:
        raise QuestionError(f"{place}: an empty array found, at least {FEWEST} scenarios were expected; add some")
    scenarios = [_scenario(entry, f"{place}: scenario {number}") for number, entry in enumerate(content, 1)]
    _require_once(scenarios, place)
    for axis, times in Counter(scenario.axis for scenario in scenarios).items():
        if times < FEWEST:
            only = next(scenario.id for scenario in scenarios if scenario.axis == axis)
            raise QuestionError(
                f"{place}: {only} is the only scenario on {axis}, at least {FEWEST} were expected; add one or leave "
                "it out"
            )
    return scenarios


def _scenario(entry: Any, where: str) -> Scenario:
    if not isinstance(entry, dict):
        raise QuestionError(f"{where}: {kind_of_value(entry)} found, an object was expected; mend it")
    named = f"{where} ({entry['id']})" if isinstance(entry.get("id"), str) else where
    return validated(Scenario, entry, QuestionError, named)


def _require_once(scenarios: Sequence[Scenario], place: Path) -> None:
    ids: dict[str, int] = {}
    texts: dict[str, str] = {}
    for number, scenario in enumerate(scenarios, 1):
        if (first := ids.setdefault(scenario.id, number)) != number:
            raise QuestionError(f"{place}: scenario {number}: id {scenario.id} is that of scenario {first}; rename one")
        text = plain(f"{scenario.situation} {scenario.question}")
        if (other := texts.setdefault(text, scenario.id)) != scenario.id:
            raise QuestionError(f"{place}: scenario {number} ({scenario.id}): its text is that of {other}; keep one")


def plain(text: str) -> str:
    """The text without case and superfluous blanks, for comparisons."""
    return " ".join(text.split()).casefold()


def scenario_rows(scenarios: Iterable[Scenario]) -> list[dict[str, Any]]:
    """Rows of the table `worldwise/scenarios`."""
    return [
        {("scenario_id" if name == "id" else name): getattr(each, name) for name in (*Scenario.model_fields, "more")}
        for each in scenarios
    ]


def scenarios_of(frame: pd.DataFrame) -> list[Scenario]:
    """The dilemmas in rows of the table `worldwise/scenarios`."""
    rows = records(frame.rename(columns={"scenario_id": "id"}))
    return [
        Scenario.model_validate({name: row[name] for name in Scenario.model_fields} | json.loads(row["more"] or "{}"))
        for row in rows
    ]


def domains_of(scenarios: pd.DataFrame) -> dict[str, str]:
    """The domain of each dilemma by its id, from a table with `scenario_id` and `domain`."""
    return dict(zip(scenarios["scenario_id"].astype(str), scenarios["domain"].astype(str), strict=True))


class Doubt(NamedTuple):
    """A feature of a scenario that a person should look at."""

    id: str
    what: str


def find_doubts(scenarios: Iterable[Scenario], names: Iterable[str] = ()) -> list[Doubt]:
    """Features that may spoil dilemmas: unequal options, names of countries, words of the axis, other languages.

    Another language than English is a doubt because the lines around a dilemma are English. `names` also give a country
    away, such as those of a study's cultures.
    """
    also = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in dict.fromkeys(names)]
    return [Doubt(scenario.id, what) for scenario in scenarios for what in _doubts(scenario, also)]


def _doubts(scenario: Scenario, also: Sequence[re.Pattern[str]]) -> Iterator[str]:
    short, long = sorted((len(scenario.high), len(scenario.low)))
    if long > LONGER * short:
        which = HIGH if len(scenario.high) == long else LOW
        yield f"option {which} has {long} characters, the other {short}: more than {LONGER} times as many"
    text = "\n".join(scenario.texts)
    for name in dict.fromkeys(match for names in (country_pattern(), *also) for match in names.findall(text)):
        yield f"names a country: {name}"
    for word in (*AXIS_WORDS[scenario.axis], *SCHOOL_WORDS, rf"{scenario.axis}\b"):
        if match := re.search(rf"\b{word}\w*", text, re.IGNORECASE):
            yield f"has a word of the axis: {match[0]}"
    if scenario.language != "eng":
        yield f"is in {scenario.language}, the lines around it are English"
