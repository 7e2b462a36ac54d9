"""A command run as a job that speaks to Dagster by Pipes. The job survives the run; the next run finds it again.

Context and messages are files in the task's folder, and stay there: the job may start, or speak, when the run is long
gone. A run that is cancelled cancels the job; a process that is stopped or killed does not: the next run finds the job
by the claim in its folder and goes on.
"""

import contextlib
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import dagster_pipes

from slurm_runner.dagster_internals import build_external_execution_context_data
from slurm_runner.files import share
from slurm_runner.local import LocalRunner
from slurm_runner.options import SlurmOptions
from slurm_runner.serving import Order, Serving, Wanted
from slurm_runner.submission import Submission, Task
from slurm_runner.watch import Watch

CONTEXT, MESSAGES = "context.json", "messages"
MESSAGES_SECONDS = 0.5
"""Between two looks at the messages of a job."""


def with_pipes(task: Task, context: dg.OpExecutionContext, extras: Mapping[str, Any] | None = None) -> Task:
    """A task whose command finds Dagster's context, and a place for what it tells Dagster."""

    def environment(place: Path) -> Mapping[str, str]:
        found = {dagster_pipes.PipesDefaultContextLoader.FILE_PATH_KEY: str(place / CONTEXT)}
        told = {dagster_pipes.PipesDefaultMessageWriter.FILE_PATH_KEY: str(place / MESSAGES)}
        return {
            **task.environment(place),
            dagster_pipes.DAGSTER_PIPES_CONTEXT_ENV_VAR: dagster_pipes.encode_param(found),
            dagster_pipes.DAGSTER_PIPES_MESSAGES_ENV_VAR: dagster_pipes.encode_param(told),
        }

    said = json.dumps(build_external_execution_context_data(context, dict(extras or {})))
    return replace(task, environment=environment, files={**task.files, CONTEXT: said})


class KeptMessages(dg.PipesMessageReader):
    """Reads messages from a file that stays: a run that goes on with a job hears all that it has said.

    Dagster's own reader empties the file first.
    """

    def __init__(self) -> None:
        self._followed: tuple[Path, list[int]] | None = None

    def follow(self, path: Path) -> None:
        """Read this file from now on, from its beginning."""
        if not path.exists():
            path.touch()
            share(path)
        self._followed = path, [0]

    @contextlib.contextmanager
    def read_messages(self, handler: dg.PipesMessageHandler) -> Iterator[dict[str, str]]:
        """Read what is followed until the session is over."""
        is_over = threading.Event()
        thread = threading.Thread(target=self._read, args=(handler, is_over), daemon=True)
        thread.start()
        try:
            yield {}
        finally:
            is_over.set()
            thread.join()

    def _read(self, handler: dg.PipesMessageHandler, is_over: threading.Event) -> None:
        was_over = False
        while not was_over:
            was_over = is_over.wait(MESSAGES_SECONDS)
            path, heard = self._followed or (Path(os.devnull), [0])
            with contextlib.suppress(OSError), open(path, "rb") as stream:  # opened anew: NFS shows what is new
                stream.seek(heard[0])
                *lines, _ = stream.read().split(b"\n")
                for line in lines:
                    heard[0] += len(line) + 1
                    self._hear(line, handler)

    def _hear(self, line: bytes, handler: dg.PipesMessageHandler) -> None:
        try:
            message = json.loads(line)
        except ValueError:  # a node that fell left half a line
            return
        try:
            handler.handle_message(message)
        except Exception:
            handler.report_pipes_framework_exception(type(self).__name__, sys.exc_info())

    def no_messages_debug_text(self) -> str:
        """Where to look."""
        return f"Messages were expected in {self._followed[0] if self._followed else 'a file of the job'}."


class ServedTask(dg.PipesClientCompletedInvocation):
    """A task that was done, and what it has reported.

    Attributes:
        log: what it has printed, over all attempts.
    """

    def __init__(self, session: dg.PipesSession, log: Path) -> None:
        super().__init__(session)
        self.log = log

    def get_results(self, *, implicit_materializations: bool = True) -> Sequence[dg.PipesExecutionResult]:
        """As Dagster has it; of an asset or check that several attempts have reported, the last report."""
        results = super().get_results(implicit_materializations=implicit_materializations)
        return tuple({(result.asset_key, getattr(result, "check_name", None)): result for result in results}.values())


def serve_task(
    context: dg.OpExecutionContext | dg.AssetExecutionContext,
    runner: Watch | LocalRunner,
    root: Path,
    task: Task,
    wanted: Wanted,
    options: SlurmOptions,
    extras: Mapping[str, Any] | None = None,
) -> ServedTask:
    """Run a task to its end, or go on with the job that a run before has submitted for the same.

    Args:
        root: folder of the submissions, on a disk that the compute nodes share.
        wanted: its name is the job's label.

    Raises:
        JobEnded: how it ended.
        SubmissionRefused, SubmissionUncertain: it was not submitted, or nobody knows.
        Exception: what `wanted.take` has raised.
    """
    # What Pipes asks of the other one is deprecated.
    op = context.op_execution_context if isinstance(context, dg.AssetExecutionContext) else context
    messages, logs = KeptMessages(), list[Path]()

    def order(new: list[Wanted]) -> list[Order]:
        return [Order(wanted.name, options, [(with_pipes(task, op, extras), new)])]

    def listen(submission: Submission, index: int) -> None:
        logs.append(submission.log(index))
        messages.follow(submission.task_folder(index) / MESSAGES)

    # The task has its context beside it already.
    with dg.open_pipes_session(op, dg.PipesEnvContextInjector(), messages) as session:
        failed = Serving(op, runner, root, order, listen).serve([wanted])
    for error in failed.values():
        raise error
    return ServedTask(session, logs[-1])
