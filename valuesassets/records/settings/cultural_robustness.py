"""`[cultural_robustness]`: which everyday questions are asked in every language, for which countries, how often."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import pydantic

from valuesassets.records.settings.human import DataFile
from valuesassets.records.settings.kinds import InstrumentTable, ModelPlace, Positive, Share, StudyPath

if TYPE_CHECKING:
    from valuesassets.records.study import Study

Kept = Literal["truncated", "echo", "loop", "wrong_language"]


class CulturalRobustness(InstrumentTable):
    """Which everyday questions are asked in every language, for which countries, how often.

    The country of each language (`languages.<code>.country`) is its own: it is always among those asked about, and
    languages without one take no part in what compares own countries."""

    needs_languages: ClassVar[bool] = True

    questions: Literal["bundled"] | StudyPath = "bundled"
    """A folder of `<code>_unspecific.jsonl` and `<code>_specific.jsonl` (.gz too), or six questions of our own in six
    languages (`bundled`)."""
    countries: DataFile | None = None
    """What anchors are: a CSV file with `anchor,country[,persona]`; if left out, `countries.csv` in the folder of
    questions, else the published order."""
    anchors: Positive | None = None
    """How many countries are asked about, seeded, the languages' own always among them; all if left out."""
    samples: Positive = 8
    """Answers to each question without a country; without several, differences hold the noise of sampling."""
    samples_anchored: Positive = 2
    """Answers to each question with a country."""
    greedy: bool = False
    """Whether the likeliest token is taken each time, with one answer to each prompt, as published scores have it."""
    temperature: Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)] = 1.0
    """Of the draws, where answers are drawn."""
    max_tokens: Positive = 200
    """Most tokens of an answer; longer ones are cut off and do not count."""
    keep: tuple[Kept, ...] = ()
    """Answers that count although something is wrong with them; results without them are shown beside."""
    usable_share: Share = 0.8
    """Least share of a language's answers that have to count, without and with a country; else it is dropped."""
    embedder: ModelPlace = "Qwen/Qwen3-Embedding-8B"
    """Hub id or folder of the sentence-transformers model that turns answers into vectors; or one that is made here
    and knows the made-up answers (`planted`)."""
    embedder_revision: str | None = None
    """Commit, tag or branch of the embedder on the hub."""
    embedder_prefix: str | None = None
    """What is put before each text, as some embedders ask for (`query: `)."""

    @pydantic.model_validator(mode="before")
    @classmethod
    def _greedy_draws_nothing(cls, given: object) -> object:
        if isinstance(given, dict) and given.get("greedy") is True:
            idle = [key for key in ("samples", "samples_anchored", "temperature") if key in given]
            if idle:
                raise ValueError(f"greedy = true draws nothing and takes one answer; leave out {', '.join(idle)}")
        return given

    @pydantic.field_validator("keep")
    @classmethod
    def _named_once(cls, given: tuple[Kept, ...]) -> tuple[Kept, ...]:
        if twice := next((name for name in given if given.count(name) > 1), None):
            raise ValueError(f"{twice} stands there twice; name it once")
        return given

    @property
    def is_planted(self) -> bool:
        """Whether the embedder is made here."""
        return self.embedder == "planted"

    def own_countries(self, study: "Study") -> dict[str, str]:
        """The country of each language that has one, ISO 3166 by ISO 639-3."""
        return {code: language.country for code, language in study.languages.items() if language.country is not None}

    def check(self, study: "Study") -> None:
        """See that there are languages to compare, and that the embedder and the countries fit them.

        Raises:
            ValueError: they do not; names the key.
        """
        if len(study.languages) < 2:
            raise ValueError("cultural_robustness: compares languages, and the study has one; add others")
        own = sorted(set(self.own_countries(study).values()))
        if self.anchors is not None and self.anchors < max(len(own), 2):
            needed = f"the languages' own countries are {len(own)} ({', '.join(own)})" if len(own) > 2 else "two differ"
            raise ValueError(
                f"cultural_robustness.anchors: {self.anchors}, and {needed}; allow at least {max(len(own), 2)}"
            )
        if self.is_planted and (self.embedder_revision or self.embedder_prefix):
            raise ValueError(
                "cultural_robustness.embedder_revision, embedder_prefix: a planted embedder has none; leave them out"
            )
        if study.has_reference_models and not (self.is_planted and self.questions == "bundled"):
            raise ValueError(
                "cultural_robustness: reference families learn made-up answers to the bundled questions, which a "
                "planted embedder knows; say questions = 'bundled' and embedder = 'planted', or take the families out"
            )
        if self.is_planted and not study.has_reference_models:
            raise ValueError(
                "cultural_robustness.embedder: 'planted' knows the made-up answers of reference families alone, and "
                "there are none; name an embedder"
            )
