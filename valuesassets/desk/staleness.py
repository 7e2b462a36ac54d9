"""Whether a partition is fresh: Dagster finds its code version and the data versions of its inputs unchanged since it
was materialised, and its files hold what was written then."""

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
"""Metadata of an asset: hashes of the entries of a study that it may rest on, by table and entry; of a materialisation:
of those that it was made of."""
WRITTEN = "sha256"
"""Metadata of a materialisation: the hashes of its files, by their paths from where `path` lies, or from `folder`."""


class Staleness:
    """What is stale at one moment: asked of many partitions, each of Dagster's records is read once."""

    def __init__(self, graph: BaseAssetGraph, instance: dg.DagsterInstance, folder: Path | None = None) -> None:
        """Look at the moment of the first question.

        Args:
            folder: where the study's files lie now; where None, they are looked for where they were written.
        """
        self._graph, self._instance, self._folder = graph, instance, folder
        self._resolver = new_resolver(graph, instance)

    def of(self, keys: Iterable[dg.AssetKey], partition: str | None) -> list[dg.AssetKey]:
        """Of assets, parents before children, those that are missing or stale in a partition, or whose file is gone."""
        stale: list[dg.AssetKey] = []
        for key in keys:
            parents = self._graph.get(key).parent_keys
            fresh = self._resolver.get_status(key, partition) == StaleStatus.FRESH and not set(stale) & set(parents)
            if not (fresh and self._still_stands(key, partition)):
                stale.append(key)
        return stale

    def damaged(self, keys: Iterable[dg.AssetKey], partition: str | None) -> list[Path]:
        """Files of the last materialisations that are gone, or hold something else than was written into them."""
        made = [record.asset_materialization for key in keys for record in _made(key, partition, self._instance)]
        return [path for each in made if each for path in _damaged(each, self._folder)]

    def _still_stands(self, key: dg.AssetKey, partition: str | None) -> bool:
        """Whether the files of the last materialisation are whole, and it rests on what it was made of."""
        made = next((record.asset_materialization for record in _made(key, partition, self._instance)), None)
        if made is None or _rests_on_others(made, partition, self._graph, self._instance):
            return False
        return not _damaged(made, self._folder)


def _made(
    key: dg.AssetKey, partition: str | None, instance: dg.DagsterInstance, limit: int = 1, since: int | None = None
) -> Sequence[dg.EventLogRecord]:
    """Its latest materialisations, the last first."""
    asked = dg.AssetRecordsFilter(key, asset_partitions=[partition] if partition else None, after_storage_id=since)
    return instance.fetch_materializations(asked, limit=limit).records


def _place_of(path: Path, folder: Path | None) -> Path:
    """Where a file lies now: a storage that was copied has its own, wherever they were written."""
    if folder is None or folder.name not in path.parts:
        return path
    places = [folder.joinpath(*path.parts[n + 1 :]) for n, part in enumerate(path.parts) if part == folder.name]
    return next((place for place in places if place.exists()), places[-1])


def _damaged(made: dg.AssetMaterialization, folder: Path | None) -> list[Path]:
    gone = [place for place in _named_places(made, folder).values() if not place.exists()]
    unlike = [file for file, digest in recorded_hashes(made, folder).items() if not has_hash(file, digest)]
    return list(dict.fromkeys(gone + unlike))


def _named_places(made: dg.AssetMaterialization, folder: Path | None) -> dict[str, Path]:
    """Where the files and folders lie now that a materialisation names."""
    named = {name: v.value for name, v in made.metadata.items() if isinstance(v, dg.PathMetadataValue) and v.value}
    return {name: _place_of(Path(path), folder) for name, path in named.items()}


def recorded_hashes(made: dg.AssetMaterialization, folder: Path | None) -> dict[Path, str]:
    """SHA-256 of a materialisation's files as they were written, by where they lie now."""
    places = _named_places(made, folder)
    beside = places["path"].parent if "path" in places else places.get("folder")
    hashes = _plain(made.metadata.get(WRITTEN))
    return {Path(os.path.normpath(beside / name)): str(digest) for name, digest in hashes.items()} if beside else {}


def latest_hashes(
    key: dg.AssetKey, partitions: Iterable[str | None], instance: dg.DagsterInstance, folder: Path
) -> dict[Path, str]:
    """What the latest materialisations of an asset in some partitions recorded of their files (`recorded_hashes`).

    Args:
        partitions: None alone stands for an asset without any.
    """
    named = {each for each in partitions if each is not None}
    found: Sequence[dg.EventLogRecord] = () if named else _made(key, None, instance)
    if named and (ids := instance.event_log_storage.get_latest_storage_id_by_partition(key, MADE, named)):
        asked = dg.AssetRecordsFilter(key, storage_ids=[*ids.values()])
        found = instance.fetch_materializations(asked, limit=len(ids)).records
    made = [record.asset_materialization for record in found if record.asset_materialization]
    return {file: digest for each in made for file, digest in recorded_hashes(each, folder).items()}


def require_written(file: Path, hashes: Mapping[Path, str]) -> None:
    """See that a file holds what was written into it, as far as a hash of it was recorded.

    Raises:
        StorageError: it does not.
    """
    if file in hashes and not has_hash(file, hashes[file]):
        raise damaged(file)


def all_hashes(instance: dg.DagsterInstance, folder: Path) -> dict[Path, str]:
    """What the latest materialisations of all assets of a study recorded of their files."""
    found: dict[Path, str] = {}
    for key in instance.all_asset_keys():
        partitions = instance.event_log_storage.get_materialized_partitions(key)
        found |= latest_hashes(key, partitions or [None], instance, folder)
    return found


def hashes_of(files: Iterable[Path], folder: Path) -> dict[str, str]:
    """SHA-256 of files as they were written, by their paths from a folder."""
    return {Path(os.path.relpath(file, folder)).as_posix(): sha256_file(file) for file in files}


def files_below(folder: Path) -> list[Path]:
    """The files of a folder and of those in it, in the order of names, without hidden ones."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if not any(p.startswith(".") for p in path.relative_to(folder).parts))


def folder_metadata(folder: Path) -> dict[str, Any]:
    """A folder of files and their hashes, as a materialisation has them."""
    return {"folder": dg.MetadataValue.path(str(folder)), WRITTEN: hashes_of(files_below(folder), folder)}


def has_hash(file: Path, digest: str) -> bool:
    """Whether a file is there and holds what was written into it."""
    try:
        found = file.stat()
        return _hash_of(file, found.st_mtime_ns, found.st_size) == digest
    except OSError:
        return False


@lru_cache(maxsize=100_000)
def _hash_of(file: Path, changed: int, size: int) -> str:
    """SHA-256 of a file, read once as long as it stays as it is."""
    return sha256_file(file)


def _rests_on_others(
    made: dg.AssetMaterialization, partition: str | None, graph: BaseAssetGraph, instance: dg.DagsterInstance
) -> bool:
    """Whether an asset rests on other data than it was made of, as far as the resolver does not see it.

    An entry of the study is another one now, or gone. An input was empty then and is not now: the resolver compares it
    with its own latest materialisation. An input of a hundred partitions or more: the resolver looks at none of them.
    """
    node, tags = graph.get(made.asset_key), made.tags or {}
    if tags.get(MADE_OF) == NO_CELL:  # the study has the cell now
        return True
    now, then = (_plain(found.get(ENTRIES)) for found in (node.metadata, made.metadata))
    if any(now.get(table, {}).get(name) != digest for table, known in then.items() for name, digest in known.items()):
        return True
    for parent, part in inputs_of(made.asset_key, partition, graph):
        pointer = tags.get(get_input_event_pointer_tag(parent))
        if pointer == "NULL" and has_any(graph, parent, instance):
            return True
        is_large = len(partition_names(graph, parent)) >= SKIP_PARTITION_DATA_VERSION_DEPENDENCY_THRESHOLD
        if part is None and is_large and (pointer or "").isdigit():
            names = partition_names(graph, parent)
            if any(name in names for name in _changed_since(int(pointer or 0), parent, instance)):
                return True
    return False


def _changed_since(storage_id: int, key: dg.AssetKey, instance: dg.DagsterInstance) -> Iterator[str]:
    """The partitions of an asset that were made since an event, and say something else than before it."""
    asked = key, MADE, [DATA_VERSION_TAG]
    new = instance.event_log_storage.get_latest_tags_by_partition(*asked, after_cursor=storage_id)
    old = instance.event_log_storage.get_latest_tags_by_partition(*asked, before_cursor=storage_id + 1)
    return (name for name, version in new.items() if version != old.get(name))


def entries_of_partition(known: Mapping[str, Mapping[str, str]], partition: str | None) -> dict[str, dict[str, str]]:
    """The entries of the study that a partition is made of: those of its names, all where there is no partition."""
    names = set(partition.keys_by_dimension.values()) if isinstance(partition, dg.MultiPartitionKey) else {partition}
    return {
        table: {name: digest for name, digest in entries.items() if partition is None or name in names}
        for table, entries in known.items()
    }


def tags_of_entries(entries: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The tag of what is made of these entries of a study; none where there are none."""
    return {MADE_OF: sha256_json(entries)[:16]} if entries else {}


def _plain(entry: Any) -> dict[str, dict[str, str]]:
    return getattr(entry, "value", entry) or {}


State = tuple[int | None, int | None, tuple[int | None, ...]]
"""Storage ids of the latest try of an asset's partition, of its latest materialisation, and of those of its inputs:
all that the answer depends on."""


class StaleCache:
    """Which assets are behind at the time of one tick; a look every half minute at thousands of cells stays cheap."""

    _known: ClassVar[dict[tuple[str, dg.AssetKey], dict[str | None, tuple[State, bool]]]] = {}

    def __init__(self, view: AssetGraphView) -> None:
        self._graph, self._instance = view.asset_graph, view.instance
        self._ids: dict[tuple[dg.AssetKey, dg.DagsterEventType], Mapping[str | None, int]] = {}

    @classmethod
    @lru_cache(maxsize=1)
    def of(cls, view: AssetGraphView) -> "StaleCache":
        """The one of a tick."""
        return cls(view)

    def behind(self, key: dg.AssetKey, partitions: Collection[str | None]) -> set[str | None]:
        """Those partitions of an asset that were never made, or rest on data that have changed since they were.

        New code alone is no reason: whether it is worth the time, a person says. Nor is a try that has failed, until
        something that it rests on was made anew by another run.
        """
        known = self._known.setdefault((self._storage_id, key), {})
        states = {partition: self._state(key, partition) for partition in partitions}
        new = {name: state for name, state in states.items() if name not in known or known[name][0] != state}
        made_of = self._made_of(key, [made for _, made, _ in new.values() if made is not None])
        for name, state in new.items():
            is_as_it_was = self._is_as_it_was(key, name, state, made_of.get(name, {}) if name else {})
            known[name] = state, not is_as_it_was and self._is_behind(key, name, state)
        return {name for name in states if known[name][1]}

    def _made_of(self, key: dg.AssetKey, made: Collection[int]) -> Mapping[str, Mapping[str, str]]:
        """What the latest materialisations of partitions were made of, as their tags say, by one query for all."""
        storage = self._instance.event_log_storage
        tags = {MADE_OF, *map(get_input_event_pointer_tag, self._graph.get(key).parent_keys)}
        if not made or storage.get_asset_tags_to_index(tags) != tags:  # not our storage
            return {}
        return storage.get_latest_tags_by_partition(key, MADE, sorted(tags), after_cursor=min(made) - 1)

    def _is_as_it_was(self, key: dg.AssetKey, partition: str | None, state: State, tags: Mapping[str, str]) -> bool:
        """Whether all that a partition was made of is there as it was: the same materialisations, the same study."""
        tried, made, inputs = state
        if made is None or (tried is not None and tried > made):
            return False
        entries = entries_of_partition(_plain(self._graph.get(key).metadata.get(ENTRIES)), partition)
        if tags.get(MADE_OF) != tags_of_entries(entries).get(MADE_OF):
            return False
        places = known_inputs_of(key, partition, self._graph)
        # The latest event of the whole input when it was taken: what came to its partition since is newer.
        pointers = (tags.get(get_input_event_pointer_tag(parent), "") for parent, _ in places)
        return all(
            latest is None or latest <= int(pointer) if pointer.isdigit() else pointer == "NULL" and latest is None
            for pointer, latest in zip(pointers, inputs, strict=True)
        )

    def _is_behind(self, key: dg.AssetKey, partition: str | None, state: State) -> bool:
        """The same of one partition that is not as it was: what it rests on may say what it said before."""
        graph, instance = self._graph, self._instance
        tried, made, _ = state
        if tried is not None and (made is None or tried > made):
            planned = instance.event_log_storage.get_latest_planned_materialization_info(key, partition)
            return planned is None or any(
                record.run_id != planned.run_id
                for parent, part in known_inputs_of(key, partition, self._graph)
                for record in _made(parent, part, instance, limit=100, since=tried)
                if record.partition_key is None or record.partition_key in partition_names(graph, parent)
            )
        latest = next((one.asset_materialization for one in _made(key, partition, instance)), None) if made else None
        if latest is None:
            return True
        causes = self._resolver.get_stale_causes(key, partition)
        is_changed = any(cause.category == StaleCauseCategory.DATA for cause in causes)
        return is_changed or _rests_on_others(latest, partition, graph, instance)

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
        if kind is PLANNED:  # the record of an asset does not hold it
            planned = storage.get_latest_planned_materialization_info(key)
            return {None: planned.storage_id} if planned else {}
        record = next(iter(self._instance.get_asset_records([key])), None)
        latest = record.asset_entry.last_materialization_storage_id if record else None
        return {None: latest} if latest is not None else {}
