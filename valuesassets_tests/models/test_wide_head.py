import pytest
import torch

from valuesassets.models.engine import read_batch
from valuesassets.models.loading import load_model
from valuesassets.models.token_trees import grow_tree
from valuesassets.models.wide_head import product_in_float32, widen_head
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

IDS = [(5, 9, 40, 7), (5, 9, 40, 8, 3)]


def on_a_cpu(rows, columns):
    """Stands for the product of a GPU, which alone can leave in another type than what goes in."""
    assert rows.dtype == columns.dtype == torch.bfloat16
    return rows.float() @ columns.float()


def log_probs(loaded):
    vocabulary = loaded.opened.config.vocab_size
    rows = read_batch(loaded.model, [grow_tree(IDS)], [range(vocabulary)] * 2, 1)
    return torch.tensor([row.log_probs for row in rows])


@pytest.mark.parametrize("architecture", ["llama", "gemma2"])  # the latter caps its logits
def test_logits_are_those_of_the_hidden_states_in_float32(architecture, tmp_path):
    folder = write_model(tmp_path / "m", sentencepiece_like(), architecture=architecture)
    loaded = load_model(str(folder), dtype="bfloat16", device="cpu")
    narrow = log_probs(loaded)
    assert widen_head(loaded.model, on_a_cpu)
    wide = log_probs(loaded)
    exact = load_model(str(folder), dtype="bfloat16", device="cpu")
    head = exact.model.get_output_embeddings()
    head.forward = lambda hidden: torch.nn.functional.linear(hidden.double(), head.weight.double())
    # torch.equal would ask for the sums of another order
    assert (wide - log_probs(exact)).abs().max() < 1e-5
    assert (narrow - log_probs(exact)).abs().max() > 1e-3


def test_what_is_no_plain_product_in_half_precision_is_left_as_it_is(tmp_path):
    folder = write_model(tmp_path / "m", sentencepiece_like())
    assert not widen_head(load_model(str(folder), dtype="float32", device="cpu").model)
    biased = load_model(str(folder), dtype="bfloat16", device="cpu").model
    biased.lm_head.bias = torch.nn.Parameter(torch.zeros(biased.config.vocab_size, dtype=torch.bfloat16))
    assert not widen_head(biased)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_gives_float32_of_halves():
    rows, columns = (torch.randn(64, 64, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    found = product_in_float32(rows, columns)
    assert found.dtype == torch.float32
    assert (found - rows.float() @ columns.float()).abs().max() < 1e-3
