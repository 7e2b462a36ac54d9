"""What commands make of their options before any work begins."""

import sys

import pyarrow as pa
import pytest

from valuesassets.cli import app as cli_app
from valuesassets.cli.inputs import name_of_model


def test_a_file_is_named_as_it_was_given_and_a_folder_by_its_own_name(tmp_path, monkeypatch):
    (tmp_path / "blobs").mkdir()
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "blobs" / "c0ffee").touch()
    link = tmp_path / "snapshots" / "tiny.gguf"
    link.symlink_to("../blobs/c0ffee")
    assert name_of_model(str(link), None) == "tiny.gguf"
    monkeypatch.chdir(tmp_path / "snapshots")
    assert [name_of_model(model, None) for model in (".", "../blobs", "tiny.gguf", "index:tiny", "owner/tiny")] == [
        "snapshots",
        "blobs",
        "tiny.gguf",
        "tiny",
        "owner/tiny",
    ]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "there is not enough memory for this; ask for more of it, or lift the limit on it (ulimit -v)"),
        (pa.lib.ArrowMemoryError("malloc"), "there is not enough memory for this; ask for more of it, or lift the"),
        (
            UnicodeEncodeError("utf-8", "/a/b\udcff", 4, 5, "no"),
            r"/a/b\udcff: is a name in another encoding than",
        ),
    ],
)
def test_what_a_library_says_by_a_type_alone_is_a_sentence(error, said, monkeypatch, capsys):
    def fails(**_):
        raise error

    monkeypatch.setattr(cli_app, "app", fails)
    monkeypatch.setattr(sys, "argv", ["valuesassets"])
    with pytest.raises(SystemExit):
        cli_app.main()
    assert capsys.readouterr().err.startswith(said)
