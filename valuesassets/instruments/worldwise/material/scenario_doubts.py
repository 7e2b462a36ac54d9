"""What a person should look at in dilemmas: options of unequal length, names of countries, words of the axis."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from valuesassets.instruments.worldwise.answers.answer_texts import country_pattern
from valuesassets.instruments.worldwise.material.dimensions import HIGH, LOW
from valuesassets.instruments.worldwise.material.scenarios import Scenario

LONGER = 2
"""An option that is more than so many times as long as the other may be chosen for that."""
AXIS_WORDS = {
    "IDV": ("individualis", "collectivis"),
    "PDI": ("power distance", "hierarch"),
    "MAS": ("masculin", "feminin", "achievement"),
    "UAI": ("uncertain",),
    "LTO": ("long-term", "short-term", "orientation"),
    "IVR": ("indulg", "restrain"),
}
"""Beginnings of words that tell what an axis is called, beside its code."""
SCHOOL_WORDS = ("cultur", "hofstede")
"""Beginnings of words that tell what all of this is about."""


class Doubt(NamedTuple):
    """What a person should look at in a scenario."""

    id: str
    what: str


def find_doubts(scenarios: Iterable[Scenario], names: Iterable[str] = ()) -> list[Doubt]:
    """What may spoil dilemmas, a row for each doubt, in their order.

    A language other than English is a doubt too, since the lines around a dilemma are English.

    Args:
        names: what else tells a country, such as the names of a study's cultures.
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
