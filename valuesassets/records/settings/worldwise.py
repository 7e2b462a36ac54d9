"""`[worldwise]`: which dilemmas models choose and reason in, and as persons of which cultures."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

import pydantic

from valuesassets.records.settings.human import DataFile
from valuesassets.records.settings.kinds import (
    FamilyName,
    InstrumentTable,
    Positive,
    Record,
    Share,
    model_from_the_study_file,
)

if TYPE_CHECKING:
    from valuesassets.records.study import Study

LANGUAGE = "eng"
"""Of the lines around a dilemma, and of the models that are asked."""
LEXICAL: Final = "lexical"
"""The embedder that is a bag of words, in place of a model's name."""
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


class WorldwiseThresholds(Record):
    """When reasons can be used."""

    parsed: Share = 0.8
    """Least share of a cell's answers that can be read, of those that the model did not refuse; fewer fail a check."""


class Worldwise(InstrumentTable):
    """Which dilemmas models choose in, and as persons of which cultures ([guide](worldwise.md)).

    Models give reasons too where the study names an `embedder`, which places them on the dimensions.

    A persona from nowhere (`placebo`) and none (`unprompted`) are asked beside the cultures."""

    needs_languages: ClassVar[bool] = False

    scenarios: Literal["bundled"] | DataFile = "bundled"
    """The dilemmas: a JSON file, or 48 of our own (`bundled`)."""
    wordings: tuple[Literal[0, 1, 2], ...] = (0,)
    """Numbers of the lines that give a persona: where it lives (0), where it is from (1), its demonym (2)."""
    demand: bool = False
    """Whether personas are also told to hold the values that are typical there; their choices stand beside."""
    countries: Literal["bundled"] | DataFile = "bundled"
    """Scores of countries on the six dimensions, as their authors publish them: a CSV file with
    `ctr,country,pdi,idv,mas,uai,ltowvs,ivr`, or those of twelve countries (`bundled`)."""
    embedder: Annotated[Line, pydantic.AfterValidator(model_from_the_study_file)] | None = None
    """What turns reasons into vectors: hub id or folder of a sentence-transformers model, or a bag of words that needs
    no model (`lexical`); without one models only choose."""
    embedder_revision: str | None = None
    """Commit, tag or branch of the embedder on the hub."""
    exemplars: Literal["bundled"] | DataFile = "bundled"
    """Sentences that stand for the poles of the dimensions: a CSV file with `axis,pole,pair,text`, or 86 pairs of our
    own (`bundled`)."""
    values: Literal["bundled"] | DataFile = "bundled"
    """Values that a reason may tick: a CSV file with `value,axis,pole`, or 24 of our own (`bundled`)."""
    forms: tuple[Literal["decide", "open"], ...] = ("decide", "open")
    """How reasons are asked for: with options to decide for and values to tick (`decide`), or the reason alone
    (`open`). An empty list asks for none."""
    advocates: bool = True
    """Whether models are also asked to speak for each option, so that what the poles sound like is theirs."""
    draws: Positive = 4
    """Answers to each request, in each order of the options."""
    temperature: Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)] = 0.7
    """Of the draws."""
    max_tokens: Positive = 300
    """Most tokens of an answer; longer ones are cut off and do not count."""
    targets: DataFile | None = None
    """What the published score of such answers expects of each culture, from -2 to 2: a CSV file with
    `culture,axis,seed_target`; if left out, the standard scores of the cultures' countries."""
    thresholds: WorldwiseThresholds = WorldwiseThresholds()
    cultures: dict[FamilyName, AskedCulture] = pydantic.Field(default_factory=dict)

    @pydantic.field_validator("wordings")
    @classmethod
    def _names_some(cls, given: tuple[int, ...]) -> tuple[int, ...]:
        if not given:
            raise ValueError("no wording is named; name one or more of 0, 1, 2")
        return given

    @pydantic.field_validator("wordings", "forms")
    @classmethod
    def _named_once(cls, given: tuple[object, ...]) -> tuple[object, ...]:
        if twice := next((each for each in given if given.count(each) > 1), None):
            raise ValueError(f"{twice} stands there twice; name it once")
        return given

    @property
    def has_reasons(self) -> bool:
        """Whether models are asked for reasons; what cannot be placed on a dimension is not asked for."""
        return self.embedder is not None and bool(self.forms)

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
        if self.embedder in (None, LEXICAL) and self.embedder_revision is not None:
            raise ValueError(
                f"worldwise.embedder_revision: {self.embedder or 'no embedder'} has none; leave it out, or name a "
                "model of the hub as worldwise.embedder"
            )
        if study.has_reference_models and self.has_reasons and self.values != "bundled":
            raise ValueError(
                "worldwise.values: reference models learn to tick the bundled values; leave it out, or the reference "
                "families"
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
