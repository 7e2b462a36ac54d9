"""What only some systems can do: `demo`, `run` and `ui` need one like Linux."""

import sys

from valuesassets.records.errors import InputError


def require_posix(command: str) -> None:
    """Refuse a command on Windows, whose processes know none of the signals and forks that a run rests on."""
    if sys.platform == "win32":
        raise InputError(f"{command}: does not run on Windows itself; give it in WSL (Windows Subsystem for Linux)")
