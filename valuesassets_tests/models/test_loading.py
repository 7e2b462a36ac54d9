import json
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import processors
from transformers import AutoModelForCausalLM

from valuesassets.models import loading, memory
from valuesassets.models.engine import first_device
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model, load_weights, open_model
from valuesassets.models.memory import weights_bytes
from valuesassets.models.model_files import count_weights
from valuesassets.records.errors import ModelError, TokenizerError
from valuesassets.spelling.tokenizer_files import open_tokenizer
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.scored import score_trials
from valuesassets_tests.tiny_models import PROMPTS, byte_level, sentencepiece_like, trial, write_model

LLAMA2 = REPOSITORY.parent / "shared/data/tokenizers/llama2_tokenizer.model"


@pytest.fixture
def folder(model_folders, tmp_path):
    return Path(shutil.copytree(model_folders["sentencepiece"], tmp_path / "m"))


def refused(folder, kind=ModelError):
    with pytest.raises(kind) as caught:
        load_model(str(folder))
    message = str(caught.value)
    assert "\n" not in message
    assert str(folder) in message
    return message


def test_a_loaded_model_says_what_it_is(model_folders):
    loaded = load_model(str(model_folders["sentencepiece"]))
    described = loaded.describe()
    assert described["bos"] == ["<bos>"]
    assert described["dtype"] == "float32"
    assert described["revision"] is None
    assert described["n_parameters"] == loaded.model.num_parameters() > 0
    assert len(described["weights_id"]) == len(described["tokenizer_sha256"]) == 64
    assert not loaded.model.training


def test_a_folder_that_is_not_there(tmp_path):
    assert "no such folder" in refused(tmp_path / "nowhere")


def test_no_configuration(folder):
    (folder / "config.json").unlink()
    assert "no config.json" in refused(folder)


def test_a_broken_configuration(folder):
    (folder / "config.json").write_text("{")
    assert "configuration cannot be read" in refused(folder)


def test_no_tokenizer(folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    assert "no tokenizer" in refused(folder, TokenizerError)


def test_a_broken_tokenizer(folder):
    (folder / "tokenizer.json").write_text('{"version": "1.0"}')
    assert "tokenizer cannot be read" in refused(folder, TokenizerError)


def test_no_weights(folder):
    (folder / "model.safetensors").unlink()
    assert "weights in safetensors were expected, found none" in refused(folder)


def test_a_pickle_in_place_of_safetensors_is_not_opened(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert "pytorch_model.bin, a pickle, which can run code" in refused(folder)


def test_half_of_the_weights_file(folder):
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    assert "model.safetensors: not a whole file of weights: " in refused(folder)


def test_a_weight_that_is_missing_is_not_made_up(folder):
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert "1 weights are missing or of another shape, first model.layers.1.mlp.up_proj.weight" in refused(folder)


def test_weights_of_another_shape(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"intermediate_size": 64}))
    assert "weights" in refused(folder)


def test_a_tokenizer_of_three_entries(folder):
    content = json.loads((folder / "tokenizer.json").read_text())
    content["model"] |= {"vocab": {"<unk>": 0, "a": 1, "b": 2}, "merges": [], "byte_fallback": False}
    content["added_tokens"] = []
    content["post_processor"] = None
    (folder / "tokenizer.json").write_text(json.dumps(content))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    assert "the tokenizer has 3 entries, the model's embedding" in refused(folder, TokenizerError)


def test_a_tokenizer_larger_than_the_embedding(tmp_path):
    folder = write_model(tmp_path / "m", sentencepiece_like(), vocab_size=300)
    assert "the model's embedding 300" in refused(folder, TokenizerError)


def test_a_tokenizer_that_loses_lines(folder):
    content = json.loads((folder / "tokenizer.json").read_text())
    lines = {"type": "Replace", "pattern": {"String": "\n"}, "content": "▁"}
    content["normalizer"] = {"type": "Sequence", "normalizers": [content["normalizer"], lines]}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    assert "comes back as" in refused(folder, TokenizerError)


def test_code_in_a_model_folder_is_not_run(folder):
    config = json.loads((folder / "config.json").read_text())
    marker = folder / "ran"
    (folder / "code.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "code.Config", "AutoModelForCausalLM": "code.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    refused(folder)
    assert not marker.exists()


@pytest.mark.slow
def test_a_hub_that_does_not_answer_is_one_line(monkeypatch):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    assert "the hub (http://127.0.0.1:9) cannot be reached; check the network" in refused("nobody/no-such-model")


def test_a_model_that_is_not_in_the_cache_is_not_asked_for_offline(monkeypatch, tmp_path):
    import huggingface_hub.constants

    with pytest.raises(
        ModelError, match="nobody/model: is not in this machine's cache of the hub, and the hub is not to be asked"
    ):
        load_model("nobody/model", offline=True)
    with pytest.raises(ModelError, match="is not in this machine's cache of the hub at revision v2,"):
        load_model("nobody/model", revision="v2", offline=True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert "and the hub is not to be asked (offline)" in refused("nobody/model")


COMMIT = "c0ffee0000" * 4


def cached(folder, hub, name="name"):
    """A model folder as the hub's cache keeps it."""
    home = hub / "hub" / f"models--owner--{name}"
    shutil.copytree(folder, home / "snapshots" / COMMIT)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(COMMIT)
    return home / "snapshots" / COMMIT


def load_in_own_process(hub, *models):
    """What comes of each model, offline, a line each: the hub's cache is found once per process, by its environment."""
    code = (
        "from valuesassets.models.loading import load_model\n"
        "from valuesassets.records.errors import ModelError\n"
        f"for model, revision in {models!r}:\n"
        "    try:\n"
        "        loaded = load_model(model, revision=revision, offline=True)\n"
        "        print(loaded.opened.weights_id, loaded.opened.revision, loaded.model.dtype)\n"
        "    except ModelError as error:\n"
        "        print(error)\n"
    )
    environment = os.environ | {"HF_HOME": str(hub), "HF_ENDPOINT": "http://127.0.0.1:9"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    return done.stdout.strip().splitlines()


@pytest.mark.slow
def test_a_model_in_the_cache_is_read_offline_under_its_commit_and_half_of_one_says_what_it_lacks(
    model_folders, tmp_path
):
    cached(model_folders["sentencepiece"], tmp_path)
    snapshot = cached(model_folders["sentencepiece"], tmp_path, "half")
    (snapshot / "model.safetensors").rename(snapshot / "model-00001-of-00002.safetensors")
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (snapshot / "model.safetensors.index.json").write_text(json.dumps(index))
    read, lacking = load_in_own_process(tmp_path, ("owner/name", "main"), ("owner/half", None))
    assert read == f"{COMMIT} {COMMIT} torch.float32"
    assert lacking.startswith("owner/half: lacks model-00002-of-00002.safetensors in this machine's cache of the hub")


def test_a_folder_is_read_where_it_is_whatever_is_asked(model_folders):
    folder = model_folders["sentencepiece"]
    assert [open_model(str(folder), offline=offline).folder for offline in (True, False)] == [folder.absolute()] * 2


@pytest.mark.parametrize(
    ("gpus", "own", "asked", "device", "dtype"),
    [
        ((), "float32", "auto", "cpu", "float32"),
        ((), "bfloat16", "auto", "cpu", "bfloat16"),
        ((1.0,), "float32", "auto", "cuda:0", "bfloat16"),
        ((1.0,), "float16", "auto", "cuda:0", "float16"),
        ((1.0,), "float32", "cpu", "cpu", "float32"),
        ((1.14,) * 4, "float32", "auto", "auto", "bfloat16"),
        ((1.14,) * 4, "float32", "cuda", "auto", "bfloat16"),
        ((1.14, 1.16), "float32", "auto", "cuda:1", "bfloat16"),
        ((1.16, 1.16), "float32", "cuda", "cuda:0", "bfloat16"),
        ((1.14,) * 4, "float32", "cuda:2", "cuda:2", "bfloat16"),
    ],
)
def test_device_and_dtype_follow_the_gpus_that_are_visible(gpus, own, asked, device, dtype, folder, monkeypatch):
    """GPUs by their memory, over what the weights take in bfloat16; the wanted dtype takes as much."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"dtype": own}))
    weights = weights_bytes(count_weights(folder), "bfloat16")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(gpus))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(gpus))
    monkeypatch.setattr(memory, "total_bytes", lambda card: gpus[int(card.removeprefix("cuda:"))] * weights)
    opened = open_model(str(folder), device=asked)
    assert (opened.device, opened.dtype) == (device, dtype)
    assert open_model(str(folder), dtype="float64", device=asked).dtype == "float64"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_layer_that_no_gpu_has_room_for_is_refused_with_what_is_needed_and_what_is_free(loaded, monkeypatch):
    monkeypatch.setattr(loading, "require_memory", lambda opened: None)  # which goes by the GPUs together
    with pytest.raises(ModelError) as refused:
        load_weights(replace(loaded.opened, device="auto"))  # which accelerate puts on the CPU here
    needed = weights_bytes(count_weights(loaded.opened.folder), "float32") / 2**30
    assert str(refused.value) == (
        f"{loaded.model_id}: 1 of 1 parts of it do not fit on the GPUs, first all; its weights take {needed:.3g} GiB "
        f"in float32, 0 GiB of GPU memory are free on {socket.gethostname()}; ask for a larger GPU or several, or for "
        "dtype bfloat16"
    )
    places = {"model.layers.0": 0, "model.layers.1": "disk", "lm_head": 0}
    with pytest.raises(ModelError, match=r"1 of 3 parts .*, first model\.layers\.1; its weights"):
        memory.require_on_gpus(loaded.opened, places)
    memory.require_on_gpus(loaded.opened, {"model": 0, "lm_head": 1})


SPREAD = {"model.embed_tokens": "disk", "model.layers.0": "cpu", "model.layers.1": "disk", "model.norm": "cpu"}


def test_a_model_whose_layers_are_spread_reads_as_a_whole_one_does(loaded, tmp_path):
    """Spread by accelerate as over several GPUs: here over the CPU and the disk."""
    trials = [trial(PROMPTS[0], 4), trial(PROMPTS[1], 9, "v2/0/forward")]
    whole = score_trials(loaded, trials).readings
    placed = SPREAD | {"model.rotary_emb": "cpu", "lm_head": "disk"}
    model = AutoModelForCausalLM.from_pretrained(
        loaded.model_id, dtype=torch.float32, device_map=placed, offload_folder=tmp_path
    )
    assert model.model.embed_tokens.weight.device.type == "meta"
    spread = LoadedModel(loaded.opened, model.eval(), first_device(model))
    assert spread.device == "cpu"
    assert spread.describe()["devices"] == ["cpu", "disk"]
    # Where layers lie is part of a reading's key: other devices round in other ways.
    found = score_trials(spread, trials).readings
    assert [replace(reading, reading_key="") for reading in found] == [replace(r, reading_key="") for r in whole]


def test_the_beginning_of_text_is_the_templates_unless_the_study_says_otherwise(model_folders, tmp_path):
    folder = str(model_folders["sentencepiece"])
    plain = open_model(folder, bos="never").tokenizer
    template, always = (open_model(folder, bos=rule).tokenizer for rule in ("template", "always"))
    begun = [tokenizer.encode(["1"])[0] for tokenizer in (plain, template, always)]
    assert begun[1] == begun[2] == [template.hf.bos_token_id, *begun[0]]
    assert always.sha256 == template.sha256 != plain.sha256
    assert plain.encode(["<bos>1"]) == [begun[1]]
    with pytest.raises(TokenizerError, match="bos = 'always', but the tokenizer names no beginning-of-text token"):
        open_model(str(model_folders["byte_level"]), bos="always")


@pytest.mark.parametrize("tokenizer", [sentencepiece_like, byte_level])
@pytest.mark.parametrize("architecture", ["llama", "qwen2", "gpt2"])
def test_prompts_are_cut_as_the_saved_tokenizer_cuts_them_whatever_the_architecture(architecture, tokenizer, tmp_path):
    hf = tokenizer()
    opened = open_model(str(write_model(tmp_path / "m", hf, architecture=architecture)))
    for prompt in [*PROMPTS, "Answer: 1\n10. x"]:
        (ids,) = opened.tokenizer.encode([prompt])
        assert ids == hf(prompt)["input_ids"]


def test_a_token_without_a_row_in_the_embedding_never_reaches_the_model(tmp_path):
    hf = sentencepiece_like()
    rows = len(hf)
    hf.add_tokens(["Rather", "\n\n"])
    loaded = load_model(str(write_model(tmp_path / "m", hf, vocab_size=rows, eos_token_id=[1, rows + 5])))
    result = score_trials(loaded, [trial(PROMPTS[0], 4), trial(PROMPTS[2], 2, "v2/0/forward")])
    needs, sound = result.readings
    assert needs.status == "failed"
    assert f"token 'Rather' (id {rows})" in needs.reason
    assert f"{rows} rows of the model's embedding" in needs.reason
    assert sound.status == "ok"
    assert loaded.eos_ids == {1}
    with pytest.raises(TokenizerError, match=f"id {rows}"):
        score_trials(loaded, [trial(PROMPTS[2], ("Rather", "x"))])


@pytest.mark.parametrize("how", ["padding", "truncation"])
def test_padding_and_truncation_that_a_tokenizer_was_saved_with_change_nothing(how, folder, model_folders):
    content = json.loads((folder / "tokenizer.json").read_text())
    fixed = {"strategy": {"Fixed": 400}, "direction": "Right", "pad_to_multiple_of": None} | {
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "<unk>",
    }
    short = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    (folder / "tokenizer.json").write_text(json.dumps(content | {how: fixed if how == "padding" else short}))
    plain = open_model(str(model_folders["sentencepiece"])).tokenizer.encode(PROMPTS)
    assert open_model(str(folder)).tokenizer.encode(PROMPTS) == plain
    assert open_tokenizer(str(folder))[0].encode(PROMPTS) == plain


def test_a_tokenizer_that_cuts_at_random_is_refused(folder):
    content = json.loads((folder / "tokenizer.json").read_text())
    content["model"]["dropout"] = 0.1
    (folder / "tokenizer.json").write_text(json.dumps(content))
    for read in (open_model, open_tokenizer):
        with pytest.raises(TokenizerError, match=r"cuts at random \(dropout in tokenizer\.json\)"):
            read(str(folder))


def test_an_unknown_dtype_and_device(model_folders):
    folder = str(model_folders["sentencepiece"])
    with pytest.raises(ModelError, match="dtype int8"):
        load_model(folder, dtype="int8")
    if not torch.cuda.is_available():
        with pytest.raises(ModelError, match="no GPU is visible"):
            load_model(folder, device="cuda")


def test_the_beginning_of_text_comes_once_whatever_the_template_says(tmp_path):
    hf = sentencepiece_like()
    hf.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> <bos> $A <eos>", special_tokens=[("<bos>", hf.bos_token_id), ("<eos>", hf.eos_token_id)]
    )
    tokenizer = open_model(str(write_model(tmp_path / "m", hf))).tokenizer
    plain, begun = tokenizer.encode([PROMPTS[0], "<bos>" + PROMPTS[0]])
    assert plain == begun
    assert plain.count(hf.bos_token_id) == 1
    assert hf.eos_token_id not in plain


def test_the_tokenizers_hash_is_its_own_and_not_the_files(model_folders, folder):
    one = open_model(str(model_folders["sentencepiece"])).tokenizer
    same = open_model(str(folder)).tokenizer
    other = open_model(str(model_folders["byte_level"])).tokenizer
    assert one.sha256 == same.sha256 != other.sha256


@pytest.mark.skipif(not LLAMA2.exists(), reason="the Llama 2 tokenizer is not beside the repository")
def test_llama2_spells_the_digit_behind_a_space_as_two_tokens(tmp_path):
    from transformers import LlamaTokenizer

    from valuesassets.spelling.prompt_tokenizer import describe_tokenizer
    from valuesassets.spelling.spellings import find_terminators, spell_labels

    shutil.copy(LLAMA2, tmp_path / "tokenizer.model")
    hf = LlamaTokenizer.from_pretrained(tmp_path, add_bos_token=True)
    tokenizer = describe_tokenizer(hf, "llama2", 32000)
    assert tokenizer.bos == (1,)
    for prompt in PROMPTS:
        spelled = spell_labels(tokenizer, prompt, [str(n) for n in range(1, 11)])
        words = [[hf.convert_ids_to_tokens(list(path)) for path in paths] for paths in spelled.spellings]
        assert words[0] == [["1"], ["▁", "1"]]
        assert words[9] == [["1", "0"], ["▁", "1", "0"]]
        ends = find_terminators(tokenizer, spelled, frozenset({2}))
        assert [sorted(hf.convert_ids_to_tokens(sorted(found))) for found in ends.values()] == [
            sorted([",", ".", "</s>", "<0x0A>", "▁"])
        ] * 2
