"""A cell's model, its name in tables, and the jobs that ask it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from valuesassets.models.adapter_settings import CONFIG as ADAPTER_CONFIG
from valuesassets.models.gguf_files import part_paths
from valuesassets.models.model_files import is_needed
from valuesassets.orchestration.grid.drawn_cells import DRAWN_TRIALS, draws_of, path_to_texts, write_drawn_trials
from valuesassets.orchestration.grid.left_out import require_overrides
from valuesassets.orchestration.instruments import MODELS, SURVEY, Instrument
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData, StorageError
from valuesassets.records.files import sha256_file, sha256_json
from valuesassets.records.jobs import AskingJob, GenerateCell, GenerateJob, ScoreCell, ScoreJob
from valuesassets.records.parquet import read_trials
from valuesassets.records.places import labelled
from valuesassets.records.seals import read_record
from valuesassets.records.study import Cell, Study

WEIGHTS, WEIGHTS_BEFORE = MODELS.key("weights"), SURVEY.key("model_weights")
"""The keys of the weights, now and in versions before 0.2, whose files are still read."""
CACHE_VARIABLES = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"}
"""Environment variables that name the cache of the hub's library."""


def model_folder(study: Study, storage: Storage, family: str, language: str, instrument: Instrument = SURVEY) -> Path:
    """The folder of a reference model, which is trained for one instrument, per language or for all languages."""
    name = language if study.families[family].model_type == "mono" else "all"
    return storage.folder.joinpath(*instrument.key("reference_models").path) / family / name


def model_label(study: Study, storage: Storage, family: str, language: str) -> str:
    """The name of a cell's model in tables: the hub id, or `<family>/<language>` for a reference model."""
    settings = study.families[family]
    if settings.model_id is None:
        return f"{family}/{model_folder(study, storage, family, language).name}"
    return labelled(*settings.weights_for(language))


def fetched_model(
    study: Study, storage: Storage, family: str, model: str, adapter: str | None = None
) -> dict[str, Any]:
    """The record of a model's weights at the study's revisions; its `commit` is None for a folder or a file."""
    settings = study.families[family]
    for entry in fetched_weights(storage, family).get("models", []):
        lora = entry.get("adapter"), entry.get("adapter_revision")
        if (entry["model"], entry["revision"], *lora) == (model, settings.revision, adapter, settings.adapter_revision):
            return entry
    named = labelled(model, adapter)
    raise MissingData(f"{named}: its weights have not been fetched; materialise models/weights of {family} first")


def cache_variables(storage: Storage, family: str, chosen: Mapping[str, str]) -> dict[str, str]:
    """The environment variable for jobs on other machines that names the cache with a family's weights.

    It comes from the record of the weights, not from this process's environment, since another process may have fetched
    them.

    Args:
        chosen: variables that the study sets; if they name a cache, or nothing was fetched, none is added.
    """
    cache = fetched_weights(storage, family).get("cache")
    return {"HF_HUB_CACHE": str(Path(cache).absolute())} if cache and not CACHE_VARIABLES & chosen.keys() else {}


def fetched_weights(storage: Storage, family: str) -> dict[str, Any]:
    """The record of a family's weights; empty if they were never fetched."""
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
    """The entry of a score job for one cell, by default named `<model>/<language>`; `model` is the folder of a
    reference model outside its family's folder."""
    model_settings = _model_settings(study, storage, family, language, instrument, model)
    return ScoreCell(
        name=name or f"{family}/{language}", trials=trials.absolute(), readings=readings.absolute(), **model_settings
    )


def generate_cell(
    study: Study,
    storage: Storage,
    cell: Cell,
    instrument: Instrument,
    name: str,
    trials: Path,
    answers: Path,
    is_drawn: bool = False,
) -> GenerateCell:
    """The entry of a generate job for one file of trials of a cell."""
    model_settings = _model_settings(study, storage, cell.family, cell.language, instrument)
    return GenerateCell(
        name=name, trials=trials.absolute(), answers=answers.absolute(), is_drawn=is_drawn, **model_settings
    )


def _model_settings(
    study: Study, storage: Storage, family: str, language: str, instrument: Instrument, model: Path | None = None
) -> dict[str, Any]:
    """What the entry of any job says of a cell's model, and of how it is asked."""
    settings = study.require_cell(family, language)
    revision = stamp = adapter = adapter_revision = None
    if settings.endpoint is not None:
        model_name = str(settings.model_id).format(lang=language)
    elif settings.model_id is None:
        folder = (model or model_folder(study, storage, family, language, instrument)).absolute()
        model_name, revision, stamp = str(folder), None, _stamp(folder, sha256_file)
    else:
        model_name, adapter = settings.weights_for(language)
        weights = fetched_model(study, storage, family, model_name, adapter)
        revision = stamp = weights["commit"]
        if weights.get("gguf"):
            model_name, stamp = _require_same_file(family, model_name, weights), weights["stamp"]
        elif revision is None:
            # Jobs have other working directories, so that a relative folder is replaced by the recorded one.
            model_name = model_name if Path(model_name).is_absolute() else weights["folder"]
            # From sizes and times of files, since reading all models of a grid would take an hour.
            stamp = _stamp(Path(model_name), _size_and_time)
        if adapter is not None:
            adapter, adapter_revision, lora_stamp = _adapter_of(adapter, weights)
            stamp = sha256_json([stamp, lora_stamp])[:16]
    return {
        "model": model_name,
        "revision": revision,
        "model_stamp": stamp,
        "adapter": adapter,
        "adapter_revision": adapter_revision,
        "bos": settings.bos,
        "prompting": settings.prompting,
        "endpoint": settings.endpoint,
    }


def _adapter_of(adapter: str, weights: Mapping[str, Any]) -> tuple[str, str | None, str | None]:
    """The adapter of a record of weights as a job names it, its commit, and what changes with its files."""
    commit = weights["adapter_commit"]
    if commit is not None:
        return adapter, commit, commit
    folder = Path(weights["adapter_folder"])
    return str(folder), None, _stamp(folder, _size_and_time, [ADAPTER_CONFIG])


def _size_and_time(path: Path) -> list[int]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]


def _require_same_file(family: str, model: str, weights: Mapping[str, Any]) -> str:
    """The folder made from a GGUF file; MissingData where the file's parts have changed or the folder is missing."""
    parts = zip(part_paths(Path(model)), weights["gguf_stamp"] or (), strict=False)
    present = [(part.stat(), recorded) for part, recorded in parts if part.is_file()]
    if any([stat.st_size, stat.st_mtime_ns] != recorded for stat, recorded in present):
        raise MissingData(f"{model}: has changed since it was read; materialise models/weights of {family} again")
    if not Path(weights["folder"]).is_dir():
        raise MissingData(
            f"{model}: {weights['folder']}, which it was made into, is gone; materialise models/weights of {family} "
            "again"
        )
    return str(weights["folder"])


def _stamp(folder: Path, stamp_file: Callable[[Path], Any], more: Collection[str] = ()) -> str | None:
    """Hash over the files of a model in a folder, and others of these names; None where the folder has none."""
    try:
        paths = sorted(folder.iterdir()) if folder.is_dir() else []
        model_files = [
            path for path in paths if is_needed(path.name) or path.suffix == ".safetensors" or path.name in more
        ]
        files = {path.name: stamp_file(path) for path in model_files}
    except OSError as error:
        raise StorageError(
            f"{error.filename}: cannot be read: {error.strerror}; check who may read it and whether it is just being "
            "written, then materialise again"
        ) from None
    return sha256_json(files)[:16] if files else None


def readings_job(
    study: Study,
    storage: Storage,
    instrument: Instrument,
    cell: Cell,
    preflight: dict[str, Any] | None = None,
    rounds: int = 1,
) -> AskingJob:
    """The job that reads one cell of an instrument, or draws the texts that are counted as its readings.

    Args:
        preflight: the family's verdict; by default read from its file.
        rounds: of draws, where the family is drawn; those of earlier jobs are known and are not drawn again.

    Raises:
        StudyError: the family does not support the language.
        MissingData, StorageError: trials, weights or preflight are missing, or the preflight failed.
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
    key, draws = cell_key(family, part, instrument.part), draws_of(study, instrument, family)
    readings = storage.path(instrument.key("readings"), key, "parquet").absolute()
    if draws is None:
        asked_cell = score_cell(study, storage, family, language, trials, readings, str(cell), instrument)
        return score_job(study, family, [asked_cell], storage.known_readings)
    drawn = storage.job_folder(instrument.key("readings"), key) / DRAWN_TRIALS
    write_drawn_trials(drawn, read_trials(trials), study, draws, family, draws.n * rounds)
    texts = path_to_texts(storage, instrument, cell)
    drawn_cell = generate_cell(study, storage, cell, instrument, str(cell), drawn, texts, is_drawn=True)
    return written_job(study, family, [drawn_cell], storage.known_readings)


def score_job(study: Study, family: str, cells: Iterable[ScoreCell], known_readings: Path | None = None) -> ScoreJob:
    """The job that reads cells of a family, on GPUs if it requests them from Slurm."""
    return ScoreJob(cells=tuple(cells), known_readings=known_readings, **_machine(study, family))


def written_job(
    study: Study, family: str, cells: Iterable[GenerateCell], known_readings: Path | None = None
) -> GenerateJob:
    """The job that lets the models of a family write, on GPUs if it requests them from Slurm."""
    return GenerateJob(cells=tuple(cells), known_readings=known_readings, **_machine(study, family))


def _machine(study: Study, family: str) -> dict[str, Any]:
    """What the job of a family says of the machine that its models run on."""
    settings = study.families[family]
    gres = study.slurm.for_family(settings.resources)["gres"] if study.slurm is not None else None
    device = "cuda" if gres and gres.startswith("gpu") else "auto"
    return {
        "dtype": settings.dtype,
        "device": "cpu" if settings.kind == "reference" else device,
        "offline": settings.offline,
    }


def generate_job(
    study: Study, storage: Storage, cell: Cell, instrument: Instrument, files_by_name: Mapping[str, tuple[Path, Path]]
) -> GenerateJob:
    """The job that lets a cell's model write answers to trials.

    Args:
        files_by_name: files of trials and of their answers, by a name, which is empty for a single pair of files; the
            model is loaded once for all.

    Raises:
        StudyError: the family does not support the language.
        MissingData: weights are missing, or the instrument's preflight leaves the cell out.
    """
    preflight = storage.path(instrument.key("preflight"), cell.family, "json")
    if preflight.exists():
        _require_not_left_out(study, cell, read_record(preflight))
    cells = [
        generate_cell(study, storage, cell, instrument, f"{cell}/{name}".rstrip("/"), *files)
        for name, files in files_by_name.items()
    ]
    return written_job(study, cell.family, cells, storage.known_readings)


def answers_job(study: Study, storage: Storage, instrument: Instrument, cell: Cell) -> GenerateJob:
    """The job that lets one cell's model answer the trials of its part.

    Raises:
        StudyError: the family does not support the language.
        MissingData, StorageError: trials or weights are missing.
    """
    family, part = cell.family, cell.part.name
    noun = instrument.chat_trials if study.families[family].prompting.is_chat else "trials"
    trials = storage.path(instrument.key(noun), part, "parquet")
    if not trials.exists():
        raise MissingData(f"{part}: there are no trials yet; materialise {noun}/{part} first")
    languages_file = storage.path(instrument.key("model_languages"), family, "json")
    if languages_file.exists() and cell.language not in (languages := read_record(languages_file)["languages"]):
        raise MissingData(
            f"{family} is not asked in {cell.language}: its model card, or EVAL_LANGUAGES, names "
            f"{', '.join(languages)}; nothing is lost, the other languages are compared"
        )
    key = cell_key(family, part, instrument.part)
    answers = storage.path(instrument.asked, key, "parquet").absolute()
    return generate_job(study, storage, cell, instrument, {"": (trials, answers)})


def require_preflight(study: Study, cell: Cell, verdict: dict[str, Any]) -> None:
    """Require that a cell has a preflight that does not leave it out, or an override with a reason; MissingData says
    why not and what to do."""
    family, part = cell.family, cell.part.name
    if part not in verdict.get("parts", {}) and not study.preflight.of_cell(str(cell)):
        raise MissingData(f"{cell} has had no preflight; materialise preflight/{family} again")
    _require_not_left_out(study, cell, verdict)


def _require_not_left_out(study: Study, cell: Cell, verdict: dict[str, Any]) -> None:
    """Require that a cell is not left out by its preflight, for readings and for written answers; MissingData says why
    it is left out and what to do."""
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
