"""`Run`: a study and the results that its report needs, each with its tables or the reason why it is missing."""

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

import numpy as np
import pandas as pd

from valuesassets.records.frames import rows
from valuesassets.records.places import labelled, named_model
from valuesassets.records.settings.measuring import Inference, Thresholds
from valuesassets.records.study import Study
from valuesassets.reporting.analyses import Analysis
from valuesassets.reporting.parts import Frames, Gate, Refused

LIBRARIES = (
    *("valuesassets", "numpy", "scipy", "pandas", "scikit-learn", "matplotlib", "pyarrow", "pdfplumber"),
    "dagster",
)
"""The packages on which numbers and figures of the report depend."""
NOT_MADE = Refused("this analysis was not handed to the report; materialise it and then the report again")


@dataclass(frozen=True)
class Run:
    """A study and its results.

    Attributes:
        study: the study.
        found: by asset, its table, its tables by name, or `Refused` with the reason. The tables of `calibration` are
            `comparison` (planted against recovered), `recovery` (its summary) and `hardness` (of the plants).
        analyses: the analyses that have sections in the report, by asset.
        gates: the checks of the study with their outcomes.
        versions: the versions of programs by name.
        provenance: a record for each model, file or program, with its hash or version.
        part_name: the part of the study that the page is about; empty for the whole study.
        has_planted_people: whether people's answers are planted although the study does not say so.
        packages: the versions of packages that the instrument is from, by name; none for instruments of this one.
    """

    study: Study
    found: Mapping[str, Any] = field(default_factory=dict)
    analyses: Mapping[str, Analysis] = field(default_factory=dict)
    gates: Sequence[Gate] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    provenance: Sequence[Mapping[str, Any]] = ()
    part_name: str = ""
    has_planted_people: bool = False
    packages: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the page and of its files."""
        return f"{self.study.name}/{self.part_name}" if self.part_name else self.study.name

    @property
    def title(self) -> str:
        """The title of the page."""
        return self.study.title

    @property
    def is_planted(self) -> bool:
        """Whether some or all answers are planted."""
        return self.study.is_planted or self.has_planted_people

    @property
    def inference(self) -> Inference:
        """The settings of intervals and tests."""
        return self.study.inference

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds above which readings count."""
        return self.study.thresholds

    @property
    def distance(self) -> Literal["jsd", "cramer"]:
        """The distance between answers."""
        return self.study.distance

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table by `<asset>/<table>`, or by `<asset>` if the asset is one table."""
        flat: dict[str, pd.DataFrame] = {}
        for name, part in self.found.items():
            if isinstance(part, pd.DataFrame):
                flat[name] = part
            elif isinstance(part, Mapping):
                flat |= {f"{name}/{table}": each for table, each in part.items() if isinstance(each, pd.DataFrame)}
        return flat

    def part(self, name: str) -> Any:
        """The table or tables of an asset, or the reason why it is missing."""
        return self.found.get(name, NOT_MADE)

    def frames(self, name: str) -> Frames:
        """The tables of an asset by name; empty if it is missing."""
        part = self.part(name)
        return {} if isinstance(part, Refused) else part

    def table(self, name: str, what: str = "", of: str | None = None) -> pd.DataFrame | Refused:
        """A table with rows, or the reason why it has none, from the table, its asset's verdicts or its notes.

        Args:
            name: the name of the table; an asset with one table has the same name.
            what: the table in words, for the reason.
            of: the asset of the table, if the asset has several.
        """
        frames = self.part(of or name)
        if isinstance(frames, Refused):
            return frames
        rows_of_table = frames if of is None else frames.get(name)
        what = what or name.replace("_", " ")
        if rows_of_table is None:
            return Refused(f"{what}: the table '{name}' was not handed to the report")
        if len(rows_of_table):
            return rows_of_table
        verdicts = frames.get("verdicts") if of is not None else None
        reasons = [] if verdicts is None else [str(each) for each in verdicts["reason"].dropna().unique()]
        reason = rows_of_table.attrs.get("reason") or "; ".join(reasons) or " ".join(self.notes(of or name))
        return Refused(reason or f"{what}: there is nothing to show, as the table has no rows")

    def notes(self, name: str) -> list[str]:
        """The sentences of an analysis about its tables."""
        frames = self.frames(name)
        return [str(note) for note in frames["notes"]["note"].dropna() if note] if "notes" in frames else []

    @property
    def is_calibrated(self) -> bool:
        """Whether planted answers were read, from reference families or from a model trained for the calibration."""
        return not isinstance(self.table("recovery", "calibration", of="calibration"), Refused)

    @property
    def has_controls(self) -> bool:
        """Whether the study has negative controls, planned or measured."""
        return bool(self.study.control_families) or isinstance(self.part("negative_controls"), pd.DataFrame)

    @property
    def probe(self) -> pd.DataFrame | None:
        """The rows of `PROBE_DISTRIBUTIONS` of all cells; None if they are missing."""
        return None if isinstance(answers := self.table("probe_distributions"), Refused) else answers

    @property
    def human(self) -> pd.DataFrame | None:
        """The rows of `HUMAN_DISTRIBUTIONS`; None if they are missing."""
        return None if isinstance(answers := self.table("human_distributions"), Refused) else answers

    @property
    def quality(self) -> Frames:
        """The tables `cells`, `questions` and `readings` of the quality report."""
        return self.frames("quality_report")

    def cells_that(self, *flags: str) -> pd.DataFrame:
        """The cells of the quality report with at least one of these flags: `is_missing`, `is_flagged`."""
        cells = self.quality.get("cells", pd.DataFrame(columns=pd.Index(flags)))
        return rows(cells, np.any([cells[flag].fillna(value=False).astype(bool) for flag in flags], axis=0))

    @property
    def dropped(self) -> pd.DataFrame:
        """The questions that the quality report drops."""
        questions = self.quality.get("questions", pd.DataFrame(columns=pd.Index(["is_dropped"])))
        return rows(questions, questions["is_dropped"].astype(bool))

    @cached_property
    def tests(self) -> pd.DataFrame | None:
        """The tests of all analyses in one table with the column `analysis`; None if there are no tests."""
        by_analysis = {name: self.frames(name).get("tests", ()) for name in self.analyses}
        tables = [frame.assign(analysis=name) for name, frame in by_analysis.items() if isinstance(frame, pd.DataFrame)]
        tables = [frame.astype(object) for frame in tables if len(frame)]
        return pd.concat(tables, ignore_index=True).infer_objects() if tables else None

    def has_model(self, beginning: str) -> bool:
        """Whether the hub id of some family's model has this beginning."""
        return any((family.model_id or "").startswith(beginning) for family in self.study.families.values())

    def has_survey(self, name: str) -> bool:
        """Whether the answers of a survey's respondents are the human reference."""
        return self.study.human.source == "files" and any(file.survey == name for file in self.study.human.files)

    def is_corrected_by(self, correction: str) -> bool:
        """Whether there are tests whose p-values have this correction."""
        return self.tests is not None and bool((self.tests["correction"] == correction).any())


READING_KEYS = ("dtype", "layout", "road", "template_sha256", "scorer_version", "torch")
"""The keys of a cell's metadata that the page shows about its reading."""


def reading_origin(name: str, metadata: Mapping[str, str]) -> dict[str, str]:
    """The origin of a cell's readings or answers: its model, and how the model was read.

    A model behind an API has its version in place of the commit, and no weights to hash. One with an adapter is named
    with it.

    Args:
        name: the name of the cell.
        metadata: the metadata of the cell's file, as JSON by name.
    """
    values = {key: value.strip('"') for key, value in metadata.items() if value != "null"}
    commit = values.get("revision") or ", ".join(json.loads(metadata.get("model_versions", "[]")))
    origin = {
        "what": f"readings {name}",
        "source": named_model(values["model"]),
        "sha256": values.get("weights_id", ""),
        "commit": commit,
    }
    if "gguf" in metadata:
        origin |= {"source": json.loads(metadata["gguf"])["file"], "quantisation": values["quantisation"]}
    if "adapter" in values:
        origin |= {"source": labelled(values["model"], values["adapter"]), "adapter": values["adapter"]}
    return origin | {key: values[key] for key in READING_KEYS if key in values}


def study_of_files(name: str, title: str, seed: int = 0) -> Study:
    """A study for files from elsewhere, with the usual settings, without families and without instruments."""
    return Study.model_construct(name=name, title=title, seed=seed, families={})


def software_versions(readings: Iterable[Mapping[str, str]] = ()) -> dict[str, str]:
    """The versions by name of Python, of `LIBRARIES`, and of the programs that the metadata of readings name."""
    versions = {"Python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed as a package"
    all_metadata = list(readings)
    for name, key in (("scorer", "scorer_version"), ("torch", "torch")):
        values = sorted({metadata[key].strip('"') for metadata in all_metadata if key in metadata})
        if values:
            versions[name] = ", ".join(values)
    return versions
