"""Backfills as Dagster keeps them; an import of a sixth of a second, which who only loads the graph does not need."""

from dagster._core.errors import DagsterDefinitionChangedDeserializationError
from dagster._core.execution.backfill import (
    BULK_ACTION_TERMINAL_STATUSES,
    BulkActionsFilter,
    BulkActionStatus,
    PartitionBackfill,
)

__all__ = [
    "BULK_ACTION_TERMINAL_STATUSES",
    "BulkActionStatus",
    "BulkActionsFilter",
    "DagsterDefinitionChangedDeserializationError",
    "PartitionBackfill",
]
