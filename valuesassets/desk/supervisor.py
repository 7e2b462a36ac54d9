"""Starts the UI's servers, restarts those that die, and stops all of them."""

import json
import os
import signal
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import indent
from typing import Any, TypeVar

from slurm_runner.files import tail
from valuesassets.desk.before_start import require_free_ports, require_startable, ui_lock
from valuesassets.desk.history import copy_old_history
from valuesassets.desk.server_process import CANNOT_SERVE, SOCKET
from valuesassets.desk.servers import DEATHS, ui_servers
from valuesassets.desk.ui_settings import UiSettings
from valuesassets.records.errors import StorageError, UiError

LOOK_SECONDS = 0.1
STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
ASK_LOCATIONS = """{ workspaceOrError { ... on Workspace { locationEntries { loadStatus locationOrLoadError {
    __typename ... on PythonError { message errorChain { error { message } } } } } } } }"""
ANSWER_SECONDS = 10
"""Longest wait for a server's answer, long enough for a busy machine."""
Result = TypeVar("Result")


def serve_ui(settings: UiSettings, is_migrated: bool = False) -> None:
    """Serve the UI until a signal stops it.

    Raises:
        InputError: the study file is faulty.
        StorageError: a folder cannot be written, or the database is of another version.
        UiError: a port is taken, another UI is up, or a server does not stay up.
    """
    require_startable(settings)
    copy_old_history(settings.name, settings.storage, settings.dagster, tell)
    short_lived = tempfile.TemporaryDirectory(prefix="valuesassets-ui-", ignore_cleanup_errors=True)
    with short_lived as folder, ui_lock(settings, folder):
        require_free_ports(settings)
        if settings.is_reachable:
            tell(
                f"warning: --host {settings.host}: whoever reaches port {settings.port} or {settings.pages_port} of "
                "this machine can use the UI and read the pages; they ask for no password"
            )
        Supervisor(settings, Path(folder), is_migrated).run()


class Supervisor:
    """The servers of one UI, from start to stop."""

    def __init__(self, settings: UiSettings, folder: Path, is_migrated: bool) -> None:
        self.settings, self.socket = settings, folder / SOCKET
        self.environment = settings.environment(os.environ)
        self.servers = ui_servers(settings, folder, is_migrated)
        self.code, self.web, self.pages, self.daemon = self.servers
        self.signals: list[int] = []

    def run(self) -> None:
        """Start the servers, watch them, and stop them."""
        with self._listening():
            try:
                self._start()
                while not self.signals:
                    time.sleep(LOOK_SECONDS)
                    self._look_after()
            finally:
                self._stop()

    def _start(self) -> None:
        # The webserver loads its modules while the graph is loaded. The daemon starts last, since nobody waits for it.
        settings = self.settings
        for server in (self.code, self.web, self.pages):
            server.start(self.environment)
        self._until(f"Dagster's database and the graph of study {settings.study}", lambda: self.socket.exists() or None)
        faults = self._until("the webserver", lambda: _graph_faults(settings.address))
        if not (settings.is_read_only or self.signals):
            self.daemon.start(self.environment)
        self._until("the pages", lambda: _is_answering(f"{settings.pages_address}/") or None)
        if self.signals:
            return
        for fault in faults or ():
            tell(f"the graph could not be loaded: {fault}")
            tell("mend this, then click Deployment > Reload in the UI")
        tell(f"the UI:      {settings.address}{'  (read-only)' if settings.is_read_only else ''}")
        tell(f"the pages:   {settings.pages_address}  (report, map, review pages, documentation)")
        tell(f"Ctrl-C stops both; Dagster's logs are in {settings.logs}")

    def _until(self, what: str, look: Callable[[], Result | None]) -> Result | None:
        """Wait until `look` has a result, restarting servers that die; None if a signal asks to stop before."""
        result = None if self.signals else look()
        if result is None and not self.signals:
            tell(f"waiting for {what}")
        while result is None and not self.signals:
            self._look_after()
            time.sleep(LOOK_SECONDS)
            result = look()
        return result

    def _look_after(self) -> None:
        for server in self.servers:
            status = server.exit_status()
            if status is None or self.signals:
                continue
            if status == CANNOT_SERVE:
                raise StorageError(tail(server.log, 1))
            ending = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"
            if server.dies_too_often():
                tell(indent(tail(server.log), "  "))
                raise UiError(
                    f"the {server.name} has ended {DEATHS + 1} times within a minute ({ending}), its last lines are "
                    f"above, all of them in {server.log}"
                )
            tell(f"the {server.name} has ended ({ending}); it is started again")
            if server is self.code:
                self.socket.unlink(missing_ok=True)
            server.start(self.environment)

    def _stop(self) -> None:
        """Stop the daemon before the graph, so that no run begins that would end at once."""
        tell("stopping")
        for servers in ((self.web, self.pages, self.daemon), (self.code,)):
            n_signals, began = len(self.signals), time.monotonic()
            for server in servers:
                server.send(signal.SIGINT)
            while remaining := [server for server in servers if not server.is_gone()]:
                is_urgent = len(self.signals) > max(n_signals, 1)  # a second Ctrl-C
                for server in remaining:
                    if is_urgent or time.monotonic() > began + server.patience:
                        server.send(signal.SIGKILL)
                time.sleep(LOOK_SECONDS)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Record signals that ask to stop, except those ignored from the start (`nohup`, a shell's `&`)."""

        handlers = {
            number: handler for number in STOPPING if (handler := signal.getsignal(number)) is not signal.SIG_IGN
        }
        for number in handlers:
            signal.signal(number, lambda number, _: self.signals.append(number))
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)


def _is_answering(address: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(address, timeout=ANSWER_SECONDS):  # noqa: S310
        return True
    return False


def _graph_faults(address: str) -> list[str] | None:
    """Why the graph could not be loaded, empty if it could; None while the webserver does not have it yet."""
    query = json.dumps({"query": ASK_LOCATIONS}).encode()
    request = urllib.request.Request(f"{address}/graphql", query, {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:  # noqa: S310
            entries: list[Any] = json.load(answer)["data"]["workspaceOrError"]["locationEntries"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not entries or any(entry["loadStatus"] != "LOADED" for entry in entries):
        return None
    errors = [entry["locationOrLoadError"] for entry in entries]
    # The innermost error names the fault; those around it only say that something could not be loaded.
    chains = [[e, *(link["error"] for link in e["errorChain"])] for e in errors if e["__typename"] == "PythonError"]
    return [" ".join(chain[-1]["message"].split()) for chain in chains]


def tell(line: str) -> None:
    """Print a line at once, even if the output is a file."""
    print(line, file=sys.stderr, flush=True)
