"""`python -m valuesassets_tests.cli.pretended_system SYSTEM COMMAND...`: a command as on another system.

It is a stand-in: what Python has not got there is taken away, and the rest is this machine's. Other people's packages
are imported before, since they choose by the system what they import.
"""

import asyncio  # noqa: F401
import os
import signal
import sys

import filelock  # noqa: F401
import numpy  # noqa: F401
import pandas  # noqa: F401
import pdfplumber  # noqa: F401
import pypdfium2  # noqa: F401
import requests  # noqa: F401
import typer  # noqa: F401

LACKING = {
    "win32": (
        ("fcntl", "resource", "pwd", "grp", "termios"),
        (
            (os, ("fork", "getuid", "geteuid", "getgid", "sched_getaffinity", "killpg", "setsid", "nice")),
            (signal, ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGKILL", "SIGCHLD", "setitimer", "pthread_sigmask")),
        ),
    ),
    "darwin": ((), ((os, ("sched_getaffinity", "pidfd_open")),)),
}
"""By system, modules of the standard library and names in others that it has not got."""


def pretend(system: str) -> None:
    modules, names = LACKING[system]
    for name in modules:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, attributes in names:
        for attribute in attributes:
            delattr(module, attribute)
    sys.platform = system


if __name__ == "__main__":
    pretend(sys.argv.pop(1))
    from valuesassets.cli import main

    main()
