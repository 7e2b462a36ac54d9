import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import processors

from valuesassets.models.loading import load_model, open_model
from valuesassets.records.errors import ModelError, TokenizerError
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, write_model

LLAMA2 = Path(__file__).parents[3] / "shared/data/tokenizers/llama2_tokenizer.model"


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
    assert "weights cannot be read" in refused(folder)


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


def test_a_hub_that_does_not_answer_is_one_line(monkeypatch):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert "configuration cannot be read" in refused("nobody/no-such-model")


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

    from valuesassets.models.prompt_tokenizer import describe_tokenizer
    from valuesassets.models.spellings import find_terminators, spell_labels

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
