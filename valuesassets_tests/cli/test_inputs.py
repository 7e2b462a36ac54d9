"""What commands make of their options before any work begins."""

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
