"""Node jobs that hold themselves still behind a batch, however long it takes until somebody sees it and stops them.

`python -m valuesassets_tests.node.held_job JOB RECORDS` does it behind the first batch, but for the very first, with
which more than so many records are stored.
"""

import os
import signal
import sys
from collections.abc import Callable

from valuesassets.models.known_readings import Known
from valuesassets.node.job_process import main
from valuesassets_tests.waiting import wait_until

PROGRAM = ("-m", __name__)


def hold_behind_batch(is_there: Callable[[int, int], bool]) -> None:
    """Have this process stop itself behind the first batch of which it holds, given how many batches and records have
    been stored since."""
    add, counts = Known.add, []

    def add_and_hold(store, records):
        batch = list(records)
        add(store, batch)
        counts.append(len(batch))
        if is_there(len(counts), sum(counts)):
            os.kill(os.getpid(), signal.SIGSTOP)

    Known.add = add_and_hold  # type: ignore[method-assign]


def wait_until_held(process) -> None:
    """Wait until a process has stopped itself; fails where it ends before."""

    def state():
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0]

    wait_until(lambda: state() in "TZ", every=0.02)
    assert state() == "T"


if __name__ == "__main__":
    most = int(sys.argv[2])
    hold_behind_batch(lambda n_batches, n_records: n_batches > 1 and n_records > most)
    sys.exit(main(sys.argv[1:2]))
