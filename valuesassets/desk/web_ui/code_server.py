"""The server that holds the graph and starts its runs: `python -m valuesassets.desk.web_ui.code_server`.

It is Dagster's `dagster code-server start`: "Reload" in the UI reads study and code again without stopping runs. Its
first arguments are the UI's folder and whether to upgrade an older database (yes or no); the others are Dagster's.
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
"""Code of a child that ended by itself, as the old server does after the graph was reloaded."""


def main(folder: str, is_migrated: str, *arguments: str) -> None:
    """Check the database, then serve until a signal stops the server."""
    end_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))  # SIGTERM waits for the runs
    try:
        with open_instance(os.environ["VALUESASSETS_DAGSTER"], is_migrated == "yes") as instance:
            timeout, reference = instance.code_server_process_startup_timeout, dg.serialize_value(instance.get_ref())
    except StorageError as error:
        print(" ".join(str(error).split()), file=sys.stderr, flush=True)
        sys.exit(CANNOT_SERVE)
    if sys.platform == "linux":
        threading.Thread(target=end_with_graph, args=[Path(folder) / SOCKET], daemon=True).start()
    # The options that `dagster dev` gives to its code servers.
    dagster_options = (
        "--startup-timeout",
        str(timeout),
        "--instance-ref",
        reference,
        "--inject-env-vars-from-instance",
    )
    start_command([*arguments, "--log-level", "warning", *dagster_options])


def end_with_graph(socket: Path) -> None:
    """End when the graph's process is killed; Dagster's server would go on without answering."""
    while True:
        try:
            status = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:  # it has no child yet, or none any more
            status = None
        was_killed = status.si_code != CLD_EXITED if status else socket.exists()
        if was_killed:
            print("the process that holds the graph was killed", file=sys.stderr, flush=True)
            os._exit(1)
        time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
