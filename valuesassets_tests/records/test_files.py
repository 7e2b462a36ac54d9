import errno
import os

import pytest

from valuesassets.records.errors import StorageError
from valuesassets.records.files import read_json, whole_file, whole_folder, write_json, write_text


def test_a_file_is_whole_or_absent(tmp_path):
    target = tmp_path / "deep" / "a.json"
    write_json(target, {"ž": 1})
    assert read_json(target) == {"ž": 1}
    with pytest.raises(KeyError), whole_file(target) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise KeyError
    assert read_json(target) == {"ž": 1}
    assert os.listdir(target.parent) == ["a.json"]


def test_a_full_disk_leaves_nothing_behind_and_says_so(tmp_path):
    with pytest.raises(StorageError, match=r"a.txt: cannot be written: No space left"), whole_file(tmp_path / "a.txt"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        write_text(tmp_path / "file" / "below.txt", "x")


def test_numbers_that_are_none_do_not_get_into_json(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", float("nan"))
    assert os.listdir(tmp_path) == []


def test_a_folder_is_there_whole_or_not_at_all_and_never_takes_the_place_of_files(tmp_path):
    with pytest.raises(StorageError, match="out: cannot be written: No space"):  # noqa: PT012, SIM117
        with whole_folder(tmp_path / "out") as temporary:
            write_text(temporary / "first", "here")
            raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(StorageError, match=r"/out/a.txt: cannot be written: No space"):  # noqa: SIM117
        with whole_folder(tmp_path / "out") as temporary, whole_file(temporary / "a.txt"):
            raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []
    with whole_folder(tmp_path / "out") as temporary:
        (temporary / "first").write_text("here")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["first"]
    with pytest.raises(StorageError, match="is there already; name a folder"), whole_folder(tmp_path / "out"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
