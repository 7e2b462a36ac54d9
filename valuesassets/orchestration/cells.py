"""Where a cell's model is, how tables name it, and the part of a score job that asks it."""

from pathlib import Path

from valuesassets.orchestration.resources import Storage
from valuesassets.records.jobs import ScoreCell
from valuesassets.records.study import Study


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


def score_cell(study: Study, storage: Storage, family: str, language: str, trials: Path, readings: Path) -> ScoreCell:
    """The part of a score job that asks one cell."""
    settings = study.require_cell(family, language)
    model = (
        str(model_folder(study, storage, family, language).absolute())
        if settings.model_id is None
        else settings.model_id.format(lang=language)
    )
    return ScoreCell(
        name=f"{family}/{language}",
        model=model,
        revision=settings.revision,
        bos=settings.bos,
        trials=trials.absolute(),
        readings=readings.absolute(),
    )
