"""Models whose cache cannot be read beside: the text goes through one, and copies of it go on at every answer."""

import copy
import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from transformers.cache_utils import LinearAttentionLayer

from valuesassets.models import forked_text, tree_masks
from valuesassets.models.asking import Asking
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loading import load_model
from valuesassets.models.window_trial import find_window_fault, read_beside_text
from valuesassets_tests.models.spans.oracle import SpanOracle
from valuesassets_tests.models.spans.texts import span_trial, transcript
from valuesassets_tests.parameters import fast
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

FORKED, CACHED, ALONE = "on copies of the cached text", "beside one cached text", "each sequence alone"
ALTERNATING = {"layer_types": ["sliding_attention", "full_attention"]}
MODELS = {
    "lfm2": {"model_type": "lfm2", "layer_types": ["conv", "full_attention"], "conv_L_cache": 3},
    "falcon_h1": {"model_type": "falcon_h1", "mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8}
    | {"mamba_n_groups": 1, "mamba_d_state": 8, "mamba_chunk_size": 16},
    "gemma3, window 40": {"architecture": "gemma3", "sliding_window": 40},
    "gemma3, window 150": {"architecture": "gemma3", "sliding_window": 150},
    "gemma3, window 400": {"architecture": "gemma3", "sliding_window": 400},
    "bloom": {"architecture": "bloom"},
    "gpt_oss": {"model_type": "gpt_oss", "sliding_window": 128, "head_dim": 8, "num_local_experts": 4}
    | {"num_experts_per_tok": 2}
    | ALTERNATING,
    "rwkv": {"architecture": "rwkv"},
}
DTYPES = {"gpt_oss": "float32", "falcon_h1": "float32"}
"""Kernels of theirs know no float64, or round to float32 within."""
CANDIDATES = ("12", "17", "3", "140", "145")
ANSWERS = [12, 140, 7, 12]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A loaded model by name, and its oracle."""
    made = {}

    def model(name):
        if name not in made:
            folder = write_model(tmp_path_factory.mktemp("m") / "m", sentencepiece_like(), spread=0.2, **MODELS[name])
            oracle = SpanOracle(folder)
            if name == "gpt_oss":
                oracle.model.set_experts_implementation("eager")
            made[name] = load_model(str(folder), dtype=DTYPES.get(name, "float64"), device="cpu"), oracle
        return made[name]

    return model


def ask(loaded, *trials, store=None, on_progress=None):
    return Asking(loaded.opened, trials).ask(loaded, on_progress, store)[0]


def befores(trial, answers):
    """What stands before each span, with these answers in the place of those given."""
    spans, written = trial.readout.spans, ""
    ends = [0, *(span.end for span in spans)]
    for (behind, _), span, answer in zip(pairwise([*ends, len(trial.prompt)]), spans, [*answers, ""], strict=False):
        written += trial.prompt[behind : span.start]
        yield written
        written += answer


@pytest.mark.parametrize("history", ["given", "own"])
@pytest.mark.parametrize(
    ("name", "strategy", "notes"),
    fast(
        [
            ("lfm2", FORKED, "spans were read on copies of the cached text: it fails on a cropped cache"),
            ("falcon_h1", FORKED, "spans were read on copies of the cached text: it fails on a cropped cache"),
            ("bloom", FORKED, "spans were read on copies of the cached text: it fails on a cropped cache"),
            ("gpt_oss", CACHED, None),
            ("gemma3, window 40", CACHED, None),
            ("gemma3, window 150", CACHED, None),
            ("gemma3, window 400", CACHED, None),
            (
                "rwkv",
                ALONE,
                "spans were read one sequence after the other (on copies of its cache its answers differ by",
            ),
        ],
        ("gpt_oss", CACHED, None),
        ("lfm2", FORKED, "spans were read on copies of the cached text: it fails on a cropped cache"),
    ),
)
def test_what_is_read_is_what_one_pass_per_step_in_float64_reads(models, name, strategy, notes, history):
    loaded, oracle = models(name)
    trial = span_trial(
        transcript(ANSWERS, "Answer with a number, please. " * 6), CANDIDATES, history=history, seed=None
    )
    if name == "gpt_oss" and loaded.cache_fault:  # some processors sum its experts otherwise beside other tokens
        strategy, notes = (
            FORKED,
            "spans were read on copies of the cached text: what is read at a span changes with what",
        )
    result = ask(loaded, trial)
    assert len(oracle.ids(trial.prompt)) > 150
    assert result.strategy == strategy
    assert len(result.notes) == (notes is not None)
    assert all(note.startswith(notes) for note in result.notes)
    assert result.certificate.agrees
    own = [CANDIDATES[r.label_probs.index(max(r.label_probs))] for r in result.readings]
    answers = own if history == "own" else list(map(str, ANSWERS))
    for before, reading in zip(befores(trial, answers), result.readings, strict=True):
        expected = oracle.log_probs(before, CANDIDATES, (">>",))
        close = 1e-6 if loaded.opened.dtype == "float64" else 1e-5
        assert [math.log(prob) for prob in reading.label_probs] == pytest.approx(expected, abs=close)
        assert reading.label_probs == pytest.approx([math.exp(log) for log in expected], abs=1e-6)


@pytest.mark.parametrize("history", ["given", "own"])
@pytest.mark.parametrize("name", ["lfm2", "bloom"])
def test_a_text_goes_through_once_and_every_path_behind_it(models, name, history):
    loaded, _ = models(name)
    trial = span_trial(transcript(ANSWERS), CANDIDATES, history=history, seed=None)
    assert loaded.fork_fault is None  # tried by passes of its own, once
    assert loaded.cache_fault is not None
    passed = []

    def count(_module, _arguments, inputs):
        passed.append(inputs["input_ids"].shape[1])

    with loaded.model.register_forward_pre_hook(count, with_kwargs=True):
        result = ask(loaded, trial)
    answers = [CANDIDATES[r.label_probs.index(max(r.label_probs))] for r in result.readings]
    *_, last = befores(trial, answers if history == "own" else list(map(str, ANSWERS)))
    paths = 2 + 1  # "14", which begins with "1"; "3" is read where the text stands
    assert sum(passed) == result.tokens_body + result.tokens_certificate
    assert result.tokens_body == len(loaded.tokenizer.encode([last])[0]) + len(ANSWERS) * (paths - 1)


@pytest.mark.slow
def test_beyond_a_window_whose_masks_are_wrong_a_model_is_read_on_copies(models, monkeypatch):
    loaded, oracle = models("gemma3, window 400")
    windows = tree_masks._windows
    with monkeypatch.context() as wrong:
        wrong.setattr(tree_masks, "_windows", lambda *about: dict.fromkeys(windows(*about)))
        fault = find_window_fault(loaded.model, read_beside_text)
    assert "beyond its window its answers differ by" in str(fault)
    loaded = replace(loaded)  # what is found out of the other stays with it
    vars(loaded)["text_window_fault"] = fault
    short, long = (
        span_trial(transcript(ANSWERS, "Answer with a number, please. " * times), CANDIDATES, f"p{times}")
        for times in (6, 20)
    )
    result = ask(loaded, short, long)
    assert len(oracle.ids(short.prompt)) < 400 < len(oracle.ids(long.prompt))
    note = f"texts longer than the model's window of 400 tokens were read on copies of the cached text: {fault}"
    assert (result.strategy, result.notes) == (CACHED, (note,))
    for trial, readings in ((short, result.readings[:4]), (long, result.readings[4:])):
        for before, reading in zip(befores(trial, list(map(str, ANSWERS))), readings, strict=True):
            expected = oracle.log_probs(before, CANDIDATES, (">>",))
            assert [math.log(prob) for prob in reading.label_probs] == pytest.approx(expected, abs=1e-6)


def read_in_two_passes(loaded, people, stop, folder):
    """What a pass that is broken off behind so many spans and begun again reads."""

    def broken_off(done, _total):
        if done >= stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(loaded, *people, store=KnownReadings(folder), on_progress=broken_off)
    return ask(loaded, *people, store=KnownReadings(folder))


def people_of_texts(times):
    instructions = "Answer with a number, please. " * times
    return [span_trial(transcript(ANSWERS[: n + 1], instructions), CANDIDATES, f"p{n}") for n in range(4)]


@pytest.mark.parametrize("name", ["lfm2", "bloom"])
def test_a_pass_that_was_stopped_ends_with_the_bytes_of_an_undisturbed_one(models, name, tmp_path):
    loaded, _ = models(name)
    people = people_of_texts(6)
    whole = ask(loaded, *people)
    for stop in (1, 3, 10):
        resumed = read_in_two_passes(loaded, people, stop, tmp_path / str(stop))
        assert list(map(repr, resumed.readings)) == list(map(repr, whole.readings))
        assert resumed.describe() == whole.describe()


@pytest.mark.slow
def test_beyond_a_window_a_pass_that_was_stopped_ends_within_the_last_digits_of_float64(models, tmp_path):
    """What is left may be read beside fewer tokens, whose masks are of another width: the last bit may differ."""
    loaded, _ = models("gemma3, window 400")
    people = people_of_texts(20)
    whole = ask(loaded, *people)
    assert list(map(repr, ask(loaded, *people).readings)) == list(map(repr, whole.readings))
    for stop in (1, 3, 10):
        resumed = read_in_two_passes(loaded, people, stop, tmp_path / str(stop))
        for one, other in zip(resumed.readings, whole.readings, strict=True):
            assert one.reading_key == other.reading_key
            assert one.label_probs == pytest.approx(other.label_probs, rel=1e-12)


def test_too_little_memory_halves_the_pieces_on_copies_too(models):
    loaded, _ = models("bloom")
    plain = ask(loaded, trial := span_trial(transcript(ANSWERS), CANDIDATES))

    def hook(_module, _arguments, inputs):
        if inputs["input_ids"].shape[1] > 20:
            raise torch.OutOfMemoryError

    with loaded.model.register_forward_pre_hook(hook, with_kwargs=True):
        halved = ask(loaded, trial)
    assert halved.notes[-1] == "out of memory: went on with pieces of 16 tokens"
    for one, other in zip(plain.readings, halved.readings, strict=True):
        assert one.label_probs == pytest.approx(other.label_probs, rel=1e-9)


def test_a_cache_that_is_no_copy_is_found_out(models, monkeypatch):
    loaded, _ = models("lfm2")
    assert forked_text.find_fork_fault(loaded.model, None, None) is None

    def shared_states(text):
        fork = copy.copy(text._cache)
        fork.layers = [copy.copy(layer) for layer in text._cache.layers]
        return fork

    monkeypatch.setattr(forked_text.ForkedText, "fork", shared_states)
    assert forked_text.find_fork_fault(loaded.model, None, None) == (
        "what is read on a copy of its cache changes the text's own"
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_state_that_is_carried_along_and_not_heeded_is_found_out_in_half_precision_too(models, monkeypatch, dtype):
    loaded = load_model(str(models("lfm2")[0].opened.folder), dtype=dtype, device="cpu")
    assert loaded.fork_fault is None
    update = LinearAttentionLayer.update_conv_state

    def forgetful(layer, conv_states, state_idx=0, **how):
        layer.has_previous_state[state_idx] = False
        return update(layer, conv_states, state_idx, **how)

    monkeypatch.setattr(LinearAttentionLayer, "update_conv_state", forgetful)
    assert forked_text.find_fork_fault(loaded.model, None, None) == (
        "behind a cached text it does not heed a state that it carries along"
    )


def test_a_model_for_texts_that_are_too_short_to_try_it_is_read_alone(models):
    loaded, _ = models("bloom")
    assert forked_text.find_fork_fault(loaded.model, None, 64) == "texts of 64 tokens are too short to try it"
