import errno
import os

import pytest

from valuesassets.records.errors import StorageError
from valuesassets.records.files import read_json, whole_file, write_json, write_text


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
