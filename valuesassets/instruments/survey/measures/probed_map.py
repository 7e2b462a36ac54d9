"""Places on the cultural map of models that were probed without a study."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from valuesassets.answers.quality_report import report_quality, usable_answers
from valuesassets.instruments.survey.measures.cultural_map import place_on_map
from valuesassets.records.errors import InputError, MissingData
from valuesassets.records.files import no_such_file
from valuesassets.records.frames import records
from valuesassets.records.parquet import read_table
from valuesassets.records.settings.cells import Family, Language
from valuesassets.records.study import load_study
from valuesassets.records.tables import HUMAN_DISTRIBUTIONS, PROBE_DISTRIBUTIONS


def read_probes(folder: Path) -> pd.DataFrame:
    """All answers that `probe` wrote below a folder, as one frame.

    Raises:
        InputError: no folder, or two files with answers of one model to one question.
        MissingData: no answers.
    """
    if not folder.is_dir():
        fault = f"{folder}: is not a folder" if folder.exists() else no_such_file(folder, "folder")
        raise InputError(f"{fault}; name the folder of the files written by `valuesassets probe`")
    files = sorted(folder.rglob("*.parquet"))
    frames = [read_table(file, PROBE_DISTRIBUTIONS).to_pandas().astype(object).assign(file=str(file)) for file in files]
    if not sum(map(len, frames)):
        raise MissingData(f"{folder}: no probe parquet with rows in it; write some with `valuesassets probe`")
    probed = pd.concat(frames, ignore_index=True).infer_objects()
    repeated = probed[probed.duplicated(["model", "language", "question_id", "wording", "response_value"])]
    if len(repeated):
        first = repeated.iloc[0]
        raise InputError(
            f"{first['file']}: {first['model']} {first['language']}, question {first['question_id']}: "
            "answers stand in another file too; keep one file per model and language"
        )
    return probed.drop(columns="file")


def place_probes(
    probed: pd.DataFrame, languages: Mapping[str, Language], source: Path
) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """The points of the map, and every model and language that was probed.

    Args:
        probed: rows of `PROBE_DISTRIBUTIONS`.
        languages: of the rows, by code.
        source: folder of the rows, for messages.

    Raises:
        MissingData: no answer can be used.
    """
    models = map(str, set(probed["model"]))
    families = {model: Family(kind="huggingface", model_type="multi", model_id=model) for model in models}
    bundled = load_study("evs2017")
    study = bundled.model_copy(update={"families": families, "languages": {**bundled.languages, **languages}})
    cells = sorted({(str(row["model"]), str(row["language"])) for row in records(probed)})
    quality = report_quality(probed, cells, study.thresholds)
    try:
        usable = usable_answers(probed, quality, by_wording=True)
    except MissingData:
        raise MissingData(
            f"{source}: no answers to analyse: P_valid is too low in every question; probe another model"
        ) from None
    return place_on_map(usable, HUMAN_DISTRIBUTIONS.empty_frame(), study)["points"], cells
