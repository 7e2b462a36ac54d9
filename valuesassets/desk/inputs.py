"""What a partition of an asset rests on, and which partitions an asset has."""

from collections.abc import Iterator, Sequence, Set
from weakref import WeakKeyDictionary

import dagster as dg

from valuesassets.dagster_internals.graph import BaseAssetGraph

Place = tuple[dg.AssetKey, str | None]
"""An asset in a partition."""
NO_CELL = "no_cell"
"""What the tag `MADE_OF` says in a partition that the study did not ask."""
PARTITION_NAMES: WeakKeyDictionary[BaseAssetGraph, dict[dg.AssetKey, Set[str]]] = WeakKeyDictionary()
"""The partitions of each asset of a graph, which takes long to list and is asked for with every cell."""
INPUTS: WeakKeyDictionary[BaseAssetGraph, dict[Place, Sequence[Place]]] = WeakKeyDictionary()
"""What each partition of a graph rests on."""


def inputs_of(key: dg.AssetKey, partition: str | None, graph: BaseAssetGraph) -> Iterator[Place]:
    """What an asset's partition rests on; an input whose partitions are all asked for has None."""
    names = [str(partition)] if partition else []
    if isinstance(partition, dg.MultiPartitionKey):
        names += partition.keys_by_dimension.values()
    for parent in sorted(graph.get(key).parent_keys):
        known = partition_names(graph, parent)
        yield parent, next((name for name in names if name in known), None)


def known_inputs_of(key: dg.AssetKey, partition: str | None, graph: BaseAssetGraph) -> Sequence[Place]:
    """The same, found out once for each graph."""
    known = INPUTS.setdefault(graph, {})
    if (key, partition) not in known:
        known[key, partition] = tuple(inputs_of(key, partition, graph))
    return known[key, partition]


def partition_names(graph: BaseAssetGraph, key: dg.AssetKey) -> Set[str]:
    """The partitions of an asset, listed once for each graph."""
    names = PARTITION_NAMES.setdefault(graph, {})
    if key not in names:
        partitions = graph.get(key).partitions_def
        names[key] = frozenset(partitions.get_partition_keys() if partitions else ())
    return names[key]


def is_no_cell(graph: BaseAssetGraph, key: dg.AssetKey, partition: str | None) -> bool:
    """Whether Dagster offers a partition that the study does not ask: a family in a part that it does not serve."""
    if partition is None or not graph.has(key) or (partitions := graph.get(key).partitions_def) is None:
        return False
    return partitions.has_partition_key(partition) and partition not in partition_names(graph, key)


def has_any(graph: BaseAssetGraph, key: dg.AssetKey, instance: dg.DagsterInstance) -> bool:
    """Whether an asset was ever made, in any of its partitions; one that is no cell does not count."""
    latest = instance.get_latest_materialization_event(key)
    made = latest.asset_materialization if latest else None
    if made is None or not is_no_cell(graph, key, made.partition):
        return made is not None
    kind, names = dg.DagsterEventType.ASSET_MATERIALIZATION, partition_names(graph, key)
    return any(name in names for name in instance.event_log_storage.get_latest_storage_id_by_partition(key, kind))
