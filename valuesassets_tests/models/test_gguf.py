"""GGUF files as models: what they become, that it is the model in the file, once, whole or not at all."""

import errno
import json
import os
import shutil
import signal
import threading
from pathlib import Path

import gguf
import numpy as np
import pytest
from filelock import FileLock
from huggingface_hub import constants
from safetensors.numpy import load_file

from valuesassets.models import gguf_conversion, gguf_files, gguf_folders
from valuesassets.models.asking import Asking
from valuesassets.models.gguf_conversion import convert
from valuesassets.models.gguf_files import find_gguf, remembered_sha256
from valuesassets.models.gguf_folders import CONVERSION_VERSION, MARKER, find_converted, read_origin
from valuesassets.models.gguf_tokenizers import find_doubts
from valuesassets.models.loading import load_weights, open_model
from valuesassets.models.model_sources import fetch_model, plan_model
from valuesassets.models.tokenizer_files import read_tokenizer
from valuesassets.records.errors import ModelError, StorageError, TokenizerError
from valuesassets.records.files import read_json, sha256_file
from valuesassets.records.jobs import FetchWeightsJob, HubModel
from valuesassets.records.trials import Reading
from valuesassets_tests.bad_inputs.test_stopped_writing import disk_full_after
from valuesassets_tests.tiny_gguf import TEMPLATE, write_gguf
from valuesassets_tests.tiny_models import PROMPTS, byte_level, trial, write_model
from valuesassets_tests.waiting import wait_until

Q8 = gguf.GGMLQuantizationType.Q8_0
TRIALS = [trial(prompt, 4, f"v{n}/0/forward") for n, prompt in enumerate(PROMPTS)]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
    return tmp_path / "home" / "valuesassets"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model") / "llama", byte_level())


def opened_file(path):
    found = find_gguf(str(path))
    assert found is not None
    return found


def read(model) -> list[tuple[float, ...]]:
    loaded = load_weights(open_model(str(model), None, "float32", "cpu", say=lambda _: None))
    result, _ = Asking(loaded.opened, TRIALS).ask(loaded, lambda *_: None, None)
    assert all(isinstance(record, Reading) for record in result.records)
    return [record.label_probs for record in result.records]


def test_weights_and_tokens_are_those_that_the_file_was_made_of(tmp_path, source):
    folder = convert(opened_file(write_gguf(tmp_path / "tiny.gguf", source)))
    wanted, found = (load_file(each / "model.safetensors") for each in (source, folder))
    assert wanted.keys() == found.keys()
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, name)
    hf, own = read_tokenizer(folder), byte_level()
    assert [hf(text)["input_ids"] for text in PROMPTS] == [own(text)["input_ids"] for text in PROMPTS]
    assert hf.chat_template == TEMPLATE


def test_a_quantised_file_becomes_the_numbers_that_it_stands_for(tmp_path, source):
    folder = convert(opened_file(write_gguf(tmp_path / "tiny.gguf", source, Q8)))
    name = "model.layers.1.mlp.up_proj.weight"
    original = load_file(source / "model.safetensors")[name]
    found = load_file(folder / "model.safetensors")[name]
    np.testing.assert_array_equal(found, gguf.quants.dequantize(gguf.quants.quantize(original, Q8), Q8))
    assert not np.array_equal(found, original)


@pytest.mark.slow
def test_readings_of_a_file_whole_split_or_without_suffix_equal_its_folders_to_the_last_byte(tmp_path, source):
    whole = write_gguf(tmp_path / "tiny.gguf", source, Q8)
    plain = shutil.copytree(convert(opened_file(whole)), tmp_path / "plain")
    (plain / MARKER).unlink()
    blob = shutil.copyfile(whole, tmp_path / "sha256-0f")
    write_gguf(tmp_path / "split.gguf", source, Q8, parts=3)
    wanted = read(plain)
    for model in (whole, blob, tmp_path / "split-00001-of-00003.gguf", tmp_path / "split-00003-of-00003.gguf"):
        assert read(model) == wanted, model


def test_a_models_stamp_is_the_files_hash_and_metadata_name_the_quantisation(tmp_path, source):
    path = write_gguf(tmp_path / "tiny.gguf", source, Q8)
    for model in (path, convert(opened_file(path))):
        told = open_model(str(model), None, "float32", "cpu").describe()
        assert told["weights_id"] == sha256_file(path)
        assert told["quantisation"] == "Q8_0, computed in float32: numbers are those of the quantised model"
        assert told["gguf"] == {
            "file": "tiny.gguf",
            "sha256": sha256_file(path),
            "quantisation": "Q8_0",
            "architecture": "llama",
            "doubts": (),
        }


def test_a_file_is_converted_once_and_says_how_far_it_is_and_how_long_it_took(tmp_path, source):
    path, lines = write_gguf(tmp_path / "tiny.gguf", source), []
    folder = convert(opened_file(path), lines.append)
    assert "made into" in lines[0]
    assert "converted in" in lines[-1]
    made = (folder / MARKER).stat().st_mtime_ns
    lines.clear()
    copy = shutil.copyfile(path, tmp_path / "copy.gguf")
    assert convert(opened_file(copy), lines.append) == folder
    assert (lines, (folder / MARKER).stat().st_mtime_ns) == ([], made)


def test_two_at_once_convert_a_file_once(tmp_path, source):
    file, begun, found = opened_file(write_gguf(tmp_path / "tiny.gguf", source)), [], []

    def work():
        found.append(convert(opened_file(file.name), lambda line: begun.append(line) if "made into" in line else None))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(begun), set(found)) == (1, {find_converted(file)})


def test_who_waits_for_another_process_says_so(tmp_path, source, cache):
    file, lines, found = opened_file(write_gguf(tmp_path / "tiny.gguf", source)), [], []
    (cache / "gguf").mkdir(parents=True)
    lock = FileLock(cache / "gguf" / f"{file.sha256}.lock")
    lock.acquire()
    thread = threading.Thread(target=lambda: found.append(convert(file, lines.append)))
    thread.start()
    wait_until(lambda: lines)
    assert lines == [f"{file.name}: waits for another process, which makes safetensors of it"]
    lock.release()
    thread.join()
    assert found == [find_converted(file)]


def test_a_conversion_killed_half_way_leaves_no_model_and_the_next_removes_its_rest(tmp_path, source, cache):
    file = opened_file(write_gguf(tmp_path / "tiny.gguf", source))
    child = os.fork()
    if not child:
        convert(file, lambda _: os.kill(os.getpid(), signal.SIGKILL))
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert list((cache / "gguf").glob(f".{file.sha256}.*"))
    assert find_converted(file) is None
    folder = convert(file)
    assert [path for path in (cache / "gguf").iterdir() if path.is_dir()] == [folder]


def test_a_conversion_that_fails_leaves_nothing(tmp_path, source, cache):
    file = opened_file(write_gguf(tmp_path / "tiny.gguf", source, change=lambda held: held.pop("blk.1.ffn_up.weight")))
    with pytest.raises(ModelError, match=r"not in it, first model\.layers\.1\.mlp\.up_proj\.weight; use the model"):
        convert(file)
    assert not [path for path in (cache / "gguf").iterdir() if path.is_dir()]


@pytest.mark.parametrize("spoil", ["marker", "weights", "version"])
def test_a_converted_folder_that_was_changed_is_made_anew(tmp_path, source, spoil):
    file = opened_file(write_gguf(tmp_path / "tiny.gguf", source))
    folder = convert(file)
    if spoil == "marker":
        (folder / MARKER).write_text("[]")
    elif spoil == "weights":
        with open(folder / "model.safetensors", "ab") as stream:
            stream.write(b"x")
    else:
        told = (folder / MARKER).read_text()
        (folder / MARKER).write_text(told.replace(f'"version": {CONVERSION_VERSION}', '"version": 0'))
    assert find_converted(file) is None
    with pytest.raises(ModelError, match="is no longer as it was made"):
        open_model(str(folder), None, "float32", "cpu")
    assert read_origin(convert(file)) is not None


def test_tensors_that_the_architecture_does_not_know_are_refused(tmp_path, source):
    extra = {"blk.0.attn_q.lora_a": np.ones((8, 32), np.float32)}
    with pytest.raises(ModelError, match=r"holds [\d,]+ numbers, transformers reads [\d,]+ of the architecture llama"):
        convert(opened_file(write_gguf(tmp_path / "tiny.gguf", source, tensors=extra)))


def test_positions_stretched_as_llama_3_does_are_read_so_and_others_refused(tmp_path, source):
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    stretched = {
        "rope_type": "llama3",
        "rope_theta": 10000.0,
        "factor": 32.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    config = LlamaConfig(hidden_size=32, num_attention_heads=4, max_position_embeddings=1024, rope_parameters=stretched)
    slow = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")[0].numpy()
    plain = 1.0 / 10000.0 ** (np.arange(0, 8, 2) / 8)
    factors = (plain / slow).astype(np.float32)
    assert factors.max() > 1
    path = write_gguf(tmp_path / "tiny.gguf", source, tensors={"rope_freqs.weight": factors})
    rope = read_json(convert(opened_file(path)) / "config.json")["rope_parameters"]
    assert (rope["rope_type"], rope["factor"]) == ("llama3", 32.0)
    other = write_gguf(tmp_path / "other.gguf", source, tensors={"rope_freqs.weight": factors * 3})
    with pytest.raises(ModelError, match="stretched by factors that transformers does not know"):
        convert(opened_file(other))


def test_factors_beside_positions_of_several_kinds_or_of_none_are_refused(tmp_path, source):
    from transformers import Gemma3TextConfig, GPT2Config

    factors = {"rope_freqs.weight": np.ones(4, np.float32)}
    file = opened_file(write_gguf(tmp_path / "tiny.gguf", source, tensors=factors))
    for config in (Gemma3TextConfig(), GPT2Config()):
        with pytest.raises(ModelError, match="stretched by factors that transformers does not know"):
            gguf_conversion._llama3_rope(file, config)


def test_texts_begin_as_the_file_says(tmp_path, source):
    for begins in (True, False):
        path = write_gguf(tmp_path / f"{begins}.gguf", source, told={"tokenizer.ggml.add_bos_token": begins})
        opened = open_model(str(path), None, "float32", "cpu", say=lambda _: None)
        assert bool(opened.tokenizer.bos) is begins


def test_a_tokenizer_with_another_entry_merge_or_control_token_is_refused(tmp_path, source):
    file = opened_file(write_gguf(tmp_path / "tiny.gguf", source))
    assert find_doubts(read_tokenizer(convert(file)), file) == []
    told = dict(file.metadata)
    swapped = list(told["tokenizer.ggml.tokens"])
    swapped[300], swapped[301] = swapped[301], swapped[300]
    merges, hf = told["tokenizer.ggml.merges"], read_tokenizer(convert(file))
    cut = next(i for i, token in enumerate(swapped) if i not in hf(f"a{token}b")["input_ids"])
    faults = {
        "entries, first": {"tokenizer.ggml.tokens": swapped},
        "is cut into": {"tokenizer.ggml.merges": merges[: len(merges) // 2]},
        "its eos token is": {"tokenizer.ggml.eos_token_id": 5},
        "do not begin as the file says": {"tokenizer.ggml.add_bos_token": True},
        "its chat template": {"tokenizer.chat_template": "{{ messages }}"},
        "its control token": {
            "tokenizer.ggml.token_type": [1 + 2 * (i == cut) for i in range(len(swapped))],
            "tokenizer.ggml.eot_token_id": cut,
        },
    }
    for said, changes in faults.items():
        spoilt = gguf_files.GgufFile(file.name, file.parts)
        header = file.headers[0]
        spoilt.__dict__["headers"] = (
            gguf_files.Header(header.path, 3, told | changes, header.raw, header.tensors, header.data),
        )
        with pytest.raises(TokenizerError, match=said):
            find_doubts(hf, spoilt)


def test_a_rule_of_dividing_texts_that_transformers_does_not_know_is_a_doubt_in_the_metadata(tmp_path, source):
    path = write_gguf(tmp_path / "tiny.gguf", source, told={"tokenizer.ggml.pre": "of-tomorrow"})
    (doubt,) = open_model(str(path), None, "float32", "cpu", say=lambda _: None).describe()["gguf"]["doubts"]
    assert "does not know its rule of dividing texts (of-tomorrow)" in doubt


def test_a_disk_or_a_memory_too_small_is_said_before_anything_is_written(tmp_path, source, cache, monkeypatch):
    file = opened_file(write_gguf(tmp_path / "tiny.gguf", source))
    monkeypatch.setattr(gguf_conversion, "free_bytes", lambda: 1000)
    with pytest.raises(StorageError, match=r"becomes 0\.\d+ GiB of safetensors in .*free: .* are missing; free them"):
        convert(file)
    monkeypatch.undo()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache.parent / "hub"))
    monkeypatch.setattr("valuesassets.models.memory.free_bytes", lambda _: 1000)
    with pytest.raises(ModelError, match=r"its conversion takes about .* of memory"):
        convert(file)
    assert not [path for path in (cache / "gguf").iterdir() if path.is_dir()]


def let_fail(monkeypatch, where, name, number):
    """Has a function fail as the system makes it fail."""

    def fails(*_, **__):
        raise OSError(number, os.strerror(number)) if number else OSError("Can't load the tokenizer. If you were")

    monkeypatch.setattr(where, name, fails, raising=False)


def test_a_folder_of_converted_models_that_cannot_be_written_is_a_line(tmp_path, source, cache):
    file = opened_file(write_gguf(tmp_path / "tiny.gguf", source))
    (cache / "gguf" / f"{file.sha256}.lock").mkdir(parents=True)  # where a file is to be opened
    with pytest.raises(StorageError, match=r"tiny\.gguf: .*/gguf: cannot be written: .*; free space there or set HF_"):
        convert(file)


@pytest.mark.parametrize(
    ("number", "kind", "said"),
    [
        (errno.ENOSPC, StorageError, "cannot be written: No space left on device; free space there"),
        (
            errno.EIO,
            ModelError,
            r"transformers cannot read its tokenizer: \[Errno 5\] Input/output error; use the model",
        ),
        (None, ModelError, "transformers cannot read its tokenizer: Can't load the tokenizer; use the model as safet"),
    ],
)
def test_only_what_fails_to_be_written_is_said_not_to_be_written(tmp_path, source, monkeypatch, number, kind, said):
    from transformers import AutoTokenizer

    file = opened_file(write_gguf(tmp_path / "tiny.gguf", source))
    let_fail(monkeypatch, AutoTokenizer, "from_pretrained", number)
    with pytest.raises(kind, match=said):
        convert(file)


@pytest.mark.parametrize("n_bytes", [100, 5_000, 30_000], ids=["configuration", "tokenizer", "weights"])
def test_a_disk_that_is_full_before_all_is_written_is_a_line_and_nothing_is_left(tmp_path, source, cache, n_bytes):
    file = opened_file(write_gguf(tmp_path / "tiny.gguf", source))
    assert find_converted(file) is None
    with disk_full_after(n_bytes), pytest.raises(StorageError, match="cannot be written: File too large; free space"):
        convert(file)
    assert not [path for path in (cache / "gguf").iterdir() if path.is_dir()]


def test_a_file_that_fails_while_its_parts_are_joined_is_said_not_to_be_read(tmp_path, source, monkeypatch):
    file = opened_file(write_gguf(tmp_path / "tiny.gguf", source, parts=2))
    let_fail(monkeypatch, gguf_conversion, "write_joined", errno.EIO)
    with pytest.raises(
        ModelError, match=r"of-00002\.gguf: cannot be converted: Input/output error; see whether it is there"
    ):
        convert(file)


def test_a_file_that_nobody_may_read_is_a_line(tmp_path, source, monkeypatch):
    path = write_gguf(tmp_path / "tiny.gguf", source)
    let_fail(monkeypatch, gguf_files, "open", errno.EACCES)
    with pytest.raises(ModelError, match=r"tiny\.gguf: cannot be read: Permission denied; see who may read it"):
        open_model(str(path), None, "float32", "cpu")


def test_weights_of_another_version_of_the_conversion_have_another_id(tmp_path, source, monkeypatch):
    path, ids = write_gguf(tmp_path / "tiny.gguf", source), []
    for version in (1, 2):
        monkeypatch.setattr(gguf_folders, "CONVERSION_VERSION", version)
        monkeypatch.setattr(gguf_folders.GgufOrigin.__init__, "__defaults__", (version,))
        ids.append({fetch_model(plan_model(str(model))).stamp for model in (path, convert(opened_file(path)))})
        ids[-1].add(open_model(str(path), None, "float32", "cpu", say=lambda _: None).weights_id)
    assert ids[0] == {sha256_file(path)}
    assert len(ids[1]) == 1
    assert ids[1] != ids[0]


def test_a_hash_is_computed_once_and_again_when_the_file_may_have_changed(tmp_path, cache, monkeypatch):
    path = tmp_path / "a.gguf"
    path.write_bytes(b"GGUF1234")
    os.utime(path, (1e9, 1e9))
    monkeypatch.setattr(gguf_files, "RACY_NS", 0)
    first = remembered_sha256(path)
    assert first == sha256_file(path)
    store = cache / "hashes.json"
    store.write_text(store.read_text().replace(first, "0" * 64))
    assert remembered_sha256(path) == "0" * 64
    path.write_bytes(b"GGUF4321")
    os.utime(path, (1e9, 1e9))
    assert remembered_sha256(path) == sha256_file(path)
    for broken in ("[]", "{", json.dumps({str(path): 3}), json.dumps({str(path): {"file": 1}})):
        store.write_text(broken)
        assert remembered_sha256(path) == sha256_file(path)


def test_the_job_that_fetches_weights_converts_a_file_and_gives_its_folder_and_hash(tmp_path, source):
    from valuesassets.node.fetch_weights import do
    from valuesassets.node.progress import Progress

    path = write_gguf(tmp_path / "tiny.gguf", source, Q8)
    for was_there in (False, True):
        do(FetchWeightsJob(models=(HubModel(model=str(path)),), summary=tmp_path / "s.json"), Progress())
        (entry,) = read_json(tmp_path / "s.json")["models"]
        assert entry["stamp"] == sha256_file(path)
        assert entry["folder"] == str(find_converted(opened_file(path)))
        assert (entry["commit"], entry["was_there"], entry["gguf"]["quantisation"]) == (None, was_there, "Q8_0")


def test_a_folder_of_gguf_files_says_to_name_one(tmp_path, source):
    (tmp_path / "models").mkdir()
    path = write_gguf(tmp_path / "models" / "tiny.gguf", source)
    with pytest.raises(ModelError, match=f"is a folder of GGUF files; name the file itself, such as {path}"):
        open_model(str(Path(path).parent), None, "float32", "cpu")
