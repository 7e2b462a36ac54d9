import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from valuesassets.models.certificate import (
    Certificate,
    LogitSpread,
    largest_difference,
    largest_share_moved,
    rounding_tolerance,
)
from valuesassets.models.loading import load_model
from valuesassets.models.scoring import choose_sample
from valuesassets.records.trials import Reading, Status
from valuesassets_tests.models.batch_faults import FAULTS
from valuesassets_tests.scored import score_trials
from valuesassets_tests.tiny_models import PROMPTS, byte_level, trial, write_model


def reading(probs):
    status = Status.UNRESOLVED if probs is None else Status.OK
    return Reading("v1/0/forward", probs, None if probs is None else sum(probs), None, None, (), status, None, "k")


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ((0.5, 0.25), (0.5, 0.25), 0.0),
        ((0.5, 0.2), (0.5, 0.1), 0.6931471805599453),
        ((0.5, 0.0), (0.5, 0.0), 0.0),
        ((0.5, 0.0), (0.5, 1e-30), float("inf")),
        (None, None, 0.0),
        (None, (0.5, 0.2), float("inf")),
    ],
)
def test_readings_are_as_far_apart_as_their_worst_label_and_a_lost_one_infinitely(one, other, apart):
    pairs = [(reading(one), reading(other)), (reading((0.3,)), reading((0.3,)))]
    assert largest_difference(pairs) == largest_difference([(b, a) for a, b in pairs]) == pytest.approx(apart)


@pytest.mark.parametrize(
    ("one", "other", "moved"),
    [
        ((0.5, 0.25), (0.5, 0.25), 0.0),
        ((0.5, 0.25), (0.05, 0.025), 0.0),  # what is outside the labels is no answer's
        ((0.3, 0.1), (0.2, 0.2), 0.25),
        ((0.5, 0.0), (0.0, 0.5), 1.0),
        ((0.0, 0.0), (0.0, 0.5), 1.0),
        ((0.0, 0.0), (0.0, 0.0), 0.0),
        (None, None, 0.0),
        (None, (0.5, 0.2), 1.0),
    ],
)
def test_a_share_moves_by_what_a_distribution_over_the_labels_would_show(one, other, moved):
    pairs = [(reading(one), reading(other)), (reading((0.3,)), reading((0.1,)))]
    assert largest_share_moved(pairs) == pytest.approx(moved)
    assert largest_share_moved([(b, a) for a, b in pairs]) == pytest.approx(moved)


@pytest.mark.parametrize(
    ("trials", "difference", "moved", "said"),
    [
        (4, 1e-5, 1e-6, None),
        (4, 1.5e-5, 2e-6, "by less than 0.001 percentage points, or 1.5e-05 nats, where rounding explains 1e-05"),
        (4, 1e-5, 0.05, "by up to 5 percentage points, or 1e-05 nats, which is rounding"),
        (4, float("inf"), 1.0, "by up to 100 percentage points, or inf nats, where rounding explains 1e-05"),
        (4, 0.5, None, "by 0.5 nats, where rounding explains 1e-05"),
        (0, 0.0, 0.0, None),
    ],
)
def test_a_doubt_says_its_size_in_points_and_nats_beside_what_rounding_explains(trials, difference, moved, said):
    doubt = Certificate(trials, difference, 1e-5, moved).doubt
    assert doubt == (said and f"shares of answers change with the batch {said}")


@pytest.mark.parametrize(
    ("difference", "moved", "is_refused"),
    [(1e-5, 0.05, False), (0.5, 0.029, False), (0.5, 0.031, True), (0.5, None, False)],
)
def test_answers_are_refused_where_they_move_visibly_and_rounding_does_not_explain_it(difference, moved, is_refused):
    refusal = Certificate(4, difference, 1e-5, moved).refusal
    assert bool(refusal) == is_refused


@pytest.mark.parametrize("count", [1, 2, 5, 6, 7, 40])
def test_the_sample_has_the_shortest_and_the_longest_prompt_and_does_not_depend_on_the_order(count):
    lengths = {f"key {n}": 100 + (n * 17) % 41 for n in range(count)}
    chosen = choose_sample(lengths)
    assert len(set(chosen)) == len(chosen)
    assert {min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)} <= set(chosen) <= set(lengths)
    assert choose_sample(dict(reversed(lengths.items()))) == chosen


def test_what_was_not_read_again_is_not_certified():
    assert not Certificate(trials=0, max_difference=0.0, tolerance=1e-5).agrees


SHAPES = [(2, 64), (30, 256), (100, 64), (8, 576)]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("n_layers", "width"), SHAPES)
@pytest.mark.slow
def test_models_of_any_depth_and_width_round_within_the_tolerance(n_layers, width, dtype):
    """Each in its dtype beside the same weights in float64, over all of the vocabulary; which is no batch but worse."""
    model, ids = (
        random_llama(n_layers, width),
        torch.randint(0, 500, (2, 20), generator=torch.Generator().manual_seed(1)),
    )
    for weights in model.parameters():
        weights.data = weights.data.to(getattr(torch, dtype))
    with torch.inference_mode(), LogitSpread().watching(model) as spread:
        rounded = model(ids).logits[:, -1].double().log_softmax(1)
        for weights in model.parameters():
            weights.data = weights.data.double()
        apart = float((rounded - model(ids).logits[:, -1].double().log_softmax(1)).abs().max())
    tolerance = rounding_tolerance(dtype, n_layers, width, spread.largest)
    assert tolerance / 100 < apart < tolerance


def random_llama(n_layers, width):
    """A model whose layers each add about as much as they are given, and whose logits spread by 4."""
    heads = width // 32
    shape = {"hidden_size": width, "intermediate_size": 2 * width, "num_hidden_layers": n_layers}
    config = LlamaConfig(vocab_size=500, num_attention_heads=heads, num_key_value_heads=heads, **shape)
    torch.manual_seed(0)
    model = LlamaForCausalLM(config).eval()
    for name, weights in model.named_parameters():
        if weights.dim() == 2:
            spread = 1.0 if "embed" in name else (4.0 if "lm_head" in name else 1.0) / weights.shape[1] ** 0.5
            torch.nn.init.normal_(weights, 0, spread)
    return model


@pytest.mark.parametrize(
    ("fault", "dtype"),
    [
        *((fault, "float32") for fault in FAULTS),
        ("a row sees another", "bfloat16"),
        ("a position is off by one", "bfloat16"),
    ],
)
def test_planted_faults_of_batches_are_beyond_rounding(fault, dtype, tmp_path):
    folder = write_model(tmp_path / "m", byte_level(), spread=0.3)
    loaded = load_model(str(folder), None, dtype, "cpu")
    asked = [trial(f"{PROMPTS[0]} {prompt}", 4, prompt) for prompt in PROMPTS]
    assert loaded.tree_fault is None
    assert score_trials(loaded, asked).certificate.agrees
    with FAULTS[fault](loaded.model):
        certificate = score_trials(loaded, asked).certificate
    assert not certificate.agrees
    assert certificate.max_difference > (100 if dtype == "float32" else 2) * certificate.tolerance
