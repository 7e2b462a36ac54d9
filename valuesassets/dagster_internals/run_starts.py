"""How Dagster's code server starts the processes of runs, and what they import first."""

import sys
from multiprocessing.context import BaseContext

OF_AN_INSTANCE = (
    "dagster._core.storage.root",
    "dagster._core.storage.sqlite_storage",
    "dagster._core.storage.local_compute_log_manager",
    "upath.implementations.local",
)
"""What every process imports that opens a Dagster instance."""
OF_A_RUN = ("dagster._cli", "dagster._grpc.impl", *OF_AN_INSTANCE)
"""What every process imports that carries a run."""


def start_runs_in(context: BaseContext) -> bool:
    """Have the code server that this process is start its runs by a multiprocessing context of ours, and return whether
    it does; a process that serves no code is left as it is."""
    server = sys.modules.get("dagster._grpc.server")  # a process that serves no code has not imported it
    if server is None:
        return False
    # The server that asks for its definitions has chosen `spawn` before: a property goes before what it keeps.
    server.DagsterApiServer._mp_ctx = property(lambda _: context, lambda *_: None)
    return True
