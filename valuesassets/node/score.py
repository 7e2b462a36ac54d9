"""The job that asks models: the trials of each cell in, its readings out."""

from pathlib import Path

from valuesassets.models.loading import LoadedModel, OpenedModel, load_weights, open_model
from valuesassets.models.scoring import score_trials, spell_trials
from valuesassets.node.progress import Progress
from valuesassets.records.errors import JobError, StorageError, ValuesAssetsError
from valuesassets.records.jobs import ScoreCell, ScoreJob
from valuesassets.records.schemas import READINGS, read_readings, read_trials, reading_rows, write_table


def score_cells(job: ScoreJob, progress: Progress | None = None) -> None:
    """Write the readings of every cell; a cell whose readings are known is left as it is and costs no weights.

    A cell that fails does not take the others with it.

    Raises:
        ModelError, ScoringError, StorageError, JobError: what a cell lacked, once the others are done.
    """
    progress = progress or Progress()
    models = _Models(job.dtype, job.device)
    failed: list[ValuesAssetsError] = []
    for cell in job.cells:
        try:
            _score(cell, models, progress)
        except ValuesAssetsError as error:
            failed.append(error)
            if len(job.cells) > 1:
                progress.say(f"{cell.name}: {error}")
    if len(failed) > 1:
        raise JobError(f"{len(failed)} of {len(job.cells)} cells failed, first: {failed[0]}")
    if failed:
        raise failed[0]


def _score(cell: ScoreCell, models: "_Models", progress: Progress) -> None:
    trials = read_trials(cell.trials)
    if not trials:
        raise JobError(f"{cell.trials}: no trials in it; materialise the trials first")
    opened = models.open(cell.model, cell.revision)
    wanted = [(entry.trial_id, entry.reading_key) for entry in spell_trials(opened, trials)]
    if wanted == _known(cell.readings):
        progress.say(f"{cell.name}: all {len(trials)} readings are known, nothing to score")
        return
    loaded = models.load(opened)
    progress.say(f"{cell.name}: {len(trials)} trials for {opened.model_id} ({opened.dtype}, {loaded.device})")
    result = score_trials(loaded, trials, lambda done, total: progress.count("scored", done, total))
    # No clock in the metadata: the same model and trials give the same bytes.
    write_table(cell.readings, reading_rows(result.readings), READINGS, loaded.describe() | result.describe())


def _known(path: Path) -> list[tuple[str, str]] | None:
    """Trial ids and keys of the readings in a file; None where there is no whole one."""
    try:
        return [(reading.trial_id, reading.reading_key) for reading in read_readings(path)]
    except StorageError:
        return None


class _Models:
    """The last model opened and the last one loaded: cells that share a model pay for it once."""

    def __init__(self, dtype: str, device: str) -> None:
        self._dtype, self._device = dtype, device
        self._opened: tuple[tuple[str, str | None], OpenedModel] | None = None
        self._loaded: LoadedModel | None = None

    def open(self, model: str, revision: str | None) -> OpenedModel:
        if self._opened is None or self._opened[0] != (model, revision):
            self._opened = (model, revision), open_model(model, revision, self._dtype)
        return self._opened[1]

    def load(self, opened: OpenedModel) -> LoadedModel:
        if self._loaded is None or self._loaded.opened is not opened:
            self._loaded = None  # its memory goes before the next one's comes
            self._loaded = load_weights(opened, self._device)
        return self._loaded
