"""The server that holds the graph and starts its runs: `python -m valuesassets.desk.web_ui.code_server`.

Dagster's own (`dagster code-server start`): "Reload" in the UI reads study and code again, and lets runs go on. After
the UI's folder and whether an older database is brought up to date, its arguments are Dagster's.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import dagster as dg

from valuesassets.dagster_internals.code_server import start_command
from valuesassets.desk.database import open_instance
from valuesassets.desk.server_process import CANNOT_SERVE, SOCKET, end_with_parent
from valuesassets.records.errors import StorageError

CLD_EXITED = 1
"""A child that ended by itself; a graph that was read again leaves its old server so."""


def main(folder: str, is_migrated: str, *arguments: str) -> None:
    """Look at the database, then serve until we are asked to stop."""
    end_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))  # which waits for the runs
    try:
        with open_instance(os.environ["VALUESASSETS_DAGSTER"], is_migrated == "yes") as instance:
            timeout, reference = instance.code_server_process_startup_timeout, dg.serialize_value(instance.get_ref())
    except StorageError as error:
        print(" ".join(str(error).split()), file=sys.stderr, flush=True)
        sys.exit(CANNOT_SERVE)
    if sys.platform == "linux":
        threading.Thread(target=end_with_graph, args=[Path(folder) / SOCKET], daemon=True).start()
    # What `dagster dev` gives to its code servers beside the place.
    more = ("--startup-timeout", str(timeout), "--instance-ref", reference, "--inject-env-vars-from-instance")
    start_command([*arguments, "--log-level", "warning", *more])


def end_with_graph(socket: Path) -> None:
    """End when the graph's process is killed: Dagster's server would go on without it, and answer nothing."""
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:  # there is none yet, or none any more
            ended = None
        was_killed = ended.si_code != CLD_EXITED if ended else socket.exists()
        if was_killed:
            print("the process that holds the graph was killed", file=sys.stderr, flush=True)
            os._exit(1)
        time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
