"""Files that others made are read in a fork of this process, which the system ends where it takes too long or too much.

Libraries that read PDFs hold on to broken ones: they loop in C, or catch what should stop them. The fork has every
import already, so that a reading costs some milliseconds more; nothing of it is left once it has answered, and it ends
with this process.
"""

import contextlib
import ctypes
import faulthandler
import gc
import logging
import os
import pickle
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from valuesassets.records.errors import InputError, ValuesAssetsError

SECONDS = 180.0
"""Wall clock of one reading; the slowest form of EVS 2017 takes a tenth of that processor time."""
MEBIBYTES = 2048
"""Memory of one reading, beside what the process has; forms of EVS 2017 take a tenth of it."""
NO_MEMORY = 77
"""Exit status of a fork whose memory did not suffice."""
PR_SET_PDEATHSIG = 1

Result = TypeVar("Result")
Tell = Callable[..., object]
_is_limited = False


def within_limits(
    read: Callable[[Tell], Result],
    source: str,
    what_to_do: str,
    error: type[InputError] = InputError,
    on_news: Tell | None = None,
) -> Result:
    """What `read` gives back, read in a fork that `SECONDS` and `MEBIBYTES` end.

    Args:
        read: has to give something that can be pickled. What it changes in memory is lost. It is given a function, of
            which each call here becomes one of `on_news`.
        source: begins the message.
        what_to_do: ends it.

    Raises:
        error: it took too long or too much memory, or was ended by a signal.
        Exception: whatever `read` raised.
    """
    tell = on_news or _nothing
    if _is_limited:  # by whoever called us
        return read(tell)
    ours, theirs = Pipe(duplex=False)
    with ours:
        try:
            pid = os.fork()
        except OSError as fault:
            theirs.close()
            raise error(f"{source}: no process could be begun to read it ({fault.strerror}); free memory") from None
        if pid == 0:
            _read_and_leave(read, theirs)
        status: int | None = None
        try:
            theirs.close()
            while (news := _received(ours)) is not None:
                kind, value = news
                if kind == "result":
                    return value
                if kind == "raised":
                    raise value
                tell(*value)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            raise error(f"{source}: {_why(status)}; {what_to_do}")
        finally:
            if status is None:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _nothing(*_: Any) -> None:
    pass


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


def _read_and_leave(read: Callable[[Tell], Any], pipe: Connection) -> NoReturn:
    """Read, send what came of it, and end this process at once: nothing of it is to be cleaned up or printed."""
    status = NO_MEMORY
    try:
        _limit()
        try:
            pipe.send(("result", read(lambda *news: pipe.send(("news", news)))))
        except MemoryError:
            raise
        except Exception as fault:
            pipe.send(("raised", _sendable(fault)))
        status = 0
    except MemoryError:
        pass
    except BaseException:
        status = 1
    finally:
        os._exit(status)


def _limit() -> None:
    """Have the system end this process in time, with its parent, and silently."""
    global _is_limited
    _is_limited = True
    gc.freeze()  # what was there before is never garbage: looking through it would copy its pages
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        limit_memory(MEBIBYTES)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    faulthandler.disable()
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # libraries say there what they have to say of broken files
        os.dup2(silent, stream)


def limit_memory(mebibytes: int) -> None:
    """Let this process have so much memory beside what it holds; on Linux alone, where that can be known."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    given = [limit for limit in resource.getrlimit(resource.RLIMIT_AS) if limit != resource.RLIM_INFINITY]
    most = min([mapped + mebibytes * 2**20, *given])
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _sendable(fault: Exception) -> Exception:
    """An exception that arrives as it is, with where it came from."""
    if not isinstance(fault, ValuesAssetsError):
        fault.add_note("".join(traceback.format_exception(fault)))
    with contextlib.suppress(Exception):
        return pickle.loads(pickle.dumps(fault))  # noqa: S301
    return RuntimeError(f"{type(fault).__name__}: {fault}")
