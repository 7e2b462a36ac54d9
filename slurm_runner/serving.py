"""The one loop of all that wait for tasks: claim, submit, watch, take what is whole, ask again for what was lost."""

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
"""Cancelling a run sends its process a signal, which the interpreter loses where it comes in a destructor."""

Take = Callable[[Submission, int], bool]
"""Takes a task's result to where it belongs; whether it was whole."""


class JobEnded(SlurmError):
    """A task ended without what was asked of it.

    Attributes:
        submission, index, verdict: the task, and how it ended.
    """

    def __init__(self, submission: Submission, index: int, verdict: Verdict, said: str | None = None) -> None:
        lacks = ", yet its result is not there or not whole" if verdict.ending is Ending.DONE else ""
        told = f"job {submission.job_id}_{index}: {verdict.ending}: {verdict.reason}{lacks}"
        super().__init__(said or told)
        self.submission, self.index, self.verdict = submission, index, verdict


@dataclass(frozen=True)
class Wanted:
    """A result that a run waits for.

    Attributes:
        name: for people; no two of a run's have the same.
        folder: where the claim on its task lies: one for whatever may be asked for at a time.
        fingerprint: of what is asked; a task of another one is not gone on with.
        assets, partition: what is materialised with it; a result that another run has materialised is used up.
        take: what it can take is good however the task ended; where it raises, the next run asks anew. Without it, the
            task's ending decides.
        said: why the result cannot be had, as the task itself has said; None where it has said nothing.
        why: what is told of a task that ended without the result; a line of ours where not given.
        waits_for_end: whether a task that serves nobody else is waited for to its end, to hear all that it says.
    """

    name: str
    folder: Path
    fingerprint: str
    assets: Sequence[dg.AssetKey] = ()
    partition: str | None = None
    take: Take | None = None
    said: Callable[[Submission, int], str | None] = lambda submission, index: None
    why: Callable[[Submission, int, Verdict], str | None] = lambda submission, index, verdict: None
    waits_for_end: bool = False


@dataclass(frozen=True)
class Order:
    """Tasks that ask for the same, each with the results that it is to give."""

    label: str
    options: SlurmOptions
    tasks: Sequence[tuple[Task, Sequence[Wanted]]]


class Serving:
    """Serves what a run wants, by tasks on Slurm or on this machine.

    Args:
        runner: `Watch` for Slurm's, `LocalRunner` for processes of this machine.
        root: folder of the submissions; where Slurm runs them, on a disk that the compute nodes share.
        order: makes the tasks of what no task serves yet.
        listen: told of each task that is waited for.
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
        self._tried: dict[str, int] = {}
        self._failed: dict[str, Exception] = {}
        self._done, self._said = 0, ""
        self._cancelled_since: float | None = None

    def serve(self, wanted: Sequence[Wanted]) -> dict[str, Exception]:
        """Wait for all that is wanted.

        Returns:
            Why what could not be had could not, by its name: `JobEnded`, what the submission or `take` raised.
        """
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
        """Go on with the tasks that there are already; submit others."""
        run = self._context.run
        history = History(self._context.instance, run)
        found: list[tuple[Wanted, Claim, Submission]] = []
        with claims_lock(self._root):
            new: list[Wanted] = []
            for one in wanted:
                standing = standing_claim(one.folder, one.fingerprint) if self._runner.lasts else None
                if standing is None or standing[0].is_used_up(history, one.assets, one.partition):
                    new.append(one)
                else:
                    found.append((one, standing[0].join(run.run_id), standing[1]))
            for array in chain.from_iterable(map(self._arrays, self._order(new) if new else ())):
                tasks = [task for task, _ in array.tasks]
                submission = prepare_submission(self._root, array.label, tasks, array.options)
                for index, (_, given) in enumerate(array.tasks):
                    for one in given:
                        place = one.folder, str(submission.folder), index
                        claim = Claim(*place, one.fingerprint, wanted_by=(run.run_id,))
                        if self._runner.lasts:
                            claim.write()
                        found.append((one, claim, submission))
        for one, claim, submission in found:
            self._submissions.setdefault(submission.uuid, submission)
            self._waiting.setdefault((submission.uuid, claim.index), []).append((one, claim))
        for uuid in dict.fromkeys(submission.uuid for _, _, submission in found):
            self._submit(uuid)

    def _arrays(self, order: Order) -> Iterator[Order]:
        """An order in as many arrays as the cluster takes it in; together they keep to its throttle."""
        most = self._runner.most_tasks if len(order.tasks) > 1 else 1
        pieces = [order.tasks[first : first + most] for first in range(0, len(order.tasks), most)]
        throttle = order.options.throttle and max(1, order.options.throttle // len(pieces))
        options = replace(order.options, throttle=throttle)
        yield from (Order(order.label, options, piece) for piece in pieces)

    def _submit(self, uuid: str) -> None:
        submission, log = self._submissions[uuid], self._context.log
        keys = [key for key in self._waiting if key[0] == uuid]
        was_there = any(claim.wanted_by != (self._context.run_id,) for key in keys for _, claim in self._waiting[key])
        if was_there:
            log.info(f"going on with job {submission.job_id or submission.name}, submitted before")
        for _, index in keys:
            self._listen(submission, index)
        try:
            submission = self._runner.submit(submission, log.warning)
        except SlurmError as error:
            for key in keys:  # one that is uncertain may exist: its claims stay, so that the next run looks for it
                self._fail(key, lambda _, said=error: said, is_dropped=isinstance(error, SubmissionRefused))
            return
        self._submissions[uuid] = submission
        self._runner.add(submission, [index for _, index in keys])
        if not was_there:
            n_wanted = sum(len(self._waiting[key]) for key in keys)
            log.info(f"submitted job {submission.job_id}: {len(keys)} tasks for {n_wanted}")

    def _follow(self, total: int) -> None:
        """Watch until everything was taken or has failed."""
        poll_seconds = self._runner.poll_seconds
        told = time.monotonic() - SECONDS_BETWEEN_LINES + poll_seconds
        while self._waiting:
            self._end_if_cancelled()
            ended = self._runner.tick()
            self._ended |= {key: (time.monotonic(), report.verdict) for key, report in ended.items() if report.verdict}
            if total == 1:
                self._tell_one(ended)
            elif time.monotonic() - told >= SECONDS_BETWEEN_LINES:
                told = time.monotonic()
                self._tell(total)
            for key in list(self._waiting):
                self._take_whole(key)
                if key in self._waiting and key in self._ended:
                    self._end(key, *self._ended[key])
            if self._waiting:
                is_due = self._ended.keys() & self._waiting  # its result should show any moment
                time.sleep(min(poll_seconds, 1.0) if is_due else poll_seconds)

    def _end_if_cancelled(self) -> None:
        """End a run that was cancelled and still goes on: the signal was lost."""
        if not is_cancelled(self._context.instance, self._context.run_id):
            return
        self._cancelled_since = self._cancelled_since or time.monotonic()
        if time.monotonic() - self._cancelled_since >= SECONDS_FOR_SIGNAL:
            raise dg.DagsterExecutionInterruptedError

    def _take_whole(self, key: Key) -> None:
        submission, left = self._submissions[key[0]], []
        verdict = self._ended[key][1] if key in self._ended else None
        for one, claim in self._waiting[key]:
            is_own = one.waits_for_end and claim.wanted_by == (self._context.run_id,)
            try:
                if one.take is None:
                    is_taken = verdict is not None and verdict.ending is Ending.DONE
                else:
                    is_taken = (verdict is not None or not is_own) and one.take(submission, key[1])
            except Exception as error:
                self._drop([claim])
                self._failed[one.name] = error
                continue
            if is_taken:
                with claims_lock(self._root):
                    claim.hand_over(self._context.run_id)
                self._done += 1
            else:
                left.append((one, claim))
        self._waiting[key] = left
        if not left:
            del self._waiting[key]

    def _end(self, key: Key, since: float, verdict: Verdict) -> None:
        """A task has ended without all that it was to give: asked again where the cluster is to blame."""
        left, submission = self._waiting[key], self._submissions[key[0]]
        says = [one.said(submission, key[1]) for one, _ in left]
        is_late = any(one.take is not None and not said for (one, _), said in zip(left, says, strict=True))
        # A shared disk may show files late. Where it shows how a task failed, it shows what that has left behind.
        is_late = is_late and (verdict.ending is Ending.DONE or read_exit(submission, key[1]) is None)
        if is_late and time.monotonic() - since < self._runner.patience_seconds:
            return
        first, job = left[0][0].name, f"job {submission.job_id}_{key[1]}"
        self._tried[first] = attempt = self._tried.get(first, 1) + 1
        if all(says) or not verdict.ending.is_infrastructure or attempt > self._runner.attempts:
            self._fail(key, lambda one: JobEnded(submission, key[1], verdict, one.why(submission, key[1], verdict)))
            return
        self._context.log.warning(f"{job}: {verdict.ending}: {verdict.reason}; attempt {attempt}")
        del self._waiting[key]
        self._drop(claim for _, claim in left)
        self._start([one for one, _ in left])

    def _fail(self, key: Key, reason_of: Callable[[Wanted], Exception], is_dropped: bool = True) -> None:
        """Note why what a task was to give cannot be had; the next run asks anew."""
        if is_dropped:
            self._drop(claim for _, claim in self._waiting[key])
        for one, _ in self._waiting[key]:
            self._failed[one.name] = reason_of(one)
        del self._waiting[key]

    def _drop(self, claims: Iterable[Claim]) -> None:
        with claims_lock(self._root):
            for claim in claims:
                claim.drop()

    def _cancel(self) -> None:
        """Cancel the tasks that no other run waits for; where Slurm does not answer, the next run goes on with them."""
        log = self._context.log
        try:
            with claims_lock(self._root):
                going_on = [key for key in self._waiting if key not in self._ended and not self._is_shared(key)]
                for uuid in {uuid for uuid, _ in going_on}:
                    submission, indices = self._submissions[uuid], [index for other, index in going_on if other == uuid]
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

    def _tell_one(self, ended: dict[Key, TaskReport]) -> None:
        """Say where the only task stands, where that has changed."""
        for (uuid, _), report in [*ended.items(), *self._runner.open_reports()]:
            reason = f" ({report.reason})" if report.reason not in ("", "None") else ""
            where = f" on {report.node}" if report.node else reason
            line = f"job {self._submissions[uuid].job_id}: {report.state}{where}"
            self._say(f"Slurm does not answer: {self._runner.fault}" if self._runner.fault else line)

    def _tell(self, total: int) -> None:
        """Say how far many are."""
        states: dict[str, int] = {}
        for key, report in self._runner.open_reports():
            is_told = report.reason and report.state in ("PENDING", UNKNOWN)
            state = report.state.lower() + (f" ({report.reason})" if is_told else "")
            states[state] = states.get(state, 0) + len(self._waiting.get(key, []))
        parts = ", ".join(f"{n} {state}" for state, n in states.items() if n)
        line = f"{self._done} of {total} whole, {len(self._failed)} failed; {parts or 'none waiting'}"
        self._said = ""
        self._say(f"Slurm does not answer: {self._runner.fault}; {line}" if self._runner.fault else line)

    def _say(self, line: str) -> None:
        if line != self._said:
            (self._context.log.warning if self._runner.fault else self._context.log.info)(line)
            self._said = line
