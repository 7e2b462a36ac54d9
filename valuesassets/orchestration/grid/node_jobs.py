"""The way of every node job: an asset says it, a file holds it, and it is done on this machine or on Slurm.

On this machine a job writes to its places. On Slurm it writes into its attempt's folder; what is whole is copied from
there to where the asset has it, so that an old attempt that still writes harms nothing.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
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
from valuesassets.records.seals import sealed
from valuesassets.records.study import Study
from valuesassets.records.tables import TRIALS

FAILURES = "failures.json"
"""What a score job says of the cells that it could not read, in its attempt's folder."""


def run_node_job(
    context: dg.AssetExecutionContext, job: Job, study: Study, storage: Storage, family: str | None = None
) -> Path:
    """Have a job done where the study says; the files that it promises are whole afterwards.

    Args:
        family: whose resources it asks for; None for those of a family that says nothing.

    Returns:
        The log file.

    Raises:
        JobError: how the job ended, with the last line of its log, or what its files lack.
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
    """Metadata of a job's log: a link to all of it, and its end."""
    return {"whole_log": link_to(storage, log), "log": dg.MetadataValue.md(f"```\n{tail(log)}\n```")}


def _run_here(context: dg.AssetExecutionContext, job: Job, folder: Path) -> Path:
    """Do a job in a process that reports through Dagster Pipes; its files (job, log, messages) stay in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    job_file, log_file = folder / JOB, folder / LOG
    write_job(job_file, job)
    injector = dg.PipesFileContextInjector(str(folder / CONTEXT))
    reader = dg.PipesFileMessageReader(str(folder / MESSAGES), cleanup_file=False)
    with dg.open_pipes_session(context.op_execution_context, injector, reader) as session, open(log_file, "wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", NODE, str(job_file)],
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
        said = _last_line(log_file) or "it printed nothing"
        raise JobError(f"the node job ended with {ending}: {said} (log: {log_file})")
    return log_file


@dataclass(frozen=True)
class SentJob:
    """A node job as a task: what is sent, and how what it promises comes back."""

    job: Job

    @property
    def fingerprint(self) -> str:
        """Of all that the result depends on: the job, the files it reads, the code; 16 hexadecimal digits."""
        read = {path for path in _paths(self.job.model_dump()) if path not in self._places and path.is_file()}
        hashes = {str(path): sha256_file(path) for path in read}
        return sha256_json([self.job.model_dump(mode="json"), hashes, source_version(f"{NODE}.{self.job.kind}")])[:16]

    def task(self, python: str | None) -> Task:
        """What runs it; its files go into the folder that the attempt starts in.

        Args:
            python: of the environment, as the machine sees it that runs the task; this one where None.
        """
        failures = {"failures": FAILURES} if isinstance(self.job, AskingJob) else {}
        text = json.dumps(self.job.model_dump(mode="json") | failures, indent=2)
        for final, sent in self._places.items():
            text = text.replace(json.dumps(str(final)), json.dumps(sent))
        text = json.dumps(sealed(json.loads(text)), indent=2)
        return Task([python or sys.executable, "-m", NODE, f"{{task}}/{JOB}"], files={JOB: text})

    def wanted(self, name: str, folder: Path, asset: dg.AssetKey, partition: str | None) -> Wanted:
        """The job as what a run waits for, to its end."""
        return Wanted(
            name, folder, self.fingerprint, (asset,), partition, self.take, self.said, self.why, waits_for_end=True
        )

    def take(self, submission: Submission, index: int) -> bool:
        """Copy all that the job has promised to its places, where it is whole; whether it is."""
        found = {final: self._whole(submission, index, final) for final in self._places}
        if None in found.values():
            return False
        for final, path in found.items():
            with whole_file(final) as temporary:
                shutil.copyfile(str(path), temporary)
        return True

    def said(self, submission: Submission, index: int) -> str | None:
        """Why a cell cannot be read, in the job's own words; None where it has said nothing."""
        cell = self._cells.get(self._lacking(submission, index))
        for path in attempts_of(submission, index, FAILURES) if cell else ():
            with contextlib.suppress(StorageError):
                if cell and cell.name in (found := read_json(path)):
                    return found[cell.name]
        return None

    def why(self, submission: Submission, index: int, verdict: Verdict) -> str:
        """Why something is lacking though the job has ended: what it said, how it ended, or the file's fault."""
        if said := self.said(submission, index):
            return said
        job, log = f"job {submission.job_id}_{index}", submission.log(index)
        if verdict.ending is not Ending.DONE:
            last = _last_line(log)
            return f"{job}: {verdict.ending}: {verdict.reason}{f': {last}' if last else ''}"
        lacking = self._lacking(submission, index)
        left = attempts_of(submission, index, self._places[lacking])
        fault = self._fault(lacking, left[0]) if left else None
        name = self._things if self._cells else lacking.name
        return f"{job} has left {fault}" if fault else f"{job} has left no {name}; see its log: {log}"

    @property
    def _cells(self) -> dict[Path, ScoreCell | GenerateCell]:
        """The cells of a job that asks, by what they write."""
        return {cell.output: cell for cell in self.job.cells} if isinstance(self.job, AskingJob) else {}

    @property
    def _things(self) -> str:
        """What a cell writes."""
        return "readings" if isinstance(self.job, ScoreJob) else "answers"

    @property
    def _places(self) -> dict[Path, str]:
        """What the job promises, and where in its attempt's folder it is to write that."""
        given = {path: f"given/{n}{path.suffix}" for n, path in enumerate(promised_files(self.job))}
        return given | {path: f"{self._things}/{cell.name}.parquet" for path, cell in self._cells.items()}

    def _whole(self, submission: Submission, index: int, final: Path) -> Path | None:
        """A promised file as an attempt has left it whole."""
        left = attempts_of(submission, index, self._places[final])
        return next((path for path in left if self._fault(final, path) is None), None)

    def _lacking(self, submission: Submission, index: int) -> Path:
        """The first promised file that no attempt has left whole; the first of all where none is lacking."""
        lacks = (final for final in self._places if self._whole(submission, index, final) is None)
        return next(lacks, next(iter(self._places)))

    def _fault(self, final: Path, path: Path) -> str | None:
        """What is wrong with a file that an attempt has left; None where it is whole."""
        if final not in self._cells:
            return None  # written whole or not at all
        is_written_to = isinstance(self.job, GenerateJob)
        try:
            read = [record.trial_id for record in (read_answers if is_written_to else read_readings)(path)]
        except StorageError as error:
            return f"{self._things} that are not whole: {error}; materialise again"
        asked = read_table(self._cells[final].trials, TRIALS)["trial_id"].to_pylist()
        return (
            None
            if list(dict.fromkeys(read)) == asked
            else f"{self._things} of other trials ({path}); materialise again"
        )


def attempts_of(submission: Submission, index: int, name: str) -> list[Path]:
    """A file as each attempt has left it, the latest first."""
    folders = sorted(submission.task_folder(index).glob(f"{ATTEMPT}-*"), key=lambda folder: folder.stat().st_mtime)
    return [path for folder in reversed(folders) if (path := folder / name).exists()]


def _last_line(log: Path) -> str | None:
    """The last line of a log that is the command's own; None where it has said nothing."""
    said = [line for line in tail(log).splitlines() if line.strip() and not line.startswith(HEADER)]
    return said[-1] if said else None


def _paths(value: Any) -> Iterator[Path]:
    """All paths among the fields of a job; what people wrote, such as a system's text, is none."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _paths(each)
