"""What `Serving` does within a real run: its orders, and what could not be had."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import dagster as dg

from slurm_runner.local import LocalRunner
from slurm_runner.serving import Order, Serving, Wanted
from slurm_runner.watch import Watch


def serve(
    wanted: Sequence[Wanted],
    order: Callable[[list[Wanted]], Iterable[Order]],
    runner: Watch | LocalRunner,
    root: Path,
    instance: dg.DagsterInstance,
) -> dict[str, Exception]:
    """Why what could not be had could not, by its name."""
    unread: dict[str, Exception] = {}

    @dg.op
    def waits(context: dg.OpExecutionContext) -> None:
        unread.update(Serving(context, runner, root, order).serve(wanted))

    @dg.job
    def waiting():
        waits()

    waiting.execute_in_process(instance=instance)
    return unread
