"""The job in which models write: reads the trials of each cell, writes answers."""

from valuesassets.node.cells import ask_cells
from valuesassets.node.progress import Progress
from valuesassets.records.jobs import GenerateJob


def do(job: GenerateJob, progress: Progress) -> None:
    """Write the answers of every cell; errors as for `ask_cells`."""
    ask_cells(job, progress)
