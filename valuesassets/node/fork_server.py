"""Runs node jobs as forks of a process that has imported torch and transformers already.

The imports cost a job 4 s of processor time, often more than its work. A command that starts many jobs therefore
starts a fork server beside it (`fork_server`), whose address stands in `VALUESASSETS_FORK_SERVER`. `python -m
valuesassets.node` hands its job, its streams and its environment to the server, passes signals on to the fork, and
ends as the fork ends: whoever started it sees no difference. A job imports for itself where no server answers, and
where its process differs from the server's (limits, cores, a Slurm job's group of processes).

    command (fork_server) -> server -> one template per environment, with all imports -> one fork per job
                               ^ job, streams, environment
    the job's own process (hand_over), which lives as long as the fork

A template imports other people's code only: each fork reads this project's modules anew. A template loads no model and
computes nothing but a table of names (`warm.py`), so that no fork inherits threads or a GPU in use.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from valuesassets.records.garbage import collect_seldom
from valuesassets.records.processes import python_module

ADDRESS = "VALUESASSETS_FORK_SERVER"
MOST_TEMPLATES = 3
"""Most templates that run at once, one per environment and some 300 MB each; the one idle longest makes room."""
IDLE_SECONDS = 300.0
"""Seconds without a job after which a template ends; the next job starts a new one."""
PASSED_ON = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)  # Windows has two of them
)
JOB_PREFIXES = ("DAGSTER_", "VALUESASSETS_", "PYTEST_", "PWD", "OLDPWD", "SHLVL", "_")
"""Prefixes of variables that differ from job to job (a shell's too) and that no import of others' code reads."""
SET_BY_IMPORTS = frozenset({"KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"})
"""Variables that importing scikit-learn sets; jobs share a template whether or not their command imported it."""
SECONDS_TO_ASK = 10.0
_LENGTH = struct.Struct("!I")


@contextlib.contextmanager
def fork_server() -> Iterator[None]:
    """A block in which node jobs run as forks, those of all processes started in the block too."""
    server = start_fork_server()
    try:
        yield
    finally:
        if server is not None:
            del os.environ[ADDRESS]
            server.communicate()  # closes its stdin, and waits for its end


def start_fork_server() -> subprocess.Popen[bytes] | None:
    """Start a server that ends when its stdin is closed or this process ends; the environment holds its address.

    Returns:
        None where the environment names a server already, and where no server can run (not on Linux, or the path of
        its socket is too long): jobs then import for themselves.
    """
    if sys.platform != "linux" or ADDRESS in os.environ:
        return None
    folder = Path(tempfile.mkdtemp(prefix="valuesassets-forks-"))
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(str(folder / "server"))
        except OSError:  # a socket's path must be short; the folder for temporary files may have a long one
            folder.rmdir()
            return None
        listener.listen(64)
        os.environ[ADDRESS] = str(folder / "server")
        return subprocess.Popen(
            python_module(__spec__.name, str(listener.fileno()), str(folder)),
            pass_fds=[listener.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the jobs, which pass it on
        )


def hand_over(arguments: list[str], imports: Sequence[str]) -> int | None:
    """Have a fork of the server run `python -m valuesassets.node` with these arguments, and wait until it ends.

    A signal that ended the fork ends this process too.

    Args:
        imports: names of the modules that the fork needs imported.

    Returns:
        The fork's exit status; None where no server took the job, so that nothing was begun.
    """
    address = os.environ.get(ADDRESS)
    if address is None or "SLURM_JOB_ID" in os.environ:
        return None
    job = {
        "process_limits": _process_limits(),
        "imports": imports,
        "start": [sys.executable, *subprocess._args_from_interpreter_flags()],  # type: ignore[attr-defined]
        "environment": {name: value for name, value in os.environ.items() if name != ADDRESS},
        "arguments": arguments,
        "path": sys.path,
        "folder": str(Path.cwd()),
    }
    with socket.socket(socket.AF_UNIX) as server, server.makefile("rb") as replies:
        try:
            server.connect(address)
            _send(server, job, 0, 1, 2)
            pid = int(replies.readline())
        except (OSError, ValueError):  # the server is gone, or ending, or refuses the job
            return None
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: _kill(pid, number))
        last_reply = replies.readline()
    if not last_reply:  # the process that watches the fork was killed
        _kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(int(last_reply or signal.SIGKILL))
    if status < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no handler
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def serve(listener: socket.socket) -> None:
    """Pass jobs to the templates of their environments until stdin is closed, as it is when our command ends."""
    templates: dict[str, socket.socket] = {}
    with listener:
        while 0 not in select.select([listener, 0], [], [])[0]:
            client, _ = listener.accept()
            streams: list[int] = []
            with client, contextlib.suppress(OSError, ValueError):  # the client sees that nobody answers
                client.settimeout(SECONDS_TO_ASK)
                job, streams = _receive(client)
                if job["process_limits"] == _process_limits():
                    _send(_template(templates, job), job, *streams, client.fileno())
            _close(streams)


def _template(templates: dict[str, socket.socket], job: Mapping[str, Any]) -> socket.socket:
    """The socket of the template for a job's environment; `templates` is ordered by each one's last job."""
    environment = job["environment"].items()
    shared = sorted(
        (name, value) for name, value in environment if name not in SET_BY_IMPORTS and not name.startswith(JOB_PREFIXES)
    )
    key = json.dumps([job["imports"], job["start"], shared])
    template = templates.pop(key, None)
    if template is None or select.select([template], [], [], 0)[0]:  # it has ended
        template, far_end = socket.socketpair()
        with far_end:
            subprocess.Popen(
                [*job["start"], "-m", __spec__.name, "--", *job["imports"]],
                env=job["environment"],
                stdin=far_end.fileno(),
            )
    templates[key] = template
    while len(templates) > MOST_TEMPLATES:
        templates.pop(next(iter(templates))).close()
    return template


def run_template(imports: Iterable[str]) -> NoReturn:
    """Import modules, then have a fork run each job that comes by stdin."""
    collect_seldom()
    for name in imports:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what all forks share is never garbage: looking through it would copy its pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that watch the forks
    server = socket.socket(fileno=os.dup(0))
    server.settimeout(IDLE_SECONDS)
    while True:
        try:
            job, (*streams, client) = _receive(server)
        except (OSError, ValueError):  # the server is gone, or has another template, or sent no job for long
            os._exit(0)
        if os.fork() == 0:
            server.close()
            watch_job(job, socket.socket(fileno=client), streams)
        _close([*streams, client])


def watch_job(job: Mapping[str, Any], client: socket.socket, streams: list[int]) -> NoReturn:
    """Have a fork run a job with the client's streams; tell the client the fork's process id, then how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if (pid := os.fork()) == 0:
        client.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        _close(streams)
        run_as_main(job)
    _close([0, 1, 2, *streams])  # whoever reads the job's output must not wait for this process
    with contextlib.suppress(OSError):
        client.sendall(b"%d\n" % pid)
    end_of_job = os.pidfd_open(pid)
    if end_of_job not in select.select([end_of_job, client], [], [])[0]:  # the client was killed: its fork ends too
        _kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(OSError):
        client.sendall(b"%d\n" % status)
    os._exit(0)


def run_as_main(job: Mapping[str, Any]) -> NoReturn:
    """Run a job as a process of its own would, and exit as that would."""
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    sys.path[:] = job["path"]
    sys.argv[1:] = job["arguments"]
    for name in [name for name in sys.modules if name.partition(".")[0] == "valuesassets"]:
        del sys.modules[name]
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()  # all forks would draw the same numbers otherwise
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    try:
        runpy.run_module("valuesassets.node", run_name="__main__", alter_sys=True)
    except KeyboardInterrupt as interrupt:  # ends a process of its own by the signal, so that a shell sees it
        sys.excepthook(type(interrupt), interrupt, interrupt.__traceback__)
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(0)


def _process_limits() -> list[Any]:
    """What a fork inherits from the server instead of from the job's own process; a job needs the same to be forked."""
    import resource  # not on Windows

    limits = [
        resource.getrlimit(getattr(resource, name)) for name in sorted(dir(resource)) if name.startswith("RLIMIT")
    ]
    os.umask(mask := os.umask(0o077))
    group = Path("/proc/self/cgroup").read_text()
    spaces = sorted(str(space.readlink()) for space in Path("/proc/self/ns").iterdir())
    settings = [os.getuid(), os.getgid(), mask, os.nice(0), sorted(os.sched_getaffinity(0)), limits, group, spaces]
    return json.loads(json.dumps(settings))


def _send(receiver: socket.socket, job: Mapping[str, Any], *streams: int) -> None:
    text = json.dumps(job).encode()
    socket.send_fds(receiver, [_LENGTH.pack(len(text))], streams)
    receiver.sendall(text)


def _receive(sender: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """A job and its streams; OSError or ValueError where nothing came, or nothing whole."""
    head, streams, _, _ = socket.recv_fds(sender, _LENGTH.size, 4)
    text = b""
    if len(head) == _LENGTH.size:
        (length,) = _LENGTH.unpack(head)
        while len(text) < length and (chunk := sender.recv(length - len(text))):
            text += chunk
    try:
        return json.loads(text), streams
    except ValueError:
        _close(streams)
        raise


def _close(fds: Iterable[int]) -> None:
    for fd in fds:
        os.close(fd)


def _kill(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


if __name__ == "__main__":
    if sys.argv[1] == "--":
        run_template(sys.argv[2:])
    else:
        try:
            serve(socket.socket(fileno=int(sys.argv[1])))
        finally:
            shutil.rmtree(sys.argv[2], ignore_errors=True)
