"""Where a cell's model is, how tables name it, and the part of a score job that asks it."""

from pathlib import Path

import dagster as dg

from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import read_json
from valuesassets.records.jobs import ScoreCell
from valuesassets.records.study import Study

MODEL_WEIGHTS_KEY = dg.AssetKey(["survey", "model_weights"])


def model_folder(study: Study, storage: Storage, family: str, language: str) -> Path:
    """The folder of a reference model: one per language, or one for all."""
    own = language if study.families[family].model_type == "mono" else "all"
    return storage.folder / "survey" / "reference_models" / family / own


def model_label(study: Study, storage: Storage, family: str, language: str) -> str:
    """The model id of a cell, as tables name it: the hub id, or `<family>/<language>` of a reference model."""
    settings = study.families[family]
    if settings.model_id is None:
        return f"{family}/{model_folder(study, storage, family, language).name}"
    return settings.model_id.format(lang=language)


def fetched_commit(study: Study, storage: Storage, family: str, model: str) -> str | None:
    """The commit of a model that `survey/model_weights` fetched: every cell reads these weights; None for a folder.

    Raises:
        MissingData: the model was not fetched, or at another revision than the study names.
    """
    path = storage.path(MODEL_WEIGHTS_KEY, family, "json")
    fetched = read_json(path)["models"] if path.exists() else []
    for entry in fetched:
        if (entry["model"], entry["revision"]) == (model, study.families[family].revision):
            return entry["commit"]
    raise MissingData(f"{model}: its weights have not been fetched; materialise model_weights/{family} first")


def score_cell(study: Study, storage: Storage, family: str, language: str, trials: Path, readings: Path) -> ScoreCell:
    """The part of a score job that asks one cell."""
    settings = study.require_cell(family, language)
    if settings.model_id is None:
        model, revision = str(model_folder(study, storage, family, language).absolute()), None
    else:
        model = settings.model_id.format(lang=language)
        revision = fetched_commit(study, storage, family, model)
    return ScoreCell(
        name=f"{family}/{language}",
        model=model,
        revision=revision,
        bos=settings.bos,
        trials=trials.absolute(),
        readings=readings.absolute(),
    )
