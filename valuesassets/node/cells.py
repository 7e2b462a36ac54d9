"""Cells whose trials are put to models, one after the other: what `score` and `generate` jobs have in common.

A model is loaded here, or stands behind an endpoint; code that loads models is imported for the former alone.
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
"""A cell's trials as they are asked, what is known of its model, and how the model itself is had."""


def ask_cells(job: AskingJob, progress: Progress) -> None:
    """Write what every cell's model answers; a cell whose records are known is left as it is and costs no weights.

    A cell that fails does not take the others with it.

    Raises:
        ModelError, ScoringError, StorageError, JobError: what a cell lacked, once the others are done.
    """
    errors = dict[str, ValuesAssetsError]()
    if job.failures:
        job.failures.unlink(missing_ok=True)  # an earlier attempt's

    def write_failures() -> None:
        if job.failures:
            write_json(job.failures, {name: str(error) for name, error in errors.items()})

    @contextlib.contextmanager
    def noted(cell: Cell) -> Iterator[None]:
        """A block whose error is that of a cell: written down at once, and the job goes on."""
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

    def opened(cell: Cell, trials: list[Trial]) -> Opened:
        if cell.endpoint is None:
            return models().asking(job, cell, trials)
        asking = RemoteAsking(cell.model, cell.endpoint, cell.prompting, trials)
        known = asking.open_known(job.known_readings, progress.say) if job.known_readings else None
        return asking, known, lambda: asking.connect(known)

    first_seen = {(cell.model, cell.revision): index for index, cell in reversed(list(enumerate(job.cells)))}
    sound, require_whole = [], functools.cache(require_whole_model)
    for cell in sorted(job.cells, key=lambda cell: first_seen[cell.model, cell.revision]):
        with noted(cell):  # what cannot be asked is said before anything is
            trials = read_trials(cell.trials)
            if not trials:
                raise JobError(f"{cell.trials}: no trials in it; materialise the trials first")
            if (kind := kind_of_job(trials[0].readout)) != job.kind:
                readout = type(trials[0].readout).__name__
                raise JobError(f"{cell.trials}: trials for {readout} in a job of kind {job.kind}; send a {kind} job")
            if cell.endpoint is None:
                require_whole(cell.model, cell.revision, job.offline)
            sound.append((cell, trials))
    for number, (cell, trials) in enumerate(sound, 1):
        with noted(cell):
            place = f"{cell.name} (cell {number} of {len(sound)})"
            progress.stand = lambda place=place: f"at {place}, before it was asked; a new attempt goes on from there"
            _ask(job, cell, opened(cell, trials), f"at {place}", progress)
    write_failures()
    if len(errors) > 1:
        raise JobError(f"{len(errors)} of {len(job.cells)} cells failed, first: {next(iter(errors.values()))}")
    for error in errors.values():
        raise error


def _ask(job: AskingJob, cell: Cell, opened: Opened, place: str, progress: Progress) -> None:
    asking, known, load = opened
    asked = f"all {len(asking.entries)} {asking.things}"
    if asking.is_written(cell.output):
        progress.say(f"{cell.name}: {asked} are written, nothing to {job.kind}")
        return
    progress.stand = lambda: f"{place}: {_stand(asking, known)}"
    recalled = asking.recall(known) if known else None
    if recalled is not None:
        progress.say(f"{cell.name}: {asked} are known, nothing to {job.kind}")
        asking.write(cell.output, *recalled)
        return
    model = load()
    progress.say(f"{cell.name}: {len(asking.trials)} trials for {model}")
    result, described = asking.ask(model, lambda done, total: progress.count(asking.verb, done, total), known)
    for note in described["notes"] if isinstance(described["notes"], list) else []:
        progress.say(f"{cell.name}: {note}")
    asking.write(cell.output, result.records, described)


def _stand(asking: "Asking | RemoteAsking", known: Any) -> str:
    """How much of a cell outlives this process."""
    entries, things = len(asking.entries), asking.things
    if known is None:
        return f"none of {entries} {things} is kept, the job names no known_readings; a new attempt asks them all"
    return f"{asking.kept(known)} of {entries} {things} are kept; a new attempt goes on from there"
