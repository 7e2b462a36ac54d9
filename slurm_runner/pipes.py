"""Runs a command as a job that reports to Dagster through Pipes, and that survives its run.

Context and messages are files that stay in the task's folder, since the job may start or report when the run is long
gone. Cancelling a run cancels the job. If the run's process is stopped or killed instead, the next run finds the job by
the claim in its folder and continues.
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
"""Time between two looks at a job's messages."""


def with_pipes(task: Task, context: dg.OpExecutionContext, extras: Mapping[str, Any] | None = None) -> Task:
    """The task with Dagster's context and a file for messages to Dagster in its environment."""

    def environment(place: Path) -> Mapping[str, str]:
        context_place = {dagster_pipes.PipesDefaultContextLoader.FILE_PATH_KEY: str(place / CONTEXT)}
        messages_place = {dagster_pipes.PipesDefaultMessageWriter.FILE_PATH_KEY: str(place / MESSAGES)}
        return {
            **task.environment(place),
            dagster_pipes.DAGSTER_PIPES_CONTEXT_ENV_VAR: dagster_pipes.encode_param(context_place),
            dagster_pipes.DAGSTER_PIPES_MESSAGES_ENV_VAR: dagster_pipes.encode_param(messages_place),
        }

    context_text = json.dumps(build_external_execution_context_data(context, dict(extras or {})))
    return replace(task, environment=environment, files={**task.files, CONTEXT: context_text})


class FileMessages(dg.PipesMessageReader):
    """Reads messages from a file without emptying it, so that a run that continues a job gets all of them.

    Dagster's own reader empties the file first.
    """

    def __init__(self) -> None:
        self._file: tuple[Path, list[int]] | None = None

    def follow(self, path: Path) -> None:
        """Read this file from now on, from its beginning."""
        if not path.exists():
            path.touch()
            share(path)
        self._file = path, [0]

    @contextlib.contextmanager
    def read_messages(self, handler: dg.PipesMessageHandler) -> Iterator[dict[str, str]]:
        """Read the followed file until the session is over."""
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
            path, offset = self._file or (Path(os.devnull), [0])
            with contextlib.suppress(OSError), open(path, "rb") as stream:  # reopened, so that NFS shows new lines
                stream.seek(offset[0])
                *lines, _ = stream.read().split(b"\n")
                for line in lines:
                    offset[0] += len(line) + 1
                    self._handle(line, handler)

    def _handle(self, line: bytes, handler: dg.PipesMessageHandler) -> None:
        try:
            message = json.loads(line)
        except ValueError:  # half a line of a failed node
            return
        try:
            handler.handle_message(message)
        except Exception:
            handler.report_pipes_framework_exception(type(self).__name__, sys.exc_info())

    def no_messages_debug_text(self) -> str:
        """A hint for Dagster's error where no messages arrived."""
        return f"Messages were expected in {self._file[0] if self._file else 'a file of the job'}."


class ServedTask(dg.PipesClientCompletedInvocation):
    """A finished task with its log of all attempts and its reports to Dagster."""

    def __init__(self, session: dg.PipesSession, log: Path) -> None:
        super().__init__(session)
        self.log = log

    def get_results(self, *, implicit_materializations: bool = True) -> Sequence[dg.PipesExecutionResult]:
        """Dagster's results; if several attempts have reported an asset or check, the last report of it."""
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
    """Run a task to its end, or continue the job that an earlier run submitted for the same request.

    Args:
        root: folder of the submissions, on a disk that the compute nodes share.
        wanted: the result to wait for; its name is the job's label.

    Raises:
        JobEnded: the task ended without the result.
        SubmissionRefused, SubmissionUncertain: it was not submitted, or Slurm did not answer.
        Exception: the exception of `wanted.take`.
    """
    # Pipes uses deprecated attributes of an AssetExecutionContext.
    op = context.op_execution_context if isinstance(context, dg.AssetExecutionContext) else context
    messages, logs = FileMessages(), list[Path]()

    def order(new: list[Wanted]) -> list[Order]:
        return [Order(wanted.name, options, [(with_pipes(task, op, extras), new)])]

    def listen(submission: Submission, index: int) -> None:
        logs.append(submission.log(index))
        messages.follow(submission.task_folder(index) / MESSAGES)

    # The injector has nothing to do: the task's folder holds the context.
    with dg.open_pipes_session(op, dg.PipesEnvContextInjector(), messages) as session:
        failed = Serving(op, runner, root, order, listen).serve([wanted])
    for error in failed.values():
        raise error
    return ServedTask(session, logs[-1])
