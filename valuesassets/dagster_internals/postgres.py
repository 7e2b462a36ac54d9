"""What Dagster's storage in Postgres does where the database cannot be reached; the storage is an extra."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

RETRYING = "Retrying failed database connection"
"""How each of the warnings begins that Dagster gives while it tries again, of several lines each."""


def unreachable() -> tuple[type[Exception], ...]:
    """What it raises then, for an `except`; nothing where the storage is not installed."""
    try:
        from dagster_postgres.utils import DagsterPostgresException
    except ImportError:
        return ()
    return (DagsterPostgresException,)


@contextmanager
def retried_in_silence() -> Iterator[None]:
    """Withhold the warnings of the tries: the error after the last one says the same."""

    def is_other(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(RETRYING)

    logging.root.addFilter(is_other)
    try:
        yield
    finally:
        logging.root.removeFilter(is_other)
