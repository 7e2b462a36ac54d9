"""Runs node jobs on this machine or on Slurm: an asset defines a job, which is written to a file and then run.

On this machine a job writes to the final places. On Slurm it writes into its attempt's folder, from where whole files
are copied to the final places, so that an old attempt that still writes does no harm.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from slurm_runner.errors import SlurmError
from slurm_runner.files import tail
from slurm_runner.pipes import CONTEXT, MESSAGES, serve_task
from slurm_runner.script import ATTEMPT, HEADER, LOG
from slurm_runner.serving import JobEnded, Wanted
from slurm_runner.submission import Submission, Task
from slurm_runner.verdicts import Ending, Verdict
from valuesassets.orchestration.code_versions import source_version
from valuesassets.orchestration.first_look.shown import link_to
from valuesassets.orchestration.grid.on_slurm import JOB, NODE, job_label, slurm_options, slurm_root, slurm_watch
from valuesassets.orchestration.partitions import own_partition
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import JobError, StorageError
from valuesassets.records.files import read_json, sha256_file, sha256_json, whole_file
from valuesassets.records.jobs import (
    AskingJob,
    GenerateCell,
    GenerateJob,
    Job,
    ScoreCell,
    ScoreJob,
    needs_network,
    promised_files,
    write_job,
)
from valuesassets.records.parquet import read_answers, read_readings, read_table
from valuesassets.records.processes import python_module
from valuesassets.records.seals import sealed
from valuesassets.records.study import Study
from valuesassets.records.tables import TRIALS

FAILURES = "failures.json"
"""The file in an attempt's folder in which a job reports failed cells."""


def run_node_job(
    context: dg.AssetExecutionContext, job: Job, study: Study, storage: Storage, family: str | None = None
) -> Path:
    """Run a job here or on Slurm, as the study says, until all its files are whole.

    Args:
        family: the family whose resources it requests; None for default resources.

    Returns:
        The log file.

    Raises:
        JobError: the job failed; says how it ended, with the last line of its log, or which file is missing.
    """
    partition = own_partition(context)
    folder = storage.job_folder(context.asset_key, partition)
    if study.slurm is None or needs_network(job):
        return _run_here(context, job, folder)
    sent, options = SentJob(job), slurm_options(study, storage, family)
    wanted = sent.wanted(job_label(study, context.asset_key), folder, context.asset_key, partition)
    try:
        watch, root, task = slurm_watch(study.slurm), slurm_root(storage), sent.task(study.slurm.python)
        return serve_task(context, watch, root, task, wanted, options).log
    except SlurmError as error:
        if isinstance(error, JobEnded) and (log := tail(error.submission.log(error.index))):
            context.log.error(log)
        raise JobError(str(error)) from None


def shown_log(storage: Storage, log: Path) -> dict[str, dg.MetadataValue[Any]]:
    """Metadata on a job's log: a link to it, and its last lines."""
    return {"whole_log": link_to(storage, log), "log": dg.MetadataValue.md(f"```\n{tail(log)}\n```")}


def _run_here(context: dg.AssetExecutionContext, job: Job, folder: Path) -> Path:
    """Run a job in a process that reports through Dagster Pipes; its job, log and messages stay in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    job_file, log_file = folder / JOB, folder / LOG
    write_job(job_file, job)
    injector = dg.PipesFileContextInjector(str(folder / CONTEXT))
    reader = dg.PipesFileMessageReader(str(folder / MESSAGES), cleanup_file=False)
    with dg.open_pipes_session(context.op_execution_context, injector, reader) as session, open(log_file, "wb") as log:
        process = subprocess.Popen(
            python_module(NODE, str(job_file)),
            env=os.environ | session.get_bootstrap_env_vars(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            status = process.wait()
        except BaseException:  # an interrupted run must not leave the process behind
            process.terminate()
            process.wait()
            raise
    if status != 0:
        ending = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        last_line = _last_line(log_file) or "it printed nothing"
        raise JobError(f"the node job ended with {ending}: {last_line} (log: {log_file})")
    return log_file


@dataclass(frozen=True)
class SentJob:
    """A node job as a task of `slurm_runner`, and the way its files come back."""

    job: Job

    @property
    def fingerprint(self) -> str:
        """Hash of all that the result depends on: the job, the files it reads, and the code; 16 hexadecimal digits."""
        files = {path for path in _paths(self.job.model_dump()) if path not in self._places and path.is_file()}
        hashes = {str(path): sha256_file(path) for path in files}
        return sha256_json([self.job.model_dump(mode="json"), hashes, source_version(f"{NODE}.{self.job.kind}")])[:16]

    def task(self, python: str | None) -> Task:
        """The task that runs the job, with its files written into the attempt's folder.

        Args:
            python: path of the environment's Python on the machine of the task; None for this process's.
        """
        failures = {"failures": FAILURES} if isinstance(self.job, AskingJob) else {}
        text = json.dumps(self.job.model_dump(mode="json") | failures, indent=2)
        for final, sent in self._places.items():
            text = text.replace(json.dumps(str(final)), json.dumps(sent))
        text = json.dumps(sealed(json.loads(text)), indent=2)
        return Task(python_module(NODE, f"{{task}}/{JOB}", python=python), files={JOB: text})

    def wanted(self, name: str, folder: Path, asset: dg.AssetKey, partition: str | None) -> Wanted:
        """The job as a result that a run waits for, until the job's end."""
        return Wanted(
            name, folder, self.fingerprint, (asset,), partition, self.take, self.fault, self.message, waits_for_end=True
        )

    def take(self, submission: Submission, index: int) -> bool:
        """Copy the job's files to their final places if all of them are whole; returns whether they are."""
        files = {final: self._whole_file(submission, index, final) for final in self._places}
        if None in files.values():
            return False
        for final, path in files.items():
            with whole_file(final) as temporary:
                shutil.copyfile(str(path), temporary)
        return True

    def fault(self, submission: Submission, index: int) -> str | None:
        """The job's own reason why a cell failed; None where it gave none."""
        cell = self._cells.get(self._missing_file(submission, index))
        for path in attempts_of(submission, index, FAILURES) if cell else ():
            with contextlib.suppress(StorageError):
                if cell and cell.name in (failures := read_json(path)):
                    return failures[cell.name]
        return None

    def message(self, submission: Submission, index: int, verdict: Verdict) -> str:
        """Why a file is missing after the job's end: its own reason, how it ended, or what is wrong with the file."""
        if reported := self.fault(submission, index):
            return reported
        job, log = f"job {submission.job_id}_{index}", submission.log(index)
        if verdict.ending is not Ending.DONE:
            last_line = _last_line(log)
            return f"{job}: {verdict.ending}: {verdict.reason}{f': {last_line}' if last_line else ''}"
        missing = self._missing_file(submission, index)
        files = attempts_of(submission, index, self._places[missing])
        fault = self._fault(missing, files[0]) if files else None
        name = self._noun if self._cells else missing.name
        return f"{job} has left {fault}" if fault else f"{job} has left no {name}; see its log: {log}"

    @property
    def _cells(self) -> dict[Path, ScoreCell | GenerateCell]:
        """The cells of a job that asks models, by their output files; empty for other jobs."""
        return {cell.output: cell for cell in self.job.cells} if isinstance(self.job, AskingJob) else {}

    @property
    def _noun(self) -> str:
        """The noun for the records that a cell writes."""
        return "readings" if isinstance(self.job, ScoreJob) else "answers"

    @property
    def _places(self) -> dict[Path, str]:
        """The final paths of the job's files, with the paths in its attempt's folder."""
        places = {path: f"given/{n}{path.suffix}" for n, path in enumerate(promised_files(self.job))}
        return places | {path: f"{self._noun}/{cell.name}.parquet" for path, cell in self._cells.items()}

    def _whole_file(self, submission: Submission, index: int, final: Path) -> Path | None:
        """The whole copy of a file from any attempt; None where there is none."""
        files = attempts_of(submission, index, self._places[final])
        return next((path for path in files if self._fault(final, path) is None), None)

    def _missing_file(self, submission: Submission, index: int) -> Path:
        """The first file without a whole copy; the first of all files if none is missing."""
        lacks = (final for final in self._places if self._whole_file(submission, index, final) is None)
        return next(lacks, next(iter(self._places)))

    def _fault(self, final: Path, path: Path) -> str | None:
        """What is wrong with an attempt's file; None where it is whole."""
        if final not in self._cells:
            return None  # written whole or not at all
        is_written_to = isinstance(self.job, GenerateJob)
        try:
            trial_ids = [record.trial_id for record in (read_answers if is_written_to else read_readings)(path)]
        except StorageError as error:
            return f"{self._noun} that are not whole: {error}; materialise again"
        expected_ids = read_table(self._cells[final].trials, TRIALS)["trial_id"].to_pylist()
        return (
            None
            if list(dict.fromkeys(trial_ids)) == expected_ids
            else f"{self._noun} of other trials ({path}); materialise again"
        )


def attempts_of(submission: Submission, index: int, name: str) -> list[Path]:
    """The copies of a file from all attempts, newest first."""
    folders = sorted(submission.task_folder(index).glob(f"{ATTEMPT}-*"), key=lambda folder: folder.stat().st_mtime)
    return [path for folder in reversed(folders) if (path := folder / name).exists()]


def _last_line(log: Path) -> str | None:
    """The last line that the command wrote to its log; None where it wrote none."""
    lines = [line for line in tail(log).splitlines() if line.strip() and not line.startswith(HEADER)]
    return lines[-1] if lines else None


def _paths(value: Any) -> Iterator[Path]:
    """All fields of a job that are paths; texts of people are never taken for paths."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _paths(item)
