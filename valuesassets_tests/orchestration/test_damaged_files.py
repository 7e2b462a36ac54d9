"""What is missing or damaged is stale, whatever happened to its file; a moved storage is as fresh as before."""

import shutil
from pathlib import Path

import dagster as dg
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.desk.staleness import WRITTEN, Staleness
from valuesassets.records.study import load_study
from valuesassets_tests.orchestration.small_study import copied

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("graph")]


def flip(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


DAMAGES = {
    "removed": Path.unlink,
    "emptied": lambda file: file.write_bytes(b""),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "one bit turned": flip,
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"\n"),
}


class Made:
    """A study that was run, and what of it is stale."""

    def __init__(self, folder):
        self.definitions = build_definitions(load_study(str(folder / "small.toml")), folder / "storage")
        self.graph = self.definitions.resolve_asset_graph()
        self.folder = folder / "storage" / "small"

    def partitions(self):
        for key in self.graph.toposorted_asset_keys:
            partitions = self.graph.get(key).partitions_def
            yield from ((key, each) for each in (partitions.get_partition_keys() if partitions else [None]))

    def is_stale(self, key, partition, instance):
        return bool(Staleness(self.graph, instance, self.folder).of([key], partition))

    def files(self, key, partition, instance):
        """Those that an asset's last materialisation wrote, where they lie."""
        asked = dg.AssetRecordsFilter(key, asset_partitions=[partition] if partition else None)
        made = instance.fetch_materializations(asked, limit=1).records[0].asset_materialization
        if WRITTEN not in made.metadata:
            return []
        parts = Path(made.metadata["path"].value).parts
        own = self.folder.joinpath(*parts[parts.index(self.folder.name, parts.index("storage")) + 1 :])
        return [own.parent / name for name in made.metadata[WRITTEN].value]


def test_a_damaged_file_is_stale_and_nothing_else_is(small_ratings, tmp_path, monkeypatch):
    for name, value in copied(small_ratings, tmp_path).items():
        monkeypatch.setenv(name, value)
    made, damaged = Made(tmp_path), 0
    with dg.DagsterInstance.get() as instance:
        for key, partition in made.partitions():
            assert not made.is_stale(key, partition, instance), key
            for file in made.files(key, partition, instance):
                content = file.read_bytes()
                for name, damage in DAMAGES.items():
                    damage(file)
                    assert made.is_stale(key, partition, instance), (key, file, name)
                    file.write_bytes(content)
                    damaged += 1
                assert not made.is_stale(key, partition, instance)
    assert damaged > 100


def test_a_moved_storage_is_as_fresh_as_before_though_the_first_is_gone(small_ratings, tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    copied(small_ratings, first)
    for name, value in copied(first, second).items():
        monkeypatch.setenv(name, value)
    shutil.rmtree(first)
    made = Made(second)
    with dg.DagsterInstance.get() as instance:
        assert [key for key, partition in made.partitions() if made.is_stale(key, partition, instance)] == []
