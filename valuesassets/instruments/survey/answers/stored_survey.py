"""What a study's storage holds of the survey, read without the graph: each file once, or the asset that writes it."""

import csv
import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from valuesassets.records.errors import InputError, StorageError
from valuesassets.records.files import read_json
from valuesassets.records.parquet import read_readings, read_table, read_trials, stored_frame, table_metadata
from valuesassets.records.questions import Question, read_questions
from valuesassets.records.tables import PROBE_DISTRIBUTIONS
from valuesassets.records.trials import Reading, Trial, main_trials

Content = TypeVar("Content")
WHOLE = ("quality_report", "cultural_map")
"""Assets without partitions; `name` is one of their tables."""


class StoredSurvey:
    """The files below `<storage>/<study>/survey`.

    Every method raises `StorageError` where its file is not there or cannot be read, and names the asset to
    materialise.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder) / "survey"
        self._read: dict[Path, Any] = {}

    def path(self, asset: str, name: str, ending: str) -> Path:
        """Where an asset's file lies; `name` is a language, `<model>/<language>`, or a table of the asset."""
        return self.folder / asset / f"{name}.{ending}"

    def cells(self) -> list[tuple[str, str]]:
        """Every (model, language) whose answers are there."""
        files = sorted((self.folder / "probe_distributions").glob("*/*.parquet"))
        return [(path.parent.name, path.stem) for path in files]

    def require_cell(self, model: str, language: str) -> None:
        """See that a cell has been read.

        Raises:
            InputError: it is a point of the map that is no model; says what it is.
            StorageError: there are no answers of it; says which cell may be meant, and what to materialise.
        """
        cells = self.cells()
        if (model, language) in cells:
            return
        points = self.points() if self.path("cultural_map", "points", "parquet").is_file() else pd.DataFrame()
        for row in points.to_dict("records"):
            if row["kind"] != "model" and model in (row["kind"], row["label"], row["country"]):
                raise InputError(
                    f"{model}: a point of kind {row['kind']}, which rests on no readings of a model; name a model "
                    f"family and a language{_named(cells)}"
                )
        wanted = f"{model}/{language}"
        like = difflib.get_close_matches(wanted, [f"{one}/{other}" for one, other in cells], n=1)
        meant = f"did you mean {like[0].replace('/', ' ')}? Otherwise " if like else ""
        raise StorageError(
            f"{self.folder}: no answers of {wanted}; {meant}materialise readings/{wanted} and "
            f"probe_distributions/{wanted} first{_named(cells)}"
        )

    def pdf(self, language: str) -> dict[str, Any]:
        """What is known of a language's questionnaire: path, sha256, pages, source."""
        return self._once("questionnaire_pdf", language, "json", read_json)

    def extracted(self, language: str) -> list[Question]:
        """The questions as extracted, in the form's order."""
        return self._once("extracted_questions", language, "json", read_questions)

    def aligned(self, language: str) -> dict[str, Question]:
        """The questions under canonical ids."""
        return self._once("aligned_questions", language, "json", lambda path: {q.id: q for q in read_questions(path)})

    def matches(self, language: str) -> dict[str, dict[str, str]]:
        """What became of each question of the master, by canonical id: what is aligned before what is not."""
        return self._once("aligned_questions", language, "alignment.csv", _read_matches)

    def trials(self, language: str) -> dict[str, list[Trial]]:
        """The trials that put the questions, by asked id."""
        return self._once("trials", language, "parquet", _read_trials)

    def readings(self, model: str, language: str) -> dict[str, Reading]:
        """What the model answered, by trial."""
        return self._once(
            "readings", f"{model}/{language}", "parquet", lambda path: {r.trial_id: r for r in read_readings(path)}
        )

    def identity(self, model: str, language: str) -> dict[str, str]:
        """The file metadata of a cell's readings: what the model is and how it was read."""
        return table_metadata(self._file("readings", f"{model}/{language}", "parquet"))

    def probe(self, model: str, language: str) -> pd.DataFrame:
        """The cell's rows of `PROBE_DISTRIBUTIONS`."""
        cell, table = f"{model}/{language}", PROBE_DISTRIBUTIONS
        return self._once("probe_distributions", cell, "parquet", lambda path: read_table(path, table).to_pandas())

    def quality(self, table: str) -> pd.DataFrame:
        """A table of the quality report."""
        return self._once("quality_report", table, "parquet", stored_frame)

    def points(self) -> pd.DataFrame:
        """The points of the map."""
        return self._once("cultural_map", "points", "parquet", stored_frame)

    def _once(self, asset: str, name: str, ending: str, read: Callable[[Path], Content]) -> Content:
        path = self._file(asset, name, ending)
        if path not in self._read:
            self._read[path] = read(path)
        return self._read[path]

    def _file(self, asset: str, name: str, ending: str) -> Path:
        path = self.path(asset, name, ending)
        if not path.is_file():
            partition = "" if asset in WHOLE else f"/{name}"
            raise StorageError(f"{path}: no such file; materialise {asset}{partition} and what stands behind it first")
        return path


def _named(cells: list[tuple[str, str]]) -> str:
    """The cells that there are, the first ones of many."""
    shown = ", ".join(" ".join(cell) for cell in cells[:6])
    return f" (there are {shown}{f' and {len(cells) - 6} more' if len(cells) > 6 else ''})" if cells else ""


def _read_matches(path: Path) -> dict[str, dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as stream:
        rows = sorted(csv.DictReader(stream), key=lambda row: row["status"] not in ("aligned", "unfit"))
    return {row["question_id"]: row for row in reversed(rows)}


def _read_trials(path: Path) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for trial in main_trials(read_trials(path)):
        found.setdefault(trial.asked_id, []).append(trial)
    return found
