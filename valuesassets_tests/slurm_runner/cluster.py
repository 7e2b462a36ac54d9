"""A throw-away Slurm cluster of real daemons on this machine, and the ways to hurt it."""

import os
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from valuesassets_tests.forked_workers import NUMBER
from valuesassets_tests.waiting import wait_until

SCRIPT = Path(__file__).with_name("testcluster.sh")
PORTS = 100
"""Ports that a cluster takes from its base on."""


class Cluster:
    """Nodes n1, n2, ... with fake GPUs; settings as `testcluster.sh` names them (`NODES=3`, `MIN_JOB_AGE=300`)."""

    def __init__(self, **settings: object) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="va-slurm-", dir="/tmp"))  # sockets want a short path
        self._settings = {key: str(value) for key, value in settings.items()}
        self.environment = {"SLURM_CONF": str(self.folder / "etc" / "slurm.conf")}

    def __enter__(self) -> "Cluster":
        self._script("up", str(_free_ports()))
        return self

    def __exit__(self, *error: object) -> None:
        self._script("clean")

    def kill(self, daemon: str) -> None:
        """kill -9 a daemon: slurmctld, slurmd.n1."""
        self._script("kill", daemon)

    def start(self, daemon: str) -> None:
        """Start a daemon again."""
        self._script("start", daemon)

    def crash(self, node: str) -> None:
        """Let a node fall: its daemon, its jobs."""
        self._script("crash", node)

    def freeze(self) -> None:
        """Stop the controller where it is."""
        os.kill(self._controller(), signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the controller go on."""
        os.kill(self._controller(), signal.SIGCONT)

    def ask(self, *arguments: str) -> str:
        """What a Slurm command says."""
        environment = os.environ | self.environment
        return subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True).stdout

    def jobs(self) -> list[list[str]]:
        """[name, array job id, task, state, restarts] of every task that the controller knows."""
        fields = "Name:|,ArrayJobID:|,ArrayTaskID:|,State:|,RestartCnt:|"
        listed = self.ask("squeue", "-h", "-r", "-t", "all", "-O", fields)
        return [line.split("|")[:5] for line in listed.splitlines()]

    def wait_until_idle(self) -> None:
        """Wait until every node can take jobs again, those that Slurm itself took out of service included.

        It does so where an id is given a second time, as after a controller lost its state.
        """
        wait_until(self._are_idle)

    def _are_idle(self) -> bool:
        states = dict(line.split() for line in self.ask("sinfo", "-h", "-N", "-o", "%N %T").splitlines())
        for node in (name for name, state in states.items() if state.startswith("drained")):
            self.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
        return set(states.values()) == {"idle"}

    def _controller(self) -> int:
        return int((self.folder / "run" / "slurmctld.pid").read_text())

    def _script(self, verb: str, *arguments: str) -> None:
        command = ["bash", str(SCRIPT), verb, str(self.folder), *arguments]
        done = subprocess.run(
            command,
            env=os.environ | self._settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{verb}: {done.stdout}"


def _free_ports() -> int:
    """The first of free ports; test processes look in ranges of their own, since two may look at the same moment."""
    fork = int(os.environ.get(NUMBER, "0"))
    for base in range(17_000 + 3_000 * (fork % 4), 29_000, PORTS):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", base))
            except OSError:
                continue
            return base
    raise AssertionError("no ports are free")
