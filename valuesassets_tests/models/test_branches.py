"""Prompts that begin alike and then part: read in one tree, whatever the architecture, as if each stood alone."""

from dataclasses import replace

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from valuesassets.models import engine
from valuesassets.models.engine import find_tree_fault, read_batch
from valuesassets.models.loading import load_model
from valuesassets.models.token_trees import grow_tree
from valuesassets.records.trials import Status
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.scored import score_trials
from valuesassets_tests.tiny_models import (
    ARCHITECTURES,
    PROMPTS,
    UNSUITABLE,
    byte_level,
    sentencepiece_like,
    trial,
    write_model,
)

STEM = "qxzjvkwy" * 3  # of no prompt that the tokenizers know: as many tokens as letters
ASKED = [
    trial(STEM + prompt, k, f"v{n}/0/forward") for n, (prompt, k) in enumerate(zip(PROMPTS, (4, 9, 2), strict=True))
]


def tokens_alone(loaded, trials):
    return sum(map(len, loaded.tokenizer.encode([asked.prompt for asked in trials])))


@pytest.mark.parametrize("architecture", [*ARCHITECTURES, *UNSUITABLE])
def test_branches_are_read_as_one_pass_per_answer_reads_them(architecture, tmp_path):
    folder = write_model(tmp_path / "m", byte_level(), architecture=architecture, spread=0.2)
    loaded, oracle = load_model(str(folder), dtype="float32", device="cpu"), BruteForce(folder)
    result = score_trials(loaded, ASKED)
    for asked, reading in zip(ASKED, result.readings, strict=True):
        expected = oracle.label_probs(asked.prompt, asked.labels)
        assert reading.label_probs == pytest.approx(expected, abs=1e-6, rel=1e-4)
    assert result.certificate.agrees
    assert (result.tokens < tokens_alone(loaded, ASKED)) == (architecture in ARCHITECTURES)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_branches_agree_with_sequences_alone_in_bfloat16(architecture, tmp_path):
    folder = write_model(tmp_path / "m", byte_level(), architecture=architecture, spread=0.2)
    assert score_trials(load_model(str(folder), dtype="bfloat16", device="cpu"), ASKED).certificate.agrees


def test_branches_beyond_what_a_layer_looks_back_on_are_read_as_the_window_has_it(tmp_path):
    folder = write_model(tmp_path / "m", byte_level(), architecture="gemma2", spread=0.2, sliding_window=64)
    loaded = load_model(str(folder), dtype="float32", device="cpu")
    lengthened = [replace(asked, prompt="\n".join([asked.prompt] * 3)) for asked in ASKED]
    oracle, result = BruteForce(folder), score_trials(loaded, lengthened)
    assert not result.notes
    for asked, reading in zip(lengthened, result.readings, strict=True):
        expected = oracle.label_probs(asked.prompt, asked.labels)
        assert reading.label_probs == pytest.approx(expected, abs=1e-6, rel=1e-4)


@pytest.fixture
def loaded_llama(model_folders):
    return load_model(str(model_folders["sentencepiece"]), dtype="float32", device="cpu")


def test_no_token_of_a_batch_sees_nothing_padding_included(loaded_llama):
    """Where all is masked, half precision may overflow to NaN, which spreads from padding to every row."""
    masks = []

    def keep(_module, _args, kwargs):
        masks.append(kwargs["attention_mask"])

    with loaded_llama.model.register_forward_pre_hook(keep, with_kwargs=True):
        read_batch(loaded_llama.model, [grow_tree([(1, 2, 3, 4), (1, 5)]), grow_tree([(1, 2), (1, 3)])], [(0,)] * 4, 1)
    (mask,) = masks
    assert (mask == 0).any(-1).all()


def test_a_half_precision_head_is_normalised_in_float32(loaded_llama):
    model = loaded_llama.model.to(torch.bfloat16)
    tree, vocabulary = grow_tree([(5, 6, 7)]), model.config.vocab_size
    (read,) = read_batch(model, [tree], [range(vocabulary)], 1)
    with torch.no_grad():
        logits = model(torch.tensor([tree.tokens])).logits[0, -1]
    assert read.log_probs == pytest.approx(logits.double().log_softmax(0).tolist(), abs=1e-5)


def test_logits_far_from_zero_are_normalised_without_overflow():
    logits = torch.tensor([[1000.0, 999.0, 0.0], [-1000.0, -999.0, -2000.0]])
    large, small = engine.read_rows(logits, [(0, 1)] * 2, 1)
    assert large.log_probs == pytest.approx((-0.31326, -1.31326), abs=1e-4)
    assert small.log_probs == pytest.approx((-1.31326, -0.31326), abs=1e-4)


def test_a_trial_that_its_neighbours_broke_is_read_alone(loaded_llama):
    """Some kernels make NaN of one row and spread it over the batch."""
    expected = score_trials(loaded_llama, ASKED).readings

    def spoil(_module, _inputs, logits):
        return (
            logits * torch.nan if len(logits) > 2 else logits
        )  # alone, a prompt is read behind itself and behind a space

    with loaded_llama.model.get_output_embeddings().register_forward_hook(spoil):
        found = score_trials(loaded_llama, ASKED).readings
    for one, other in zip(found, expected, strict=True):
        assert one.status is other.status is not Status.FAILED
        assert (one.label_probs or ()) == pytest.approx(other.label_probs or (), rel=1e-4)


@pytest.fixture
def faint_llama(tmp_path):
    """Its answers in a tree and alone are nearly the same in half precision whatever it sees and wherever."""
    folder = write_model(tmp_path / "m", sentencepiece_like(), spread=0.05)
    return load_model(str(folder), dtype="bfloat16", device="cpu").model


def test_a_faint_view_of_another_branch_is_found_out_in_half_precision(faint_llama):
    def see_all_that_came_before(_module, args, kwargs):
        mask = kwargs["attention_mask"]
        if mask.ndim == 4:
            mask = torch.full_like(mask, torch.finfo(mask.dtype).min).triu(1)
        return args, kwargs | {"attention_mask": mask}

    assert find_tree_fault(faint_llama) is None
    with faint_llama.register_forward_pre_hook(see_all_that_came_before, with_kwargs=True):
        assert find_tree_fault(faint_llama) == "a branch of a tree sees the others"


def test_positions_that_are_ignored_are_found_out_in_half_precision(faint_llama):
    def ignore(_module, args, kwargs):
        return args, kwargs | {"position_ids": torch.arange(kwargs["position_ids"].shape[1])[None]}

    with faint_llama.model.rotary_emb.register_forward_pre_hook(ignore, with_kwargs=True):
        assert "by the order of the tokens" in str(find_tree_fault(faint_llama))


@pytest.mark.parametrize("vocabulary", [61, 983, 7920])
def test_the_self_test_looks_at_the_later_branch_whatever_the_vocabulary(vocabulary):
    """An earlier branch can neither see a later one nor stand at another position, honoured or not."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, **sizes, initializer_range=0.5)).eval()
    assert find_tree_fault(model) is None
