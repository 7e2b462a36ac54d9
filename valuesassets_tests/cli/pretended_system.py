"""`python -m valuesassets_tests.cli.pretended_system SYSTEM COMMANDS`: commands as on another system, a list in JSON.

It is a stand-in: what Python has not got there is taken away, and the rest is this machine's. Other people's packages
are imported before, since they choose by the system what they import.
"""

import contextlib
import errno
import importlib
import io
import json
import os
import signal
import sys

IMPORTED_BEFORE = (
    "accelerate",
    "asyncio",
    "concurrent.futures.process",
    "filelock",
    "matplotlib.backends.backend_agg",
    "multiprocessing.connection",
    "pandas",
    "pdfplumber",
    "pyarrow.parquet",
    "pypdfium2",
    "psutil",
    "requests",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.cluster",
    "torch",
    "transformers.models.llama.modeling_llama",
    "typer",
)
LACKING = {
    "win32": (
        ("fcntl", "resource", "pwd", "grp", "termios"),
        (
            (os, ("fork", "getuid", "geteuid", "getgid", "sched_getaffinity", "sysconf", "killpg", "setsid", "nice")),
            (signal, ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGKILL", "SIGCHLD", "setitimer", "pthread_sigmask")),
        ),
    ),
    "darwin": ((), ((os, ("sched_getaffinity", "pidfd_open")),)),
}
"""By system, modules of the standard library and names in others that it has not got."""


OF_LINUX = ("/proc", "/sys")
"""Folders that are there on Linux alone; this project looks for them by way of pathlib."""


def hide_folders() -> None:
    """Let pathlib find nothing in the folders of Linux."""

    def hiding(look):
        def look_elsewhere(path, *arguments, **options):
            if str(path).startswith(OF_LINUX):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
            return look(path, *arguments, **options)

        return look_elsewhere

    io.open, os.stat, os.readlink = hiding(io.open), hiding(os.stat), hiding(os.readlink)


def pretend(system: str) -> None:
    for name in IMPORTED_BEFORE:
        importlib.import_module(name)
    modules, names = LACKING[system]
    for name in modules:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, attributes in names:
        for attribute in attributes:
            delattr(module, attribute)
    hide_folders()
    sys.platform = system


def run_command(words: list[str]) -> dict[str, object]:
    """How a command ends, and what it says."""
    from valuesassets.cli import main

    sys.argv[1:] = words
    with contextlib.redirect_stdout(io.StringIO()) as stdout, contextlib.redirect_stderr(io.StringIO()) as stderr:
        try:
            main()
        except SystemExit as end:
            return {"code": end.code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}
    return {"code": None}


if __name__ == "__main__":
    pretend(sys.argv[1])
    print(json.dumps([run_command(words) for words in json.loads(sys.argv[2])]))
