"""Reads the survey's stored files without the graph, each once; an error names the asset that writes a missing file."""

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
WHOLE = ("quality_report", "cultural_map")  # assets without partitions


class StoredSurvey:
    """The files below `<storage>/<study>/survey`; each method raises `StorageError` if its file cannot be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder) / "survey"
        self._read: dict[Path, Any] = {}

    def path(self, asset: str, name: str, ending: str) -> Path:
        """The path of an asset's file; `name` is a language, `<model>/<language>`, or a table of the asset."""
        return self.folder / asset / f"{name}.{ending}"

    def cells(self) -> list[tuple[str, str]]:
        """Every (model, language) that has answers."""
        files = sorted((self.folder / "probe_distributions").glob("*/*.parquet"))
        return [(path.parent.name, path.stem) for path in files]

    def require_cell(self, model: str, language: str) -> None:
        """Raise an error if a cell has no answers.

        Raises:
            InputError: `model` names a point of the map that is no model.
            StorageError: the cell has no answers; names a similar cell, and what to materialise.
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
        like = difflib.get_close_matches(wanted, ["/".join(cell) for cell in cells], n=1)
        meant = f"did you mean {like[0].replace('/', ' ')}? Otherwise " if like else ""
        raise StorageError(
            f"{self.folder}: no answers of {wanted}; {meant}materialise readings/{wanted} and "
            f"probe_distributions/{wanted} first{_named(cells)}"
        )

    def pdf(self, language: str) -> dict[str, Any]:
        """Path, sha256, number of pages and source of a language's questionnaire."""
        return self._once("questionnaire_pdf", language, "json", read_json)

    def extracted(self, language: str) -> list[Question]:
        """The questions as extracted, in the form's order."""
        return self._once("extracted_questions", language, "json", read_questions)

    def aligned(self, language: str) -> dict[str, Question]:
        """The questions under canonical ids."""
        return self._once("aligned_questions", language, "json", lambda path: {q.id: q for q in read_questions(path)})

    def matches(self, language: str) -> dict[str, dict[str, str]]:
        """The alignment of each master question, by canonical id; an aligned record comes before any other."""
        return self._once("aligned_questions", language, "alignment.csv", _read_matches)

    def trials(self, language: str) -> dict[str, list[Trial]]:
        """The trials of each question, by asked id."""
        return self._once("trials", language, "parquet", _read_trials)

    def readings(self, model: str, language: str) -> dict[str, Reading]:
        """The readings of a cell, by trial."""
        cell = f"{model}/{language}"
        return self._once("readings", cell, "parquet", lambda path: {r.trial_id: r for r in read_readings(path)})

    def identity(self, model: str, language: str) -> dict[str, str]:
        """The metadata of a cell's readings: the model's identity and how it was read."""
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
    """The first cells in words."""
    first = ", ".join(" ".join(cell) for cell in cells[:6])
    return f" (there are {first}{f' and {len(cells) - 6} more' if len(cells) > 6 else ''})" if cells else ""


def _read_matches(path: Path) -> dict[str, dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as stream:
        rows = sorted(csv.DictReader(stream), key=lambda row: row["status"] not in ("aligned", "unfit"))
    return {row["question_id"]: row for row in reversed(rows)}


def _read_trials(path: Path) -> dict[str, list[Trial]]:
    by_question: dict[str, list[Trial]] = {}
    for trial in main_trials(read_trials(path)):
        by_question.setdefault(trial.asked_id, []).append(trial)
    return by_question
