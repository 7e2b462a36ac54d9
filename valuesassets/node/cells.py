"""Asks models the trials of cells, one cell after the other: the common part of `score` and `generate` jobs.

A model is loaded here or is behind an endpoint; code that loads models is imported only for the former.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from valuesassets.node.checks import require_whole_model
from valuesassets.node.progress import Progress
from valuesassets.records.errors import JobError, ValuesAssetsError
from valuesassets.records.files import write_json
from valuesassets.records.jobs import AskingJob, GenerateCell, ScoreCell, kind_of_job
from valuesassets.records.parquet import read_trials
from valuesassets.records.trials import Trial
from valuesassets.remote.asking import RemoteAsking

if TYPE_CHECKING:
    from valuesassets.models.asking import Asking
    from valuesassets.node.held_models import HeldModels

Cell = ScoreCell | GenerateCell
Opened = tuple["Asking | RemoteAsking", Any, Callable[[], Any]]
"""A cell's trials as they are asked, the store of its model's records, and a function that gives the model."""


def ask_cells(job: AskingJob, progress: Progress) -> None:
    """Write the records of every cell; a cell whose records are all stored needs no weights.

    If a cell fails, the others still run.

    Raises:
        ModelError, ScoringError, StorageError, JobError: why a cell failed, once the others are done.
    """
    errors = dict[str, ValuesAssetsError]()
    if job.failures:
        job.failures.unlink(missing_ok=True)  # of an earlier attempt

    def write_failures() -> None:
        if job.failures:
            write_json(job.failures, {name: str(error) for name, error in errors.items()})

    @contextlib.contextmanager
    def recorded_errors(cell: Cell) -> Iterator[None]:
        """A block whose error is recorded as the cell's, at once; the job goes on."""
        try:
            yield
        except ValuesAssetsError as error:
            errors[cell.name] = error
            if len(job.cells) > 1:
                progress.say(f"{cell.name}: {error}")
            write_failures()

    @functools.cache
    def models() -> "HeldModels":
        from valuesassets.node.held_models import HeldModels

        return HeldModels(progress, job.known_readings)

    def open_cell(cell: Cell, trials: list[Trial]) -> Opened:
        if cell.endpoint is None:
            return models().asking(job, cell, trials)
        is_drawn = isinstance(cell, GenerateCell) and cell.is_drawn
        asking = RemoteAsking(cell.model, cell.endpoint, cell.prompting, trials, is_compared=not is_drawn)
        store = asking.open_known(job.known_readings, progress.say) if job.known_readings else None
        return asking, store, lambda: asking.connect(store)

    first_seen = {(cell.model, cell.revision): index for index, cell in reversed(list(enumerate(job.cells)))}
    askable, require_whole = [], functools.cache(require_whole_model)
    for cell in sorted(job.cells, key=lambda cell: first_seen[cell.model, cell.revision]):
        with recorded_errors(cell):  # cells that cannot be asked fail before any cell is asked
            trials = read_trials(cell.trials)
            if not trials:
                raise JobError(f"{cell.trials}: no trials in it; materialise the trials first")
            if (kind := kind_of_job(trials[0].readout)) != job.kind:
                readout = type(trials[0].readout).__name__
                raise JobError(f"{cell.trials}: trials for {readout} in a job of kind {job.kind}; send a {kind} job")
            if cell.endpoint is None:
                require_whole(cell.model, cell.revision, job.offline)
            askable.append((cell, trials))
    for number, (cell, trials) in enumerate(askable, 1):
        with recorded_errors(cell):
            place = f"{cell.name} (cell {number} of {len(askable)})"
            progress.stand = lambda place=place: f"at {place}, before it was asked; a new attempt goes on from there"
            _ask(job, cell, open_cell(cell, trials), f"at {place}", progress)
    write_failures()
    if len(errors) > 1:
        raise JobError(f"{len(errors)} of {len(job.cells)} cells failed, first: {next(iter(errors.values()))}")
    for error in errors.values():
        raise error


def _ask(job: AskingJob, cell: Cell, opened: Opened, place: str, progress: Progress) -> None:
    asking, store, load = opened
    all_records = f"all {len(asking.entries)} {asking.things}"
    if asking.is_written(cell.output):
        progress.say(f"{cell.name}: {all_records} are written, nothing to {job.kind}")
        return
    progress.stand = lambda: f"{place}: {_describe_stored(asking, store)}"
    stored = asking.recall(store) if store else None
    if stored is not None:
        progress.say(f"{cell.name}: {all_records} are known, nothing to {job.kind}")
        asking.write(cell.output, *stored)
        return
    model = load()
    progress.say(f"{cell.name}: {len(asking.trials)} trials for {model}")
    result, description = asking.ask(model, lambda done, total: progress.count(asking.verb, done, total), store)
    for note in description["notes"] if isinstance(description["notes"], list) else []:
        progress.say(f"{cell.name}: {note}")
    asking.write(cell.output, result.records, description)


def _describe_stored(asking: "Asking | RemoteAsking", store: Any) -> str:
    """How many of a cell's records are stored if this process ends now, in words."""
    entries, things = len(asking.entries), asking.things
    if store is None:
        return f"none of {entries} {things} is kept, the job names no known_readings; a new attempt asks them all"
    return f"{asking.kept(store)} of {entries} {things} are kept; a new attempt goes on from there"
