"""The servers that make up the UI: how each is started, watched and stopped."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from valuesassets.desk.server_process import SOCKET
from valuesassets.desk.ui_settings import UiSettings
from valuesassets.records.files import write_json
from valuesassets.records.processes import python_module

SHORT, LONG = 1, 8
"""Seconds before a server is killed; long for those that may be ending or launching a run."""
DEATHS, DEATHS_SECONDS = 3, 60
"""Most deaths within this time; a server that dies more often is not restarted."""


@dataclass
class Server:
    """A server program, with its process and the times of its unexpected deaths."""

    name: str
    module: str  # in this package, by name, so that Dagster is not imported here
    arguments: Sequence[str]
    log: Path
    patience: float  # seconds between the request to stop and the kill
    process: subprocess.Popen[bytes] | None = None
    deaths: list[float] = field(default_factory=list)
    groups: set[int] = field(default_factory=set)

    def start(self, environment: Mapping[str, str]) -> None:
        """Start a process in its own group, so that we pass on Ctrl-C and find its children."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if not self.groups and self.log.exists():  # from the previous UI
            self.log.replace(self.log.with_suffix(".previous.log"))
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                python_module(f"{__package__}.{self.module}", *self.arguments),
                env=dict(environment),
                stdin=subprocess.PIPE,  # never written to; it closes when we are gone
                stdout=log,
                stderr=log,
                process_group=0,
            )
        self.groups.add(self.process.pid)

    def exit_status(self) -> int | None:
        """The exit status of its process, negative for a signal; None while it runs or before it was started."""
        return self.process.poll() if self.process else None

    def dies_too_often(self) -> bool:
        """Count a death, and return whether there were too many lately."""
        now = time.monotonic()
        self.deaths = [*(death for death in self.deaths if death >= now - DEATHS_SECONDS), now]
        return len(self.deaths) > DEATHS

    def send(self, number: signal.Signals) -> None:
        """Send a signal to all processes that it started, including runs."""
        for group in self.groups:
            _signal_group(group, number)

    def is_gone(self) -> bool:
        """Whether all processes that it started have ended."""
        self.exit_status()
        self.groups = {group for group in self.groups if _signal_group(group, 0)}
        return not self.groups


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a group of processes, or none for 0; return whether the group has a process."""
    try:
        with suppress(PermissionError):
            os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def ui_servers(settings: UiSettings, folder: Path, is_migrated: bool) -> tuple[Server, Server, Server, Server]:
    """The code server (graph, start of runs), the webserver, the pages and the daemon (queue of runs); `folder` is
    temporary and holds the socket, whose path has to be short; `is_migrated` upgrades an older database."""
    socket, workspace, name = str(folder / SOCKET), folder / "workspace.yaml", settings.module.partition(".")[0]
    metadata = {"module_name": settings.module, "working_directory": str(Path.cwd())}
    server_entry = {"location_name": name, "socket": socket, "host": "localhost", "additional_metadata": metadata}
    write_json(workspace, {"load_from": [{"grpc_server": server_entry}]})  # JSON is valid YAML
    code = ["-m", settings.module, "--socket", socket, "--location-name", name]
    workspace_file = ["--workspace", str(workspace)]
    web = ["--host", settings.host, "--port", str(settings.port), *(["--read-only"] if settings.is_read_only else [])]
    pages = [str(settings.pages_port), str(settings.port), settings.host]

    def server(name: str, module: str, patience: float, *arguments: str) -> Server:
        log = settings.logs / f"{module.rpartition('.')[2]}.log"
        return Server(name, module, arguments, log, patience)

    return (
        server("code server", "web_ui.code_server", LONG, str(folder), "yes" if is_migrated else "no", *code),
        server(
            "webserver", "web_ui.webserver", SHORT, str(folder), *workspace_file, *web, "--dagster-log-level", "warning"
        ),
        server("pages", "pages", SHORT, *pages),
        server("daemon", "web_ui.daemon", LONG, str(folder), *workspace_file),
    )
