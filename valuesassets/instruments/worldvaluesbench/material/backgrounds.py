"""What is known of a person's background: attributes that prompts name, and the groups that people are put in."""

import functools
import tomllib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

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
"""The attribute that each factor's level follows from."""


class Attribute(Record):
    """One of the 42 things that WVS-7 knows of a person's background.

    Attributes:
        id: the variable of WVS-7, as `B_COUNTRY`.
        name: as a prompt's line names it, as `Country`.
        kind: `codes` of a few answers, which all have labels; a `number` that says itself; or `text`, one of many
            places, languages or groups, which the file has as codes too, and of which not all need a label here.
        labels_of: the list that most labels are taken from, where there is one.
        labels: what each code says; a code below 0 is missing. Those of N_TOWN, Q289CS9 and Q290 are not bundled:
            see `named_by`.
    """

    id: str
    name: str
    kind: Literal["codes", "number", "text"]
    labels_of: Literal["countries", "languages"] | None = None
    labels: dict[int, str] = pydantic.Field(default_factory=dict)


class Backgrounds(Record):
    """The bundled facts.

    Attributes:
        continents: by ISO 3166-1 numeric code of the country.
        education: level by code 0 to 8 of Q275.
        settlement: level by code of H_URBRURAL.
        lists: what several attributes' codes say: countries by ISO 3166-1 numeric code, languages by WVS-7's own.
    """

    attributes: tuple[Attribute, ...]
    continents: dict[int, str]
    education: dict[int, str]
    settlement: dict[int, str]
    lists: dict[str, dict[int, str]]

    def attribute(self, name: str) -> Attribute:
        """The attribute of an id.

        Raises:
            StudyError: there is none.
        """
        found = next((attribute for attribute in self.attributes if attribute.id == name), None)
        if found is None:
            raise StudyError(f"attributes: {name} unknown; name some of {self.attributes[0].id} to Q290")
        return found

    def named_by(self, labels: Mapping[str, Mapping[int, str]]) -> "Backgrounds":
        """The same with labels for the codes that have none here, as the codebook in a user's `seed_files` gives them.

        Args:
            labels: by attribute and code.
        """
        more = [
            each.model_copy(update={"labels": {**labels.get(each.id, {}), **each.labels}}) for each in self.attributes
        ]
        return self.model_copy(update={"attributes": tuple(more)})


@functools.cache
def load_backgrounds() -> Backgrounds:
    """The facts that ship with the package.

    Raises:
        StudyError: the file is malformed; names key and reason.
    """
    facts = validated(Backgrounds, tomllib.loads(FILE.read_text(encoding="utf-8")), StudyError, FILE.name)
    return facts.named_by({each.id: facts.lists[each.labels_of] for each in facts.attributes if each.labels_of})
