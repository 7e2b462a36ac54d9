"""The job that reads answer probabilities: reads the trials of each cell, writes readings."""

from valuesassets.node.cells import ask_cells
from valuesassets.node.progress import Progress
from valuesassets.records.jobs import ScoreJob


def do(job: ScoreJob, progress: Progress) -> None:
    """Write the readings of every cell; errors as for `ask_cells`."""
    ask_cells(job, progress)
