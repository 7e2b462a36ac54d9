"""Opens Dagster's database, after checking that its version fits the installed Dagster."""

import dagster as dg
from alembic.util import CommandError
from sqlalchemy.exc import DatabaseError

from valuesassets.dagster_internals.database_versions import migrations_of
from valuesassets.dagster_internals.postgres import retried_in_silence, unreachable
from valuesassets.records.errors import StorageError
from valuesassets.records.home import DAGSTER_SETTINGS, command_to, dagster_home


def open_instance(folder: str, is_migrated: bool) -> dg.DagsterInstance:
    """The instance that the environment names; a missing database is created.

    Args:
        folder: folder of the database, for messages.
        is_migrated: whether to upgrade an older database.

    Raises:
        StorageError: the database is older, newer or unusable, a server of databases does not answer, or
            dagster.yaml has a fault.
    """
    try:
        with retried_in_silence():
            instance = dg.DagsterInstance.get()
        older = _older_part(instance, folder)
        if older and is_migrated:
            instance.upgrade(print)
            older = _older_part(instance, folder)
    except dg.DagsterInvalidConfigError as error:
        why = str(error.errors[0].message).strip().splitlines()[0]
        raise StorageError(f"{dagster_home() / DAGSTER_SETTINGS}: Dagster does not accept it: {why}") from error
    except unreachable() as error:
        why = str(getattr(error.__cause__, "orig", error)).strip().splitlines()[0]
        raise StorageError(
            f"{dagster_home() / DAGSTER_SETTINGS}: the database of its storage cannot be opened: {why}; start its "
            "server, or mend `storage` there"
        ) from error
    except DatabaseError as error:
        raise StorageError(
            f"{folder}: Dagster's database cannot be used: {error.orig}; put back a copy of it, or move it away to "
            "begin with an empty one"
        ) from error
    if older:
        raise StorageError(
            f"{folder}: Dagster's database is of an older version ({older}); copy the folder, then bring it up to "
            f"date: `{command_to('make ui MIGRATE=1', 'valuesassets ui --migrate')}`"
        )
    return instance


def _older_part(instance: dg.DagsterInstance, folder: str) -> str:
    """The first part of the database with an older version, with both versions; empty where none is older; StorageError
    where a newer Dagster wrote a part."""
    parts = {"runs": instance.run_storage, "events": instance.event_log_storage, "schedules": instance.schedule_storage}
    older = []
    for part, storage in parts.items():
        version, newest = (storage.alembic_version() if storage else None) or (None, None)
        if version is None or version == newest:
            continue
        scripts = migrations_of(storage)
        try:
            scripts.get_revision(str(version))
        except CommandError:
            raise StorageError(
                f"{folder}: Dagster's database was written by a newer Dagster than {dg.__version__} ({part} at "
                f"{version}, unknown here); install the version that wrote it, or set VALUESASSETS_DAGSTER to another "
                "folder"
            ) from None
        older.append(f"{part} at {version}, Dagster {dg.__version__} has {newest}")
    return next(iter(older), "")
