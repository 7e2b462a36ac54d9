"""`[worldwise]`: the dilemmas in which models choose and reason, and the cultures of their personas."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

import pydantic

from valuesassets.records.settings.human import DataFile
from valuesassets.records.settings.kinds import (
    FamilyName,
    InstrumentTable,
    NamedOnce,
    Positive,
    Record,
    Share,
    model_from_the_study_file,
)

if TYPE_CHECKING:
    from valuesassets.records.study import Study

LANGUAGE = "eng"
"""The language of the lines around a dilemma, and of the models."""
LEXICAL: Final = "lexical"
"""The name of the bag-of-words embedder, which is no model."""
CONTROLS: Final = ("placebo", "unprompted")
"""The control conditions beside the cultures: a persona from nowhere, and no persona."""
Line = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, pattern=r"^[^\r\n]*$")]


class AskedCulture(Record):
    """A culture, represented by the country of its persona. Its key is its name in tables: ISO 3166 alpha-3, if it has
    one."""

    name: Line
    """Name of the country, as in "a person from the Netherlands"."""
    place: Line
    """Place, as in "you live in the Netherlands"."""
    demonym: Line
    """Demonym, as in "the person is Dutch"."""
    names: Annotated[tuple[Line, ...], pydantic.Field(min_length=1)]
    """All words that identify the country in a text: names, adjectives, cities. Dilemmas with such a word are
    doubtful."""


class WorldwiseThresholds(Record):
    """Thresholds for the use of reasons."""

    parsed: Share = 0.8
    """Least share of readable answers in a cell, among those not refused; a lower share fails a check."""


class Worldwise(InstrumentTable):
    """The dilemmas in which models choose, and the cultures of their personas ([guide](worldwise.md)).

    If the study names an `embedder`, models also give reasons, which it places on the dimensions.

    Beside the cultures, models are asked with a persona from nowhere (`placebo`) and without one (`unprompted`)."""

    needs_languages: ClassVar[bool] = False

    scenarios: Literal["bundled"] | DataFile = "bundled"
    """The dilemmas: a JSON file, or our 48 (`bundled`)."""
    wordings: Annotated[tuple[Literal[0, 1, 2], ...], NamedOnce] = (0,)
    """Wordings of the persona, by number: where it lives (0), where it is from (1), its demonym (2)."""
    demand: bool = False
    """Whether personas are also asked to hold the typical values of their country, as a separate condition."""
    countries: Literal["bundled"] | DataFile = "bundled"
    """Countries' scores on the six dimensions, as published by their authors: a CSV file with
    `ctr,country,pdi,idv,mas,uai,ltowvs,ivr`, or the scores of twelve countries (`bundled`)."""
    embedder: Annotated[Line, pydantic.AfterValidator(model_from_the_study_file)] | None = None
    """The embedder of reasons: hub id or folder of a sentence-transformers model, or a bag of words, which needs no
    model (`lexical`). If left out, models only choose."""
    embedder_revision: str | None = None
    """Commit, tag or branch of the embedder on the hub."""
    exemplars: Literal["bundled"] | DataFile = "bundled"
    """Sentences that represent the poles of the dimensions: a CSV file with `axis,pole,pair,text`, or our 86 pairs
    (`bundled`)."""
    values: Literal["bundled"] | DataFile = "bundled"
    """Values that a model may tick as its reasons: a CSV file with `value,axis,pole`, or our 24 (`bundled`)."""
    forms: Annotated[tuple[Literal["decide", "open"], ...], NamedOnce] = ("decide", "open")
    """How reasons are asked for: with options to choose and values to tick (`decide`), or the reason alone (`open`).
    With an empty list, no reasons are asked for."""
    advocates: bool = True
    """Whether models also argue for each option, to show how the poles sound in their own words."""
    draws: Positive = 4
    """Number of answers to each request, in each order of the options."""
    temperature: Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)] = 0.7
    """Sampling temperature."""
    max_tokens: Positive = 300
    """Most tokens of an answer; longer answers are cut off and excluded."""
    targets: DataFile | None = None
    """Each culture's expected position in the published score, from -2 to 2: a CSV file with
    `culture,axis,seed_target`; if left out, the standardised scores of the cultures' countries."""
    thresholds: WorldwiseThresholds = WorldwiseThresholds()
    cultures: dict[FamilyName, AskedCulture] = pydantic.Field(default_factory=dict)

    @pydantic.field_validator("wordings")
    @classmethod
    def _names_some(cls, wordings: tuple[int, ...]) -> tuple[int, ...]:
        if not wordings:
            raise ValueError("no wording is named; name one or more of 0, 1, 2")
        return wordings

    @property
    def has_reasons(self) -> bool:
        """Whether models are asked for reasons, which need an embedder to place them on the dimensions."""
        return self.embedder is not None and bool(self.forms)

    @property
    def parts(self) -> tuple[str, ...]:
        """Every culture, then the two controls."""
        return *self.cultures, *CONTROLS

    def check(self, study: "Study") -> None:
        """Require that names, the language and reference models agree with the study.

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
