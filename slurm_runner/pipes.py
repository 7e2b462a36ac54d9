"""A Dagster Pipes client that runs a command as a Slurm job and outlives neither it nor loses it.

Context and messages are files in the task's folder. A run that is cancelled cancels the job; a process that is stopped
or killed does not: the next run finds the job by the claim in its folder and goes on.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
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

from slurm_runner.claims import (
    Claim,
    claims_lock,
    drop_claim,
    hand_over,
    is_wanted,
    join_claim,
    standing_claim,
    write_claim,
)
from slurm_runner.commands import SlurmCommands
from slurm_runner.errors import JobEnded, SlurmError
from slurm_runner.files import tail
from slurm_runner.kept_files import KeptContext, KeptMessages
from slurm_runner.options import SlurmOptions
from slurm_runner.submission import Submission, Task, cancel, prepare_submission, submit
from slurm_runner.verdicts import Ending, Verdict
from slurm_runner.watch import TaskReport, Watch

CONTEXT, MESSAGES = "context.json", "messages"
ATTEMPTS = 3
POLL_SECONDS = 5.0


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


def is_wanted_by_others(instance: dg.DagsterInstance, folder: Path, claim: Claim, run_id: str) -> bool:
    """Whether a run other than this one waits for a claim's result."""

    def is_waiting(other: str) -> bool:
        run = instance.get_run_by_id(other) if other != run_id else None
        return run is not None and not run.is_finished and run.status is not dg.DagsterRunStatus.CANCELING

    return is_wanted(folder, claim, is_waiting)


def is_cancelled(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether a person cancelled a run, rather than that its process was stopped."""
    run = instance.get_run_by_id(run_id)
    return run is None or run.status in (dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED)


class SlurmInvocation(dg.PipesClientCompletedInvocation):
    """A task that was done, and what it has reported.

    Attributes:
        submission, index: the task.
    """

    def __init__(self, session: dg.PipesSession, submission: Submission, index: int) -> None:
        super().__init__(session)
        self.submission, self.index = submission, index

    def get_results(self, *, implicit_materializations: bool = True) -> Sequence[dg.PipesExecutionResult]:
        """As Dagster has it; of an asset or check that several attempts have reported, the last report."""
        results = super().get_results(implicit_materializations=implicit_materializations)
        return tuple({(result.asset_key, getattr(result, "check_name", None)): result for result in results}.values())


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
        context: dg.OpExecutionContext | dg.AssetExecutionContext,
        task: Task,
        folder: Path,
        label: str,
        options: SlurmOptions,
        fingerprint: str,
        take: Callable[[Submission, int], None] = lambda submission, index: None,
        extras: Mapping[str, Any] | None = None,
    ) -> SlurmInvocation:
        """Run a task to its end, or go on with the job that a run before has submitted for the same.

        Args:
            folder: where the claim on the job lies: one for whatever may be asked for at a time.
            fingerprint: of what is asked; a job of another one is not gone on with.
            take: takes the result of the task that was done; where it raises, the next run asks anew.

        Raises:
            JobEnded: how it ended, and the log's tail.
            SubmissionRefused, SubmissionUncertain: it was not submitted, or nobody knows.
        """
        if isinstance(context, dg.AssetExecutionContext):
            context = context.op_execution_context  # what Pipes asks of the other one is deprecated
        attempt = 1
        while True:
            claim, submission = self._claim(context, folder, task, label, options, fingerprint)
            place = submission.task_folder(claim.index)
            files = KeptContext(place / CONTEXT), KeptMessages(place / MESSAGES)
            with dg.open_pipes_session(context, *files, extras=dict(extras or {})) as session:
                try:
                    submission = submit(submission, self._commands, context.log.warning)
                    verdict = self._wait(context, submission, claim.index)
                except BaseException:
                    if is_cancelled(context.instance, context.run_id):
                        self._cancel(context, submission, claim, folder)
                    raise
            if verdict.ending is Ending.DONE:
                try:
                    take(submission, claim.index)
                except Exception:
                    self._drop(folder, claim)
                    raise
                with claims_lock(self._root):
                    hand_over(folder, claim, context.run_id)
                return SlurmInvocation(session, submission, claim.index)
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
                claim, submission = join_claim(folder, standing[0], context.run_id), standing[1]
                context.log.info(f"going on with job {submission.job_id or submission.name}, submitted before")
                return claim, submission
            submission = prepare_submission(self._root, label, [with_pipes(task)], options)
            claim = Claim(str(submission.folder), 0, fingerprint, wanted_by=(context.run_id,))
            write_claim(folder, claim)
            return claim, submission

    def _drop(self, folder: Path, claim: Claim) -> None:
        with claims_lock(self._root):
            drop_claim(folder, claim)

    def _cancel(self, context: dg.OpExecutionContext, submission: Submission, claim: Claim, folder: Path) -> None:
        """Cancel the job of a run that was cancelled, unless another run waits for it.

        Where Slurm does not answer, the next run goes on with it.
        """
        job = f"job {submission.job_id or submission.name}"
        try:
            with claims_lock(self._root):
                if is_wanted_by_others(context.instance, folder, claim, context.run_id):
                    context.log.info(f"{job} goes on: another run waits for it")
                    return
                cancel(submission, [claim.index], self._commands)
                drop_claim(folder, claim)
        except SlurmError as error:
            context.log.warning(f"{job} could not be cancelled: {error}")

    def _wait(self, context: dg.OpExecutionContext, submission: Submission, index: int) -> Verdict:
        watch, said = self._watch(self._commands), ""
        watch.add(submission, [index])
        while True:
            ended = watch.tick()
            report = ended.get((submission.uuid, index)) or next(report for _, report in watch.open_reports())
            said = _say(context, submission, report, watch.fault, said)
            if report.verdict is not None:
                return report.verdict
            time.sleep(self._poll_seconds)


def _say(
    context: dg.OpExecutionContext, submission: Submission, report: TaskReport, fault: str | None, said: str
) -> str:
    where = f" on {report.node}" if report.node else f" ({report.reason})" if report.reason not in ("", "None") else ""
    line = f"Slurm does not answer: {fault}" if fault else f"job {submission.job_id}: {report.state}{where}"
    if line != said:
        (context.log.warning if fault else context.log.info)(line)
    return line
