"""Reads users' files in a fork of this process, which the system ends when it exceeds its time or memory.

Libraries that read PDFs may never return from a broken one: they loop in C, or catch the exception that should stop
them. The fork has all imports already, so that it costs some hundredths of a second. It ends once it has answered, and
with this process.
"""

import contextlib
import ctypes
import faulthandler
import gc
import logging
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from valuesassets.records.errors import InputError, ValuesAssetsError

SECONDS = 180.0
"""Wall-clock limit of one reading; the slowest form of EVS 2017 takes a tenth of that as processor time."""
MEBIBYTES = 2048
"""Memory limit of one reading, beyond what the process has; forms of EVS 2017 take a tenth of it."""
NO_MEMORY = 77
"""Exit status of a fork that ran out of memory."""
PR_SET_PDEATHSIG = 1

Result = TypeVar("Result")
Tell = Callable[..., object]
reads_here = sys.platform != "linux"  # where forks are not safe
"""Whether files are read in this process, without limits of their own; so they are in a fork that reads one."""


def within_limits(
    read: Callable[[Tell], Result],
    source: str,
    what_to_do: str,
    error: type[InputError] = InputError,
    on_news: Tell | None = None,
) -> Result:
    """The result of `read`, computed in a fork that is limited by `SECONDS` and `MEBIBYTES`; not in a fork and without
    limits on other systems than Linux.

    Args:
        read: returns something that can be pickled; its changes in memory are lost. It is given a function that
            calls `on_news` in this process with the same arguments.
        source: beginning of the error message.
        what_to_do: end of the error message.

    Raises:
        error: `read` took too long or too much memory, or a signal ended it.
        Exception: the exception of `read`.
    """
    forward: Tell = on_news or (lambda *_: None)
    if reads_here:
        return read(forward)
    receiver, sender = Pipe(duplex=False)
    with receiver:
        try:
            pid = os.fork()
        except OSError as fault:
            sender.close()
            raise error(f"{source}: no process could be begun to read it ({fault.strerror}); free memory") from None
        if pid == 0:
            _read_and_leave(read, sender)
        status: int | None = None
        try:
            sender.close()
            while (message := _received(receiver)) is not None:
                kind, value = message
                if kind == "result":
                    return value
                if kind == "raised":
                    raise value
                forward(*value)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            raise error(f"{source}: {_why(status)}; {what_to_do}")
        finally:
            if status is None:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _received(pipe: Connection) -> tuple[str, Any] | None:
    try:
        return pipe.recv()
    except (EOFError, ConnectionResetError):  # it has ended
        return None


def _why(status: int) -> str:
    if status == -signal.SIGALRM:
        return f"reading took more than {SECONDS:g} s"
    if status == NO_MEMORY:
        return f"reading took more memory than there is, or than the {MEBIBYTES:,} MiB that it may take"
    return f"reading broke off ({signal.Signals(-status).name if status < 0 else f'exit {status}'})"


def _read_and_leave(read: Callable[[Tell], Any], sender: Connection) -> NoReturn:
    """Call `read`, send its result or exception, and end this process at once, without cleaning up or printing."""
    status = NO_MEMORY
    try:
        _limit()
        try:
            sender.send(("result", read(lambda *arguments: sender.send(("news", arguments)))))
        except MemoryError:
            raise
        except Exception as fault:
            sender.send(("raised", _sendable(fault)))
        status = 0
    except MemoryError:
        pass
    except BaseException:
        status = 1
    finally:
        os._exit(status)


def _limit() -> None:
    """Let the system end this process at its limits or with its parent, without any output."""
    global reads_here
    reads_here = True
    gc.freeze()  # collecting older objects would copy their shared pages
    import resource

    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    limit_memory(MEBIBYTES)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    faulthandler.disable()
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # libraries complain there about broken files
        os.dup2(silent, stream)


def limit_memory(mebibytes: int) -> None:
    """Limit this process to this much memory beyond what it holds now; works on Linux alone."""
    import resource

    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = [limit for limit in resource.getrlimit(resource.RLIMIT_AS) if limit != resource.RLIM_INFINITY]
    most = min([mapped + mebibytes * 2**20, *limits])
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _sendable(fault: Exception) -> Exception:
    """An exception that survives pickling, with its traceback as a note."""
    if not isinstance(fault, ValuesAssetsError):
        fault.add_note("".join(traceback.format_exception(fault)))
    with contextlib.suppress(Exception):
        return pickle.loads(pickle.dumps(fault))  # noqa: S301
    return RuntimeError(f"{type(fault).__name__}: {fault}")
