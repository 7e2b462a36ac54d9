"""A login node: a real sshd on this machine, with keys and a configuration of its own."""

import contextlib
import socket
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from valuesassets_tests.waiting import wait_until

HOST = "127.0.0.1"
CONFIG = """\
ListenAddress {host}
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
SetEnv {variables}
"""


@dataclass(frozen=True)
class LoginNode:
    """A running sshd.

    Attributes:
        client: an `ssh` that reaches it and leaves the person's own keys and configuration alone.
    """

    process: subprocess.Popen[bytes]
    folder: Path
    client: Path


@contextlib.contextmanager
def login_node(folder: Path, variables: Mapping[str, str]) -> Iterator[LoginNode]:
    """A login node that sets variables for whoever comes."""
    folder.mkdir()
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    client = folder / "bin" / "ssh"
    client.parent.mkdir()
    known = f"-o UserKnownHostsFile={folder}/known -o StrictHostKeyChecking=yes"
    ours = f"-F none -p {port} -i {folder}/user -o IdentitiesOnly=yes {known}"
    client.write_text(f'#!/bin/sh\nexec /usr/bin/ssh {ours} "$@"\n')
    client.chmod(0o755)
    (folder / "known").write_text(f"[{HOST}]:{port} {(folder / 'host.pub').read_text()}")
    said = " ".join(f"{name}={value}" for name, value in variables.items())
    (folder / "config").write_text(CONFIG.format(host=HOST, port=port, folder=folder, variables=said))
    Path("/run/sshd").mkdir(exist_ok=True)  # sshd wants it, empty
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "config")], stderr=log)
    try:
        wait_until(lambda: "listening" in (folder / "log").read_text())
        yield LoginNode(process, folder, client)
    finally:
        process.terminate()
        process.wait(300)
