"""`worldwise/scenarios`: dilemmas out of a file, each checked."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import pydantic

from valuesassets.answers.language_codes import language_code
from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.records.bundled import BUNDLED, given_or_bundled
from valuesassets.records.errors import QuestionError
from valuesassets.records.faults import kind_of_value, validated
from valuesassets.records.files import read_json
from valuesassets.records.frames import records
from valuesassets.records.settings.kinds import FAMILY_NAME

FEWEST = 2
"""Dilemmas on an axis that has any: means over one say nothing."""

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
        domain: the part of life that it is from.
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
        """All that is shown of it."""
        return self.situation, self.question, self.high, self.low

    @property
    def more(self) -> str | None:
        """Further keys of its file as JSON; None where it has none."""
        return json.dumps(self.model_extra, ensure_ascii=False, sort_keys=True) if self.model_extra else None


def read_scenarios(path: Path | str = BUNDLED) -> list[Scenario]:
    """The dilemmas of a JSON file (an array of objects), in its order.

    Args:
        path: `bundled` for the project's own 48.

    Raises:
        QuestionError: a key is missing or of the wrong kind, an axis unknown, an id or text there twice, options empty
            or equal, or fewer than two dilemmas on an axis; names file, id, what was found and what was expected.
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
    """A text by which two that differ in blanks and capitals alone are the same."""
    return " ".join(text.split()).casefold()


def scenario_rows(scenarios: Iterable[Scenario]) -> list[dict[str, Any]]:
    """Rows of the table `worldwise/scenarios`."""
    return [
        {("scenario_id" if name == "id" else name): getattr(each, name) for name in (*Scenario.model_fields, "more")}
        for each in scenarios
    ]


def scenarios_of(frame: pd.DataFrame) -> list[Scenario]:
    """The dilemmas that rows of the table `worldwise/scenarios` stand for."""
    rows = records(frame.rename(columns={"scenario_id": "id"}))
    return [
        Scenario.model_validate({name: row[name] for name in Scenario.model_fields} | json.loads(row["more"] or "{}"))
        for row in rows
    ]


def domains_of(scenarios: pd.DataFrame) -> dict[str, str]:
    """The domain of each dilemma, by its id.

    Args:
        scenarios: with the columns `scenario_id` and `domain`.
    """
    return dict(zip(scenarios["scenario_id"].astype(str), scenarios["domain"].astype(str), strict=True))
