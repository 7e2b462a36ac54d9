"""Whether a partition is fresh: code version, data versions of inputs and files are as when it was materialised."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import dagster as dg

from valuesassets.dagster_internals.graph import AssetGraphView, BaseAssetGraph
from valuesassets.dagster_internals.stale_status import (
    SKIP_PARTITION_DATA_VERSION_DEPENDENCY_THRESHOLD,
    CachingStaleStatusResolver,
    StaleCauseCategory,
    StaleStatus,
    new_resolver,
    run_storage_id,
)
from valuesassets.dagster_internals.tags import DATA_VERSION_TAG, MADE_OF, get_input_event_pointer_tag
from valuesassets.desk.inputs import NO_CELL, has_any, inputs_of, known_inputs_of, partition_names
from valuesassets.records.files import sha256_file, sha256_json
from valuesassets.records.seals import damaged

MADE, PLANNED = dg.DagsterEventType.ASSET_MATERIALIZATION, dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
ENTRIES = "study_entries"
"""Metadata key for hashes of the study's entries, by table and entry: of an asset, those that it may depend on; of a
materialisation, those that it was made from."""
WRITTEN = "sha256"
"""Metadata key of a materialisation for the hashes of its files, by their paths relative to `path` or `folder`."""


class Staleness:
    """Staleness at one moment; each of Dagster's records is read only once for many partitions."""

    def __init__(self, graph: BaseAssetGraph, instance: dg.DagsterInstance, folder: Path | None = None) -> None:
        """Prepare; records are read at the first call.

        Args:
            folder: the folder of the study's files now; None if they are still where they were written.
        """
        self._graph, self._instance, self._folder = graph, instance, folder
        self._resolver = new_resolver(graph, instance)

    def of(self, keys: Iterable[dg.AssetKey], partition: str | None) -> list[dg.AssetKey]:
        """The assets that are missing, stale or damaged in a partition; `keys` has parents before children."""
        stale: list[dg.AssetKey] = []
        for key in keys:
            parents = self._graph.get(key).parent_keys
            fresh = self._resolver.get_status(key, partition) == StaleStatus.FRESH and not set(stale) & set(parents)
            if not (fresh and self._is_whole(key, partition)):
                stale.append(key)
        return stale

    def damaged(self, keys: Iterable[dg.AssetKey], partition: str | None) -> list[Path]:
        """Files of the latest materialisations that are missing or have another content than was written."""
        latest = (self._latest(key, partition) for key in keys)
        return [
            path for materialisation in latest if materialisation for path in _damaged(materialisation, self._folder)
        ]

    def _is_whole(self, key: dg.AssetKey, partition: str | None) -> bool:
        """Whether the files of the latest materialisation are whole and its inputs are those that it was made from."""
        materialisation = self._latest(key, partition)
        if materialisation is None or _has_other_inputs(materialisation, partition, self._graph, self._instance):
            return False
        return not _damaged(materialisation, self._folder)

    def _latest(self, key: dg.AssetKey, partition: str | None) -> dg.AssetMaterialization | None:
        return _latest_materialisation(key, partition, self._instance)


def _materialisations(
    key: dg.AssetKey, partition: str | None, instance: dg.DagsterInstance, limit: int = 1, since: int | None = None
) -> Sequence[dg.EventLogRecord]:
    """The latest materialisations of an asset's partition, newest first."""
    records_filter = dg.AssetRecordsFilter(
        key, asset_partitions=[partition] if partition else None, after_storage_id=since
    )
    return instance.fetch_materializations(records_filter, limit=limit).records


def _latest_materialisation(
    key: dg.AssetKey, partition: str | None, instance: dg.DagsterInstance
) -> dg.AssetMaterialization | None:
    return next((record.asset_materialization for record in _materialisations(key, partition, instance)), None)


def _current_place(path: Path, folder: Path | None) -> Path:
    """The current path of a file, in a storage that may have been copied since."""
    if folder is None or folder.name not in path.parts:
        return path
    places = [folder.joinpath(*path.parts[n + 1 :]) for n, part in enumerate(path.parts) if part == folder.name]
    return next((place for place in places if place.exists()), places[-1])


def _damaged(materialisation: dg.AssetMaterialization, folder: Path | None) -> list[Path]:
    missing = [place for place in _recorded_places(materialisation, folder).values() if not place.exists()]
    changed = [file for file, digest in recorded_hashes(materialisation, folder).items() if not has_hash(file, digest)]
    return list(dict.fromkeys(missing + changed))


def _recorded_places(materialisation: dg.AssetMaterialization, folder: Path | None) -> dict[str, Path]:
    """The current paths of the files and folders in a materialisation's metadata."""
    paths = {name: v.value for name, v in materialisation.metadata.items() if isinstance(v, dg.PathMetadataValue)}
    return {name: _current_place(Path(path), folder) for name, path in paths.items() if path}


def recorded_hashes(materialisation: dg.AssetMaterialization, folder: Path | None) -> dict[Path, str]:
    """The recorded SHA-256 of a materialisation's files, by their current paths."""
    places = _recorded_places(materialisation, folder)
    parent = places["path"].parent if "path" in places else places.get("folder")
    hashes = _plain(materialisation.metadata.get(WRITTEN))
    return {Path(os.path.normpath(parent / name)): str(digest) for name, digest in hashes.items()} if parent else {}


def latest_hashes(
    key: dg.AssetKey, partitions: Iterable[str | None], instance: dg.DagsterInstance, folder: Path
) -> dict[Path, str]:
    """The hashes of files in the latest materialisations of an asset's partitions (`recorded_hashes`); the one
    partition of an asset without partitions is None."""
    names = {item for item in partitions if item is not None}
    records: Sequence[dg.EventLogRecord] = () if names else _materialisations(key, None, instance)
    if names and (ids := instance.event_log_storage.get_latest_storage_id_by_partition(key, MADE, names)):
        records_filter = dg.AssetRecordsFilter(key, storage_ids=[*ids.values()])
        records = instance.fetch_materializations(records_filter, limit=len(ids)).records
    materialisations = [record.asset_materialization for record in records if record.asset_materialization]
    return {file: digest for item in materialisations for file, digest in recorded_hashes(item, folder).items()}


def require_written(file: Path, hashes: Mapping[Path, str]) -> None:
    """Require that a file has its recorded hash, if there is one; StorageError where the hash differs."""
    if file in hashes and not has_hash(file, hashes[file]):
        raise damaged(file)


def all_hashes(instance: dg.DagsterInstance, folder: Path) -> dict[Path, str]:
    """The hashes of files in the latest materialisations of all assets of a study."""
    hashes: dict[Path, str] = {}
    for key in instance.all_asset_keys():
        partitions = instance.event_log_storage.get_materialized_partitions(key)
        hashes |= latest_hashes(key, partitions or [None], instance, folder)
    return hashes


def hashes_of(files: Iterable[Path], folder: Path) -> dict[str, str]:
    """The SHA-256 of files, by their paths relative to a folder."""
    return {Path(os.path.relpath(file, folder)).as_posix(): sha256_file(file) for file in files}


def files_below(folder: Path) -> list[Path]:
    """All files below a folder in the order of their paths, without hidden ones."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in files if not any(p.startswith(".") for p in path.relative_to(folder).parts))


def folder_metadata(folder: Path) -> dict[str, Any]:
    """A materialisation's metadata for a folder: its path and the hashes of its files."""
    return {"folder": dg.MetadataValue.path(str(folder)), WRITTEN: hashes_of(files_below(folder), folder)}


def has_hash(file: Path, digest: str) -> bool:
    """Whether a file exists and has this SHA-256."""
    try:
        status = file.stat()
        return _hash_of(file, status.st_mtime_ns, status.st_size) == digest
    except OSError:
        return False


@lru_cache(maxsize=100_000)
def _hash_of(file: Path, changed: int, size: int) -> str:
    """The SHA-256 of a file, cached until its time or size changes."""
    return sha256_file(file)


def _has_other_inputs(
    materialisation: dg.AssetMaterialization, partition: str | None, graph: BaseAssetGraph, instance: dg.DagsterInstance
) -> bool:
    """Whether an asset's inputs have changed in a way that Dagster's resolver does not notice.

    These are: an entry of the study that has changed or gone; an input that was empty and is not any more; an input
    with a hundred partitions or more, which the resolver skips.
    """
    node, tags = graph.get(materialisation.asset_key), materialisation.tags or {}
    if tags.get(MADE_OF) == NO_CELL:  # the cell is in the study now
        return True
    current, recorded = (_plain(metadata.get(ENTRIES)) for metadata in (node.metadata, materialisation.metadata))
    if any(
        current.get(table, {}).get(name) != entries[name] for table, entries in recorded.items() for name in entries
    ):
        return True
    for parent, input_partition in inputs_of(materialisation.asset_key, partition, graph):
        pointer = tags.get(get_input_event_pointer_tag(parent))
        if pointer == "NULL" and has_any(graph, parent, instance):
            return True
        is_large = len(partition_names(graph, parent)) >= SKIP_PARTITION_DATA_VERSION_DEPENDENCY_THRESHOLD
        if input_partition is None and is_large and (pointer or "").isdigit():
            names = partition_names(graph, parent)
            if any(name in names for name in _changed_since(int(pointer or 0), parent, instance)):
                return True
    return False


def _changed_since(storage_id: int, key: dg.AssetKey, instance: dg.DagsterInstance) -> Iterator[str]:
    """The partitions of an asset whose data version has changed since an event."""
    query = key, MADE, [DATA_VERSION_TAG]
    new = instance.event_log_storage.get_latest_tags_by_partition(*query, after_cursor=storage_id)
    old = instance.event_log_storage.get_latest_tags_by_partition(*query, before_cursor=storage_id + 1)
    return (name for name, version in new.items() if version != old.get(name))


def entries_of_partition(tables: Mapping[str, Mapping[str, str]], partition: str | None) -> dict[str, dict[str, str]]:
    """The entries of the study that a partition depends on: those with its names; without a partition, all."""
    names = set(partition.keys_by_dimension.values()) if isinstance(partition, dg.MultiPartitionKey) else {partition}
    return {
        table: {name: digest for name, digest in entries.items() if partition is None or name in names}
        for table, entries in tables.items()
    }


def tags_of_entries(entries: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The tag of a materialisation that is made from these entries of a study; empty without entries."""
    return {MADE_OF: sha256_json(entries)[:16]} if entries else {}


def _plain(entry: Any) -> dict[str, dict[str, str]]:
    return getattr(entry, "value", entry) or {}


State = tuple[int | None, int | None, tuple[int | None, ...]]
"""Storage ids of a partition's latest attempt, of its latest materialisation, and of its inputs' latest
materialisations: all that staleness depends on."""


class StaleCache:
    """Which partitions are out of date at one tick, cached so that checking thousands of cells often stays cheap."""

    _known: ClassVar[dict[tuple[str, dg.AssetKey], dict[str | None, tuple[State, bool]]]] = {}

    def __init__(self, view: AssetGraphView) -> None:
        self._graph, self._instance = view.asset_graph, view.instance
        self._ids: dict[tuple[dg.AssetKey, dg.DagsterEventType], Mapping[str | None, int]] = {}

    @classmethod
    @lru_cache(maxsize=1)
    def of(cls, view: AssetGraphView) -> "StaleCache":
        """The cache for one tick."""
        return cls(view)

    def behind(self, key: dg.AssetKey, partitions: Collection[str | None]) -> set[str | None]:
        """Those of an asset's partitions that are missing or whose input data have changed since.

        New code alone does not count: a person decides whether it is worth the time. Nor does a failed attempt, until
        another run has made one of its inputs again.
        """
        cache = self._known.setdefault((self._storage_id, key), {})
        states = {partition: self._state(key, partition) for partition in partitions}
        new = {name: state for name, state in states.items() if name not in cache or cache[name][0] != state}
        tags = self._recorded_tags(key, [latest for _, latest, _ in new.values() if latest is not None])
        for name, state in new.items():
            is_unchanged = self._is_unchanged(key, name, state, tags.get(name, {}) if name else {})
            cache[name] = state, not is_unchanged and self._is_behind(key, name, state)
        return {name for name in states if cache[name][1]}

    def _recorded_tags(self, key: dg.AssetKey, storage_ids: Collection[int]) -> Mapping[str, Mapping[str, str]]:
        """The tags on entries and inputs of the partitions' latest materialisations, from a single query."""
        storage = self._instance.event_log_storage
        tags = {MADE_OF, *map(get_input_event_pointer_tag, self._graph.get(key).parent_keys)}
        if not storage_ids or storage.get_asset_tags_to_index(tags) != tags:  # a storage other than ours
            return {}
        return storage.get_latest_tags_by_partition(key, MADE, sorted(tags), after_cursor=min(storage_ids) - 1)

    def _is_unchanged(self, key: dg.AssetKey, partition: str | None, state: State, tags: Mapping[str, str]) -> bool:
        """Whether a partition's inputs and its entries of the study are the same as when it was made."""
        tried_id, latest_id, inputs = state
        if latest_id is None or (tried_id is not None and tried_id > latest_id):
            return False
        entries = entries_of_partition(_plain(self._graph.get(key).metadata.get(ENTRIES)), partition)
        if tags.get(MADE_OF) != tags_of_entries(entries).get(MADE_OF):
            return False
        places = known_inputs_of(key, partition, self._graph)
        # A pointer is the latest event of the whole input at that time; later events of the partition are newer.
        pointers = (tags.get(get_input_event_pointer_tag(parent), "") for parent, _ in places)
        return all(
            latest is None or latest <= int(pointer) if pointer.isdigit() else pointer == "NULL" and latest is None
            for pointer, latest in zip(pointers, inputs, strict=True)
        )

    def _is_behind(self, key: dg.AssetKey, partition: str | None, state: State) -> bool:
        """Whether a changed partition is out of date: its inputs may be new and still have the same content."""
        graph, instance = self._graph, self._instance
        tried_id, latest_id, _ = state
        if tried_id is not None and (latest_id is None or tried_id > latest_id):
            planned = instance.event_log_storage.get_latest_planned_materialization_info(key, partition)
            return planned is None or any(
                record.run_id != planned.run_id
                for parent, part in known_inputs_of(key, partition, self._graph)
                for record in _materialisations(parent, part, instance, limit=100, since=tried_id)
                if record.partition_key is None or record.partition_key in partition_names(graph, parent)
            )
        latest = _latest_materialisation(key, partition, instance) if latest_id else None
        if latest is None:
            return True
        causes = self._resolver.get_stale_causes(key, partition)
        is_changed = any(cause.category == StaleCauseCategory.DATA for cause in causes)
        return is_changed or _has_other_inputs(latest, partition, graph, instance)

    @cached_property
    def _resolver(self) -> CachingStaleStatusResolver:
        return new_resolver(self._graph, self._instance)

    @cached_property
    def _storage_id(self) -> str:
        return run_storage_id(self._instance)

    def _state(self, key: dg.AssetKey, partition: str | None) -> State:
        inputs = tuple(self._latest(*each, MADE) for each in known_inputs_of(key, partition, self._graph))
        return self._latest(key, partition, PLANNED), self._latest(key, partition, MADE), inputs

    def _latest(self, key: dg.AssetKey, partition: str | None, kind: dg.DagsterEventType) -> int | None:
        if (key, kind) not in self._ids:
            self._ids[key, kind] = self._fetch(key, kind)
        ids = self._ids[key, kind]
        return ids.get(partition) if partition else max(ids.values(), default=None)

    def _fetch(self, key: dg.AssetKey, kind: dg.DagsterEventType) -> Mapping[str | None, int]:
        storage = self._instance.event_log_storage
        if self._graph.get(key).is_partitioned:
            return {**storage.get_latest_storage_id_by_partition(key, kind)}
        if kind is PLANNED:  # an asset's record lacks it
            planned = storage.get_latest_planned_materialization_info(key)
            return {None: planned.storage_id} if planned else {}
        record = next(iter(self._instance.get_asset_records([key])), None)
        latest = record.asset_entry.last_materialization_storage_id if record else None
        return {None: latest} if latest is not None else {}
