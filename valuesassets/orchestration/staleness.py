"""Whether a partition is fresh: Dagster finds its code version and the data versions of its inputs unchanged since it
was materialised, and its files are still there."""

from collections.abc import Iterable
from pathlib import Path

import dagster as dg
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContext


class _Loading(LoadingContext):
    """What the resolver asks of a request; a request of our own is one look at the instance."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance, self._loaders = instance, {}

    @property
    def instance(self) -> dg.DagsterInstance:
        return self._instance

    @property
    def loaders(self) -> dict:
        return self._loaders


def stale_assets(
    keys: Iterable[dg.AssetKey], partition: str | None, graph: BaseAssetGraph, instance: dg.DagsterInstance
) -> list[dg.AssetKey]:
    """Of assets, parents before children, those that are missing or stale in a partition, or whose file is gone."""
    resolver = CachingStaleStatusResolver(instance, graph, _Loading(instance))
    stale: list[dg.AssetKey] = []
    for key in keys:
        parents = graph.get(key).parent_keys
        fresh = resolver.get_status(key, partition) == StaleStatus.FRESH and not set(stale) & set(parents)
        if not (fresh and _still_stands(key, partition, parents, instance)):
            stale.append(key)
    return stale


def _still_stands(
    key: dg.AssetKey, partition: str | None, parents: Iterable[dg.AssetKey], instance: dg.DagsterInstance
) -> bool:
    """Whether the last materialisation's files exist, and none of its inputs was empty then and is not now.

    The second is what the resolver misses: it compares an input that had no materialisation with its own latest one.
    """
    records = instance.fetch_materializations(
        dg.AssetRecordsFilter(key, asset_partitions=[partition] if partition else None), limit=1
    ).records
    materialization = records[0].asset_materialization if records else None
    if materialization is None:
        return False
    tags = materialization.tags or {}
    was_empty = [p for p in parents if tags.get(f"dagster/input_event_pointer/{p.to_user_string()}") == "NULL"]
    if any(instance.get_latest_materialization_event(parent) is not None for parent in was_empty):
        return False
    values = materialization.metadata.values()
    return all(Path(v.value).exists() for v in values if isinstance(v, dg.PathMetadataValue) and v.value)
