"""Attributes of a person's background, which prompts name and groups are formed by, and profiles of their values."""

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd
import pydantic

from valuesassets.records.errors import StudyError
from valuesassets.records.faults import validated
from valuesassets.records.places import STUDIES
from valuesassets.records.settings.kinds import Record

FILE = STUDIES / "worldvaluesbench" / "backgrounds.toml"
FACTORS = MappingProxyType(
    {
        "continent": ("Africa", "Asia", "Europe", "North America", "Oceania", "South America"),
        "settlement": ("urban", "rural"),
        "education": ("primary_or_none", "lower_secondary", "upper_to_post_secondary", "tertiary"),
    }
)
"""The factors that people are grouped by, with their levels."""
ATTRIBUTE_OF = MappingProxyType({"continent": "B_COUNTRY", "settlement": "H_URBRURAL", "education": "Q275"})
"""The attribute that determines the level of each factor."""


class Attribute(Record):
    """One of the 42 background variables of WVS-7.

    Attributes:
        id: the variable of WVS-7, as `B_COUNTRY`.
        name: its name in prompts, as `Country`.
        kind: `codes` of a few answers, which all have labels; a `number`; or `text`, one of many places, languages or
            groups, which has codes in the file too, not all of them with a label here.
        labels_of: the list that contains most of its labels.
        labels: by code; codes below 0 are missing. Labels of N_TOWN, Q289CS9 and Q290 are not bundled: see `named_by`.
    """

    id: str
    name: str
    kind: Literal["codes", "number", "text"]
    labels_of: Literal["countries", "languages"] | None = None
    labels: dict[int, str] = pydantic.Field(default_factory=dict)


class Backgrounds(Record):
    """The bundled facts: attributes, the level of each code by factor, and lists of labels that attributes share.

    Codes of countries are ISO 3166-1 numeric, codes of education 0 to 8; others are those of WVS-7.
    """

    attributes: tuple[Attribute, ...]
    continents: dict[int, str]
    education: dict[int, str]
    settlement: dict[int, str]
    lists: dict[str, dict[int, str]]

    @property
    def levels(self) -> dict[str, dict[int, str]]:
        """The level of each code, by factor."""
        return dict(zip(FACTORS, (self.continents, self.settlement, self.education), strict=True))

    def attribute(self, name: str) -> Attribute:
        """The attribute with this id.
        Raises:
            StudyError: no attribute has it.
        """
        match = next((attribute for attribute in self.attributes if attribute.id == name), None)
        if match is None:
            raise StudyError(f"attributes: {name} unknown; name some of {self.attributes[0].id} to Q290")
        return match

    def named_by(self, labels: Mapping[str, Mapping[int, str]]) -> "Backgrounds":
        """The facts with further `labels`, by attribute and code, such as those of the published codebook."""
        more = [
            each.model_copy(update={"labels": {**labels.get(each.id, {}), **each.labels}}) for each in self.attributes
        ]
        return self.model_copy(update={"attributes": tuple(more)})


@functools.cache
def load_backgrounds() -> Backgrounds:
    """The bundled facts; StudyError names key and reason if the file is malformed."""
    facts = validated(Backgrounds, tomllib.loads(FILE.read_text(encoding="utf-8")), StudyError, FILE.name)
    return facts.named_by({each.id: facts.lists[each.labels_of] for each in facts.attributes if each.labels_of})


_BETWEEN = re.compile(r",(?=[A-Z][A-Z0-9_]*=)")


def profile_key(values: Sequence[tuple[str, Any]]) -> str:
    """The key of a profile: attributes in the order of the bundled list, without missing ones.

    >>> profile_key([("Q275", 3.0), ("B_COUNTRY", 156), ("H_URBRURAL", -5)])
    'B_COUNTRY=156,Q275=3'
    """
    order = {attribute.id: place for place, attribute in enumerate(load_backgrounds().attributes)}
    parts = [(order.get(name, len(order)), name, text) for name, value in values if (text := _written(value))]
    return ",".join(f"{name}={text}" for _, name, text in sorted(parts))


def parse_profile(key: str) -> dict[str, str]:
    """The values of a profile's key, by attribute.

    >>> parse_profile("B_COUNTRY=156,Q275=3")
    {'B_COUNTRY': '156', 'Q275': '3'}
    """
    return {name: value for name, _, value in (part.partition("=") for part in _BETWEEN.split(key) if part)}


def profile_keys(people: pd.DataFrame, attributes: Sequence[str]) -> pd.Series:
    """The key of every row of `people`, which has a column for each attribute."""
    if not attributes:
        return pd.Series("", index=people.index)
    columns = list(attributes)
    combination = people.groupby(columns, sort=False, dropna=False, observed=True).ngroup()
    distinct = people[columns].loc[~combination.duplicated()].astype(object)
    keys = [profile_key(list(zip(columns, row, strict=True))) for row in distinct.itertuples(index=False)]
    return pd.Series(pd.Categorical.from_codes(combination.to_numpy(), range(len(keys))), index=people.index).map(
        dict(enumerate(keys))
    )


def _written(value: Any) -> str:
    """A code or text as it occurs in keys; empty if it is missing."""
    if value is None or value is pd.NA or value != value:
        return ""
    text = str(value).strip()
    if re.fullmatch(r"[+-]?\d+(\.0*)?", text):
        return "" if text.startswith("-") else str(int(float(text)))
    return text
