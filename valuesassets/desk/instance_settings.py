"""Checks of the dagster.yaml of a home: its form, and what a storage in Postgres needs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from valuesassets.records.errors import StorageError
from valuesassets.records.extras import require
from valuesassets.records.files import read_text
from valuesassets.records.home import DAGSTER_SETTINGS, ENVIRONMENT


def require_instance_settings(home: Path, environment: Mapping[str, str]) -> None:
    """Require that a home's dagster.yaml can be read and that its storage is installed; without a file nothing is
    required.

    Args:
        environment: variables of the processes that are to read it.

    Raises:
        StorageError: it is no YAML, or its storage takes a variable that is not set.
        InputError: it names Postgres, whose extra is not installed.
    """
    path = home / DAGSTER_SETTINGS
    settings = _read(path) if path.is_file() else None
    storage = settings.get("storage") if isinstance(settings, dict) else None
    if isinstance(storage, dict) and "postgres" in storage:
        require(f"{path}: storage in Postgres", "postgres")
    lacking = [name for name in _variables(storage) if name not in environment]
    if lacking:
        raise StorageError(
            f"{path}: its storage takes {', '.join(lacking)}, which no environment variable has; set it, or write the "
            f"line {lacking[0]}=... into {home / ENVIRONMENT}"
        )


def _read(path: Path) -> Any:
    try:
        return yaml.safe_load(read_text(path, "Dagster's settings"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise StorageError(
            f"{path}{line}: is no valid YAML; mend it, or delete it and give `valuesassets init --repair`"
        ) from None


def _variables(part: Any) -> Iterator[str]:
    """The names of environment variables that settings take values from: `{env: NAME}`."""
    if not isinstance(part, dict):
        return
    if part.keys() == {"env"}:
        yield str(part["env"])
    for value in part.values():
        yield from _variables(value)
