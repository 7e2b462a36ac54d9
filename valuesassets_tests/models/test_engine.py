"""Sequences read in a tree are read as if each stood alone; architectures that cannot do that are found out."""

from dataclasses import replace

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from transformers import AutoModel, LlamaConfig, LlamaForCausalLM

from valuesassets.models import engine
from valuesassets.models.asking import Asking
from valuesassets.models.engine import find_tree_fault, read_batch
from valuesassets.models.loading import load_model
from valuesassets.models.sampling import sample_answers
from valuesassets.models.token_trees import BatchBudget, grow_tree, part_into_chains, part_into_trees, plan_batches
from valuesassets.records.errors import ScoringError
from valuesassets.records.trials import Status
from valuesassets_tests.scored import score_trials
from valuesassets_tests.tiny_models import ARCHITECTURES, PROMPTS, UNSUITABLE, byte_level, trial, write_model

SEQUENCES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=40).map(tuple), min_size=1, max_size=9)
ASKED = [trial(prompt, k, f"v{i}/0/{k}") for i, prompt in enumerate(PROMPTS) for k in (4, 10)]


@pytest.fixture
def loaded_llama(model_folders):
    return load_model(str(model_folders["sentencepiece"]), dtype="float32")


@given(SEQUENCES)
def test_what_a_node_sees_spells_its_sequence(sequences):
    tree = grow_tree(sequences)
    for sequence, row in zip(sequences, tree.rows, strict=True):
        seen = [node for node in range(row + 1) if row < tree.ends[node]]
        assert tuple(tree.tokens[node] for node in seen) == sequence
        assert [tree.depths[node] for node in seen] == list(range(len(sequence)))
    assert len(tree.tokens) == len({sequence[:n] for sequence in sequences for n in range(1, len(sequence) + 1)})


@given(SEQUENCES, st.integers(1, 5))
def test_every_sequence_is_in_one_tree_and_chains_are_chains(sequences, most_rows):
    for parts in (part_into_trees(sequences, most_rows), part_into_chains(sequences)):
        assert sorted(index for part in parts for index in part) == list(range(len(sequences)))
    assert all(len(part) <= most_rows for part in part_into_trees(sequences, most_rows))
    assert all(grow_tree([sequences[i] for i in part]).is_chain for part in part_into_chains(sequences))


@given(SEQUENCES, st.integers(1, 200), st.integers(1, 9))
@example([(1,), (1, 2)], 3, 9)  # one tree more would exceed the budget
def test_batches_hold_every_tree_once_within_the_budget_and_no_chain_beside_a_tree(sequences, tokens, rows):
    trees = [grow_tree(sequences[: n + 1]) for n in range(len(sequences))]
    for batch in (plan := plan_batches(trees, BatchBudget(tokens, rows))):
        assert len(batch) == 1 or len(batch) * max(len(trees[i].tokens) for i in batch) <= tokens
        assert len(batch) == 1 or sum(len(trees[i].rows) for i in batch) <= rows
        assert len({trees[i].is_chain for i in batch}) == 1
    assert sorted(index for batch in plan for index in batch) == list(range(len(trees)))


@pytest.mark.parametrize("vocabulary", [3, 511, 512, 513, 2000])
def test_likeliest_tokens_and_normaliser_are_those_of_the_whole_vocabulary(vocabulary):
    logits = torch.randn(4, vocabulary, generator=torch.Generator().manual_seed(0)) * 5
    count = min(9, vocabulary)
    read = engine.read_rows(logits, [range(vocabulary)] * 4, 9)
    expected = logits.double().log_softmax(1)
    for row, found in enumerate(read):
        assert found.log_probs == pytest.approx(expected[row].tolist(), abs=1e-5)
        assert [token for token, _ in found.likeliest] == expected[row].topk(count).indices.tolist()
        assert found.is_finite


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_logit_that_is_no_number_is_seen_wherever_it_stands(bad):
    logits = torch.zeros(3, 1300)
    logits[1, 1299] = bad
    assert [read.is_finite for read in engine.read_rows(logits, [(0,)] * 3, 2)] == [True, False, True]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_trees_are_read_rightly_by_architectures_that_honour_masks_and_positions(architecture, dtype, tmp_path):
    folder = write_model(tmp_path / "m", byte_level(), architecture=architecture, spread=0.2)
    loaded = load_model(str(folder), dtype=dtype)
    assert loaded.tree_fault is None
    assert score_trials(loaded, ASKED).certificate.agrees


@pytest.mark.parametrize("architecture", UNSUITABLE)
def test_the_other_architectures_are_found_out_and_read_one_sequence_per_row(architecture, tmp_path, monkeypatch):
    folder = write_model(tmp_path / "m", byte_level(), architecture=architecture, spread=0.2)
    loaded = load_model(str(folder), dtype="float32")
    result = score_trials(loaded, ASKED)
    assert loaded.tree_fault
    assert f"read one sequence per row: {loaded.tree_fault}" in result.notes
    assert result.certificate.agrees
    monkeypatch.setattr(engine, "MASKED_ON", set())
    for masked, unmasked in zip(result.readings, score_trials(loaded, ASKED).readings, strict=True):
        assert unmasked.label_probs == pytest.approx(masked.label_probs, abs=1e-6)


def exhaust(model, most):
    """Makes batches of more than `most` tokens ask for more memory than any machine has."""

    def allocate(_module, inputs):
        if inputs[0].numel() > most:
            torch.empty(1 << 60)

    return model.get_input_embeddings().register_forward_pre_hook(allocate)


def test_out_of_memory_halves_the_batches_and_says_so(loaded_llama):
    expected = score_trials(loaded_llama, ASKED)
    with exhaust(loaded_llama.model, 60):
        result = score_trials(loaded_llama, ASKED, budget=BatchBudget(400, 64))
    assert result.notes[0] == "out of memory: went on with batches of 200 tokens"
    assert result.budget.tokens < 400
    for one, other in zip(result.readings, expected.readings, strict=True):
        assert (one.label_probs or ()) == pytest.approx(other.label_probs or (), rel=1e-5)


def test_a_question_that_does_not_fit_alone_fails_by_name_and_the_others_are_kept(loaded_llama):
    long = trial(PROMPTS[0] * 3, 4, "long/0/forward")
    with exhaust(loaded_llama.model, 60):
        *others, failed = score_trials(loaded_llama, [*ASKED[2:], long]).readings
    assert [reading.status for reading in others] == [r.status for r in score_trials(loaded_llama, ASKED[2:]).readings]
    assert failed.status is Status.FAILED
    assert "trial long/0/forward" in failed.reason
    assert "do not fit into the memory of cpu" in failed.reason


def test_other_errors_of_the_runtime_are_not_taken_for_a_lack_of_memory(loaded_llama):
    def fail(_module, _inputs):
        raise RuntimeError("something else")

    with (
        loaded_llama.model.get_input_embeddings().register_forward_pre_hook(fail),
        pytest.raises(RuntimeError, match="something else"),
    ):
        read_batch(loaded_llama.model, [grow_tree([(5, 6)])], [(1,)], 1)


class HeadPassedBy(LlamaForCausalLM):
    """Multiplies by its head's weight instead of calling the head."""

    def forward(self, input_ids, attention_mask=None, **_):
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).last_hidden_state
        return type("Output", (), {"logits": torch.nn.functional.linear(hidden, self.lm_head.weight)})()


def test_a_model_without_a_head_is_refused(loaded_llama):
    headless = AutoModel.from_pretrained(loaded_llama.model_id).eval()
    with pytest.raises(ScoringError, match="no output embedding; a causal language model was expected"):
        Asking(loaded_llama.opened, ASKED).ask(replace(loaded_llama, model=headless))


def test_a_model_that_passes_its_head_by_is_refused(loaded_llama):
    other = HeadPassedBy.from_pretrained(loaded_llama.model_id).eval()
    with pytest.raises(ScoringError, match="does not use its output embedding as a module"):
        score_trials(replace(loaded_llama, model=other), ASKED)


def test_nothing_is_drawn_from_nan(loaded_llama):
    with torch.no_grad():
        loaded_llama.model.lm_head.weight[3] = torch.nan
    with pytest.raises(ScoringError, match=r"NaN or infinite logits at prompt '.*Answer:'"):
        sample_answers(loaded_llama, PROMPTS[:1], 10, seed=0)


def count_positions_in_the_order_of_the_tokens(model):
    """Makes a LLaMA ignore the positions that it is given."""

    def ignore(_module, args, kwargs):
        return args, kwargs | {"position_ids": torch.arange(kwargs["position_ids"].shape[1])[None]}

    return model.model.rotary_emb.register_forward_pre_hook(ignore, with_kwargs=True)


def test_positions_that_are_ignored_show_in_the_self_test_and_in_the_certificate(loaded_llama):
    asked = [replace(ASKED[0], prompt=f"{PROMPTS[0]} {prompt}", trial_id=prompt) for prompt in PROMPTS]
    assert loaded_llama.tree_fault is None
    with count_positions_in_the_order_of_the_tokens(loaded_llama.model):
        assert "not by the positions" in find_tree_fault(loaded_llama.model)
        assert not score_trials(loaded_llama, asked).certificate.agrees
    assert score_trials(loaded_llama, asked).certificate.agrees


def test_the_same_bytes_come_out_twice_and_under_one_thread_and_two():
    torch.manual_seed(0)
    shape = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=35_000, **shape)).eval()
    sequences = [(1, *range(7, 60 + n), n) for n in range(20)]
    trees = [grow_tree(sequences[:10]), grow_tree(sequences[10:])]
    logits = torch.randn(30, 262_144)  # with so many entries a row's last bits would show who added them up
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 1, 2, 2):
            torch.set_num_threads(threads)
            read = read_batch(model, trees, [range(0, 35_000, 997)] * 20, 5)
            found.append([*read, *engine.read_rows(logits, [(5,)] * 30, 1)])
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1] == found[2] == found[3]
