"""Keyed draws follow the model's own probabilities, and hang on nothing but their key."""

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from transformers import LlamaConfig, LlamaForCausalLM

from valuesassets.models.keyed_draws import TIE, TWO_LEVELS_ABOVE, draw, gumbel_noise, row_key
from valuesassets.models.rows_in_flight import read_alone

DRAWS = 20_000
LARGE = 9_000
"""Entries of a vocabulary of which a block is drawn first; the last block is a short one."""


def drawn(logits, keys, temperature=1.0, top_p=1.0, steps=None):
    rows = len(keys)
    heat, share = (torch.full((rows,), value, dtype=torch.float64) for value in (temperature, top_p))
    return draw(logits.expand(rows, -1), keys, steps or [0] * rows, heat, share, "float32")


def keys_of(count):
    return [row_key(7, "weights", (1, 2, 3), sample) for sample in range(count)]


def next_logits(vocabulary, spread):
    """What a tiny model of random weights says after three tokens."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, initializer_range=spread, **sizes)).eval()
    with torch.inference_mode():
        return read_alone(model, [1, 2, 3])


def kept_probs(logits, temperature, top_p):
    """The distribution by its definition, in float64: the smallest set of likeliest tokens that has the mass."""
    probs = (logits[0].double() / temperature).softmax(0).numpy()
    order = np.argsort(-probs, kind="stable")
    inside = order[: np.searchsorted(np.cumsum(probs[order]), top_p) + 1] if top_p < 1 else order
    kept = np.zeros_like(probs)
    kept[inside] = probs[inside]
    return kept / kept.sum()


def p_value(tokens, probs):
    """Of a chi-squared test; tokens that are expected less than ten times are one class."""
    found, expected = np.bincount(tokens, minlength=len(probs)), probs * len(tokens)
    rare = expected < 10
    if rare.any():
        found = np.append(found[~rare], found[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    seen = expected > 0
    assert found[~seen].sum() == 0
    return chisquare(found[seen], expected[seen]).pvalue if seen.sum() > 1 else 1.0


@pytest.mark.parametrize(
    ("vocabulary", "temperature", "top_p"),
    [(600, 0.7, 1.0), (600, 1.0, 1.0), (600, 1.5, 1.0), (600, 1.0, 0.9), (600, 0.7, 0.9), (LARGE, 0.7, 1.0)],
)
@pytest.mark.slow
def test_twenty_thousand_first_tokens_follow_the_models_own_probabilities(vocabulary, temperature, top_p):
    logits = next_logits(vocabulary, 0.6 if vocabulary == 600 else 1.0)
    tokens = []
    many = keys_of(DRAWS)
    at_once = 2000 if vocabulary == 600 else 25
    for start in range(0, DRAWS, at_once):
        tokens += drawn(logits, many[start : start + at_once], temperature, top_p).tokens
    assert len(set(tokens)) > 50
    assert 0.001 < p_value(tokens, kept_probs(logits, temperature, top_p)) < 0.999


def test_the_noise_is_the_same_on_every_machine():
    noise = gumbel_noise(torch.tensor([row_key(1, "w", (2, 3), 4), -1]), torch.arange(3))
    assert noise.tolist() == [
        pytest.approx([0.9095624454506269, 0.8879441461211269, 1.970712018070672], rel=1e-14),
        pytest.approx([2.1882448355261865, 2.391846183655574, -0.41639530424226173], rel=1e-14),
    ]


def test_splitmix64_gives_its_published_numbers():
    from valuesassets.models.keyed_draws import STRIDE, _mixed

    states = torch.tensor([1234567]) + torch.arange(1, 4) * STRIDE
    found = [number % 2**64 for number in _mixed(states).tolist()]
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_a_draw_hangs_on_its_own_row_alone():
    logits = torch.randn(8, 900, generator=torch.Generator().manual_seed(1)) * 3
    keys, heat = keys_of(8), torch.tensor([0.0, 0.5, 1, 2, 1, 1, 1, 0.3], dtype=torch.float64)
    share = torch.tensor([1.0, 1, 0.9, 1, 0.5, 1, 1, 0.95], dtype=torch.float64)
    together = draw(logits, keys, range(8), heat, share, "float32")
    for row in range(8):
        one = slice(row, row + 1)
        alone = draw(logits[one], keys[one], [row], heat[one], share[one], "float32")
        assert (alone.tokens, alone.gaps) == (together.tokens[one], together.gaps[one])


@pytest.mark.parametrize("change", ["seed", "weights", "prompt", "sample"])
def test_every_part_of_a_key_changes_the_noise(change):
    given = {"seed": 1, "weights": "w", "prompt": (1, 2), "sample": 0}
    other = given | {change: {"seed": 2, "weights": "v", "prompt": (1, 3), "sample": 1}[change]}
    assert row_key(*given.values()) != row_key(*other.values())


def test_steps_have_noise_of_their_own():
    logits = torch.zeros(1, 600)
    (key,) = keys_of(1)
    assert len({drawn(logits, [key], steps=[step]).tokens[0] for step in range(50)}) > 40


@pytest.mark.parametrize("vocabulary", [600, TWO_LEVELS_ABOVE + 700])
@pytest.mark.parametrize(("temperature", "top_p"), [(0.0, 1.0), (0.7, 1.0), (1.0, 0.9), (0.01, 0.5)])
def test_a_draw_that_rounding_turns_was_a_near_tie(vocabulary, temperature, top_p):
    """Logits moved by half of what a near tie allows, many times: whoever is turned had been found near."""
    generator = torch.Generator().manual_seed(2)
    many, changed = 1000 if vocabulary == 600 else 500, 0
    logits = (torch.randn(many, vocabulary, generator=generator) * 2).round(decimals=2)  # equal ones among them
    room = TIE["float32"] * logits.abs().amax(1, keepdim=True).clamp_min(1)
    moved = logits + (torch.rand(many, vocabulary, generator=generator) - 0.5) * room * 0.9
    for start in range(0, many, 500):
        part = slice(start, start + 500)
        heat, share = (torch.full((500,), value, dtype=torch.float64) for value in (temperature, top_p))
        before, after = (draw(rows[part], keys_of(500), [0] * 500, heat, share, "float32") for rows in (logits, moved))
        for row in range(500):
            if before.tokens[row] != after.tokens[row]:
                changed += 1
                assert before.gaps[row] < before.near[row] or after.gaps[row] < after.near[row]
    assert changed > 0 or temperature > 0.5


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_logit_that_is_no_number_is_said_of_its_row_alone(bad):
    logits = torch.zeros(3, 700)
    logits[1, 699] = bad
    heat = torch.ones(3, dtype=torch.float64)
    assert draw(logits, keys_of(3), [0] * 3, heat, heat, "float32").is_finite == [True, False, True]


@pytest.mark.parametrize(("top_p", "kept"), [(0.45, {0}), (0.6, {0, 1}), (0.81, {0, 1, 2}), (0.99, {0, 1, 2, 3})])
def test_the_token_that_brings_the_share_about_is_among_those_drawn(top_p, kept):
    logits = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    tokens = drawn(logits, keys_of(1000), 1.0, top_p).tokens
    assert set(tokens) == kept
    assert 0.001 < p_value(tokens, kept_probs(logits, 1.0, top_p)) <= 1


def test_a_share_of_next_to_nothing_leaves_the_likeliest_token():
    logits = torch.tensor([[0.0, 3.0, 1.0]])
    assert set(drawn(logits, keys_of(200), 1.0, 1e-9).tokens) == {1}
