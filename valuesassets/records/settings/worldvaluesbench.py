"""`[worldvaluesbench]`: whose answers models' ratings are compared with, what is asked, and of whom."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import pydantic

from valuesassets.records.settings.human import DataFile
from valuesassets.records.settings.kinds import (
    VARIABLE,
    Count,
    FamilyName,
    InstrumentTable,
    LanguageCode,
    Positive,
    Record,
    StudyPath,
)

if TYPE_CHECKING:
    from valuesassets.records.study import Study

Wording = Literal["list", "list_reversed_attributes", "sentence"]
Variable = Annotated[str, pydantic.Field(pattern=VARIABLE)]


class AskedSet(Record):
    """What is put to the models together: its questions, what prompts say of a person, and the people asked about."""

    language: LanguageCode
    """Language of the prompts; one of the study's."""
    questions: Literal["probe", "all"] | tuple[Variable, ...] = "probe"
    """Ids of the questions; `probe`: the benchmark's 36, `all`: its 239."""
    attributes: Annotated[tuple[Variable, ...], pydantic.Field(min_length=1)] = ("B_COUNTRY", "H_URBRURAL", "Q275")
    """What of a person's background prompts name, in this order: variables of WVS-7."""
    probe: Positive | Literal["all"] | DataFile = 5
    """About whom is asked: so many people drawn for each question and group, everybody (`all`), or those of a file in
    the benchmark's form (`samples.tsv`)."""

    @pydantic.field_validator("questions", "attributes")
    @classmethod
    def _named_once(cls, given: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if not isinstance(given, str) and (twice := _twice(given)):
            raise ValueError(f"{twice} stands there twice; name it once")
        if given == ():
            raise ValueError("no question is named; name some, or say 'probe' or 'all'")
        return given


class RatingsFile(Record):
    """Answers that were made elsewhere, to be scored beside those of the study's models."""

    model_config = pydantic.ConfigDict(serialize_by_alias=True, validate_by_name=True)

    name: FamilyName
    """What tables and figures call them."""
    with_attributes: Annotated[DataFile | None, pydantic.Field(alias="with")] = None
    """The file of what was answered with the person's background in the prompt; left out, ratings are made up as
    `worldvaluesbench.slopes` says."""
    without: DataFile | None = None
    """The same without the background, where that was asked too."""


class Decode(Record):
    """What models are left to write beside the distributions that are read: answers that are then parsed as text."""

    samples: Count = 0
    """Answers drawn to each prompt, in both orders; those of reference models are drawn all the same
    (`phantom.samples`)."""
    seed_prompts: tuple[Literal[5, 6, 7, 8, 9, 10], ...] = ()
    """Figures of the paper to whose prompts models write as well: 5 to 8 with the background, one answer each; 9 and 10
    without, 230 answers to each question. The questions' words are taken from `seed_files`. Reference models, which
    were trained on other prompts, are not asked."""


class WorldValuesBench(InstrumentTable):
    """Whose answers models' ratings are compared with, what is asked, and of whom.

    Each `sets.<name>` is asked for itself; `slopes` says what is planted into reference models and made-up ratings.
    """

    answers: Literal["planted"] | DataFile
    """People's answers: your file of WVS-7, pooled over countries, with codes (.csv, .sav, .dta, .parquet); or
    made-up people (`planted`)."""
    people: Positive = 2000
    """How many people are made up, with `answers = "planted"`."""
    seed_files: StudyPath | None = None
    """The benchmark's folder `dataset_construction`, for its own wording and files; nothing of it is needed else."""
    repeated_ids: Literal["renumber", "drop"] = "renumber"
    """What becomes of different people who share an id: they are numbered anew, or left out as in the benchmark."""
    splits: Literal["seed", "stable"] = "seed"
    """How people are split: by the benchmark's shuffle of rows, or by a hash of each id, which more people do not
    change."""
    min_group: Annotated[int, pydantic.Field(ge=2)] = 5
    """Fewest answers to a question that a group needs."""
    wordings: Annotated[tuple[Wording, ...], pydantic.Field(min_length=1)] = ("list",)
    """How a prompt is put: attributes as a list, as the same list reversed, or all in sentences."""
    slopes: dict[FamilyName, float] = pydantic.Field(default_factory=dict)
    """What is planted, by name of a reference family or of made-up ratings: the share of people's differences between
    groups that it makes (1: as people; 0: none; below 0: the wrong way; above 1: a caricature)."""
    decode: Decode = Decode()
    sets: Annotated[dict[FamilyName, AskedSet], pydantic.Field(min_length=1)]
    ratings: tuple[RatingsFile, ...] = ()

    def check(self, study: "Study") -> None:
        """See that languages, names and slopes agree with the study.

        Raises:
            ValueError: they do not; names the key.
        """
        for name, asked in self.sets.items():
            if asked.language not in study.languages:
                raise ValueError(
                    f"worldvaluesbench.sets.{name}.language: {asked.language} is none of the study's languages "
                    f"({', '.join(study.languages)}); add it or name another"
                )
            if isinstance(asked.probe, int) and asked.probe < self.min_group:
                raise ValueError(
                    f"worldvaluesbench.sets.{name}.probe: {asked.probe} of each group are asked about, and groups of "
                    f"fewer than min_group = {self.min_group} are not compared; raise probe or lower min_group"
                )
        models = [*study.families, *(file.name for file in self.ratings)]
        if twice := _twice(models):
            raise ValueError(f"worldvaluesbench.ratings: two models are called {twice}; give the ratings another name")
        if twice := _twice(self.wordings):
            raise ValueError(f"worldvaluesbench.wordings: {twice} stands there twice; name it once")
        if self.decode.seed_prompts and self.seed_files is None:
            raise ValueError(
                "worldvaluesbench.decode.seed_prompts needs seed_files, which its words are taken from; name them"
            )
        if twice := _twice(map(str, self.decode.seed_prompts)):
            raise ValueError(f"worldvaluesbench.decode.seed_prompts: figure {twice} stands there twice; name it once")
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
            raise ValueError(f"worldvaluesbench.slopes: says nothing of {lacking[0]}, which is planted; add its slope")
        if unknown := [name for name in self.slopes if name not in (*trained, *made_up)]:
            raise ValueError(
                f"worldvaluesbench.slopes: nothing is planted into {unknown[0]}; name reference families or "
                "ratings without a file"
            )
        if trained and len({asked.language for asked in self.sets.values()}) < len(self.sets):
            raise ValueError(
                "worldvaluesbench.sets: two sets of one language share the prompts that name no background, on which a "
                "reference model can be trained once; leave one out, or the reference families"
            )
        if trained and self.wordings != ("list",):
            raise ValueError(
                "worldvaluesbench.wordings: reference models are trained on 'list' alone; leave the others out"
            )


def _twice(names: Iterable[str]) -> str | None:
    return next((name for name, times in Counter(names).items() if times > 1), None)
