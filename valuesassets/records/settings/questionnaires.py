"""`[questionnaires]`, `[questionnaires.gemini]` and `[map]`: the survey's tables of the study file."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import pydantic

from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.places import bundled_names
from valuesassets.records.settings.cells import Extractor, Family, Language
from valuesassets.records.settings.endpoints import Connection, Prices
from valuesassets.records.settings.kinds import InstrumentTable, ModelPlace, Positive, Record, StudyPath

if TYPE_CHECKING:
    from valuesassets.records.study import Study
IMPORTED = (".json", ".csv", ".tsv", ".xlsx", ".qsf", ".lss", ".xls", ".ods", ".xml", ".docx")
"""Endings of files with questions to import."""


class GeminiSettings(Connection):
    """The Gemini model that reads forms, and its requests."""

    model: Annotated[str, pydantic.Field(min_length=1)] = "gemini-3.8-flash"
    """Name of the model at Google."""
    pages_per_request: Positive = 6
    """Pages of a form in one request."""
    use_page_images: bool = False
    """Whether pages are also sent as pictures, for forms with a damaged text layer."""
    prices: Prices | None = None


class Questionnaires(InstrumentTable):
    """The survey: the source of its questionnaires, and how questions are read from them."""

    source: Literal["bundled", "folder", "gesis", "none"]
    """Source of the PDFs: the questionnaire that ships with the project (`bundled`), `pdf_dir` (`folder`), the GESIS
    archive (`gesis`), or `none`, if the questions of every language are imported."""
    pdf_dir: StudyPath | None = None
    """Folder of the PDFs; with `source = "gesis"`, files in it are not downloaded."""
    url: str = "https://access.gesis.org/dbk/{document}"
    """Address for downloads; `{document}` stands for the language's `gesis_document`."""
    master: str = "eng"
    """Language whose questions form the master list, to which the other languages are aligned."""
    survey: Literal["auto", "own"] = "auto"
    """Whether ids such as `v7` and `Q46` are variables of EVS 2017 and WVS-7, if most questions have as many answers as
    these (`auto`), or are always your own (`own`)."""
    extractor: Extractor = "layout"
    """How questions are obtained: from the PDF's text layer (`layout`), by Gemini (`gemini`), or from files of
    questions (`imported`)."""
    second_extractor: Extractor | None = None
    """Extractor to compare with the first; if left out, `layout` where there is a PDF and another extractor."""
    extractions: StudyPath | None = None
    """Folder of files to import: extractions (`<code>.json`), tables of questions (`<code>.csv`, `.tsv`, `.xlsx`,
    `.xls`, `.ods`), or forms of Qualtrics (`.qsf`), LimeSurvey (`.lss`), ODK (`.xlsx`, `.xls`, `.ods`), DDI-Codebook
    (`.xml`) and Word (`.docx`)."""
    gemini: GeminiSettings = GeminiSettings()
    embedder: ModelPlace | None = None
    """Hub id or folder of a sentence-transformers model, whose similarity of texts helps to align languages."""
    embedder_revision: str | None = None
    """Commit, tag or branch of the embedder on the hub."""
    overrides: StudyPath | None = None
    """Folder of your corrections, `<code>.toml` each. If left out, `<study file>.overrides` beside the study file; for
    bundled studies, `overrides` in the study's storage."""

    @pydantic.field_validator("pdf_dir", "extractions")
    @classmethod
    def _folder_is_there(cls, folder: Path | None, info: pydantic.ValidationInfo) -> Path | None:
        is_needed = info.field_name == "extractions" or info.data.get("source") == "folder"
        if folder is not None and info.context and is_needed and not folder.is_dir():
            content = "the PDFs" if info.field_name == "pdf_dir" else "the question files"
            raise ValueError(f"{folder}: no such folder; put {content} there")
        return folder

    @pydantic.model_validator(mode="after")
    def _folder_needs_a_path(self) -> "Questionnaires":
        if self.source == "folder" and self.pdf_dir is None:
            raise ValueError("source = 'folder' needs pdf_dir; add it")
        if "imported" in (self.extractor, self.second_extractor) and self.extractions is None:
            raise ValueError("extractor = 'imported' needs extractions, the folder with <language>.json; add it")
        return self

    def extractor_of(self, language: Language) -> Extractor:
        """How a language's questions are obtained."""
        return language.extractor or self.extractor

    def check(self, study: "Study") -> None:
        """Require that every language has a source of questions, and that languages and families suit the survey.

        Raises:
            ValueError: one does not; names the language or family.
        """
        if self.master not in study.languages:
            raise ValueError(
                f"questionnaires.master = '{self.master}' is not one of the languages {', '.join(study.languages)}; "
                "name one of these"
            )
        for name, family in study.families.items():
            if family.draws is None and (why := _why_no_probabilities(family)):
                raise ValueError(
                    f"families.{name}: the survey reads probabilities, and {why}; add [families.{name}.draws], so that "
                    "written answers are counted, or leave the family out"
                )
        for code, language in study.languages.items():
            if language.lexicon is not None:
                load_lexicon(code, language.lexicon)
            fault = next(self._faults(code, language), None)
            if fault is not None:
                raise ValueError(f"languages.{code}: {fault}")
        self._require_bundled(study)

    def _faults(self, code: str, language: Language) -> Iterator[str]:
        extractor = self.extractor_of(language)
        if extractor == "imported" and self.extractions is None:
            yield f"extractor = 'imported' needs questionnaires.extractions, the folder with {code}.json; add it"
        if extractor != "imported" and self.source == "none":
            yield "questionnaires.source = 'none' needs extractor = 'imported'; say so, or where the PDF comes from"
        if self.source == "gesis" and self.pdf_dir is None and language.gesis_document is None:
            yield "gesis_document is needed with source = 'gesis'; add it"
        if language.country is None:
            yield "the survey compares with a country; add country"
        if language.zone is None:
            yield "the survey's map has culture zones; add zone"

    def imported_files(self, code: str) -> list[Path]:
        """The files from which a language's questions could be imported: one, or several that clash."""
        folder = self.extractions
        return [] if folder is None else [p for end in IMPORTED if (p := folder / f"{code}{end}").is_file()]

    def clash(self, code: str) -> str | None:
        """What is said where a language has several files to import; None where it has not."""
        paths = self.imported_files(code)
        return f"{paths[0]}: {paths[1].name} is there as well; leave one of them" if len(paths) > 1 else None

    def ignored(self, codes: Sequence[str]) -> list[str]:
        """The names of files in the folder to import from that belong to none of these languages."""
        names = {f"{code}{end}" for code in codes for end in IMPORTED}
        paths = sorted(self.extractions.iterdir()) if self.extractions is not None else []
        forms = [path.name for path in paths if path.suffix.lower() in IMPORTED and path.is_file()]
        return [name for name in forms if name not in names and not name.startswith((".", "~$"))]

    def forms(self, languages: Mapping[str, Language]) -> list[str]:
        """The names of the files with questions, language by language; empty for bundled forms."""
        names = []
        for code, language in languages.items():
            if self.extractor_of(language) == "imported" and self.extractions is not None:
                names += [f"{code}{end}" for end in IMPORTED if (self.extractions / f"{code}{end}").exists()]
            elif self.pdf_dir is not None:
                names.append(language.pdf or f"{code}.pdf")
        return names

    def lacking_forms(self, languages: Mapping[str, Language]) -> list[str]:
        """A message for each language whose PDF or imported file is not in its folder."""
        lacking = []
        for code, language in languages.items():
            if self.extractor_of(language) == "imported" and self.extractions is not None:
                if not any((self.extractions / f"{code}{end}").exists() for end in IMPORTED):
                    lacking.append(f"languages.{code}: {self.extractions}: no {code}{f', {code}'.join(IMPORTED)}")
            elif self.source == "folder" and self.pdf_dir is not None:
                path = self.pdf_dir / (language.pdf or f"{code}.pdf")
                lacking += [] if path.exists() else [f"languages.{code}: {path}: no such file"]
        return lacking

    def _require_bundled(self, study: "Study") -> None:
        """Require a lexicon for every language, and with bundled questionnaires a form."""
        lexicons, forms = bundled_names("lexicons", ".toml"), bundled_names("questionnaires", ".pdf")
        for code, language in study.languages.items():
            if language.lexicon is None and code not in lexicons:
                raise ValueError(
                    f"key 'languages.{code}': no lexicon in this language (there are {', '.join(lexicons)}); leave the "
                    f"language out, or write one (valuesassets template lexicon {code}.toml) and name it: lexicon = "
                    f'"{code}.toml"'
                )
            if self.source == "bundled" and code not in forms:
                raise ValueError(
                    f"key 'languages.{code}': no bundled questionnaire in this language (there are "
                    f"{', '.join(forms)}); leave the language out, or name a folder of PDFs with source and pdf_dir"
                )


def _why_no_probabilities(family: Family) -> str | None:
    """Why no probabilities can be read of a family; None where they can."""
    if family.endpoint is not None and not family.endpoint.shows_probabilities:
        return "route = 'sampled' asks for none"
    return "a model that thinks first (thinking = 'on') shows none" if family.prompting.thinking == "on" else None


class MapSettings(Record):
    """The survey's map: the projection onto the Inglehart-Welzel axes."""

    projector: Literal["auto", "fitted", "reference"] = "auto"
    """Axes `fitted` to the study's respondents, or `reference` axes with published slopes; `auto`: fitted if the study
    has files of respondents."""
