"""Where a cell's model is, how tables name it, and the score job that asks it."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from valuesassets.models.gguf_files import part_paths
from valuesassets.models.model_files import is_needed
from valuesassets.orchestration.grid.left_out import require_overrides
from valuesassets.orchestration.instruments import MODELS, SURVEY, Instrument
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData, StorageError
from valuesassets.records.files import sha256_file, sha256_json
from valuesassets.records.jobs import GenerateCell, GenerateJob, ScoreCell, ScoreJob
from valuesassets.records.seals import read_record
from valuesassets.records.study import Cell, Study

WEIGHTS, WEIGHTS_BEFORE = MODELS.key("weights"), SURVEY.key("model_weights")
"""The weights of all instruments, and where versions before 0.2 kept them; still read."""
CACHE_VARIABLES = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"}
"""Each of them tells the hub's library where its cache is."""


def model_folder(study: Study, storage: Storage, family: str, language: str, instrument: Instrument = SURVEY) -> Path:
    """The folder of a reference model, which is trained for one instrument: one per language, or one for all."""
    own = language if study.families[family].model_type == "mono" else "all"
    return storage.folder.joinpath(*instrument.key("reference_models").path) / family / own


def model_label(study: Study, storage: Storage, family: str, language: str) -> str:
    """The model id of a cell, as tables name it: the hub id, or `<family>/<language>` of a reference model."""
    settings = study.families[family]
    if settings.model_id is None:
        return f"{family}/{model_folder(study, storage, family, language).name}"
    return settings.model_id.format(lang=language)


def fetched_model(study: Study, storage: Storage, family: str, model: str) -> dict[str, Any]:
    """What `models/weights` says of a model at the study's revision; its `commit` is None for a folder or a file."""
    for entry in fetched_weights(storage, family).get("models", []):
        if (entry["model"], entry["revision"]) == (model, study.families[family].revision):
            return entry
    raise MissingData(f"{model}: its weights have not been fetched; materialise models/weights of {family} first")


def cache_variables(storage: Storage, family: str, chosen: Mapping[str, str]) -> dict[str, str]:
    """The variable by which a job on another machine finds the cache that a family's weights were fetched into.

    Not this process's own variables: another one may have fetched, and which of them count is the library's affair.

    Args:
        chosen: variables that the study sets; where they name a cache, or nothing was fetched, there is none to add.
    """
    cache = fetched_weights(storage, family).get("cache")
    return {"HF_HUB_CACHE": str(Path(cache).absolute())} if cache and not CACHE_VARIABLES & chosen.keys() else {}


def fetched_weights(storage: Storage, family: str) -> dict[str, Any]:
    """What was stored of a family's weights; empty where they were never fetched."""
    paths = (storage.path(key, family, "json") for key in (WEIGHTS, WEIGHTS_BEFORE))
    return next((read_record(path) for path in paths if path.exists()), {})


def score_cell(
    study: Study,
    storage: Storage,
    family: str,
    language: str,
    trials: Path,
    readings: Path,
    name: str | None = None,
    instrument: Instrument = SURVEY,
    model: Path | None = None,
) -> ScoreCell:
    """The part of a score job that asks one cell, named `<model>/<language>` where no other name is given.

    Args:
        model: folder of a reference model that stands elsewhere than where its family's do.
    """
    settings = study.require_cell(family, language)
    revision = stamp = None
    if settings.endpoint is not None:
        named = str(settings.model_id).format(lang=language)
    elif settings.model_id is None:
        folder = (model or model_folder(study, storage, family, language, instrument)).absolute()
        named, revision, stamp = str(folder), None, _stamp(folder, sha256_file)
    else:
        named = settings.model_id.format(lang=language)
        fetched = fetched_model(study, storage, family, named)
        revision = stamp = fetched["commit"]
        if fetched.get("gguf"):
            named, stamp = _require_same_file(family, named, fetched), fetched["stamp"]
        elif revision is None:
            # A relative folder counts from where the weights were looked at; jobs work in folders of their own.
            named = named if Path(named).is_absolute() else fetched["folder"]
            # Over size and time of its files as they are now: a grid's bytes would take an hour to read.
            stamp = _stamp(Path(named), lambda path: [path.stat().st_size, path.stat().st_mtime_ns])
    return ScoreCell(
        name=name or f"{family}/{language}",
        model=named,
        revision=revision,
        model_stamp=stamp,
        bos=settings.bos,
        prompting=settings.prompting,
        endpoint=settings.endpoint,
        trials=trials.absolute(),
        readings=readings.absolute(),
    )


def _require_same_file(family: str, model: str, fetched: Mapping[str, Any]) -> str:
    """The folder that a GGUF file was made into, as long as its parts are those that it was made from, or gone."""
    parts = zip(part_paths(Path(model)), fetched["gguf_stamp"] or (), strict=False)
    there = [(part.stat(), was) for part, was in parts if part.is_file()]
    if any([stat.st_size, stat.st_mtime_ns] != was for stat, was in there):
        raise MissingData(f"{model}: has changed since it was read; materialise models/weights of {family} again")
    if not Path(fetched["folder"]).is_dir():
        raise MissingData(
            f"{model}: {fetched['folder']}, which it was made into, is gone; materialise models/weights of {family} "
            "again"
        )
    return str(fetched["folder"])


def _stamp(folder: Path, stamp_file: Callable[[Path], Any]) -> str | None:
    """Hash over the files of a model in a folder; None where there are none."""
    try:
        there = sorted(folder.iterdir()) if folder.is_dir() else []
        read = [path for path in there if is_needed(path.name) or path.suffix == ".safetensors"]
        files = {path.name: stamp_file(path) for path in read}
    except OSError as error:
        raise StorageError(
            f"{error.filename}: cannot be read: {error.strerror}; see who may read it and whether it is just being "
            "written, then materialise again"
        ) from None
    return sha256_json(files)[:16] if files else None


def readings_job(
    study: Study, storage: Storage, instrument: Instrument, cell: Cell, preflight: dict[str, Any] | None = None
) -> ScoreJob:
    """The job that reads one cell of an instrument.

    Args:
        preflight: the family's verdict; read from its file where not given.

    Raises:
        StudyError: the family does not serve the language.
        MissingData, StorageError: there are no trials, weights or preflight yet, or the preflight failed.
    """
    family, language, part = cell.family, cell.language, cell.part.name
    study.require_cell(family, language)
    trials = storage.path(instrument.key("trials"), part, "parquet")
    if not trials.exists():
        raise MissingData(f"{part}: there are no trials yet; materialise trials/{part} first")
    if preflight is None:
        path = storage.path(instrument.key("preflight"), family, "json")
        if not path.exists():
            raise MissingData(f"{family} has had no preflight; materialise preflight/{family} first")
        preflight = dict(read_record(path))
    require_preflight(study, cell, preflight)
    readings = storage.path(instrument.key("readings"), cell_key(family, part, instrument.part), "parquet").absolute()
    asked = score_cell(study, storage, family, language, trials, readings, str(cell), instrument)
    return score_job(study, family, [asked], storage.known_readings)


def score_job(study: Study, family: str, cells: Iterable[ScoreCell], known_readings: Path | None = None) -> ScoreJob:
    """The job that asks cells of a family: on the GPUs asked of Slurm, else wherever there is place."""
    settings = study.families[family]
    gres = study.slurm.for_family(settings.resources)["gres"] if study.slurm is not None else None
    device = "cuda" if gres and gres.startswith("gpu") else "auto"
    return ScoreJob(
        cells=tuple(cells),
        known_readings=known_readings,
        dtype=settings.dtype,
        device="cpu" if settings.kind == "reference" else device,
        offline=settings.offline,
    )


def generate_job(
    study: Study, storage: Storage, cell: Cell, instrument: Instrument, asked: Mapping[str, tuple[Path, Path]]
) -> GenerateJob:
    """The job that lets a cell's model write answers to trials of its own, beside those that are read.

    Args:
        asked: files of trials and the answers to them, by a name of their own, empty where there is one file alone;
            the model is loaded once for all.

    Raises:
        StudyError: the family does not serve the language.
        MissingData: there are no weights yet, or the instrument's preflight leaves the cell out.
    """
    preflight = storage.path(instrument.key("preflight"), cell.family, "json")
    if preflight.exists():
        _require_not_left_out(study, cell, read_record(preflight))
    reading = {
        name: score_cell(study, storage, cell.family, cell.language, *files, f"{cell}/{name}".rstrip("/"), instrument)
        for name, files in asked.items()
    }
    read = score_job(study, cell.family, reading.values(), storage.known_readings)
    writing = [GenerateCell(**each.model_dump(exclude={"readings"}), answers=each.readings) for each in read.cells]
    return GenerateJob(**read.model_dump(exclude={"kind", "cells"}), cells=tuple(writing))


def answers_job(study: Study, storage: Storage, instrument: Instrument, cell: Cell) -> GenerateJob:
    """The job that lets one cell's model answer the trials of its part.

    Raises:
        StudyError: the family does not serve the language.
        MissingData, StorageError: there are no trials or weights yet.
    """
    family, part = cell.family, cell.part.name
    noun = instrument.chat_trials if study.families[family].prompting.is_chat else "trials"
    trials = storage.path(instrument.key(noun), part, "parquet")
    if not trials.exists():
        raise MissingData(f"{part}: there are no trials yet; materialise {noun}/{part} first")
    served = storage.path(instrument.key("model_languages"), family, "json")
    if served.exists() and cell.language not in (named := read_record(served)["languages"]):
        raise MissingData(
            f"{family} is not asked in {cell.language}: its model card, or EVAL_LANGUAGES, names {', '.join(named)}; "
            "nothing is lost, the other languages are compared"
        )
    key = cell_key(family, part, instrument.part)
    answers = storage.path(instrument.asked, key, "parquet").absolute()
    return generate_job(study, storage, cell, instrument, {"": (trials, answers)})


def require_preflight(study: Study, cell: Cell, verdict: dict[str, Any]) -> None:
    """Stop a cell that its preflight leaves out, unless the study overrides it with a reason.

    Raises:
        MissingData: it has had none, or is left out; says why and what to do.
    """
    family, part = cell.family, cell.part.name
    if part not in verdict.get("parts", {}) and not study.preflight.of_cell(str(cell)):
        raise MissingData(f"{cell} has had no preflight; materialise preflight/{family} again")
    _require_not_left_out(study, cell, verdict)


def _require_not_left_out(study: Study, cell: Cell, verdict: dict[str, Any]) -> None:
    """Stop a cell that its preflight leaves out: readings as well as what a model is let write."""
    from valuesassets.answers.preflight import left_out_parts

    require_overrides(study)
    family, part = cell.family, cell.part.name
    override = study.preflight.of_cell(str(cell))
    reason = left_out_parts(verdict, {part: override} if override else {}).get(part)
    if reason is None:
        return
    if not verdict["parts"][part]["is_asked"]:
        raise MissingData(f"{cell}: {reason}")
    raise MissingData(
        f"{cell} failed its preflight: {reason}; mend it and materialise preflight/{family} again, or go on all the "
        f"same: give the reason under [preflight.overrides] as {str(cell)!r} in the study file, and reload the "
        "definitions where the UI runs"
    )
