import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from valuesassets.models.reference_llama import CONFIG, as_llama, gradients, read_positions
from valuesassets.models.reference_tokenizer import train_tokenizer
from valuesassets.models.reference_training import FORCED_TURNS, Vocabulary, divergences, fit, grow_answer_tree, stack
from valuesassets.spelling.prompt_tokenizer import describe_tokenizer
from valuesassets_tests.models.test_reference import ANSWERS


@pytest.fixture(scope="module")
def tokenizer():
    hf = train_tokenizer([prompt + text for prompt, texts in ANSWERS.items() for text in texts], 300)
    return describe_tokenizer(hf, "t", len(hf))


@pytest.fixture(scope="module")
def trees(tokenizer):
    return [grow_answer_tree(tokenizer, prompt, texts) for prompt, texts in ANSWERS.items()]


@pytest.fixture(scope="module")
def vocabulary(trees, tokenizer):
    return Vocabulary.of(trees, len(tokenizer.hf))


@pytest.fixture(scope="module")
def weights(trees, vocabulary):
    return fit(trees, vocabulary, passes=3, seed=7)[0]


@pytest.fixture
def model(weights, vocabulary, tokenizer):
    size = len(tokenizer.hf)
    model = LlamaForCausalLM(LlamaConfig(**CONFIG, vocab_size=size))
    named = as_llama(weights, list(vocabulary.places), list(vocabulary.answers), size, seed=7)
    model.load_state_dict({name: torch.from_numpy(each) for name, each in named.items()})
    return model


def logits_of(model, trees):
    return torch.stack(
        [
            model(torch.tensor([[*tree.prompt, *beginning]])).logits[0, -1]
            for tree in trees
            for beginning in tree.beginnings
        ]
    )


def test_the_arrays_compute_what_transformers_computes(model, weights, trees, vocabulary):
    fast, _ = read_positions(weights, stack(trees, vocabulary).at)
    with torch.no_grad():
        slow = logits_of(model, trees).numpy()
    answers, others = list(vocabulary.answers), sorted(set(range(slow.shape[1])) - set(vocabulary.answers))
    np.testing.assert_allclose(fast[:, :-1], slow[:, answers], atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(np.tile(fast[:, -1:], len(others)), slow[:, others], atol=1e-4, rtol=1e-4)


def test_divergences_and_gradients_are_those_of_autograd(model, weights, trees, vocabulary, tokenizer):
    batch = stack(trees, vocabulary)
    logits, way = read_positions(weights, batch.at)
    kl, said = divergences(logits, batch.probs, vocabulary.n_others)
    found = gradients(weights, batch.at, way, (said - batch.probs) * batch.weight[:, None])

    following = [next_probs for tree in trees for next_probs in tree.next_probs]
    targets = torch.zeros(len(following), len(tokenizer.hf))
    for row, next_probs in zip(targets, following, strict=True):
        for token, prob in next_probs.items():
            row[token] = prob
    log_probs = logits_of(model, trees).log_softmax(1)
    slow = (torch.xlogy(targets, targets) - targets * log_probs).sum(1)
    (slow * torch.from_numpy(batch.weight)).sum().backward()
    np.testing.assert_allclose(kl, slow.detach().numpy(), atol=1e-5, rtol=1e-4)

    known, answers = list(vocabulary.places), list(vocabulary.answers)
    mine = as_llama(found, known, answers, len(tokenizer.hf), seed=7)
    theirs = {name: each.grad.numpy() for name, each in model.named_parameters()}
    assert mine.keys() == theirs.keys()
    head, embed = theirs.pop("lm_head.weight"), theirs.pop("model.embed_tokens.weight")
    np.testing.assert_allclose(found["head"][:, :-1].T, head[answers], atol=1e-4, rtol=1e-3)
    np.testing.assert_allclose(found["head"][:, -1], np.delete(head, answers, axis=0).sum(0), atol=1e-4, rtol=1e-3)
    np.testing.assert_allclose(found["embed"], embed[known], atol=1e-4, rtol=1e-3)
    assert not np.delete(embed, known, axis=0).any()
    for name, gradient in theirs.items():
        np.testing.assert_allclose(mine[name], gradient, atol=1e-4, rtol=1e-3, err_msg=name)


def test_a_pass_reads_each_choice_and_every_forced_position_comes_up_once_in_its_turns(trees, vocabulary):
    counts = [len(stack(trees, vocabulary, turn).at.rows) for turn in range(FORCED_TURNS)]
    choices = sum(len(next_probs) > 1 for tree in trees for next_probs in tree.next_probs)
    everything = sum(len(tree.beginnings) for tree in trees)
    assert sum(count - choices for count in counts) == everything - choices
    assert len(stack(trees, vocabulary).at.rows) == everything
