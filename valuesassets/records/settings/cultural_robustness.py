"""`[cultural_robustness]`: the everyday questions, their languages and countries, and how often each is asked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import pydantic

from valuesassets.records.settings.human import DataFile
from valuesassets.records.settings.kinds import InstrumentTable, ModelPlace, NamedOnce, Positive, Share, StudyPath

if TYPE_CHECKING:
    from valuesassets.records.study import Study

PLANTED_FAMILIES = ("cultures", "no-signal")
"""The reference families for which answers are made up: one that follows cultures, one that does not."""
PLANTED_LANGUAGES = ("bul", "deu", "ell", "eng", "fra", "pol")
"""The languages in which they are."""
Kept = Literal["truncated", "echo", "loop", "wrong_language"]


class CulturalRobustness(InstrumentTable):
    """The everyday questions, asked in every language without a country and about countries.

    A language's own country (`languages.<code>.country`) is always asked about. Languages without a country are left
    out of comparisons with own countries."""

    needs_languages: ClassVar[bool] = True

    questions: Literal["bundled"] | StudyPath = "bundled"
    """A folder of `<code>_unspecific.jsonl` and `<code>_specific.jsonl` (also .gz), or our six questions in six
    languages (`bundled`)."""
    countries: DataFile | None = None
    """The country of each anchor number: a CSV file with `anchor,country[,persona]`; if left out, `countries.csv` in
    the folder of questions, else the published order."""
    anchors: Positive | None = None
    """Number of countries asked about: a random choice that includes the languages' own; all if left out."""
    samples: Positive = 8
    """Answers to each question without a country; with a single one, differences contain sampling noise."""
    samples_anchored: Positive = 2
    """Answers to each question with a country."""
    greedy: bool = False
    """Whether to take the likeliest token each time, with one answer to each prompt, as in the published scores."""
    temperature: Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)] = 1.0
    """Sampling temperature."""
    max_tokens: Positive = 200
    """Most tokens of an answer; longer answers are cut off and excluded."""
    keep: Annotated[tuple[Kept, ...], NamedOnce] = ()
    """Faulty answers that count all the same; results without them are shown beside."""
    usable_share: Share = 0.8
    """Least share of usable answers, without and with a country; a language with fewer is dropped."""
    embedder: ModelPlace = "Qwen/Qwen3-Embedding-8B"
    """Hub id or folder of the sentence-transformers model that embeds the answers; or `planted`, an embedder made here
    for the made-up answers."""
    embedder_revision: str | None = None
    """Commit, tag or branch of the embedder on the hub."""
    embedder_prefix: str | None = None
    """Text before each answer, which some embedders need (`query: `)."""

    @pydantic.model_validator(mode="before")
    @classmethod
    def _greedy_draws_nothing(cls, content: object) -> object:
        if isinstance(content, dict) and content.get("greedy") is True:
            idle = [key for key in ("samples", "samples_anchored", "temperature") if key in content]
            if idle:
                raise ValueError(f"greedy = true draws nothing and takes one answer; leave out {', '.join(idle)}")
        return content

    @property
    def is_planted(self) -> bool:
        """Whether the embedder is the one made here."""
        return self.embedder == "planted"

    def own_countries(self, study: "Study") -> dict[str, str]:
        """The country of each language that has one, ISO 3166 by ISO 639-3."""
        return {code: language.country for code, language in study.languages.items() if language.country is not None}

    def check(self, study: "Study") -> None:
        """Require at least two languages, and an embedder and countries that fit them.

        Raises:
            ValueError: a setting does not fit; names the key.
        """
        if len(study.languages) < 2:
            raise ValueError("cultural_robustness: compares languages, and the study has one; add others")
        countries = sorted(set(self.own_countries(study).values()))
        if self.anchors is not None and self.anchors < max(len(countries), 2):
            n_own, listed = len(countries), ", ".join(countries)
            needed = f"the languages' own countries are {n_own} ({listed})" if n_own > 2 else "two differ"
            raise ValueError(
                f"cultural_robustness.anchors: {self.anchors}, and {needed}; allow at least {max(len(countries), 2)}"
            )
        if self.is_planted and (self.embedder_revision or self.embedder_prefix):
            raise ValueError(
                "cultural_robustness.embedder_revision, embedder_prefix: a planted embedder has none; leave them out"
            )
        trained = [name for name, family in study.families.items() if family.kind == "reference"]
        if trained and not (self.is_planted and self.questions == "bundled"):
            raise ValueError(
                "cultural_robustness: reference families learn made-up answers to the bundled questions, which a "
                "planted embedder knows; say questions = 'bundled' and embedder = 'planted', or take the families out "
                f"({', '.join(trained)})"
            )
        for family in trained:
            _require_planted(family, study.family_languages(family))
        if self.is_planted and not study.has_reference_models:
            raise ValueError(
                "cultural_robustness.embedder: 'planted' knows the made-up answers of reference families alone, and "
                "there are none; name an embedder"
            )


def _require_planted(family: str, languages: Sequence[str]) -> None:
    """Require that answers are made up for a reference family, in all its languages, else ValueError."""
    if family not in PLANTED_FAMILIES:
        raise ValueError(
            f"families.{family}: no answers are made up for a reference family of this name; there are "
            f"{' and '.join(PLANTED_FAMILIES)}"
        )
    if lacking := [language for language in languages if language not in PLANTED_LANGUAGES]:
        raise ValueError(
            f"families.{family}: no answers are made up in {', '.join(lacking)}, only in "
            f"{', '.join(PLANTED_LANGUAGES)}; name languages of the family among these"
        )
