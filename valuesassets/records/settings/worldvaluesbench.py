"""`[worldvaluesbench]`: people's answers to compare with, the questions, and the people whom prompts describe."""

from typing import TYPE_CHECKING, Annotated, Literal

import pydantic

from valuesassets.records.settings.human import DataFile
from valuesassets.records.settings.kinds import (
    VARIABLE,
    Count,
    FamilyName,
    InstrumentTable,
    LanguageCode,
    NamedOnce,
    Positive,
    Record,
    StudyPath,
    first_repeated,
)

if TYPE_CHECKING:
    from valuesassets.records.study import Study

Wording = Literal["list", "list_reversed_attributes", "sentence"]
Variable = Annotated[str, pydantic.Field(pattern=VARIABLE)]


class AskedSet(Record):
    """One set of prompts: its questions, the background that prompts describe, and the people to ask about."""

    language: LanguageCode
    """Language of the prompts; one of the study's."""
    questions: Annotated[Literal["probe", "all"] | tuple[Variable, ...], NamedOnce] = "probe"
    """Ids of the questions; `probe`: the benchmark's 36 probe questions, `all`: all its 239."""
    attributes: Annotated[tuple[Variable, ...], pydantic.Field(min_length=1), NamedOnce] = (
        "B_COUNTRY",
        "H_URBRURAL",
        "Q275",
    )
    """The background that prompts describe, as variables of WVS-7, in this order."""
    probe: Positive | Literal["all"] | DataFile = 5
    """The people to ask about: a number drawn for each question and group, everybody (`all`), or those in a file in the
    benchmark's format (`samples.tsv`)."""

    @pydantic.field_validator("questions", "attributes")
    @classmethod
    def _names_some(cls, entries: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if not isinstance(entries, str) and (repeated := first_repeated(entries)):
            raise ValueError(f"{repeated} stands there twice; name it once")
        if entries == ():
            raise ValueError("no question is named; name some, or say 'probe' or 'all'")
        return entries


class RatingsFile(Record):
    """Ratings from elsewhere, to be scored beside those of the study's models."""

    model_config = pydantic.ConfigDict(serialize_by_alias=True, validate_by_name=True)

    name: FamilyName
    """Their name in tables and figures."""
    with_attributes: Annotated[DataFile | None, pydantic.Field(alias="with")] = None
    """File of the ratings with the person's background in the prompt; if left out, ratings are made up with the slope
    in `worldvaluesbench.slopes`."""
    without: DataFile | None = None
    """File of the ratings without the background, if there are any."""


class Decode(Record):
    """Answers that models write in addition to the distributions that are read; they are parsed as text."""

    samples: Count = 0
    """Answers drawn for each prompt, in both orders; reference models always draw `phantom.samples`."""
    seed_prompts: tuple[Literal[5, 6, 7, 8, 9, 10], ...] = ()
    """Figures of the paper whose prompts models answer too: 5 to 8 with the background, one answer each; 9 and 10
    without it, 230 answers to each question. The wording of questions comes from `seed_files`. Reference models are not
    asked, since they are trained on other prompts."""


class WorldValuesBench(InstrumentTable):
    """People's answers to compare with, the questions, and the people whom prompts describe.

    Each `sets.<name>` is asked and scored separately.
    """

    answers: Literal["planted"] | DataFile
    """People's answers: your file of WVS-7, pooled over countries, with codes (.csv, .sav, .dta, .parquet); or
    `planted`, made-up people."""
    people: Positive = 2000
    """Number of made-up people, with `answers = "planted"`."""
    seed_files: StudyPath | None = None
    """The benchmark's folder `dataset_construction`; only needed for its own wording and files."""
    repeated_ids: Literal["renumber", "drop"] = "renumber"
    """Treatment of different people with the same id: new numbers, or dropping them as the benchmark does."""
    splits: Literal["seed", "stable"] = "seed"
    """How people are split: by the benchmark's shuffle of rows (`seed`), or by a hash of each id, which stays the same
    when people are added (`stable`)."""
    min_group: Annotated[int, pydantic.Field(ge=2)] = 5
    """Fewest answers to a question in a group that is compared."""
    wordings: Annotated[tuple[Wording, ...], pydantic.Field(min_length=1)] = ("list",)
    """Wordings of prompts: attributes as a list, as the reversed list, or in sentences."""
    slopes: dict[FamilyName, float] = pydantic.Field(default_factory=dict)
    """Planted slopes, by the name of a reference family or of made-up ratings: its differences between groups as a
    share of made-up people's, also where `answers` is a file (1: the same; 0: none; below 0: reversed; above 1:
    exaggerated)."""
    decode: Decode = Decode()
    sets: Annotated[dict[FamilyName, AskedSet], pydantic.Field(min_length=1)]
    ratings: tuple[RatingsFile, ...] = ()

    def check(self, study: "Study") -> None:
        """Require that languages, names and slopes agree with the study.

        Raises:
            ValueError: they do not; names the key.
        """
        for name, asked_set in self.sets.items():
            if asked_set.language not in study.languages:
                raise ValueError(
                    f"worldvaluesbench.sets.{name}.language: {asked_set.language} is none of the study's languages "
                    f"({', '.join(study.languages)}); add it or name another"
                )
            if isinstance(asked_set.probe, int) and asked_set.probe < self.min_group:
                raise ValueError(
                    f"worldvaluesbench.sets.{name}.probe: {asked_set.probe} of each group are asked about, and groups "
                    f"of fewer than min_group = {self.min_group} are not compared; raise probe or lower min_group"
                )
        models = [*study.families, *(file.name for file in self.ratings)]
        if repeated := first_repeated(models):
            raise ValueError(
                f"worldvaluesbench.ratings: two models are called {repeated}; give the ratings another name"
            )
        if repeated := first_repeated(self.wordings):
            raise ValueError(f"worldvaluesbench.wordings: {repeated} stands there twice; name it once")
        if self.decode.seed_prompts and self.seed_files is None:
            raise ValueError(
                "worldvaluesbench.decode.seed_prompts needs seed_files, which its words are taken from; name them"
            )
        if repeated := first_repeated(map(str, self.decode.seed_prompts)):
            raise ValueError(
                f"worldvaluesbench.decode.seed_prompts: figure {repeated} stands there twice; name it once"
            )
        if self.decode.seed_prompts and all(family.kind == "reference" for family in study.families.values()):
            raise ValueError(
                "worldvaluesbench.decode.seed_prompts: the study has reference models alone, which are not asked them; "
                "add a family of another kind, or leave seed_prompts out"
            )
        made_up = [file.name for file in self.ratings if file.with_attributes is None]
        if made_up and self.answers != "planted":
            raise ValueError(
                f"worldvaluesbench.ratings: {made_up[0]} has no file, and ratings are made up only with "
                "answers = 'planted'; add with"
            )
        trained = [name for name, family in study.families.items() if family.kind == "reference"]
        if lacking := [name for name in (*trained, *made_up) if name not in self.slopes]:
            raise ValueError(f"worldvaluesbench.slopes: {lacking[0]} is planted and has no entry; add its slope")
        if unknown := [name for name in self.slopes if name not in (*trained, *made_up)]:
            raise ValueError(
                f"worldvaluesbench.slopes: nothing is planted into {unknown[0]}; name reference families or "
                "ratings without a file"
            )
        if trained and len({asked_set.language for asked_set in self.sets.values()}) < len(self.sets):
            raise ValueError(
                "worldvaluesbench.sets: two sets of one language share the prompts that name no background, on which a "
                "reference model can be trained once; leave one out, or the reference families"
            )
        if trained and self.wordings != ("list",):
            raise ValueError(
                "worldvaluesbench.wordings: reference models are trained on 'list' alone; leave the others out"
            )
