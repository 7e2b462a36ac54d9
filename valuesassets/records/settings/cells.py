"""`[languages.<code>]` and `[families.<name>]`: the two dimensions of a grid, and the model of each cell."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import pydantic

from valuesassets.records.places import STUDIES
from valuesassets.records.settings.draws import Draws
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.kinds import COUNTRY, SHA256, ModelPlace, Record, StudyPath
from valuesassets.records.settings.prompting import AS_TEXT, Prompting
from valuesassets.records.settings.slurm import Resources
from valuesassets.records.trials import BosRule

if TYPE_CHECKING:
    from valuesassets.records.study import Study

Extractor = Literal["layout", "gemini", "imported"]
"""From the PDF's text layer, by Gemini, or from a file of questions."""


WRONG_COUNTRIES = {"UK": "GB", "EL": "GR", "EN": "GB", "SU": "RU", "YU": "RS"}
"""Codes that are often used by mistake, with the right ones."""


@cache
def known_countries() -> frozenset[str]:
    """The codes of ISO 3166-1 alpha-2, and XK, which surveys use for Kosovo."""
    rows = (STUDIES / "facts" / "iso_countries.csv").read_text(encoding="utf-8").splitlines()
    return frozenset({line.partition(",")[0] for line in rows[1:]} | {"XK"})


def _is_gguf(model: str) -> bool:
    """Whether a model's name is that of a GGUF file, which is the only file that may be a model."""
    return model.startswith("index:") or model.lower().endswith(".gguf") or Path(model).is_file()


def require_country(country: str) -> str:
    """The code of a country.

    Raises:
        ValueError: it is the code of no country; says the right one where that is known.
    """
    if country not in known_countries():
        code = WRONG_COUNTRIES.get(country)
        advice = f"write {code}" if code else "look it up in the list of ISO 3166-1, such as DE"
        raise ValueError(f"{country} is the code of no country; {advice}")
    return country


Zone = Literal[
    "African-Islamic",
    "Catholic Europe",
    "Confucian",
    "English-Speaking",
    "Latin America",
    "Orthodox Europe",
    "Protestant Europe",
    "West & South Asia",
]
"""The zones of the published map (studies/facts/iw_coordinates.csv)."""


class Language(Record):
    """One language of a study. Its key is the ISO 639-3 code."""

    name: str
    """English name, for figures and tables."""
    country: Annotated[str, pydantic.Field(pattern=COUNTRY)] | None = None
    """Country whose people are compared with the language's answers, ISO 3166 alpha-2. The survey needs it."""
    zone: Zone | None = None
    """Culture zone of the Inglehart-Welzel map. The survey needs it."""
    region: str | None = None
    """A group of languages for comparing distances, such as Nordic or Baltic; optional."""
    resource: Literal["high", "low"] = "high"
    """Amount of text in the language on the web: `high` or `low`."""
    script: str | None = None
    """Ignored and removed in the next release; leave it out. The script follows from the language."""
    pdf: str | None = None
    """Name of the PDF in `pdf_dir`, or in the ZIP archive of a download; `<code>.pdf` if left out."""
    lexicon: StudyPath | None = None
    """Your own words around the questions, in TOML (`valuesassets template lexicon` writes one to fill in); the bundled
    ones if left out."""
    gesis_document: int | None = None
    """Number of the field questionnaire at GESIS; needed with `questionnaires.source = "gesis"`."""
    extractor: Extractor | None = None
    """How this language's questions are obtained; `questionnaires.extractor` if left out."""
    sha256: Annotated[str, pydantic.Field(pattern=SHA256)] | None = None
    """SHA-256 checksum of the questionnaire's PDF; not checked if left out."""

    @pydantic.field_validator("country")
    @classmethod
    def _is_a_country(cls, country: str | None) -> str | None:
        return country if country is None else require_country(country)


_LEFT_OUT = pydantic.Field(default=None, exclude_if=lambda value: value is None)


class Family(Record):
    """A model family: one model for all languages, or one for each. Its key is its name in tables and figures."""

    kind: Literal["huggingface", "reference", "gemini", "openai"]
    """`huggingface`: models from the hub or from folders; `reference`: tiny models trained here on planted answers;
    `gemini`, `openai`: models behind Google's interface or OpenAI's, wherever they run."""
    model_type: Literal["mono", "multi"]
    """`mono`: a model per language; `multi`: one model for all."""
    model_id: ModelPlace | None = None
    """Hub id, folder, GGUF file, or the model's name at its API; `{lang}` stands for the language's code. Reference
    families have none."""
    plants: Literal["values", "no-signal", "always-first"] = "values"
    """What a reference family is trained to answer: preferences that differ between languages or cultures (`values`),
    the same preferences in all of them (`no-signal`), or always the option shown first (`always-first`)."""
    revision: str | None = None
    """Commit, tag or branch on the hub; the main branch if left out."""
    adapter: ModelPlace | None = _LEFT_OUT
    """LoRA adapter that is put on the models: hub id or folder as peft saves it; `{lang}` stands for the language's
    code."""
    adapter_revision: str | None = _LEFT_OUT
    """Commit, tag or branch of the adapter on the hub; the main branch if left out."""
    dtype: Literal["float32", "bfloat16", "auto"] = "auto"
    """Number format of the weights in memory; `auto`: bfloat16 on a GPU, as the weights are stored on a CPU."""
    offline: bool = False
    """Whether models come from this machine's cache only, without contacting the hub."""
    bos: BosRule = "template"
    """Beginning of every prompt: as the tokenizer's own template has it (`template`), or `always` or `never` its
    beginning-of-text token."""
    languages: Annotated[tuple[str, ...], pydantic.Field(min_length=1)] | Literal["card"] | None = None
    """Codes of the languages that the family supports; all languages of the study if left out. `card`: the languages on
    the model card, in instruments that read it (cultural robustness)."""
    prompting: Prompting = AS_TEXT
    draws: Draws | None = pydantic.Field(default=None, exclude_if=lambda draws: draws is None)
    """Lets the survey count answers that the family writes; for models that show no probabilities or think first."""
    endpoint: Endpoint | None = None
    resources: Resources = Resources()

    @pydantic.model_validator(mode="after")
    def _model_id_fits_kind(self) -> "Family":
        if (self.kind == "reference") == (self.model_id is not None):
            raise ValueError("kind = 'reference' takes no model_id, the other kinds need one; mend one of the two")
        is_remote = self.kind in ("gemini", "openai")
        if is_remote != (self.endpoint is not None):
            raise ValueError(
                "kinds 'gemini' and 'openai' need an endpoint, the other kinds take none; mend one of the two"
            )
        if self.endpoint is not None and self.endpoint.provider != self.kind:
            raise ValueError(
                f"kind = '{self.kind}' has an endpoint of provider '{self.endpoint.provider}'; name the same in both"
            )
        names = {key: name for key in ("model_id", "adapter") if (name := getattr(self, key)) is not None}
        if self.model_id is not None and self.model_type == "mono" and "{lang}" not in "".join(names.values()):
            raise ValueError(
                f"a mono family needs {{lang}} in model_id (found {self.model_id}); add it, or say model_type = 'multi'"
            )
        for key, name in names.items():
            if set("{}") & set(name.replace("{lang}", "")):
                raise ValueError(f"no braces but those of {{lang}} may stand in {key} (found {name})")
        if self.kind != "reference" and self.plants != "values":
            raise ValueError("plants are for kind = 'reference'; nothing is planted in a real model")
        if self.kind == "reference" and (self.offline or self.bos != "template"):
            raise ValueError(
                "offline and bos are for kind = 'huggingface'; a reference model is trained here and asked as trained: "
                "leave them out"
            )
        if self.kind == "reference" and self.prompting != AS_TEXT:
            raise ValueError(
                "prompting is for kind = 'huggingface'; a reference model is asked as it was trained: leave it out"
            )
        if self.endpoint is not None:
            self.endpoint.check(self.prompting)
            if self.offline or self.revision or self.dtype != "auto":
                raise ValueError(
                    "offline, revision and dtype are for kind = 'huggingface'; elsewhere the provider decides, so leave"
                    " them out"
                )
        if self.prompting.is_chat and self.bos != "template":
            raise ValueError(
                "bos is for prompting.style = 'text'; in a chat the template says what begins a prompt: leave it out"
            )
        return self

    @pydantic.model_validator(mode="after")
    def _adapter_fits_kind(self) -> "Family":
        if self.adapter_revision is not None and self.adapter is None:
            raise ValueError("adapter_revision is a commit, tag or branch of adapter; add adapter or leave it out")
        if self.adapter is not None and self.kind != "huggingface":
            raise ValueError(
                f"adapter is for kind = 'huggingface', whose weights are loaded here, not for kind = '{self.kind}'; "
                "leave it out"
            )
        if self.adapter is not None and _is_gguf(str(self.model_id)):
            raise ValueError(
                f"adapter is for models in safetensors; {self.model_id} is a GGUF file, on whose rounded weights no "
                "adapter was trained: name the model that it was trained on"
            )
        return self

    def weights_for(self, language: str) -> tuple[str, str | None]:
        """The model that is asked in a language, and the adapter that is put on it, if any."""
        model, adapter = ((name or "").format(lang=language) for name in (self.model_id, self.adapter))
        return model, adapter or None

    def check(self, name: str, study: "Study") -> None:
        """Require that the study has the languages that the family supports, and its prompting a text in each.

        Raises:
            ValueError: one of them lacks a language.
        """
        unknown = set() if self.languages == "card" else set(self.languages or ()) - set(study.languages)
        if unknown:
            raise ValueError(
                f"families.{name}.languages: {', '.join(sorted(unknown))} not among the study's languages; add "
                "them or leave them out"
            )
        try:
            self.prompting.check(study.family_languages(name))
        except ValueError as error:
            raise ValueError(f"families.{name}.{error}") from None
        if self.draws is not None and study.questionnaires is None:
            raise ValueError(
                f"families.{name}.draws: the survey alone counts draws, and there is no [questionnaires]; leave it out"
            )
