"""`[worldwise]`: which dilemmas models choose in, and as persons of which cultures."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

import pydantic

from valuesassets.records.settings.human import DataFile
from valuesassets.records.settings.kinds import FamilyName, InstrumentTable, Record

if TYPE_CHECKING:
    from valuesassets.records.study import Study

LANGUAGE = "eng"
"""Of the lines around a dilemma, and of the models that are asked."""
CONTROLS: Final = ("placebo", "unprompted")
"""Conditions beside the cultures: a persona from nowhere, and none."""
Line = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, pattern=r"^[^\r\n]*$")]


class AskedCulture(Record):
    """A culture by the country that its persona is from. Its key is what tables call it: ISO 3166 alpha-3, if it has
    one."""

    name: Line
    """As in "a person from the Netherlands"."""
    place: Line
    """As in "you live in the Netherlands"."""
    demonym: Line
    """As in "the person is Dutch"."""
    names: Annotated[tuple[Line, ...], pydantic.Field(min_length=1)]
    """All that tells the country in a text: names, adjectives, cities. A dilemma that has one is doubtful."""


class Worldwise(InstrumentTable):
    """Which dilemmas models choose in, and as persons of which cultures ([guide](worldwise.md)).

    A persona from nowhere (`placebo`) and none (`unprompted`) are asked beside the cultures."""

    needs_languages: ClassVar[bool] = False

    scenarios: Literal["bundled"] | DataFile = "bundled"
    """The dilemmas: a JSON file, or 48 of our own (`bundled`)."""
    wordings: tuple[Literal[0, 1, 2], ...] = (0,)
    """Numbers of the lines that give a persona: where it lives (0), where it is from (1), its demonym (2)."""
    demand: bool = False
    """Whether personas are also told to hold the values that are typical there; their choices stand beside."""
    cultures: dict[FamilyName, AskedCulture] = pydantic.Field(default_factory=dict)

    @pydantic.field_validator("wordings")
    @classmethod
    def _named_once(cls, given: tuple[int, ...]) -> tuple[int, ...]:
        if not given:
            raise ValueError("no wording is named; name one or more of 0, 1, 2")
        if twice := next((number for number in given if given.count(number) > 1), None):
            raise ValueError(f"{twice} stands there twice; name it once")
        return given

    @property
    def parts(self) -> tuple[str, ...]:
        """Every culture, then the two controls."""
        return *self.cultures, *CONTROLS

    def check(self, study: "Study") -> None:
        """See that names, the language and what is trained agree with the study.

        Raises:
            ValueError: they do not; names the key.
        """
        if control := next((name for name in self.cultures if name in CONTROLS), None):
            raise ValueError(
                f"worldwise.cultures.{control}: is the name of a control, which is asked anyway; leave it out or "
                "rename it"
            )
        if LANGUAGE not in study.languages:
            raise ValueError(
                f"worldwise: asks in {LANGUAGE}, which is none of the study's languages "
                f"({', '.join(study.languages)}); add languages.{LANGUAGE}"
            )
        if study.has_reference_models and len(self.wordings) > 1:
            raise ValueError(
                "worldwise.wordings: reference models are trained on one persona line; name one, or leave the "
                "reference families out"
            )
        if study.has_reference_models and self.demand:
            raise ValueError(
                "worldwise.demand: nothing is planted for what reference models are told to hold; leave it out, or the "
                "reference families"
            )
