"""The job that samples answers as text: reads the trials of each cell, writes the drawn texts."""

from valuesassets.models.sampling import sample_answers
from valuesassets.node.held_models import HeldModels
from valuesassets.node.progress import Progress
from valuesassets.records.errors import JobError
from valuesassets.records.jobs import SampleCell, SampleJob
from valuesassets.records.parquet import answer_rows, read_trials, write_table
from valuesassets.records.tables import SAMPLED_ANSWERS
from valuesassets.records.trials import main_trials


def do(job: SampleJob, progress: Progress) -> None:
    """Write the sampled answers of every cell; an error says why the first failed cell failed."""
    models = HeldModels(progress)
    for number, cell in enumerate(job.cells, 1):
        place = f"at {cell.name} (cell {number} of {len(job.cells)})"
        progress.stand = lambda place=place: f"{place}; a new attempt draws all of them again"
        _sample(job, cell, models, progress)


def _sample(job: SampleJob, cell: SampleCell, models: HeldModels, progress: Progress) -> None:
    trials = main_trials(read_trials(cell.trials))
    if not trials:
        raise JobError(f"{cell.trials}: no trials in it; materialise the trials first")
    loaded = models.load(models.open(cell, cell.dtype, cell.device, offline=False))
    rows = answer_rows(trials, sample_answers(loaded, [trial.prompt for trial in trials], job.n, job.seed))
    write_table(cell.answers, rows, SAMPLED_ANSWERS, loaded.describe() | {"n": job.n, "seed": job.seed})
    progress.say(f"{cell.name}: {job.n} answers to each of {len(trials)} prompts, {len(rows)} different ones")
