"""An array of many short jobs, watched to its end; and arrays of more tasks than one takes, served for a while."""

import resource
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg

from slurm_runner.commands import SlurmCommands
from slurm_runner.options import SlurmOptions
from slurm_runner.serving import Order, Wanted
from slurm_runner.submission import Task, prepare_submission, submit
from slurm_runner.verdicts import Ending, Verdict
from slurm_runner.watch import Key, TaskReport, Watch
from valuesassets_tests.costs import cpu_seconds
from valuesassets_tests.slurm_runner.served import serve

FAILING = 7
"""Of every hundred tasks, the one that ends with an error."""


@dataclass(frozen=True)
class Watched:
    """What watching an array cost.

    Attributes:
        endings: how many tasks ended how.
        misjudged: tasks whose ending is not what they did.
        most_queries: Slurm commands in one tick at most.
        memory_mib: of this process, after a tenth of the ticks and at the end.
    """

    endings: dict[str, int]
    misjudged: list[int]
    ticks: int
    most_queries: int
    seconds: float
    memory_mib: tuple[float, float]


def watch_array(n: int, root: Path, seconds_between: float = 1.0) -> Watched:
    """Submit `n` tasks of which one in a hundred fails, and watch them to the end."""
    commands = SlurmCommands()
    options = SlurmOptions(minutes=5, memory_mib=50)
    tasks = [Task(["bash", "-c", f"sleep 0.1; exit {3 if i % 100 == FAILING else 0}"]) for i in range(n)]
    submission = submit(prepare_submission(root, "array", tasks, options), commands)
    watch, started, memory = Watch(commands), time.monotonic(), list[float]()
    watch.add(submission)
    endings, misjudged, most = Counter[str](), list[int](), 0
    while list(watch.open_reports()):
        before = commands.count
        for (_, index), report in watch.tick().items():
            assert report.verdict is not None
            endings[report.verdict.ending.value] += 1
            if (report.verdict.ending == "failed") != (index % 100 == FAILING):
                misjudged.append(index)
        most = max(most, commands.count - before)
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        time.sleep(seconds_between)
    early = memory[max(1, len(memory) // 10)]
    return Watched(dict(endings), misjudged, len(memory), most, time.monotonic() - started, (early, memory[-1]))


@dataclass(frozen=True)
class Held:
    """What it costs to submit tasks that Slurm holds, and to look at them.

    Attributes:
        tasks, arrays: how many there were, and in how many arrays.
        submission_seconds: CPU of this process and its commands until the last array is submitted.
        tick_seconds: the same of each look at all of them.
        memory_mib: the highest mark of this process.
    """

    tasks: int
    arrays: int
    submission_seconds: float
    tick_seconds: list[float]
    memory_mib: float


@dataclass(eq=False)
class Impatient(Watch):
    """A watch that looks a few times, and then cancels all."""

    marks: list[float] = field(default_factory=lambda: [cpu_seconds()])

    def tick(self) -> dict[Key, TaskReport]:
        """The tasks as cancelled, once it has looked."""
        self.marks.append(cpu_seconds())
        super().tick()
        if len(self.marks) <= LOOKS:
            return {}
        for submission in self._submissions.values():
            self.commands.run(["scancel", str(submission.job_id)])
        verdict = Verdict(Ending.CANCELLED, "it was looked at")
        return {key: TaskReport(verdict=verdict) for key, _ in self.open_reports()}


LOOKS = 4


def serve_held(n: int, root: Path) -> Held:
    """Have so many tasks submitted, held and looked at, each the task of a result that a run waits for."""

    def order(wanted: list[Wanted]) -> Iterable[Order]:
        yield Order("held", options, [(Task(["true"]), [one]) for one in wanted])

    options, watch = SlurmOptions(minutes=5, extra=("--hold",)), Impatient(SlurmCommands(), poll_seconds=0.1)
    wanted = [Wanted(f"cell {i}", root / "cells" / str(i), "asked") for i in range(n)]
    root.mkdir(parents=True)
    with dg.instance_for_test(temp_dir=str(root)) as instance:
        failed = serve(wanted, order, watch, root / "slurm", instance)
    assert len(failed) == n, failed
    between = [round(later - mark, 2) for mark, later in zip(watch.marks, watch.marks[1:], strict=False)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Held(n, len(watch._submissions), between[0], between[1:], round(peak, 1))
