"""The job that asks models: the trials of each cell in, its readings out."""

from pathlib import Path

from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loading import LoadedModel, OpenedModel, load_weights, open_model
from valuesassets.models.scoring import known_trials, list_key, open_known, score_spelled
from valuesassets.models.spelled_trials import SpelledTrial, spell_trials
from valuesassets.node.progress import Progress
from valuesassets.records.errors import JobError, StorageError, ValuesAssetsError
from valuesassets.records.jobs import ScoreCell, ScoreJob
from valuesassets.records.readings import Reading, Status
from valuesassets.records.schemas import READINGS, read_readings, read_trials, reading_rows, write_table


def score_cells(job: ScoreJob, progress: Progress | None = None) -> None:
    """Write the readings of every cell; a cell whose readings are known is left as it is and costs no weights.

    A cell that fails does not take the others with it.

    Raises:
        ModelError, ScoringError, StorageError, JobError: what a cell lacked, once the others are done.
    """
    progress = progress or Progress()
    models = _Models(job, progress)
    failed: list[ValuesAssetsError] = []
    first_seen = {(cell.model, cell.revision): index for index, cell in reversed(list(enumerate(job.cells)))}
    for cell in sorted(job.cells, key=lambda cell: first_seen[cell.model, cell.revision]):
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
    opened = models.open(cell)
    spelled = spell_trials(opened, trials)
    if _is_written(cell.readings, spelled):
        progress.say(f"{cell.name}: all {len(trials)} readings are written, nothing to score")
        return
    known = models.known(opened)
    answered = known_trials(opened, spelled, known) if known else None
    if answered is not None:
        readings, described = answered
        described |= opened.describe()  # the same weights may lie elsewhere now
        progress.say(f"{cell.name}: all {len(trials)} readings are known, nothing to score")
    else:
        loaded = models.load(opened)
        progress.say(f"{cell.name}: {len(trials)} trials for {opened.model_id} ({opened.dtype}, {loaded.device})")
        result = score_spelled(loaded, spelled, lambda done, total: progress.count("scored", done, total), known=known)
        for note in result.notes:
            progress.say(f"{cell.name}: {note}")
        # No clock in the metadata: the same model and trials give the same bytes.
        readings, described = result.readings, loaded.describe() | result.describe()
        if known:
            known.describe(list_key(opened, spelled), described)
    write_table(cell.readings, reading_rows(readings), READINGS, described)


def _is_written(path: Path, spelled: list[SpelledTrial | Reading]) -> bool:
    """Whether a whole file holds these readings; one that failed, but not for its tokenizer, is tried again."""
    try:
        written = read_readings(path)
    except StorageError:
        return False
    hopeless = {entry.trial_id for entry in spelled if isinstance(entry, Reading)}
    wanted = [(entry.trial_id, entry.reading_key) for entry in spelled]
    return wanted == [(reading.trial_id, reading.reading_key) for reading in written] and all(
        reading.status is not Status.FAILED or reading.trial_id in hopeless for reading in written
    )


class _Models:
    """The last model opened and the last one loaded, with what is known of it: cells that share it pay for it once."""

    def __init__(self, job: ScoreJob, progress: Progress) -> None:
        self._job, self._progress = job, progress
        self._opened: tuple[tuple[str, str | None, str], OpenedModel] | None = None
        self._loaded: LoadedModel | None = None
        self._known: tuple[OpenedModel, KnownReadings] | None = None

    def open(self, cell: ScoreCell) -> OpenedModel:
        asked, job = (cell.model, cell.revision, cell.bos), self._job
        if self._opened is None or self._opened[0] != asked:
            opened = open_model(cell.model, cell.revision, job.dtype, job.device, job.offline, cell.bos)
            self._opened = asked, opened
        return self._opened[1]

    def load(self, opened: OpenedModel) -> LoadedModel:
        if self._loaded is None or self._loaded.opened is not opened:
            self._loaded = None  # its memory goes before the next one's comes
            self._loaded = load_weights(opened)
        return self._loaded

    def known(self, opened: OpenedModel) -> KnownReadings | None:
        if self._job.known_readings is None:
            return None
        if self._known is None or self._known[0] is not opened:
            self._known = opened, open_known(self._job.known_readings, opened, self._progress.say)
        return self._known[1]
