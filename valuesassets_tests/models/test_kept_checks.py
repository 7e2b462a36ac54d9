"""Checks that passed are kept by all that they depend on; nothing else is, and no record is believed without that."""

import json
import os

import pytest
from huggingface_hub import constants

from valuesassets.models import gguf_files, kept_checks, model_files, tokenizer_files
from valuesassets.models.kept_checks import kept_check
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets.models.tokenizer_files import read_tokenizer
from valuesassets.records.errors import ModelError
from valuesassets_tests.tiny_models import byte_level, write_model


@pytest.fixture(autouse=True)
def records(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
    monkeypatch.setattr(kept_checks, "WORTH_KEEPING", 0.0)
    return tmp_path / "home" / "valuesassets" / "checks"


class Trial:
    """A check that counts how often it is made."""

    def __init__(self, fault: str | None = None) -> None:
        self.fault, self.times = fault, 0

    def __call__(self) -> str | None:
        self.times += 1
        return self.fault


def test_a_check_that_passed_is_made_once_for_the_same_things(records):
    trial = Trial()
    assert [kept_check("tree", {"weights": "a"}, trial) for _ in range(3)] == [None] * 3
    assert (trial.times, len(list(records.iterdir()))) == (1, 1)


def test_another_model_check_source_library_or_processor_has_it_made_again(monkeypatch):
    trial = Trial()
    kept_check("tree", {"weights": "a"}, trial)
    kept_check("tree", {"weights": "b"}, trial)
    kept_check("prefix", {"weights": "a"}, trial)
    assert trial.times == 3
    for name, changed in (("_sources_sha256", lambda: "0"), ("version", lambda _: "99"), ("LIBRARIES", ())):
        with monkeypatch.context() as patched:
            patched.setattr(kept_checks, name, changed)
            before = trial.times
            kept_check("tree", {"weights": "a"}, trial)
            assert trial.times == before + 1, name


def test_a_check_that_fails_is_made_again_each_time(records):
    trial = Trial("a branch of a tree sees the others")
    assert [kept_check("tree", {}, trial) for _ in range(2)] == [trial.fault] * 2
    assert trial.times == 2
    assert not records.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"passed": true}', '{"passed": {"check": "tree"}}'])
def test_a_broken_or_foreign_record_is_made_again(records, content):
    trial = Trial()
    kept_check("tree", {}, trial)
    (record,) = records.iterdir()
    whole = record.read_text()
    record.write_text(content)
    assert kept_check("tree", {}, trial) is None
    assert (trial.times, json.loads(record.read_text())) == (2, json.loads(whole))


def test_a_record_of_another_check_under_this_ones_name_is_not_believed(records):
    kept_check("tree", {}, Trial())
    (other,) = records.iterdir()
    kept_check("prefix", {}, Trial())
    (record,) = [path for path in records.iterdir() if path != other]
    record.write_text(other.read_text())
    trial = Trial()
    kept_check("prefix", {}, trial)
    assert trial.times == 1


def test_a_model_is_tried_once_for_all_processes_and_anew_when_its_weights_change(tmp_path, monkeypatch):
    from valuesassets.models import engine

    tried = Trial()
    monkeypatch.setattr(engine, "find_tree_fault", lambda _: tried())
    write_model(tmp_path / "model", byte_level())
    for _ in range(2):
        assert load_model(str(tmp_path / "model"), None, "float32", "cpu").tree_fault is None
    assert tried.times == 1
    write_model(tmp_path / "model", byte_level(), seed=1)
    assert load_model(str(tmp_path / "model"), None, "float32", "cpu").tree_fault is None
    assert load_model(str(tmp_path / "model"), None, "bfloat16", "cpu").tree_fault is None
    assert tried.times == 3


def test_a_model_is_tried_anew_on_a_gpu_of_another_kind(tmp_path, monkeypatch):
    from valuesassets.models import engine

    tried = Trial()
    monkeypatch.setattr(engine, "find_tree_fault", lambda _: tried())
    write_model(tmp_path / "model", byte_level())
    monkeypatch.setattr(LoadedModel, "devices", ["cpu", "cuda:0"])
    for card in ("H100", "H100", "A100"):
        monkeypatch.setattr("torch.cuda.get_device_name", {"cuda:0": card}.__getitem__)
        assert load_model(str(tmp_path / "model"), None, "float32", "cpu").tree_fault is None
    assert tried.times == 2


def test_a_tokenizer_is_held_against_its_file_once_and_anew_when_the_file_changes(tmp_path, monkeypatch):
    from tokenizers import Tokenizer

    write_model(tmp_path / "model", byte_level())
    read, plain = [], Tokenizer.from_file
    monkeypatch.setattr(
        Tokenizer, "from_file", staticmethod(lambda path: read.append(path) or plain(path)), raising=True
    )
    compared = []
    monkeypatch.setattr(tokenizer_files, "kept_check", lambda *of: compared.append(of[1]) or kept_check(*of))
    read_tokenizer(tmp_path / "model")
    first = len(read)
    read_tokenizer(tmp_path / "model")
    assert len(read) - first < first
    path = tmp_path / "model" / "tokenizer.json"
    path.write_text(path.read_text() + "\n")
    read_tokenizer(tmp_path / "model")
    assert compared[0] == compared[1] != compared[2]


def test_tiny_models_leave_no_records(tmp_path, records, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
    assert load_model(str(write_model(tmp_path / "model", byte_level())), None, "float32", "cpu").tree_fault is None
    assert not records.exists()


def test_the_hash_of_a_large_file_is_remembered_and_the_folders_hash_is_the_same(tmp_path, monkeypatch):
    folder = write_model(tmp_path / "model", byte_level())
    plain = model_files.hash_folder(folder)
    monkeypatch.setattr(model_files, "LARGE", 0)
    monkeypatch.setattr(gguf_files, "RACY_NS", 0)
    assert model_files.hash_folder(folder) == model_files.hash_folder(folder) == plain
    weights = folder / "model.safetensors"
    stat = weights.stat()
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert model_files.hash_folder(folder) != plain


def test_weights_that_cannot_be_read_are_one_line(tmp_path):
    folder = write_model(tmp_path / "model", byte_level())
    unreadable = folder / "model-00002-of-00002.safetensors"
    unreadable.symlink_to("/proc/self/mem")  # whose first byte no process can read
    with pytest.raises(ModelError, match=r"model-00002-of-00002\.safetensors: cannot be read: "):
        model_files.hash_folder(folder)
