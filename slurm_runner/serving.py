"""The loop that waits for tasks: claim, submit, watch, take whole results, submit again what the cluster lost."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import dagster as dg

from slurm_runner.claims import Claim, History, claims_lock, is_cancelled, standing_claim
from slurm_runner.errors import SlurmError, SubmissionRefused
from slurm_runner.local import LocalRunner
from slurm_runner.options import SlurmOptions
from slurm_runner.submission import Submission, Task, prepare_submission
from slurm_runner.verdicts import Ending, Verdict, read_exit
from slurm_runner.watch import UNKNOWN, Key, TaskReport, Watch

SECONDS_BETWEEN_LINES = 30.0
SECONDS_FOR_SIGNAL = 1.0
"""Wait for the signal that cancels a run, which Python loses if it arrives during a destructor."""

Take = Callable[[Submission, int], bool]
"""Takes a task's result to its place, and returns whether the result was whole."""


class JobEnded(SlurmError):
    """A task ended without its result: its submission, its index, and the verdict on how it ended."""

    def __init__(self, submission: Submission, index: int, verdict: Verdict, message: str | None = None) -> None:
        lacks = ", yet its result is not there or not whole" if verdict.ending is Ending.DONE else ""
        default = f"job {submission.job_id}_{index}: {verdict.ending}: {verdict.reason}{lacks}"
        super().__init__(message or default)
        self.submission, self.index, self.verdict = submission, index, verdict


@dataclass(frozen=True)
class Wanted:
    """A result that a run waits for.

    Attributes:
        name: its name in messages, unique in a run.
        folder: folder of the claim on its task.
        fingerprint: hash of the request; a task with another one is not continued.
        assets, partition: what the run materialises with it; a result that another run has materialised is used up.
        take: takes the result, however the task ended; if it raises, the next run requests the result anew. Without
            it, the result counts as taken if the task succeeded.
        fault: the task's own reason why there is no result; None where it gave none.
        message: the error message for a task that ended without the result; None for a default one.
        waits_for_end: whether to wait for the end of a task that serves no other run, to read all its messages.
    """

    name: str
    folder: Path
    fingerprint: str
    assets: Sequence[dg.AssetKey] = ()
    partition: str | None = None
    take: Take | None = None
    fault: Callable[[Submission, int], str | None] = lambda submission, index: None
    message: Callable[[Submission, int, Verdict], str | None] = lambda submission, index, verdict: None
    waits_for_end: bool = False


@dataclass(frozen=True)
class Order:
    """Tasks with the same options, each with the results that it will produce."""

    label: str
    options: SlurmOptions
    tasks: Sequence[tuple[Task, Sequence[Wanted]]]


class Serving:
    """Produces the results that a run wants, by tasks on Slurm or on this machine.

    Args:
        runner: `Watch` for Slurm, `LocalRunner` for processes of this machine.
        root: folder of the submissions; for Slurm, on a disk that the compute nodes share.
        order: makes the tasks for results that no task produces yet.
        listen: called with each task that is waited for.
    """

    def __init__(
        self,
        context: dg.OpExecutionContext,
        runner: Watch | LocalRunner,
        root: Path,
        order: Callable[[list[Wanted]], Iterable[Order]],
        listen: Callable[[Submission, int], None] = lambda submission, index: None,
    ) -> None:
        self._context, self._runner, self._root, self._order, self._listen = context, runner, root, order, listen
        self._submissions: dict[str, Submission] = {}
        self._waiting: dict[Key, list[tuple[Wanted, Claim]]] = {}
        self._ended: dict[Key, tuple[float, Verdict]] = {}
        self._attempts: dict[str, int] = {}
        self._failed: dict[str, Exception] = {}
        self._done, self._last_line = 0, ""
        self._cancelled_since: float | None = None

    def serve(self, wanted: Sequence[Wanted]) -> dict[str, Exception]:
        """Wait for all results and return the errors of missing ones by name: `JobEnded`, or the exception of the
        submission or of `take`."""
        try:
            self._start(wanted)
            self._follow(len(wanted))
        except BaseException:
            if is_cancelled(self._context.instance, self._context.run_id):
                self._cancel()
            raise
        finally:
            self._runner.close()
        return self._failed

    def _start(self, wanted: Sequence[Wanted]) -> None:
        """Continue tasks that exist already, and submit the others."""
        run = self._context.run
        history = History(self._context.instance, run)
        claimed: list[tuple[Wanted, Claim, Submission]] = []
        with claims_lock(self._root):
            new: list[Wanted] = []
            for result in wanted:
                old = standing_claim(result.folder, result.fingerprint) if self._runner.lasts else None
                if old is None or old[0].is_used_up(history, result.assets, result.partition):
                    new.append(result)
                else:
                    claimed.append((result, old[0].join(run.run_id), old[1]))
            for array in chain.from_iterable(map(self._arrays, self._order(new) if new else ())):
                tasks = [task for task, _ in array.tasks]
                submission = prepare_submission(self._root, array.label, tasks, array.options)
                for index, (_, results) in enumerate(array.tasks):
                    for result in results:
                        place = result.folder, str(submission.folder), index
                        claim = Claim(*place, result.fingerprint, wanted_by=(run.run_id,))
                        if self._runner.lasts:
                            claim.write()
                        claimed.append((result, claim, submission))
        for result, claim, submission in claimed:
            self._submissions.setdefault(submission.uuid, submission)
            self._waiting.setdefault((submission.uuid, claim.index), []).append((result, claim))
        for uuid in dict.fromkeys(submission.uuid for _, _, submission in claimed):
            self._submit(uuid)

    def _arrays(self, order: Order) -> Iterator[Order]:
        """The order in arrays that the cluster accepts, which together keep its throttle."""
        most = self._runner.most_tasks if len(order.tasks) > 1 else 1
        pieces = [order.tasks[first : first + most] for first in range(0, len(order.tasks), most)]
        throttle = order.options.throttle and max(1, order.options.throttle // len(pieces))
        options = replace(order.options, throttle=throttle)
        yield from (Order(order.label, options, piece) for piece in pieces)

    def _submit(self, uuid: str) -> None:
        submission, log = self._submissions[uuid], self._context.log
        keys = [key for key in self._waiting if key[0] == uuid]
        is_continued = any(
            claim.wanted_by != (self._context.run_id,) for key in keys for _, claim in self._waiting[key]
        )
        if is_continued:
            log.info(f"going on with job {submission.job_id or submission.name}, submitted before")
        for _, index in keys:
            self._listen(submission, index)
        try:
            submission = self._runner.submit(submission, log.warning)
        except SlurmError as error:
            for key in keys:  # a job that is uncertain may exist: its claims stay for the next run
                self._fail(key, lambda _, error=error: error, is_dropped=isinstance(error, SubmissionRefused))
            return
        self._submissions[uuid] = submission
        self._runner.add(submission, [index for _, index in keys])
        if not is_continued:
            n_wanted = sum(len(self._waiting[key]) for key in keys)
            log.info(f"submitted job {submission.job_id}: {len(keys)} tasks for {n_wanted}")

    def _follow(self, total: int) -> None:
        """Watch until every result was taken or has failed."""
        poll_seconds = self._runner.poll_seconds
        last_report = time.monotonic() - SECONDS_BETWEEN_LINES + poll_seconds
        while self._waiting:
            self._end_if_cancelled()
            ended = self._runner.tick()
            self._ended |= {key: (time.monotonic(), report.verdict) for key, report in ended.items() if report.verdict}
            if total == 1:
                self._report_one(ended)
            elif time.monotonic() - last_report >= SECONDS_BETWEEN_LINES:
                last_report = time.monotonic()
                self._report_progress(total)
            for key in list(self._waiting):
                self._take_results(key)
                if key in self._waiting and key in self._ended:
                    self._end(key, *self._ended[key])
            if self._waiting:
                is_due = self._ended.keys() & self._waiting  # their results should appear soon
                time.sleep(min(poll_seconds, 1.0) if is_due else poll_seconds)

    def _end_if_cancelled(self) -> None:
        """End this run if it was cancelled and the signal was lost."""
        if not is_cancelled(self._context.instance, self._context.run_id):
            return
        self._cancelled_since = self._cancelled_since or time.monotonic()
        if time.monotonic() - self._cancelled_since >= SECONDS_FOR_SIGNAL:
            raise dg.DagsterExecutionInterruptedError

    def _take_results(self, key: Key) -> None:
        submission, remaining = self._submissions[key[0]], []
        verdict = self._ended[key][1] if key in self._ended else None
        for result, claim in self._waiting[key]:
            is_own = result.waits_for_end and claim.wanted_by == (self._context.run_id,)
            try:
                if result.take is None:
                    is_taken = verdict is not None and verdict.ending is Ending.DONE
                else:
                    is_taken = (verdict is not None or not is_own) and result.take(submission, key[1])
            except Exception as error:
                self._drop([claim])
                self._failed[result.name] = error
                continue
            if is_taken:
                with claims_lock(self._root):
                    claim.hand_over(self._context.run_id)
                self._done += 1
            else:
                remaining.append((result, claim))
        self._waiting[key] = remaining
        if not remaining:
            del self._waiting[key]

    def _end(self, key: Key, since: float, verdict: Verdict) -> None:
        """Handle a task that ended with results missing: submit it again if the cluster is to blame, else fail."""
        remaining, submission = self._waiting[key], self._submissions[key[0]]
        reasons = [result.fault(submission, key[1]) for result, _ in remaining]
        is_late = any(
            result.take is not None and not reason for (result, _), reason in zip(remaining, reasons, strict=True)
        )
        # A shared disk may show files late. Once it shows how a task failed, it also shows the files written before.
        is_late = is_late and (verdict.ending is Ending.DONE or read_exit(submission, key[1]) is None)
        if is_late and time.monotonic() - since < self._runner.patience_seconds:
            return
        first, job = remaining[0][0].name, f"job {submission.job_id}_{key[1]}"
        self._attempts[first] = attempt = self._attempts.get(first, 1) + 1
        if all(reasons) or not verdict.ending.is_infrastructure or attempt > self._runner.attempts:
            self._fail(
                key, lambda result: JobEnded(submission, key[1], verdict, result.message(submission, key[1], verdict))
            )
            return
        self._context.log.warning(f"{job}: {verdict.ending}: {verdict.reason}; attempt {attempt}")
        del self._waiting[key]
        self._drop(claim for _, claim in remaining)
        self._start([result for result, _ in remaining])

    def _fail(self, key: Key, reason_of: Callable[[Wanted], Exception], is_dropped: bool = True) -> None:
        """Record why a task's results are missing; the next run requests them anew."""
        if is_dropped:
            self._drop(claim for _, claim in self._waiting[key])
        for result, _ in self._waiting[key]:
            self._failed[result.name] = reason_of(result)
        del self._waiting[key]

    def _drop(self, claims: Iterable[Claim]) -> None:
        with claims_lock(self._root):
            for claim in claims:
                claim.drop()

    def _cancel(self) -> None:
        """Cancel the tasks that no other run waits for; if Slurm does not answer, the next run continues them."""
        log = self._context.log
        try:
            with claims_lock(self._root):
                going_on = [key for key in self._waiting if key not in self._ended and not self._is_shared(key)]
                for uuid in {uuid for uuid, _ in going_on}:
                    submission, indices = self._submissions[uuid], [index for owner, index in going_on if owner == uuid]
                    try:
                        self._runner.cancel(submission, indices)
                    except SlurmError as error:
                        log.warning(f"job {submission.job_id or submission.name} could not be cancelled: {error}")
                        continue
                    for index in indices:
                        for _, claim in self._waiting[uuid, index]:
                            claim.drop()
        except SlurmError as error:
            log.warning(f"jobs could not be cancelled: {error}")

    def _is_shared(self, key: Key) -> bool:
        instance, run_id, job = self._context.instance, self._context.run_id, self._submissions[key[0]]
        if any(claim.is_wanted_by_others(instance, run_id) for _, claim in self._waiting[key]):
            self._context.log.info(f"job {job.job_id or job.name} goes on: another run waits for it")
            return True
        return False

    def _report_one(self, ended: dict[Key, TaskReport]) -> None:
        """Log the state of the only task, if it has changed."""
        for (uuid, _), report in [*ended.items(), *self._runner.open_reports()]:
            reason = f" ({report.reason})" if report.reason not in ("", "None") else ""
            where = f" on {report.node}" if report.node else reason
            line = f"job {self._submissions[uuid].job_id}: {report.state}{where}"
            self._log_line(f"Slurm does not answer: {self._runner.fault}" if self._runner.fault else line)

    def _report_progress(self, total: int) -> None:
        """Log the progress of many tasks."""
        states: dict[str, int] = {}
        for key, report in self._runner.open_reports():
            has_reason = report.reason and report.state in ("PENDING", UNKNOWN)
            state = report.state.lower() + (f" ({report.reason})" if has_reason else "")
            states[state] = states.get(state, 0) + len(self._waiting.get(key, []))
        parts = ", ".join(f"{n} {state}" for state, n in states.items() if n)
        line = f"{self._done} of {total} whole, {len(self._failed)} failed; {parts or 'none waiting'}"
        self._last_line = ""
        self._log_line(f"Slurm does not answer: {self._runner.fault}; {line}" if self._runner.fault else line)

    def _log_line(self, line: str) -> None:
        if line != self._last_line:
            (self._context.log.warning if self._runner.fault else self._context.log.info)(line)
            self._last_line = line
