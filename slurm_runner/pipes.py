"""A Dagster Pipes client that runs a command as a Slurm job and outlives neither it nor loses it.

Context and messages are files in the task's folder. A run that is cancelled cancels the job; a process that is stopped
or killed does not: the next run finds the job by the claim in its folder and goes on.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_pipes import (
    DAGSTER_PIPES_CONTEXT_ENV_VAR,
    DAGSTER_PIPES_MESSAGES_ENV_VAR,
    PipesContextData,
    PipesDefaultContextLoader,
    PipesDefaultMessageWriter,
    encode_param,
)

from slurm_runner.claims import Claim, claims_lock, drop_claim, hand_over, standing_claim, write_claim
from slurm_runner.commands import CommandFailed, SlurmCommands
from slurm_runner.errors import JobEnded
from slurm_runner.files import tail, write_json
from slurm_runner.options import SlurmOptions
from slurm_runner.submission import Submission, Task, prepare_submission, submit
from slurm_runner.verdicts import Ending, Verdict
from slurm_runner.watch import TaskReport, Watch

CONTEXT, MESSAGES = "context.json", "messages"
ATTEMPTS = 3
POLL_SECONDS = 5.0
MESSAGES_SECONDS = 0.5
"""Between two looks at the messages of a job."""


def pipes_environment(task_folder: Path) -> Mapping[str, str]:
    """The variables by which a command finds Dagster's context and where to put its messages."""
    context = {PipesDefaultContextLoader.FILE_PATH_KEY: str(task_folder / CONTEXT)}
    messages = {PipesDefaultMessageWriter.FILE_PATH_KEY: str(task_folder / MESSAGES)}
    return {
        DAGSTER_PIPES_CONTEXT_ENV_VAR: encode_param(context),
        DAGSTER_PIPES_MESSAGES_ENV_VAR: encode_param(messages),
    }


def with_pipes(task: Task, run: dg.DagsterRun | None = None) -> Task:
    """A task whose command finds Dagster: its context is that of an open session, or else of `run` as a whole."""
    environment = lambda place: {**task.environment(place), **pipes_environment(place)}  # noqa: E731
    if run is None:
        return replace(task, environment=environment)
    of_run = PipesContextData(
        asset_keys=None,
        code_version_by_asset_key=None,
        provenance_by_asset_key=None,
        partition_key=None,
        partition_key_range=None,
        partition_time_window=None,
        run_id=run.run_id,
        job_name=run.job_name,
        retry_number=0,
        extras={},
    )
    return replace(task, environment=environment, files={**task.files, CONTEXT: json.dumps(of_run)})


def is_used_up(instance: dg.DagsterInstance, claim: Claim) -> bool:
    """Whether the run that has had a claim's result succeeded: then who asks again wants it anew."""
    run = instance.get_run_by_id(claim.given_to) if claim.given_to else None
    return run is not None and run.status is dg.DagsterRunStatus.SUCCESS


def is_cancelled(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether a person cancelled a run, rather than that its process was stopped."""
    run = instance.get_run_by_id(run_id)
    return run is None or run.status in (dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED)


class SlurmPipesClient(dg.PipesClient):
    """Runs commands as Slurm jobs.

    Args:
        commands: how Slurm is asked.
        root: folder of the submissions, on a disk that the compute nodes share.
        poll_seconds: between two looks at the job.
        attempts: how often a job is submitted that the cluster lost.
    """

    def __init__(
        self,
        commands: SlurmCommands,
        root: Path,
        poll_seconds: float = POLL_SECONDS,
        attempts: int = ATTEMPTS,
        watch: Callable[[SlurmCommands], Watch] = Watch,
    ) -> None:
        self._commands, self._root = commands, root
        self._poll_seconds, self._attempts, self._watch = poll_seconds, attempts, watch

    def run(  # type: ignore[override]
        self,
        *,
        context: dg.OpExecutionContext,
        task: Task,
        folder: Path,
        label: str,
        options: SlurmOptions,
        fingerprint: str,
        take: Callable[[Submission, int], None] = lambda submission, index: None,
        extras: Mapping[str, Any] | None = None,
    ) -> tuple[Submission, int]:
        """Run a task to its end, or go on with the job that a run before has submitted for the same.

        Args:
            folder: where the claim on the job lies: one for whatever may be asked for at a time.
            fingerprint: of what is asked; a job of another one is not gone on with.
            take: takes the result of the task that was done; where it raises, the next run asks anew.

        Returns:
            The submission that was done, and the task's index in it.

        Raises:
            JobEnded: how it ended, and the log's tail.
            SubmissionRefused, SubmissionUncertain: it was not submitted, or nobody knows.
        """
        attempt = 1
        while True:
            claim, submission = self._claim(context, folder, task, label, options, fingerprint)
            with self._session(context, submission.task_folder(claim.index), extras):
                submission = submit(submission, self._commands, context.log.warning)
                verdict = self._wait(context, submission, claim, folder)
            if verdict.ending is Ending.DONE:
                try:
                    take(submission, claim.index)
                except Exception:
                    self._drop(folder, claim)
                    raise
                hand_over(folder, claim, context.run_id)
                return submission, claim.index
            self._drop(folder, claim)
            if not verdict.ending.is_infrastructure or attempt == self._attempts:
                raise JobEnded(
                    f"job {submission.job_id}_{claim.index}: {verdict.ending}: {verdict.reason}",
                    tail(submission.log(claim.index)),
                )
            attempt += 1
            context.log.warning(f"job {submission.job_id}: {verdict.ending}: {verdict.reason}; attempt {attempt}")

    def _claim(
        self,
        context: dg.OpExecutionContext,
        folder: Path,
        task: Task,
        label: str,
        options: SlurmOptions,
        fingerprint: str,
    ) -> tuple[Claim, Submission]:
        with claims_lock(self._root):
            standing = standing_claim(folder, fingerprint, lambda claim: is_used_up(context.instance, claim))
            if standing is not None:
                claim, submission = standing
                context.log.info(f"going on with job {submission.job_id or submission.name}, submitted before")
                return claim, submission
            submission = prepare_submission(self._root, label, [with_pipes(task)], options)
            claim = Claim(str(submission.folder), 0, fingerprint)
            write_claim(folder, claim)
            return claim, submission

    def _drop(self, folder: Path, claim: Claim) -> None:
        with claims_lock(self._root):
            drop_claim(folder, claim)

    @contextlib.contextmanager
    def _session(self, context: dg.OpExecutionContext, place: Path, extras: Mapping[str, Any] | None) -> Iterator[None]:
        context_file, messages = _KeptContext(place / CONTEXT), _KeptMessages(place / MESSAGES)
        with dg.open_pipes_session(context, context_file, messages, extras=dict(extras or {})):
            yield

    def _wait(self, context: dg.OpExecutionContext, submission: Submission, claim: Claim, folder: Path) -> Verdict:
        watch = self._watch(self._commands)
        watch.add(submission, [claim.index])
        key, said = (submission.uuid, claim.index), ""
        try:
            while True:
                ended = watch.tick()
                report = ended.get(key) or next(report for _, report in watch.open_reports())
                said = _say(context, submission, report, watch.fault, said)
                if report.verdict is not None:
                    return report.verdict
                time.sleep(self._poll_seconds)
        except BaseException:
            if is_cancelled(context.instance, context.run_id):
                with contextlib.suppress(CommandFailed):
                    watch.cancel(key)
                self._drop(folder, claim)
            raise


def _say(
    context: dg.OpExecutionContext, submission: Submission, report: TaskReport, fault: str | None, said: str
) -> str:
    where = f" on {report.node}" if report.node else f" ({report.reason})" if report.reason != "None" else ""
    line = f"Slurm does not answer: {fault}" if fault else f"job {submission.job_id}: {report.state}{where}"
    if line != said:
        (context.log.warning if fault else context.log.info)(line)
    return line


class _KeptContext(dg.PipesContextInjector):
    """Writes the context to a file that stays: the job may start when the run is long gone."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextlib.contextmanager
    def inject_context(self, context_data: Any) -> Iterator[dict[str, str]]:
        if not self._path.exists():
            write_json(self._path, context_data)
        yield {PipesDefaultContextLoader.FILE_PATH_KEY: str(self._path)}

    def no_messages_debug_text(self) -> str:
        return f"Dagster's context was written to {self._path}."


class _KeptMessages(dg.PipesMessageReader):
    """Reads messages from a file that stays: a run that goes on with a job hears all that it has said.

    Dagster's own reader empties the file first.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextlib.contextmanager
    def read_messages(self, handler: dg.PipesMessageHandler) -> Iterator[dict[str, str]]:
        self._path.touch()
        is_over = threading.Event()
        thread = threading.Thread(target=self._follow, args=(handler, is_over), daemon=True)
        thread.start()
        try:
            yield {PipesDefaultMessageWriter.FILE_PATH_KEY: str(self._path)}
        finally:
            is_over.set()
            thread.join()

    def _follow(self, handler: dg.PipesMessageHandler, is_over: threading.Event) -> None:
        rest = ""
        with open(self._path, encoding="utf-8", errors="replace") as stream:
            while True:
                was_over = is_over.is_set()
                *lines, rest = (rest + stream.read()).split("\n")
                for line in lines:
                    with contextlib.suppress(ValueError):  # a node that fell left half a line
                        handler.handle_message(json.loads(line))
                if was_over:
                    return
                is_over.wait(MESSAGES_SECONDS)

    def no_messages_debug_text(self) -> str:
        return f"Messages were expected in {self._path}."
