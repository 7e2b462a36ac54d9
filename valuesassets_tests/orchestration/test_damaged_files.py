"""What is missing or damaged is stale, whatever happened to its file; a moved storage is as fresh as before."""

import gzip
import itertools
import shutil

import dagster as dg
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.desk.staleness import WRITTEN, Staleness, files_below, recorded_hashes
from valuesassets.records.errors import StorageError
from valuesassets.records.parquet import stored_frame
from valuesassets.records.seals import SEAL, read_record
from valuesassets.records.study import load_study
from valuesassets_tests.cli.commands import refuse, run
from valuesassets_tests.orchestration.small_study import copied

pytestmark = [pytest.mark.slow, pytest.mark.group("graph")]


def flip(file, share=0.5):
    content = bytearray(file.read_bytes())
    content[int(share * len(content))] ^= 1
    file.write_bytes(content)


def change(change_content):
    """A damage that leaves a file with other bytes."""
    return lambda file, *_: file.write_bytes(change_content(file.read_bytes()))


def put_folder(file, *_):
    file.unlink()
    file.mkdir()


def put_link(file, target):
    file.unlink()
    file.symlink_to(target)


DAMAGES = {
    "removed": lambda file, *_: file.unlink(),
    "renamed": lambda file, *_: file.rename(file.with_name(f"{file.name}.bak")),
    "emptied": change(lambda content: b""),
    "truncated by a byte": change(lambda content: content[:-1]),
    "truncated by half": change(lambda content: content[: len(content) // 2]),
    "its beginning lost": change(lambda content: content[1:]),
    "first bit turned": lambda file, *_: flip(file, 0),
    "one bit turned": lambda file, *_: flip(file),
    "last bit turned": lambda file, *_: flip(file, 0.9999),
    "longer by a line": change(lambda content: content + b"\n"),
    "twice in a row": change(lambda content: content * 2),
    "a page of zeros in it": change(lambda content: content[:8] + bytes(min(64, len(content) - 8)) + content[72:]),
    "all zeros": change(lambda content: bytes(len(content))),
    "bytes turned round": change(lambda content: content[::-1]),
    "packed": change(gzip.compress),
    "a pointer of Git LFS": change(lambda content: b"version https://git-lfs.github.com/spec/v1\n"),
    "a line end of another system": change(lambda content: content.replace(b"\n", b"\r\n") + b"\r\n"),
    "another file in its place": lambda file, other: shutil.copyfile(other, file),
    "a link to another file": put_link,
    "a link to nowhere": lambda file, other: put_link(file, other.with_name("nowhere")),
    "a folder in its place": put_folder,
}


def is_sealed(file):
    """Whether a file carries a digest of itself, as all do that numbers are read from."""
    return file.suffix == ".parquet" or (file.suffix == ".json" and f'"{SEAL}": ' in file.read_text())


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

    def kept_files(self):
        """What the study has made and keeps, without Dagster's and the jobs' own files."""
        left_out = ("dagster", "jobs")
        return [file for file in files_below(self.folder) if file.relative_to(self.folder).parts[0] not in left_out]

    def is_stale(self, key, partition, instance):
        return bool(Staleness(self.graph, instance, self.folder).of([key], partition))

    def files(self, key, partition, instance):
        """Those that an asset's last materialisation wrote, where they lie."""
        asked = dg.AssetRecordsFilter(key, asset_partitions=[partition] if partition else None)
        made = instance.fetch_materializations(asked, limit=1).records[0].asset_materialization
        if WRITTEN not in made.metadata:
            return []
        return sorted(recorded_hashes(made, self.folder))


def restore(file, content):
    """A file as it was, whatever stands in its place."""
    if file.is_dir():
        file.rmdir()
    file.unlink(missing_ok=True)
    file.with_name(f"{file.name}.bak").unlink(missing_ok=True)
    file.write_bytes(content)


def test_a_damaged_file_is_stale_and_nothing_else_is(small_ratings, tmp_path, monkeypatch):
    for name, value in copied(small_ratings, tmp_path).items():
        monkeypatch.setenv(name, value)
    made, damaged, own = Made(tmp_path), 0, set()
    other = tmp_path / "other"
    other.write_bytes(b"another file")
    with dg.DagsterInstance.get() as instance:
        for key, partition in made.partitions():
            assert not made.is_stale(key, partition, instance), key
            files = made.files(key, partition, instance)
            for file, damage in zip(files, itertools.cycle(DAMAGES)):
                content = file.read_bytes()
                DAMAGES[damage](file, other)
                assert made.is_stale(key, partition, instance), (key, file, damage)
                restore(file, content)
                damaged += 1
            assert not made.is_stale(key, partition, instance)
            own |= {*files}
    assert damaged > 3 * len(DAMAGES)
    assert not {file for file in made.kept_files() if file not in own}


def test_of_400_flips_in_tables_and_verdicts_of_a_study_none_is_read_as_another_value(small_ratings, tmp_path):
    files = [file for file in files_below(small_ratings / "storage") if "known_readings" not in file.parts]
    readers = {".parquet": stored_frame, ".json": read_record}
    kept = list(filter(is_sealed, files))
    assert {file.name for file in kept} >= {"job.json", "phantom.json", "aware.json", "value_answers.parquet"}
    assert not [file for file in files if file.suffix in (".pickle", ".pkl") or file.name == "result"]
    noticed, place = 0, tmp_path / "flipped"
    for number in range(400):
        file = kept[number % len(kept)]
        before, read = file.read_bytes(), readers[file.suffix]
        damaged = bytearray(before)
        where = number * 7919 % len(damaged)
        damaged[where] ^= 1 << number % 8
        place.write_bytes(damaged)
        try:
            found = read(place)
        except StorageError:
            noticed += 1
            continue
        assert file.suffix == ".json", (file, where)
        assert found | read(file) == found, (file, where)  # a blank, or the name of the digest itself
    assert noticed > 380


def test_a_command_names_what_is_damaged_and_makes_the_same_bytes_again(small_ratings, tmp_path, monkeypatch):
    environment = copied(small_ratings, tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    made = Made(tmp_path)
    before = {file: file.read_bytes() for file in made.kept_files()}
    with dg.DagsterInstance.get() as instance:
        firsts = {made.files(key, each, instance)[0]: key for key, each in made.partitions()}
    chosen = dict(zip(sorted(firsts), DAMAGES, strict=False))
    older = tmp_path / "older"
    older.write_bytes(before[max(chosen)])
    for file, damage in chosen.items():
        DAMAGES[damage](file, older)
    done = run("run", tmp_path / "small.toml", **environment)
    assert done.returncode == 0, done.stderr
    for file in chosen:
        assert str(file) in done.stderr, (file, done.stderr)
        file.with_name(f"{file.name}.bak").unlink(missing_ok=True)
    assert [file for file, content in before.items() if file.read_bytes() != content] == []


def test_a_bundle_certifies_no_file_that_is_another_than_was_written_though_it_is_whole(small_study, tmp_path):
    environment = copied(small_study, tmp_path)
    asked = ("bundle", tmp_path / "small.toml", "--output", tmp_path / "out.zip")
    assert run(*asked, **environment).returncode == 0
    one, other = ((tmp_path / "storage/small/survey/trials" / f"{name}.parquet") for name in ("deu", "fra"))
    shutil.copyfile(one, other)
    (tmp_path / "out.zip").unlink()
    said = refuse(*asked, **environment)
    assert said.startswith(f"{other}: does not hold what was written")
    again = f"make it again: valuesassets run {tmp_path / 'small.toml'}"
    assert said.endswith(f"; materialise survey/trials for fra, or {again}")
    assert not (tmp_path / "out.zip").exists()


def test_a_moved_storage_is_as_fresh_as_before_though_the_first_is_gone(small_ratings, tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    copied(small_ratings, first)
    for name, value in copied(first, second).items():
        monkeypatch.setenv(name, value)
    shutil.rmtree(first)
    made = Made(second)
    with dg.DagsterInstance.get() as instance:
        assert [key for key, partition in made.partitions() if made.is_stale(key, partition, instance)] == []
