import json
import os
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from valuesassets.models.fetching import fetch_model, plan_model
from valuesassets.models.loading import load_model, open_model
from valuesassets.models.model_files import count_weights, find_model, hash_folder, require_folder
from valuesassets.records.errors import ModelError
from valuesassets.records.files import sha256_file, sha256_json


@pytest.fixture
def folder(model_folders, tmp_path):
    return Path(shutil.copytree(model_folders["sentencepiece"], tmp_path / "m"))


def split(folder):
    """The same weights in two files and an index."""
    weights = load_file(folder / "model.safetensors")
    place = {name: f"model-0000{1 + n % 2}-of-00002.safetensors" for n, name in enumerate(sorted(weights))}
    for file in set(place.values()):
        part = {name: weights[name] for name in weights if place[name] == file}
        save_file(part, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": place}))
    (folder / "model.safetensors").unlink()


def test_weights_are_counted_once_however_many_files_hold_them(folder):
    counts = count_weights(folder)
    assert counts == {"F32": sum(weight.numel() for weight in load_file(folder / "model.safetensors").values())}
    shutil.copy(folder / "model.safetensors", folder / "consolidated.safetensors")  # as Mistral's come
    assert count_weights(folder) == counts
    split(folder)
    assert count_weights(folder) == counts


def test_weights_that_are_not_whole_are_named(folder):
    split(folder)
    second = folder / "model-00002-of-00002.safetensors"
    whole = second.read_bytes()
    for content in (whole[:-1], whole[:100], b""):
        second.write_bytes(content)
        with pytest.raises(ModelError, match=f"{second}: not a whole file of weights: .*; download it again"):
            count_weights(folder)
    second.unlink()
    with pytest.raises(ModelError, match=f"{second}: not a whole file of weights"):
        count_weights(folder)


def test_a_model_that_the_hub_has_yet_to_give_is_not_found_whole(folder):
    assert find_model(str(folder)) == folder
    assert find_model("nobody/model") is None


def moved_below(folder):
    """The same weights, the second of two files in a folder of its own."""
    split(folder)
    index = folder / "model.safetensors.index.json"
    place = json.loads(index.read_text())["weight_map"]
    (folder / "more").mkdir()
    (folder / "model-00002-of-00002.safetensors").rename(folder / "more" / "2.safetensors")
    place = {name: file.replace("model-00002-of-00002", "more/2") for name, file in place.items()}
    index.write_text(json.dumps({"metadata": {}, "weight_map": place}))
    return folder / "more" / "2.safetensors"


def test_the_hash_of_an_ordinary_folder_stays_as_readings_are_stored_under_it(folder):
    named = ("config.json", "generation_config.json", "model.safetensors")
    assert hash_folder(folder) == sha256_json({name: sha256_file(folder / name) for name in named})
    split(folder)
    files = [*folder.glob("*.safetensors"), folder / "model.safetensors.index.json"]
    files += [folder / name for name in named[:2]]
    assert hash_folder(folder) == sha256_json({path.name: sha256_file(path) for path in files})


def test_a_shard_below_the_folder_is_hashed_counted_and_stamped(folder):
    counts = count_weights(folder)
    shard = moved_below(folder)
    before, stamp = hash_folder(folder), fetch_model(plan_model(str(folder))).stamp
    assert count_weights(folder) == counts
    tensors = load_file(shard)
    tensors[min(tensors)] = tensors[min(tensors)] + 1
    save_file(tensors, shard, metadata={"format": "pt"})
    assert hash_folder(folder) != before
    assert fetch_model(plan_model(str(folder))).stamp != stamp
    shard.unlink()
    with pytest.raises(ModelError, match=f"{shard}: no such file of weights"):
        require_folder(str(folder))


@pytest.mark.parametrize("name", ["../x.safetensors", "/etc/x.safetensors", "a/../../x.safetensors", "x.bin", 5, None])
def test_an_index_that_leaves_the_folder_or_names_no_safetensors_is_refused(name, folder):
    split(folder)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": {"a": name}}))
    for read in (require_folder, open_model):
        with pytest.raises(ModelError, match=r"index\.json: (names '.*'|no weight_map)"):
            read(str(folder))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "more.safetensors"])
def test_a_pipe_among_the_files_is_refused_and_not_waited_for(name, folder):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(ModelError, match=f"{name}: is no file but a pipe or a device; remove it"):
        require_folder(str(folder))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000, 1 to 10,000 was expected"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0, 1 to 10,000 was expected"),
        ({"text_config": {"num_hidden_layers": 10**30}}, "num_hidden_layers is 10000000000000000000, 1 to"),
        ({"hidden_size": 10**9}, "hidden_size is 1000000000, 1 to 1,000,000 was expected"),
        ({"num_labels": 10**12}, "num_labels is 1000000000000, 1 to 1,000,000 was expected"),
        ({"transformers_weights": "other.safetensors"}, "names other weights than model.safetensors"),
    ],
)
def test_numbers_that_would_be_built_for_hours_are_refused(changes, said, folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))
    with pytest.raises(ModelError, match=said):
        open_model(str(folder))


def test_settings_for_generation_that_cannot_be_read_are_refused(folder):
    for content in ("{", "[1]"):
        (folder / "generation_config.json").write_text(content)
        with pytest.raises(ModelError, match=r"generation_config\.json: "):
            open_model(str(folder))
    (folder / "generation_config.json").write_text('{"eos_token_id": ["x"]}')
    with pytest.raises(ModelError, match="'x' stands as eos_token_id"):
        load_model(str(folder)).eos_ids  # noqa: B018


def test_weights_with_more_layers_than_the_configuration_are_not_read_in_part(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 1}))
    with pytest.raises(ModelError, match=r"layers that config\.json does not count, first model\.layers\.1\."):
        load_model(str(folder))


def test_complex_weights_are_refused(folder):
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"] = weights["model.norm.weight"].to(torch.complex64)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"model\.norm\.weight holds complex numbers"):
        count_weights(folder)


def test_a_file_whose_name_is_no_utf8_is_named(folder):
    shutil.copy(folder / "model.safetensors", os.fsencode(folder) + b"/x\xff.safetensors")
    with pytest.raises(ModelError, match="is a name in another encoding than UTF-8; give the file or folder another"):
        require_folder(str(folder))
