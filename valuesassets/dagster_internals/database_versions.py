"""The versions of Dagster's database that the Dagster installed here has migrations for."""

import inspect
from typing import Any

from alembic.script import ScriptDirectory
from dagster._core.storage.sql import get_alembic_config


def migrations_of(storage: Any) -> ScriptDirectory:
    """The migrations of one of an instance's storages (runs, events, schedules)."""
    return ScriptDirectory.from_config(get_alembic_config(inspect.getfile(type(storage))))
