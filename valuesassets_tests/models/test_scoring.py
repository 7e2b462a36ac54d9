import math
from dataclasses import replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from valuesassets.models import spelled_trials
from valuesassets.models.certificate import Certificate
from valuesassets.models.loading import load_model
from valuesassets.models.spelled_trials import reading_key, spell_trials
from valuesassets.models.token_trees import BatchBudget
from valuesassets.records.errors import ScoringError, TokenizerError
from valuesassets.records.trials import Status
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer
from valuesassets.spelling.spellings import spell_labels
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.scored import score_trials
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, trial, write_model

NUMBERS = tuple(str(n) for n in range(100))
RELAXED = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("labels", [4, 5, 10, ("yes", "no", "1", "11", "111"), ("1", "1.5", "2")], ids=str)
@pytest.mark.parametrize("prompt", PROMPTS, ids=["eng", "deu", "ell"])
def test_equals_brute_force_in_float64(loaded, prompt, labels):
    asked = trial(prompt, labels)
    (reading,) = score_trials(loaded, [asked]).readings
    expected = BruteForce(loaded.model_id).label_probs(prompt, asked.labels)
    if reading.status is Status.UNRESOLVED:
        assert reading.label_probs is None
        assert reading.resolution_mass < 0.01
    else:
        assert reading.label_probs == pytest.approx(expected, abs=1e-5, rel=1e-3)


def test_two_digit_numbers_equal_brute_force_too(loaded):
    (reading,) = score_trials(loaded, [trial(PROMPTS[0], NUMBERS)]).readings
    expected = BruteForce(loaded.model_id).label_probs(PROMPTS[0], NUMBERS)
    assert reading.label_probs == pytest.approx(expected, abs=1e-5, rel=1e-3)


def test_the_digit_behind_a_space_is_two_tokens_here_and_one_there(model_folders):
    spelled = {
        name: spell_labels(load_model(str(folder)).tokenizer, PROMPTS[0], ["1", "10"])
        for name, folder in model_folders.items()
    }
    lengths = {name: [sorted(map(len, s)) for s in found.spellings] for name, found in spelled.items()}
    assert lengths == {"sentencepiece": [[1, 2], [2, 3]], "byte_level": [[1, 1], [1, 1]]}


@RELAXED
@given(st.permutations(["1", "2", "3", "10", "4"]))
def test_the_order_of_labels_is_irrelevant(loaded, labels):
    sorted_labels = tuple(sorted(labels))
    one, other = score_trials(loaded, [trial(PROMPTS[2], tuple(labels)), trial(PROMPTS[2], sorted_labels)]).readings
    if one.status is Status.OK:
        assert dict(zip(labels, one.label_probs, strict=True)) == pytest.approx(
            dict(zip(sorted_labels, other.label_probs, strict=True)), abs=1e-7
        )
        assert math.fsum(one.label_probs) == pytest.approx(one.p_valid, abs=1e-12)


@RELAXED
@given(st.integers(1, 500), st.integers(1, 70))
@pytest.mark.slow
def test_the_result_does_not_depend_on_the_batch(loaded, tokens, rows):
    trials = [
        trial(prompt, k, f"v{i}/0/forward") for i, (prompt, k) in enumerate(zip(PROMPTS, (4, 10, 2), strict=True))
    ]
    alone = score_trials(loaded, trials, budget=BatchBudget(1, 1)).readings
    together = score_trials(loaded, trials, budget=BatchBudget(tokens, rows))
    for one, other in zip(alone, together.readings, strict=True):
        assert one.trial_id == other.trial_id
        assert one.status is other.status
        assert (one.label_probs or ()) == pytest.approx(other.label_probs or (), abs=1e-5)
    assert together.certificate.agrees
    assert together.certificate.trials == sum(reading.status is Status.OK for reading in together.readings)


def test_what_stops_and_what_goes_on_loses_no_mass(tmp_path):
    tokenizer = sentencepiece_like()
    loaded = load_model(str(write_model(tmp_path / "m", tokenizer, spread=0.02)))
    with_ten, without = score_trials(
        loaded, [trial(PROMPTS[1], ("1", "10", "2")), trial(PROMPTS[1], ("1", "2"))]
    ).readings
    assert with_ten.label_probs[0] + with_ten.label_probs[1] == pytest.approx(without.label_probs[0], abs=1e-7)
    assert without.resolution_mass is None
    assert 0.01 < with_ten.resolution_mass_min <= with_ten.resolution_mass < 1


def test_readings_keep_what_the_model_wanted_to_say_instead(loaded):
    (reading,) = score_trials(loaded, [trial(PROMPTS[0], 4)]).readings
    probs = [prob for _, prob in reading.outside]
    assert len(probs) == 5
    assert probs == sorted(probs, reverse=True)
    assert reading.p_valid + sum(probs) <= 1 + 1e-6
    assert not {text.strip() for text, _ in reading.outside} & {"1", "2", "3", "4"}


def test_nan_logits_name_model_trial_and_order(loaded):
    head = loaded.model.get_output_embeddings()
    handle = head.register_forward_hook(lambda _m, _i, out: out * torch.nan)
    try:
        with pytest.raises(
            ScoringError, match=r"NaN or infinite logits at trial v7/0/reversed \(eng, order reversed\)"
        ):
            score_trials(loaded, [trial(PROMPTS[0], 4, "v7/0/reversed", "reversed")])
    finally:
        handle.remove()


def test_a_trial_that_cannot_be_asked_fails_alone_and_says_why(model_folders):
    loaded = load_model(str(model_folders["byte_level"]))
    merged = trial("Number 9", ("9", "8"), "merged/0/forward")  # `99` is one token: the prompt's own would change
    good, bad = score_trials(loaded, [trial(PROMPTS[0], 4), merged]).readings
    assert good.status is Status.OK
    assert bad.status is Status.FAILED
    assert bad.label_probs is None
    assert str(model_folders["byte_level"]) in bad.reason
    assert "'Number 9'" in bad.reason
    with pytest.raises(TokenizerError, match="none of 1 trials can be asked"):
        score_trials(loaded, [merged])


def test_labels_that_cannot_be_told_apart_are_refused(loaded):
    with pytest.raises(TokenizerError, match="cannot be distinguished"):
        spell_labels(loaded.tokenizer, PROMPTS[0], ["1", " 1"])


def test_keys_change_with_everything_that_matters_and_with_nothing_else(model_folders, tmp_path):
    one = load_model(str(model_folders["sentencepiece"])).opened
    other = load_model(str(write_model(tmp_path / "m", sentencepiece_like(), seed=1))).opened
    half = load_model(str(model_folders["sentencepiece"]), dtype="bfloat16").opened
    asked, renamed = trial(PROMPTS[0], 4), trial(PROMPTS[0], 4, "v2/0/forward")
    (spelled,) = spell_trials(one, [asked])
    keys = {
        spelled.key,
        spell_trials(other, [asked])[0].key,
        spell_trials(half, [asked])[0].key,
        spell_trials(one, [trial(PROMPTS[0], 5)])[0].key,
        spell_trials(one, [trial(PROMPTS[1], 4)])[0].key,
    }
    assert len(keys) == 5
    assert spell_trials(one, [renamed])[0].key == spelled.key == reading_key(one, spelled.spelled)


def test_a_key_changes_with_the_tokenizer_and_the_scorer_alone(model_folders, monkeypatch):
    opened = load_model(str(model_folders["sentencepiece"])).opened
    (spelled,) = spell_trials(opened, [trial(PROMPTS[0], 4)])
    larger = sentencepiece_like()
    larger.add_tokens(["a word that no prompt has"])
    other = replace(opened, tokenizer=replace(opened.tokenizer, hf=larger))
    assert spell_trials(other, [trial(PROMPTS[0], 4)])[0].spelled == spelled.spelled
    keys = {spelled.key, reading_key(other, spelled.spelled)}
    monkeypatch.setattr(spelled_trials, "SCORER_VERSION", "another")
    assert len(keys | {reading_key(opened, spelled.spelled)}) == 3


def test_no_certificate_beyond_the_tolerance():
    assert Certificate(trials=4, max_difference=1e-5, tolerance=1e-5).agrees
    assert not Certificate(trials=4, max_difference=1.1e-5, tolerance=1e-5).agrees


def test_progress_ends_with_every_trial(loaded):
    seen = []
    score_trials(
        loaded, [trial(p, 3, p[:3]) for p in PROMPTS], on_progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(3, 3)]
    score_trials(loaded, [trial(p, 3, p[:3]) for p in PROMPTS], lambda *done: seen.append(done), BatchBudget(1, 1))
    assert seen[1:] == [(1, 3), (2, 3), (3, 3)]


def test_half_precision_weights_are_read_in_float32(tmp_path):
    folder = str(write_model(tmp_path / "m", sentencepiece_like(), spread=0.1))
    asked = [trial(prompt, k, f"{prompt[:3]}{k}/0/forward") for prompt in PROMPTS for k in (4, 10)]
    half, whole = (score_trials(load_model(folder, dtype=dtype), asked) for dtype in ("bfloat16", "float32"))
    assert half.certificate.max_difference <= half.certificate.tolerance < 0.3
    for one, other in zip(half.readings, whole.readings, strict=True):
        assert one.p_valid == pytest.approx(other.p_valid, rel=0.03)


def test_a_prompt_longer_than_the_model_reads_fails_alone(tmp_path):
    folder = write_model(tmp_path / "m", sentencepiece_like(), max_position_embeddings=64)
    short, long = score_trials(
        load_model(str(folder)), [trial("Well?\n1. a\n2. b\nA:", 2), trial(PROMPTS[0] * 9, 4, "v9/0/forward")]
    ).readings
    assert short.status is Status.OK
    assert (long.status, long.label_probs) == (Status.FAILED, None)
    assert "64 at most" in long.reason


def test_a_tokenizer_that_lacks_a_letter_or_a_number_is_refused_not_read_as_unknown():
    whole = Tokenizer(models.WordLevel({"<unk>": 0, "1": 1, "2": 2, "A:": 3}, unk_token="<unk>"))
    whole.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PromptTokenizer(PreTrainedTokenizerFast(tokenizer_object=whole, unk_token="<unk>"), "words", ())
    with pytest.raises(TokenizerError, match="words: the tokenizer has no token for what stands behind '1' of '1 ж'"):
        tokenizer.require_round_trip("1 ж")
    with pytest.raises(TokenizerError, match="words: it has no token for ' 7' after '1 2 A:'"):
        spell_labels(tokenizer, "1 2 A:", [" 7", " 1"])
