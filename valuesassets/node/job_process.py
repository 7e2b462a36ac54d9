"""Runs one job, from its file to its exit status."""

import contextlib
import importlib
import os
import sys
from pathlib import Path

from dagster_pipes import PipesEnvVarParamsLoader, open_dagster_pipes

from valuesassets.node.checks import require_ready
from valuesassets.node.progress import Progress, heartbeat
from valuesassets.node.stopping import stops_at_term
from valuesassets.records.errors import NO_MEMORY, ValuesAssetsError
from valuesassets.records.jobs import read_job


def main(arguments: list[str]) -> int:
    """Run the job of a file; its progress goes to stdout, and to Dagster if Dagster started this process.

    Returns:
        0 for success; 1 after an error, with one line on stderr; 2 for a wrong number of arguments. If SIGTERM stops
        the job, the process exits with 75 (`EXIT_INTERRUPTED`), and its last line on stdout says how far it came.
    """
    if len(arguments) != 1:
        print("usage: python -m valuesassets.node JOB.json", file=sys.stderr)
        return 2
    try:
        with contextlib.ExitStack() as stack:
            pipes = None
            # Without Dagster, `open_dagster_pipes` gives a mock whose `with` block swallows every error.
            if PipesEnvVarParamsLoader().is_dagster_pipes_process():
                pipes = stack.enter_context(open_dagster_pipes())
            progress = Progress(pipes)
            stack.enter_context(stops_at_term(progress.say_stopped))
            if pipes:
                stack.enter_context(heartbeat(progress.tell_dagster))
            job = read_job(Path(arguments[0]))
            require_ready(job)
            importlib.import_module(f"valuesassets.node.{job.kind}").do(job, progress)
    except ValuesAssetsError as error:
        if os.environ.get("VALUESASSETS_DEBUG") == "1":
            raise
        print(error, file=sys.stderr)
        return 1
    except MemoryError:
        print(NO_MEMORY, file=sys.stderr)
        return 1
    return 0
