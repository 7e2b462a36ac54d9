"""Models whose layers look back on some tokens only: what is read beside other things is what one pass for it gives."""

import math
from dataclasses import replace
from functools import cache

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from valuesassets.models import tree_masks, window_trial
from valuesassets.models.loaded_model import WINDOWS
from valuesassets.models.loading import load_model
from valuesassets.models.reading_pass import ReadingPass
from valuesassets.models.spelled_trials import spell_trials
from valuesassets.models.token_trees import BatchBudget
from valuesassets.models.window_trial import (
    find_window_fault,
    looking_back,
    read_beside_prefix,
    read_beside_text,
    read_in_tree,
)
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.parameters import fast
from valuesassets_tests.scored import score_trials
from valuesassets_tests.tiny_models import ARCHITECTURES, WINDOWED, byte_level, trial, write_model

WAYS = {"tree": read_in_tree, "prefix": read_beside_prefix, "text": read_beside_text}
MASKED = ["mistral with a window", "gemma2 with a window", *[name for name in WINDOWED if name != "gpt_neo"]]
IN_FLOAT32 = {"gpt_oss": 2e-5, "gemma2 with a window": 1e-5, "llama4, in chunks": 1e-5}
"""How close (nats) what is read can come where an architecture's own kernels round to float32 within."""
VOCABULARY = 300


@cache
def made(architecture, dtype=torch.float64, spread=0.3):
    """A tiny model of random weights; no test changes it."""
    torch.manual_seed(0)
    settings = (ARCHITECTURES | WINDOWED)[architecture] | {"vocab_size": VOCABULARY, "initializer_range": spread}
    settings |= {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**settings))
    return model.to(torch.float32 if architecture == "gpt_oss" and dtype is torch.float64 else dtype).eval()


@cache
def one_pass(architecture, tokens):
    """What a model says behind some tokens alone: (VOCABULARY,) log-probabilities."""
    with torch.no_grad():
        logits = made(architecture)(torch.tensor([tokens]), use_cache=False).logits
    return logits[0, -1].double().log_softmax(0)


def is_near(architecture, row, tokens):
    """Whether what was read is what one pass gives; not where it is no number."""
    found = torch.tensor(row.log_probs, dtype=torch.float64)
    return (found - one_pass(architecture, tokens)).abs().max() <= IN_FLOAT32.get(architecture, 1e-9)


@pytest.fixture(scope="module", autouse=True)
def read_once():
    """What a model says to a sequence alone hangs on no mask of ours, and is the same in every trial."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(window_trial, "read_alone", cache(window_trial.read_alone))
        yield


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("architecture", fast(MASKED, "mistral with a window"))
def test_at_every_length_around_the_window_what_is_read_is_what_one_pass_for_it_gives(architecture, way):
    model = made(architecture)
    for length in (15, 16, 17, 31, 32, 33, 48, 70):
        ids = [(number * 7919 + length) % VOCABULARY for number in range(length + 40)]
        shared, branches = tuple(ids[: length - 6]), [tuple(ids[length - 6 : length]), tuple(ids[length:])]
        branches += [branches[1][:16], branches[1][:17], branches[0][:1]]
        found = WAYS[way](model, shared, branches, range(VOCABULARY))
        for branch, row in zip(branches, found, strict=True):
            assert is_near(architecture, row, shared + branch)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("architecture", fast(MASKED, "mistral with a window"))
def test_a_pass_of_as_many_tokens_as_the_window_has_and_of_one_more_is_read_as_it_is(architecture, way):
    model = made(architecture)
    for length in (16, 17, 18):
        ids = tuple((number * 7919 + length) % VOCABULARY for number in range(length))
        (row,) = WAYS[way](model, ids[:-1], [ids[-1:]], range(VOCABULARY))
        assert is_near(architecture, row, ids)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("architecture", fast(MASKED, "mistral with a window"))
def test_the_trial_finds_nothing_wrong_with_masks_that_are_right_and_leaves_the_window_as_it_was(
    architecture, dtype, way
):
    model = made(architecture, dtype)
    before = model.config.to_dict()
    assert find_window_fault(model, WAYS[way]) is None
    assert model.config.to_dict() == before


def plant(monkeypatch, change):
    """Has masks made for other windows than the model's."""
    windows = tree_masks._windows
    monkeypatch.setattr(tree_masks, "_windows", lambda model, tokens: change(windows(model, tokens)))


def mask_with(monkeypatch, masks):
    for module in ("engine", "cached_text"):
        monkeypatch.setattr(f"valuesassets.models.{module}.tree_masks", masks)


@pytest.mark.parametrize("more", [-1, 1])
@pytest.mark.parametrize("spread", [0.3, 0.05], ids=["sure", "faint"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "architecture", fast(["mistral with a window", "gemma3, one in six", "llama4, in chunks"], "mistral with a window")
)
def test_a_window_that_is_off_by_one_is_found_out_in_half_precision_too(
    monkeypatch, architecture, way, dtype, spread, more
):
    model = made(architecture, dtype, spread)
    plant(monkeypatch, lambda windows: {kind: window and window + more for kind, window in windows.items()})
    assert "beyond its window its answers" in str(find_window_fault(model, WAYS[way]))


@pytest.mark.parametrize("way", WAYS)
def test_a_window_that_is_not_heeded_and_one_in_the_wrong_layers_are_found_out(monkeypatch, way):
    model = made("gemma3, one in six", torch.float32)
    with monkeypatch.context() as context:
        plant(context, lambda windows: dict.fromkeys(windows))
        assert "beyond its window its answers" in str(find_window_fault(model, WAYS[way]))
    masks = tree_masks.tree_masks

    def exchanged(*arguments):
        found = masks(*arguments)
        return dict(zip(found, reversed(found.values()), strict=True))

    mask_with(monkeypatch, exchanged)
    assert "beyond its window its answers" in str(find_window_fault(model, WAYS[way]))


@pytest.mark.parametrize("way", WAYS)
def test_a_window_that_is_counted_along_the_input_is_found_out(monkeypatch, way):
    model = made("mistral with a window", torch.float32)
    masks = tree_masks.tree_masks

    def by_index(model, ends, positions, is_seen_before):
        before = is_seen_before.shape[2]
        return masks(model, ends, before + torch.arange(positions.shape[1])[None], is_seen_before)

    mask_with(monkeypatch, by_index)
    assert "beyond its window its answers" in str(find_window_fault(model, WAYS[way]))


@pytest.mark.parametrize("nth", [0, 1, 2], ids=["its own", "one token shorter", "one token longer"])
def test_answers_that_are_no_numbers_are_found_out(nth):
    model, read = made("mistral with a window", torch.float32), []

    def spoilt(*arguments):
        rows = read_in_tree(*arguments)
        read.append(rows)
        return [replace(row, log_probs=(math.nan,) * VOCABULARY) for row in rows] if len(read) == nth + 1 else rows

    assert find_window_fault(model, spoilt) == "beyond its window its answers are no numbers"


def test_where_the_configuration_does_not_set_the_window_nothing_beyond_it_is_trusted():
    model = made("gpt_neo")
    assert find_window_fault(model, read_in_tree) == (
        "its window cannot be tried, since its configuration does not set it"
    )


def test_an_error_within_leaves_the_window_as_it_was():
    model = made("mistral with a window")
    with pytest.raises(KeyError), looking_back(model, 5):
        {5: "as asked"}[model.config.sliding_window + 1]
    assert model.config.sliding_window == 16
    assert {name for name in WINDOWS if hasattr(model.config, name)} == {"sliding_window"}


# ---------- prompts


def questions(count, length=70):
    """Prompts that begin alike by twos, a token a byte, and labels of one to ten."""
    stems = [f"{n // 2}. How {'xyz'[n // 2 % 3] * length} so?\n{'12'[n % 2]} " for n in range(count)]
    return [trial(f"{stem}A:", 3 + n % 2 * 7, f"v{n}/0/forward") for n, stem in enumerate(stems)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    def folder(architecture, **config):
        where = tmp_path_factory.mktemp("m") / "m"
        return write_model(where, byte_level(size=257), architecture=architecture, spread=0.2, **config)

    return folder


@pytest.mark.parametrize("window", [20, 75, 76, 77, 152, 4096])
def test_a_window_costs_no_token(folders, window):
    trials = questions(12)
    plans = []
    for size in (window, None):
        loaded = load_model(str(folders("mistral", sliding_window=size)), dtype="float32", device="cpu")
        reading = ReadingPass(loaded, spell_trials(loaded.opened, trials), BatchBudget.for_device("cpu"))
        assert reading.notes == []
        plans.append((reading.tokens, reading.batches, reading.kept_prefixes))
    assert plans[0] == plans[1]


@pytest.mark.parametrize("length", [50, 112, 140, 300])
@pytest.mark.slow
def test_where_masks_cannot_be_given_trees_are_cut_to_the_window_and_read_as_they_are_alone(folders, length):
    folder = folders("gpt_neo")
    loaded, oracle = load_model(str(folder), dtype="float32", device="cpu"), BruteForce(folder)
    assert loaded.tree_fault is None  # its trial fits into the window
    trials = questions(6, length)
    result = score_trials(loaded, trials)
    if length == 50:
        assert not result.notes
    else:
        assert result.notes == (f"trees were cut to the model's window of 128 tokens: {loaded.tree_window_fault}",)
    spelled = spell_trials(loaded.opened, trials)
    alone = ReadingPass(loaded, spelled, BatchBudget.for_device("cpu"), as_chains=True)
    assert (result.tokens < alone.tokens) == (length < 112)  # where a tree of two spellings fits
    assert result.tokens <= alone.tokens
    for asked, reading in zip(trials, result.readings, strict=True):
        expected = oracle.label_probs(asked.prompt, asked.labels)
        assert reading.label_probs == pytest.approx(expected, abs=1e-6, rel=1e-4)


@pytest.mark.parametrize(("length", "kept"), [(70, 1), (100, 0)])
@pytest.mark.slow
def test_where_masks_cannot_be_given_a_prefix_is_kept_only_where_all_fits_into_the_window(folders, length, kept):
    folder = folders("gpt_neo")
    loaded, oracle = load_model(str(folder), dtype="float32", device="cpu"), BruteForce(folder)
    trials = [trial(f"{'qxzjvkwy' * 20}"[:length] + f"\n{n:03d} {'abc'[n % 3] * 25}:", 3, f"v{n}") for n in range(240)]
    result = score_trials(loaded, trials)
    assert (loaded.prefix_fault, result.kept_prefixes) == (None, kept)
    for asked, reading in list(zip(trials, result.readings, strict=True))[::70]:
        expected = oracle.label_probs(asked.prompt, asked.labels)
        assert reading.label_probs == pytest.approx(expected, abs=1e-6, rel=1e-4)
