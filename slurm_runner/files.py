"""Small JSON files that are whole or absent."""

import json
import os
import secrets
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Any) -> None:
    """Write a file under a temporary name, on the disk, then rename it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with open(temporary, "w", encoding="utf-8") as stream:
        json.dump(value, stream, indent=2)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)


def read_json(path: Path) -> Any | None:
    """What a file holds; None where it is absent or no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def tail(path: Path, lines: int = 15, most: int = 16_384) -> str:
    """The last lines of a log; empty where there is none."""
    try:
        with open(path, "rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - most))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])
