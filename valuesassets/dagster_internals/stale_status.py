"""Dagster's own view of what is stale, which it shows in the UI and hands out to nobody."""

import dagster as dg
from dagster._core.definitions.data_version import (
    SKIP_PARTITION_DATA_VERSION_DEPENDENCY_THRESHOLD,
    CachingStaleStatusResolver,
    StaleCauseCategory,
    StaleStatus,
)
from dagster._core.loader import LoadingContextForTest

from valuesassets.dagster_internals.graph import BaseAssetGraph

__all__ = [
    "SKIP_PARTITION_DATA_VERSION_DEPENDENCY_THRESHOLD",
    "CachingStaleStatusResolver",
    "StaleCauseCategory",
    "StaleStatus",
    "new_resolver",
    "run_storage_id",
]


def new_resolver(graph: BaseAssetGraph, instance: dg.DagsterInstance) -> CachingStaleStatusResolver:
    """What is stale in a graph at the moment of the first question."""
    return CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))


def run_storage_id(instance: dg.DagsterInstance) -> str:
    """What distinguishes this database of runs from others; empty where it is none of SQL."""
    from dagster._core.storage.runs.sql_run_storage import SqlRunStorage  # a second, for who only loads the graph

    storage = instance.run_storage
    return storage.get_run_storage_id() if isinstance(storage, SqlRunStorage) else ""
