"""Shared behaviour of the UI's servers: they wait for the code server, and end when their parent is gone."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

SOCKET = "code.sock"
"""Socket in the UI's temporary folder, on which the code server listens once it has tried to load the graph."""
CANNOT_SERVE = 78
"""Exit code of a server that must not be restarted; the last line of its log says why."""


def end_with_parent(end: Callable[[], None] = lambda: os._exit(1)) -> None:
    """Call `end` when the parent, at the other end of our stdin, is gone, even after a kill -9.

    A shell lets background commands and their children ignore Ctrl-C. That is undone here, so that the server can be
    asked to stop.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        end()

    threading.Thread(target=wait, name="end-with-parent", daemon=True).start()


def wait_for_code_server(folder: Path) -> None:
    """Wait until the code server listens; before that, webserver and daemon would call it unreachable."""
    while not (folder / SOCKET).exists():
        time.sleep(0.05)
