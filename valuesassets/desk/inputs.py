"""The inputs of an asset's partition, and the partitions of an asset."""

from collections.abc import Iterator, Sequence, Set
from weakref import WeakKeyDictionary

import dagster as dg

from valuesassets.dagster_internals.graph import BaseAssetGraph

Place = tuple[dg.AssetKey, str | None]
"""An asset and one of its partitions."""
NO_CELL = "no_cell"
"""The value of the tag `MADE_OF` in a partition that is no cell of the study."""
PARTITION_NAMES: WeakKeyDictionary[BaseAssetGraph, dict[dg.AssetKey, Set[str]]] = WeakKeyDictionary()
"""A cache of each asset's partitions by graph, since listing them is slow and needed for every cell."""
INPUTS: WeakKeyDictionary[BaseAssetGraph, dict[Place, Sequence[Place]]] = WeakKeyDictionary()
"""A cache of each partition's inputs by graph."""


def inputs_of(key: dg.AssetKey, partition: str | None, graph: BaseAssetGraph) -> Iterator[Place]:
    """The inputs of an asset's partition; None stands for all partitions of an input."""
    names = [str(partition)] if partition else []
    if isinstance(partition, dg.MultiPartitionKey):
        names += partition.keys_by_dimension.values()
    for parent in sorted(graph.get(key).parent_keys):
        partitions = partition_names(graph, parent)
        yield parent, next((name for name in names if name in partitions), None)


def known_inputs_of(key: dg.AssetKey, partition: str | None, graph: BaseAssetGraph) -> Sequence[Place]:
    """The same as `inputs_of`, computed once for each graph."""
    cache = INPUTS.setdefault(graph, {})
    if (key, partition) not in cache:
        cache[key, partition] = tuple(inputs_of(key, partition, graph))
    return cache[key, partition]


def partition_names(graph: BaseAssetGraph, key: dg.AssetKey) -> Set[str]:
    """The partitions of an asset, listed once for each graph."""
    names = PARTITION_NAMES.setdefault(graph, {})
    if key not in names:
        partitions = graph.get(key).partitions_def
        names[key] = frozenset(partitions.get_partition_keys() if partitions else ())
    return names[key]


def is_no_cell(graph: BaseAssetGraph, key: dg.AssetKey, partition: str | None) -> bool:
    """Whether a partition of Dagster is no cell of the study, because the family does not support the part."""
    if partition is None or not graph.has(key) or (partitions := graph.get(key).partitions_def) is None:
        return False
    return partitions.has_partition_key(partition) and partition not in partition_names(graph, key)


def has_any(graph: BaseAssetGraph, key: dg.AssetKey, instance: dg.DagsterInstance) -> bool:
    """Whether an asset was ever materialised in any of its cells."""
    latest = instance.get_latest_materialization_event(key)
    materialisation = latest.asset_materialization if latest else None
    if materialisation is None or not is_no_cell(graph, key, materialisation.partition):
        return materialisation is not None
    kind, names = dg.DagsterEventType.ASSET_MATERIALIZATION, partition_names(graph, key)
    return any(name in names for name in instance.event_log_storage.get_latest_storage_id_by_partition(key, kind))
