"""Node jobs begin as forks of a process that has imported torch and transformers, not as one that imports them first.

Importing costs a job 4 s of processor time, often more than its work. A command that starts many jobs has a server of
forks beside it (`fork_server`), which says where it listens in `VALUESASSETS_FORK_SERVER`. `python -m
valuesassets.node` hands its job, its streams and its environment over to it, passes signals on, and ends as the fork
does: to whoever started it nothing is different. What differs from the server's own (limits, cores, a Slurm job's
group of processes) is not handed over; such a job imports for itself, and so does every job where the server is gone.

    command (fork_server) -> server -> a template for each environment, with all imports -> a fork for each job
                               ^ job, streams, environment
    job's own process (hand_over), which lives as long as the fork

Templates are there for other people's code: this project's modules are read anew by each fork. No model is loaded in
them, and nothing computed but names (`warm.py`), so that a fork finds neither threads nor a GPU in use.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
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

ADDRESS = "VALUESASSETS_FORK_SERVER"
MOST_TEMPLATES = 3
"""Of so many environments; the one that has waited longest is ended for another. Each takes some 300 MB."""
IDLE_SECONDS = 300.0
"""A template that has had no job for so long ends; the next job has another."""
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
OWN = ("DAGSTER_", "VALUESASSETS_", "PYTEST_", "PWD", "OLDPWD", "SHLVL", "_")
"""How variables of one job begin, a shell's among them, which nobody reads when others' code is imported."""
LEFT_BY_IMPORTS = frozenset({"KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"})
"""Variables that scikit-learn sets where it is imported; whether a job's command had done so makes no difference."""
SECONDS_TO_ASK = 10.0
_LENGTH = struct.Struct("!I")


@contextlib.contextmanager
def fork_server() -> Iterator[None]:
    """A block whose node jobs, and those of all processes started in it, begin as forks."""
    server = start_fork_server()
    try:
        yield
    finally:
        if server is not None:
            del os.environ[ADDRESS]
            server.communicate()  # closes its stdin, and waits for its end


def start_fork_server() -> subprocess.Popen[bytes] | None:
    """A server that ends when its stdin is closed or this process ends; the environment says where it listens.

    Returns:
        None where the environment has a server already, and where there can be none (not Linux, no place for it): jobs
        then import for themselves.
    """
    if sys.platform != "linux" or ADDRESS in os.environ:
        return None
    folder = Path(tempfile.mkdtemp(prefix="valuesassets-forks-"))
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(str(folder / "server"))
        except OSError:  # the names of sockets are short, those of folders for temporary files need not be
            folder.rmdir()
            return None
        listener.listen(64)
        os.environ[ADDRESS] = str(folder / "server")
        return subprocess.Popen(
            [sys.executable, "-m", __spec__.name, str(listener.fileno()), str(folder)],
            pass_fds=[listener.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the jobs, which pass it on
        )


def hand_over(arguments: list[str], imports: Sequence[str]) -> int | None:
    """Have the server's fork do what `python -m valuesassets.node` was asked for, and wait for its end.

    A signal that ended the fork ends this process too.

    Args:
        imports: names of modules that the fork is to have imported.

    Returns:
        Its exit status; None where there is no server that takes the job, and nothing was begun.
    """
    address = os.environ.get(ADDRESS)
    if address is None or "SLURM_JOB_ID" in os.environ:
        return None
    job = {
        "circumstances": _circumstances(),
        "imports": imports,
        "start": [sys.executable, *subprocess._args_from_interpreter_flags()],  # type: ignore[attr-defined]
        "environment": {name: value for name, value in os.environ.items() if name != ADDRESS},
        "arguments": arguments,
        "path": sys.path,
        "folder": str(Path.cwd()),
    }
    with socket.socket(socket.AF_UNIX) as server, server.makefile("rb") as answers:
        try:
            server.connect(address)
            _send(server, job, 0, 1, 2)
            pid = int(answers.readline())
        except (OSError, ValueError):  # gone, or at its end, or it refuses
            return None
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: _kill(pid, number))
        ended = answers.readline()
    if not ended:  # who minds the fork was killed, and cannot say how it ends
        _kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(int(ended or signal.SIGKILL))
    if status < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no handler
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def serve(listener: socket.socket) -> None:
    """Give jobs to the templates of their environments, until stdin is closed, as it is when who began us is gone."""
    templates: dict[str, socket.socket] = {}
    with listener:
        while 0 not in select.select([listener, 0], [], [])[0]:
            asker, _ = listener.accept()
            streams: list[int] = []
            with asker, contextlib.suppress(OSError, ValueError):  # who asks sees that nobody answers
                asker.settimeout(SECONDS_TO_ASK)
                job, streams = _receive(asker)
                if job["circumstances"] == _circumstances():
                    _send(_template(templates, job), job, *streams, asker.fileno())
            _close(streams)


def _template(templates: dict[str, socket.socket], job: Mapping[str, Any]) -> socket.socket:
    """Where the template of a job's environment listens; the templates are kept in the order of their last jobs."""
    environment = job["environment"].items()
    shared = sorted(each for each in environment if each[0] not in LEFT_BY_IMPORTS and not each[0].startswith(OWN))
    needed = json.dumps([job["imports"], job["start"], shared])
    template = templates.pop(needed, None)
    if template is None or select.select([template], [], [], 0)[0]:  # it has ended
        template, theirs = socket.socketpair()
        with theirs:
            subprocess.Popen(
                [*job["start"], "-m", __spec__.name, "--", *job["imports"]],
                env=job["environment"],
                stdin=theirs.fileno(),
            )
    templates[needed] = template
    while len(templates) > MOST_TEMPLATES:
        templates.pop(next(iter(templates))).close()
    return template


def forks(imports: Iterable[str]) -> dict[str, Any]:
    """Import modules, then fork for each job that comes by stdin; comes back in each of the forks, with its job."""
    collect_seldom()
    for name in imports:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what all forks share is never garbage: looking through it would copy its pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for who minds a fork
    server = socket.socket(fileno=os.dup(0))
    server.settimeout(IDLE_SECONDS)
    while True:
        try:
            job, (*streams, asker) = _receive(server)
        except (OSError, ValueError):  # the server is gone, or has another template, or has had no job for long
            os._exit(0)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            _fork_minded(socket.socket(fileno=asker), streams)
            return job
        _close([*streams, asker])


def _fork_minded(asker: socket.socket, streams: list[int]) -> None:
    """Come back in a fork that has the streams; this process stays behind, and tells the asker how the fork ends."""
    if (pid := os.fork()) == 0:
        asker.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        _close(streams)
        return
    _close([0, 1, 2, *streams])  # who reads what the fork says is not to wait for us
    with contextlib.suppress(OSError):
        asker.sendall(b"%d\n" % pid)
    ended = os.pidfd_open(pid)
    if ended not in select.select([ended, asker], [], [])[0]:  # the asker was killed, and the fork goes with it
        _kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(OSError):
        asker.sendall(b"%d\n" % status)
    os._exit(0)


def become(job: Mapping[str, Any]) -> NoReturn:
    """Do a job as the process would that was started for it."""
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    sys.path[:] = job["path"]
    sys.argv[1:] = job["arguments"]
    for name in [name for name in sys.modules if name.partition(".")[0] == "valuesassets"]:
        del sys.modules[name]
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()  # or all forks would draw alike
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    try:
        runpy.run_module("valuesassets.node", run_name="__main__", alter_sys=True)
    except KeyboardInterrupt as interrupt:  # ends a process of its own by the signal, so that a shell sees it
        sys.excepthook(type(interrupt), interrupt, interrupt.__traceback__)
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(0)


def _circumstances() -> list[Any]:
    """What a fork has from the server and not from who asks: nothing is handed over where these differ."""
    limits = [
        resource.getrlimit(getattr(resource, name)) for name in sorted(dir(resource)) if name.startswith("RLIMIT")
    ]
    os.umask(mask := os.umask(0o077))
    group = Path("/proc/self/cgroup").read_text()
    spaces = sorted(str(space.readlink()) for space in Path("/proc/self/ns").iterdir())
    told = [os.getuid(), os.getgid(), mask, os.nice(0), sorted(os.sched_getaffinity(0)), limits, group, spaces]
    return json.loads(json.dumps(told))


def _send(to: socket.socket, job: Mapping[str, Any], *streams: int) -> None:
    text = json.dumps(job).encode()
    socket.send_fds(to, [_LENGTH.pack(len(text))], streams)
    to.sendall(text)


def _receive(from_: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """A job and its streams.

    Raises:
        OSError, ValueError: nothing came, or nothing whole.
    """
    head, streams, _, _ = socket.recv_fds(from_, _LENGTH.size, 4)
    text = b""
    if len(head) == _LENGTH.size:
        (length,) = _LENGTH.unpack(head)
        while len(text) < length and (more := from_.recv(length - len(text))):
            text += more
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
        become(forks(sys.argv[2:]))
    else:
        try:
            serve(socket.socket(fileno=int(sys.argv[1])))
        finally:
            shutil.rmtree(sys.argv[2], ignore_errors=True)
