"""Materialises parts of a study from within a run, by one separate process, whose runs the UI shows.

A run takes 0.6 s in this warm process, and 3.6 s in a process of its own. The process is not Dagster's, because two
runs in one process would capture each other's standard output.
"""

import json
import signal
import subprocess
from collections.abc import Collection

import dagster as dg

from slurm_runner.claims import is_cancelled
from valuesassets.desk.run_names import PART_OF_TAG
from valuesassets.orchestration.commands.side_by_side import SECONDS_TO_END
from valuesassets.orchestration.resources import Storage
from valuesassets.records.processes import python_module
from valuesassets.records.study import Study

COMMAND = "valuesassets.definitions"
FAILED_PARTS = "failed_parts"
WHAT_NEXT = "Finished parts are kept. Remove the causes above, then launch this job again: it makes only the rest."


def materialise_parts(
    context: dg.OpExecutionContext,
    study: Study,
    storage: Storage,
    only: Collection[str] = (),
    cells: Collection[str] | None = None,
) -> dict[str, str]:
    """Materialise stale parts, with progress in the run's log.

    Args:
        only: names of assets or groups; empty for all.
        cells: the cells to make, as `<model>/<part>`; None for all.

    Returns:
        The first line of each failed part's error, by the part's name.

    Raises:
        dagster.Failure: the process ended early.
    """
    command = python_module(COMMAND, study.name, "--storage", storage.root, "--part-of", context.run_id)
    command += ["--only", *only] if only else []
    command += ["--cells", *cells] if cells is not None else []
    context.log.info(f"Runs of this job: /runs?q[0]=tag:{PART_OF_TAG}={context.run_id}")
    failed: dict[str, str] = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        if process.stdin is None or process.stdout is None:
            raise AssertionError("Popen was asked for both")
        try:
            process.stdin.write(study.model_dump_json() + "\n")
            process.stdin.flush()
            for output_line in process.stdout:
                try:
                    entry = json.loads(output_line)
                    line, has_failed = entry["line"], entry["has_failed"]
                except (ValueError, TypeError, KeyError):  # libraries may print too
                    print(output_line, end="")
                    continue
                if has_failed:
                    name, _, reason = line.partition(": ")
                    failed[name] = next(iter(reason.strip().splitlines()), "no reason was given")
                (context.log.error if has_failed else context.log.info)(line)
        except BaseException:
            _end(process, context)
            raise
    if process.returncode != 0:
        raise dg.Failure(
            f"the process that materialises the study ended with exit status {process.returncode}; what it printed is "
            f"under stderr of this run. {WHAT_NEXT}",
            allow_retries=False,
        )
    return failed


def require_all(failed: dict[str, str]) -> None:
    """Fail this run if parts have failed; the failure names each with the first line of its error, and says what to
    do."""
    if failed:
        listed = "\n".join(f"{name}: {reason}" for name, reason in failed.items())
        raise dg.Failure(
            f"{len(failed)} {'part' if len(failed) == 1 else 'parts'} failed:\n{listed}\n{WHAT_NEXT}",
            metadata={FAILED_PARTS: failed},
            allow_retries=False,
        )


def _end(process: subprocess.Popen, context: dg.OpExecutionContext) -> None:
    """End the process; if a person cancelled this run, cancel its runs too, with their jobs on Slurm."""
    instance = context.instance
    if is_cancelled(instance, context.run_id):
        for run in instance.get_runs(dg.RunsFilter(tags={PART_OF_TAG: context.run_id})):
            if not run.is_finished:
                instance.report_run_canceling(run)
    process.send_signal(signal.SIGINT)
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
