"""`Study`: all settings of a study, read from one TOML file; and `Part` and `Cell`, the units of a grid."""

import difflib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pydantic

from valuesassets.records.errors import StudyError
from valuesassets.records.faults import validated
from valuesassets.records.files import no_such_file, read_toml
from valuesassets.records.home import own_study
from valuesassets.records.places import NO_STUDIES, STUDIES, bundled_names
from valuesassets.records.plugins import installed, object_of
from valuesassets.records.settings.cells import Family, Language
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.settings.human import HumanData
from valuesassets.records.settings.kinds import (
    FAMILY_NAME,
    OWNER,
    STUDY_NAME,
    FamilyName,
    InstrumentTable,
    LanguageCode,
    Record,
    records_below,
)
from valuesassets.records.settings.measuring import Elicitation, Inference, Phantom, Preflight, Thresholds
from valuesassets.records.settings.psych_tasks import PsychTasks
from valuesassets.records.settings.questionnaires import MapSettings, Questionnaires
from valuesassets.records.settings.shift import Shift
from valuesassets.records.settings.slurm import SlurmSettings
from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.settings.worldwise import Worldwise

DEMO = "demo_survey"
"""The study that is run where none is named."""
EARLIER_NAMES = {
    "demo": DEMO,
    "demo22": "demo_survey_22",
    "psych_demo": "demo_psych_tasks",
    "robustness_demo": "demo_cultural_robustness",
    "worldwise_demo": "demo_worldwise",
}
"""Earlier names of bundled studies, which are accepted for one release, and the names of today."""

ALIKE = 0.75
"""How alike a misspelt table and the one that is meant are, from 0 to 1."""


class Study(Record):
    """One study: languages, model families, rules of measurement, and a table for each instrument that it runs.

    An instrument adds one field here, `<key>: <InstrumentTable> | None = None`; one of another package gets its field
    from `study_kind`.
    """

    name: Annotated[str, pydantic.Field(pattern=STUDY_NAME)]
    """Name of the study, and of its folder below the storage."""
    title: str
    """One line for readers; printed on the report and in the UI."""
    owners: tuple[Annotated[str, pydantic.Field(pattern=OWNER)], ...] = ()
    """Whom to ask about the study: mail addresses, or `team:<name>`. The UI shows them beside each asset."""
    takes: str | None = None
    """How long a run takes, in words; printed before a run begins."""
    by_plan: dict[str, str] = pydantic.Field(default_factory=dict)
    """Checks that are expected to fail: the beginning of a check's sentence on the report, and why it fails."""
    seed: int
    """Random seed of the study: the same seed gives the same results."""
    languages: Annotated[dict[LanguageCode, Language], pydantic.Field(min_length=1)] = pydantic.Field(
        default_factory=lambda: {"eng": Language(name="English")}
    )
    families: Annotated[dict[FamilyName, Family], pydantic.Field(min_length=1)]
    elicitation: Elicitation = Elicitation()
    thresholds: Thresholds = Thresholds()
    preflight: Preflight = Preflight()
    human: HumanData = HumanData()
    inference: Inference = Inference()
    phantom: Phantom = Phantom()
    shift: dict[FamilyName, Shift] = pydantic.Field(default_factory=dict, exclude_if=lambda shifts: not shifts)
    slurm: SlurmSettings | None = None
    questionnaires: Questionnaires | None = None
    map: MapSettings = MapSettings()
    worldvaluesbench: WorldValuesBench | None = None
    psych_tasks: PsychTasks | None = None
    cultural_robustness: CulturalRobustness | None = None
    worldwise: Worldwise | None = None

    @pydantic.model_validator(mode="after")
    def _tables_agree(self) -> "Study":
        if self.name in NO_STUDIES:
            raise ValueError(f"key 'name': {self.name} is a reserved folder of the storage; choose another name")
        if not self.instrument_tables():
            keys = " or ".join(f"[{key}]" for key in self.instrument_keys())
            raise ValueError(f"no instrument's table, so there is nothing to measure; add {keys}")
        tables = self.instrument_tables().values()
        if "languages" not in self.model_fields_set and any(table.needs_languages for table in tables):
            raise ValueError("key 'languages' is missing; add it")
        for name, family in self.families.items():
            family.check(name, self)
        if self.has_draws and self.distance == "jsd":
            raise ValueError(
                "key 'inference.distance': jsd takes the noise of drawn answers for distance, and a family has draws; "
                "say 'cramer', or leave it out"
            )
        for table in tables:
            table.check(self)
        if repeated := set(self.human.countries) & {language.country for language in self.languages.values()}:
            raise ValueError(f"human.countries: {sorted(map(str, repeated))[0]} is a language's country; leave it out")
        if self.shift and self.questionnaires is None:
            raise ValueError("[shift] compares answers to a survey, and there is no [questionnaires]; leave it out")
        for name, shift in self.shift.items():
            shift.check(name, self)
        return self

    @classmethod
    def instrument_keys(cls) -> list[str]:
        """The keys of all instruments' tables."""
        return [
            key
            for key, field in cls.model_fields.items()
            if any(isinstance(part, type) and issubclass(part, InstrumentTable) for part in get_args(field.annotation))
        ]

    def instrument_tables(self) -> dict[str, InstrumentTable]:
        """The instruments' tables in this study, by key."""
        fields = ((key, getattr(self, key)) for key in type(self).model_fields)
        return {key: table for key, table in fields if isinstance(table, InstrumentTable)}

    @property
    def countries(self) -> dict[str, str]:
        """The country that each language is compared with, ISO 3166.

        Raises:
            StudyError: a language has no country.
        """
        for code, language in self.languages.items():
            if language.country is None:
                raise StudyError(f"study {self.name}: languages.{code}: a country is compared with; add country")
        return {code: str(language.country) for code, language in self.languages.items()}

    @property
    def all_countries(self) -> tuple[str, ...]:
        """The countries of the languages, then the further ones that people are read of; ISO 3166, each once."""
        of_languages = (language.country for language in self.languages.values() if language.country is not None)
        return tuple(dict.fromkeys((*of_languages, *self.human.countries)))

    @property
    def has_reference_models(self) -> bool:
        """Whether the study trains a family of models itself."""
        return any(family.kind == "reference" for family in self.families.values())

    @property
    def has_draws(self) -> bool:
        """Whether the survey counts written answers of any family, instead of reading probabilities."""
        return self.questionnaires is not None and any(family.draws for family in self.families.values())

    @property
    def distance(self) -> Literal["jsd", "cramer"]:
        """The distance between answers that the study's analyses use."""
        return self.inference.distance or ("cramer" if self.has_draws else "jsd")

    @property
    def is_planted(self) -> bool:
        """Whether some answers come from made-up distributions, which every figure then states."""
        return self.has_reference_models or self.human.source == "planted"

    def weights(self, family: str) -> tuple[tuple[str, str | None], ...]:
        """The models of a family on the hub or in folders, each once with its adapter, if it has one."""
        settings = self.families[family]
        languages = self.family_languages(family) if self.model_ids(family) else ()
        return tuple(dict.fromkeys(map(settings.weights_for, languages)))

    def model_ids(self, family: str) -> tuple[str, ...]:
        """The models of a family on the hub or in folders, each once; empty for reference families and APIs."""
        settings = self.families[family]
        model_id = settings.model_id if settings.endpoint is None else None
        languages = self.family_languages(family) if model_id is not None else ()
        return tuple(dict.fromkeys((model_id or "").format(lang=language) for language in languages))

    @property
    def asks_elsewhere(self) -> bool:
        """Whether any family's models stand behind an API."""
        return any(family.endpoint is not None for family in self.families.values())

    @property
    def control_families(self) -> tuple[str, ...]:
        """Reference families with a model and different answers per language: a wrong language must fail there."""
        return tuple(
            name
            for name, family in self.families.items()
            if (family.kind, family.model_type, family.plants) == ("reference", "mono", "values")
            and len(self.family_languages(name)) > 1
            and self.phantom.wrong_languages
        )

    def family_languages(self, family: str) -> tuple[str, ...]:
        """The languages that a family supports, in the study's order."""
        served = self.families[family].languages
        return tuple(code for code in self.languages if served is None or served == "card" or code in served)

    def cells(self) -> list[tuple[str, str]]:
        """Every pair of a family and a language that it supports."""
        return [(family, language) for family in self.families for language in self.family_languages(family)]

    def require_cell(self, family: str, language: str) -> Family:
        """The family of a cell.

        Raises:
            StudyError: the family does not serve the language; names those it serves.
        """
        served = self.family_languages(family)
        if language not in served:
            raise StudyError(
                f"study {self.name}: family {family} does not serve {language}; it serves {', '.join(served)}"
            )
        return self.families[family]


@dataclass(frozen=True)
class Part:
    """One entry of an instrument's second dimension, such as a language, a task or a culture.

    Attributes:
        name: unique within the instrument; files and partitions bear it.
        language: ISO 639-3; the models asked are the families' models of this language.
    """

    name: str
    language: str

    def __post_init__(self) -> None:
        if not re.match(FAMILY_NAME, self.name):
            raise StudyError(f"{self.name!r}: no name of a part; letters, digits, _, . and - may stand in one")

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Cell:
    """One model family in one part of an instrument: what is asked together.

    >>> str(Cell("EuroLLM", Part("dilemmas", "eng")))
    'EuroLLM/dilemmas'
    """

    family: str
    part: Part

    def __str__(self) -> str:
        return f"{self.family}/{self.part.name}"

    @property
    def language(self) -> str:
        """The language of its part, which determines the family's model."""
        return self.part.language


def language_parts(study: Study) -> tuple[Part, ...]:
    """The parts of an instrument that asks in every language of a study: the languages, in the study's order."""
    return tuple(Part(code, code) for code in study.languages)


def cells_of(study: Study, parts: Iterable[Part]) -> list[Cell]:
    """Every family with every part whose language it supports, family by family."""
    all_parts = list(parts)
    served = {family: study.family_languages(family) for family in study.families}
    return [Cell(family, part) for family in served for part in all_parts if part.language in served[family]]


def why_no_people(study: Study) -> str:
    """Why a study has no human distributions, and what is left out therefore."""
    human = study.human
    if human.source == "none":
        return f"Study {study.name} names no human data (human.source = 'none'): comparisons with people are left out."
    if human.source == "means" and human.means is not None:
        return (
            f"Study {study.name} has people's means only ({human.means.name}): W1, JSD, KL and people's points on "
            "the map are refused; |difference of means| / range stays, a lower bound of W1."
        )
    missing = (
        "No language has answers of people yet: materialise aligned_questions, respondents and human_distributions"
    )
    if human.source == "files":
        names = ", ".join(file.path.name for file in human.files)
        return f"{missing}; if they are there, {names} has no respondents of the study's countries."
    return f"{missing}."


def study_path(name_or_path: str) -> Path:
    """The path of a bundled study, also by its earlier name, the given path itself, or that of the home's study.

    Raises:
        StudyError: there is no such bundled study, no such file, and the home's study has another name.
    """
    bundled, name = bundled_names(".", ".toml"), EARLIER_NAMES.get(name_or_path, name_or_path)
    if name in bundled:
        return STUDIES / f"{name}.toml"
    own = own_study()
    own_name = None if own is None else name_in(own)
    if own is not None and name_or_path == own_name and not Path(name_or_path).is_file():
        return own
    if name_or_path and Path(name_or_path).exists():
        return Path(name_or_path)
    raise StudyError(no_such_file(name_or_path, "study file", [*filter(None, [own_name]), *bundled]))


def name_in(path: Path) -> str | None:
    """The name that a study file says, even if the rest of it is faulty; None where it says none."""
    try:
        name = read_toml(path, "a study file (TOML)", StudyError).get("name")
    except StudyError:
        return None
    return name if isinstance(name, str) else None


def load_study(name_or_path: str) -> Study:
    """Load a bundled study, or a study from a TOML file.

    Raises:
        StudyError: the file is missing or faulty; names file, key and reason.
    """
    path = study_path(name_or_path)
    content = read_toml(path, "a study file (TOML)", StudyError)
    study = parse_study(content, str(path), path.resolve().parent)
    settings = study.questionnaires
    is_bundled = EARLIER_NAMES.get(name_or_path, name_or_path) in bundled_names(".", ".toml")
    if settings is None or settings.overrides is not None or is_bundled:
        return study
    questionnaires = settings.model_copy(update={"overrides": path.resolve().parent / f"{path.stem}.overrides"})
    return study.model_copy(update={"questionnaires": questionnaires})


def stored_study(study: Study, storage: Path) -> Study:
    """A study under the name by which a storage has it.

    This is the earlier name of a bundled study that was first run under it: its files and its history stay where they
    are, so that nothing is made or asked again.

    Args:
        storage: the folder in which studies have their files, each below its name.
    """
    for earlier, name in EARLIER_NAMES.items():
        if study.name == name and not (storage / name).exists() and (storage / earlier).is_dir():
            return study.model_copy(update={"name": earlier})
    return study


def parse_study(
    content: dict[str, Any], source: str, folder: Path | None = None, kind: type[Study] | None = None
) -> Study:
    """A study from the content of its file.

    Args:
        folder: the folder that paths are relative to; None leaves paths as they are and does not look for the files.
        kind: a subclass of `Study` with tables of further instruments; by default that of the installed instruments
            whose tables are in the content.

    Raises:
        StudyError: the content is faulty; names source, key and reason of the first three faults.
    """
    try:
        chosen = kind or _kind_of(content)
    except StudyError as fault:
        raise StudyError(f"{source}: {fault}") from None
    keys = [key for part in records_below(Record) for key in part.model_fields]
    return validated(chosen, content, StudyError, source, keys, {"folder": folder} if folder else None)


def study_of_json(text: str) -> Study:
    """A study from what `model_dump_json` wrote of it, with the tables of instruments of other packages."""
    return _kind_of(json.loads(text)).model_validate_json(text)


def _kind_of(content: dict[str, Any]) -> type[Study]:
    """`Study` with the tables that other packages' instruments have in a study file.

    Raises:
        StudyError: a table belongs to no installed instrument, or to one that cannot be used.
    """
    further = [key for key in content if key not in Study.model_fields and isinstance(content[key], dict)]
    if not further:
        return Study
    unusable = next((key for key in further if key in installed().faults), None)
    if unusable is not None:
        raise StudyError(f"[{unusable}]: its {installed().faults[unusable]}")
    unknown = [key for key in further if key not in installed().instruments]
    if len(unknown) == 1 and not _close_tables(unknown[0]):  # several are told with the other faults of the file
        raise StudyError(f"[{unknown[0]}]: no installed instrument has this table; install its package, or remove it")
    return study_kind(tuple(key for key in further if key in installed().instruments))


def _close_tables(key: str) -> list[str]:
    """The tables of a study file that may be meant by a key that is none."""
    return difflib.get_close_matches(key, [*Study.model_fields, *installed().instruments], cutoff=ALIKE)


@cache
def study_kind(names: tuple[str, ...]) -> type[Study]:
    """`Study` with a field for the table of each of these installed instruments of other packages.

    Raises:
        StudyError: a package cannot be imported, or its table is no `InstrumentTable`.
    """
    if not names:
        return Study
    fields: Any = {name: (_table_of(name) | None, None) for name in names}
    return pydantic.create_model("Study", __base__=Study, __doc__=Study.__doc__, **fields)


def installed_kind(tell: Callable[[str], object]) -> type[Study]:
    """`Study` with the tables of all installed instruments of other packages; one that cannot be used is told of."""
    usable = []
    for name in installed().instruments:
        try:
            _table_of(name)
        except StudyError as fault:
            tell(str(fault))
        else:
            usable.append(name)
    return study_kind(tuple(usable))


def _table_of(name: str) -> type[InstrumentTable]:
    """The record of the table of an installed instrument of another package."""
    instrument = installed().instruments[name]
    table = object_of(instrument, instrument.settings)
    if not (isinstance(table, type) and issubclass(table, InstrumentTable)):
        raise StudyError(f"instrument {name}: {instrument.settings} is no InstrumentTable; mend the package")
    return table
