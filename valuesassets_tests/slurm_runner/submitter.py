"""A process of its own that submits: `python -m valuesassets_tests.slurm_runner.submitter FOLDER` prints the id."""

import sys
from pathlib import Path

from slurm_runner.commands import SlurmCommands
from slurm_runner.submission import open_submission, submit

if __name__ == "__main__":
    submission = open_submission(Path(sys.argv[1]))
    assert submission is not None
    print(submit(submission, SlurmCommands(), settle_seconds=0.2).job_id)
