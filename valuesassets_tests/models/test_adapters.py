"""An adapter on its base reads as the model that peft merges of both, and what does not fit is one line."""

import json
import math
import shutil
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from valuesassets.models import adapters
from valuesassets.models.adapter_settings import CONFIG, WEIGHTS
from valuesassets.models.adapters import put_on
from valuesassets.models.loading import load_model, load_weights, open_model
from valuesassets.records.errors import ModelError
from valuesassets.records.places import named_model
from valuesassets_tests.peft_adapters import KINDS, merge_with_peft, open_with_peft, write_adapter
from valuesassets_tests.scored import read_trials
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, trial, write_model

TRIALS = [trial(PROMPTS[0], 4), trial(PROMPTS[1], ("2", "3", "9", "10"), "v2/0/forward")]
PLAIN = {"target_modules": ["q_proj", "v_proj"]}


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """A base of each architecture; an embedding and its head are parted, but for `tied`."""
    folder, tokenizer = tmp_path_factory.mktemp("bases"), sentencepiece_like()
    settings = {"llama": {}, "gpt2": {}, "qwen2": {}, "tied": {"architecture": "gemma", "tie_word_embeddings": True}}
    return {
        name: write_model(folder / name, tokenizer, spread=0.2, **({"architecture": name} | more))
        for name, more in settings.items()
    }


@pytest.fixture(scope="module")
def plain(bases, tmp_path_factory):
    return write_adapter(tmp_path_factory.mktemp("plain") / "run7", bases["llama"], **PLAIN)


@pytest.fixture
def folder(plain, tmp_path):
    return shutil.copytree(plain, tmp_path / "run7")


def log_probs(loaded):
    return [math.log(share) for reading in read_trials(loaded, TRIALS) for share in reading.label_probs]


def loaded_with(base, adapter):
    return load_weights(open_model(str(base), adapter=str(adapter)))


@pytest.mark.parametrize("kind", KINDS)
def test_log_probabilities_are_those_of_the_model_that_peft_merges(bases, tmp_path, kind):
    architecture, settings = KINDS[kind]
    base = bases[architecture]
    adapter = write_adapter(tmp_path / "adapter", base, **settings)
    merged = log_probs(load_model(str(merge_with_peft(tmp_path / "merged", base, adapter))))
    assert log_probs(loaded_with(base, adapter)) == pytest.approx(merged, abs=1e-5)
    assert max(abs(a - b) for a, b in zip(merged, log_probs(load_model(str(base))), strict=True)) > 0.05


@pytest.mark.parametrize(
    "settings",
    [
        {"target_modules": ["q_proj", "embed_tokens"]},
        {"target_modules": ["lm_head"]},
        {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]},
        {"target_modules": ["embed_tokens"], "ensure_weight_tying": True},
    ],
    ids=str,
)
def test_where_embedding_and_head_are_tied_it_is_the_model_that_was_trained(bases, tmp_path, settings):
    adapter = write_adapter(tmp_path / "adapter", bases["tied"], **settings)
    ids = torch.tensor([list(range(20, 60))])
    with torch.no_grad():
        trained = open_with_peft(bases["tied"], adapter)(ids).logits.log_softmax(-1)
        ours = loaded_with(bases["tied"], adapter).model(ids).logits.log_softmax(-1)
    assert ours.numpy() == pytest.approx(trained.numpy(), abs=1e-5)


def test_blocks_of_rows_make_the_same_weights(bases, tmp_path, monkeypatch):
    architecture, settings = KINDS["DoRA"]
    adapter = write_adapter(tmp_path / "adapter", bases[architecture], **settings)
    whole = loaded_with(bases[architecture], adapter).model.state_dict()
    monkeypatch.setattr(adapters, "BLOCK", 100)
    blocks = loaded_with(bases[architecture], adapter).model.state_dict()
    assert all(blocks[name].numpy() == pytest.approx(whole[name].numpy(), abs=1e-7) for name in whole)


def test_half_precision_is_rounded_once(bases, plain):
    exact = loaded_with(bases["llama"], plain).model.state_dict()
    opened = open_model(str(bases["llama"]), dtype="bfloat16", adapter=str(plain))
    name = "model.layers.0.self_attn.q_proj.weight"
    # The base is rounded when it is loaded, the sum when it is stored.
    base = load_model(str(bases["llama"])).model.state_dict()[name]
    expected = (base.bfloat16().double() + (exact[name] - base).double()).bfloat16()
    assert torch.equal(load_weights(opened).model.state_dict()[name], expected)


def test_a_model_with_an_adapter_says_so_and_is_another_model(bases, plain):
    base, adapted = load_model(str(bases["llama"])), loaded_with(bases["llama"], plain)
    described = adapted.describe()
    assert described["model"] == base.describe()["model"]
    assert described["adapter"] == named_model(str(plain))
    assert described["adapter_base"] == str(bases["llama"])
    assert len(described["adapter_sha256"]) == 64
    assert described["weights_id"] == adapted.opened.adapter.weights_id(base.opened.weights_id)
    assert described["weights_id"] != base.describe()["weights_id"]
    assert not any("adapter" in key for key in base.describe())


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS])
def test_either_file_of_an_adapter_changes_the_id_of_the_weights(bases, folder, name):
    def weights_id():
        return open_model(str(bases["llama"]), adapter=str(folder)).weights_id

    before = weights_id()
    assert weights_id() == before
    if name == CONFIG:
        settings = json.loads((folder / CONFIG).read_text())
        (folder / CONFIG).write_text(json.dumps(settings | {"lora_alpha": 9}))
    else:
        tensors = load_file(folder / WEIGHTS)
        save_file({key: 2 * tensor for key, tensor in tensors.items()}, folder / WEIGHTS)
    assert weights_id() != before


def test_another_base_name_is_a_caution_and_an_old_path_of_the_same_name_is_none(bases, folder):
    def cautions(base):
        settings = json.loads((folder / CONFIG).read_text())
        (folder / CONFIG).write_text(json.dumps(settings | {"base_model_name_or_path": base}))
        return open_model(str(bases["llama"]), adapter=str(folder)).cautions

    assert cautions("/old/disk/llama") == cautions("owner/Llama") == cautions(None) == []
    (caution,) = cautions("owner/other-7b")
    assert caution == (
        f"warning: the adapter {folder} names owner/other-7b as its base, it was put on {bases['llama']}; see whether "
        "it is that"
    )


def refused(base, adapter):
    with pytest.raises(ModelError) as caught:
        loaded_with(base, adapter)
    message = str(caught.value)
    assert message.startswith(f"{adapter}: ")
    assert "\n" not in message
    return message.removeprefix(f"{adapter}: ")


def change_tensors(folder, change):
    tensors = change(load_file(folder / WEIGHTS))
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / WEIGHTS)


Q = "model.layers.0.self_attn.q_proj"
KEY = f"base_model.model.{Q}.lora_A.weight"


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (
            lambda tensors: {name.replace("layers.1", "layers.7"): each for name, each in tensors.items()},
            "has tensors for model.layers.7.self_attn.q_proj, which the base lacks",
        ),
        (
            lambda tensors: {name.removeprefix("base_model."): each for name, each in tensors.items()},
            "has tensors for model.model.layers.0.self_attn.q_proj, which the base lacks",
        ),
        (
            lambda tensors: tensors | {KEY: torch.zeros(4, 64)},
            f"{Q}.A has the shape 4x64, 4x32 was expected by the base and adapter_config.json",
        ),
        (
            lambda tensors: tensors | {KEY: torch.zeros(3, 32)},
            f"{Q}.A has the shape 3x32, 4x32 was expected by the base and adapter_config.json",
        ),
        (
            lambda tensors: {name: each for name, each in tensors.items() if "layers.0.self_attn.q_proj" not in name},
            f"has no tensors for {Q}, which adapter_config.json targets",
        ),
        (
            lambda tensors: {name: each for name, each in tensors.items() if name != KEY},
            f"has B for {Q}, A and B were expected",
        ),
        (
            lambda tensors: tensors | {f"base_model.model.{Q}.lora_magnitude_vector": torch.ones(32)},
            f"has A and B and magnitude_vector for {Q}, A and B were expected",
        ),
        (
            lambda tensors: {name.replace("q_proj", "k_proj"): each for name, each in tensors.items()},
            "has tensors for model.layers.0.self_attn.k_proj, which adapter_config.json does not target",
        ),
        (
            lambda tensors: {name.replace("self_attn.q_proj", "mlp"): each for name, each in tensors.items()},
            "has tensors for model.layers.0.mlp, which is no linear layer and no embedding in floating point",
        ),
        (
            lambda tensors: tensors | {"base_model.model.score.weight": torch.zeros(2, 32)},
            "has score.weight, which the base lacks",
        ),
        (
            lambda tensors: tensors | {"base_model.model.lm_head.weight": torch.zeros(7, 32)},
            "lm_head.weight has the shape 7x32, 445x32 was expected by the base and adapter_config.json",
        ),
        (
            lambda tensors: tensors | {KEY: torch.full((4, 32), math.nan)},
            f"{Q}.A holds values that are no finite numbers",
        ),
    ],
)
def test_tensors_that_do_not_fit_the_base_are_refused_and_change_nothing(bases, folder, change, finding):
    change_tensors(folder, change)
    what_to_do = "name the base that it was trained on, or save the adapter again"
    assert refused(bases["llama"], folder) == f"{finding}; {what_to_do}"
    base = load_model(str(bases["llama"]))
    opened = open_model(str(bases["llama"]), adapter=str(folder))
    before = {name: each.clone() for name, each in base.model.state_dict().items()}
    with pytest.raises(ModelError):
        put_on(base.model, opened.adapter)
    assert all(torch.equal(each, before[name]) for name, each in base.model.state_dict().items())


def test_an_adapter_of_another_architecture_is_refused(bases, folder):
    assert "which the base lacks; name the base that it was trained on" in refused(bases["gpt2"], folder)


def test_the_model_shown_bare_text_has_its_adapter_still(bases, plain):
    opened = open_model(str(bases["llama"]), adapter=str(plain))
    assert replace(opened, prompting=opened.prompting).bare.adapter == opened.adapter
