"""Answers that a model writes: `generate` is the oracle, and no answer hangs on what is asked beside it."""

import math
import random
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
import torch
from transformers import DynamicCache

from valuesassets.models import answer_certificate, writing
from valuesassets.models.answer_certificate import (
    CERTIFIED,
    FEWEST,
    SHARE,
    GenerationCertificate,
    certify_answers,
    choose_answers,
)
from valuesassets.models.asking import Asking
from valuesassets.models.generating import BLOCK_ROWS, prepare_answers, write_answers
from valuesassets.models.known_readings import KnownAnswers
from valuesassets.models.loading import load_model
from valuesassets.models.rows_in_flight import PaddedRows
from valuesassets.models.written_text import whole_text
from valuesassets.records.errors import QuestionError, ScoringError, TokenizerError
from valuesassets.records.trials import Status
from valuesassets_tests.models.test_engine import exhaust
from valuesassets_tests.models.writers import asked, by_generate, greedy_tokens, texts, written
from valuesassets_tests.parameters import fast
from valuesassets_tests.tiny_models import ARCHITECTURES, PROMPTS, UNSUITABLE, byte_level, trial, write_model

MANY = [*PROMPTS, "One", "What is it?\n" * 3, "Ναι, ό", PROMPTS[0] + " 1\n" + PROMPTS[2], "x"]


def drawn_trials(prompts, samples, max_tokens):
    """Trials with settings of all kinds."""
    kinds = [(0.7, 1.0), (1.0, 1.0), (1.5, 1.0), (1.0, 0.9), (0.0, 1.0)]
    return [
        asked(prompt, f"q{n}/{heat}/{share}", max_tokens=max_tokens, temperature=heat, top_p=share, samples=samples)
        for n, prompt in enumerate(prompts)
        for heat, share in kinds
    ]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model by its architecture, made once."""

    @cache
    def model(architecture):
        where = tmp_path_factory.mktemp("m") / "m"
        folder = write_model(where, byte_level(), architecture=architecture, spread=0.2)
        return load_model(str(folder), dtype="float32")

    return model


@pytest.mark.parametrize("architecture", fast([*ARCHITECTURES, *UNSUITABLE], "llama", "rwkv"))
def test_greedy_answers_are_those_of_generate_one_by_one_on_every_architecture(architecture, models):
    loaded = models(architecture)
    trials = [asked(prompt, f"q{n}", temperature=0, max_tokens=12) for n, prompt in enumerate(MANY[1:6])]
    result = written(loaded, trials, width=4)
    assert texts(result) == by_generate(loaded, trials)
    assert result.certificate == GenerationCertificate(2, 1.0, True)
    by_itself = {"mamba": "rows of one length go together", "rwkv": "rows go one by one"}
    assert [note.split(":")[0] for note in result.notes] == [*filter(None, [by_itself.get(architecture)])]


@pytest.mark.parametrize("architecture", fast([*ARCHITECTURES, *UNSUITABLE], "llama", "rwkv"))
def test_left_padding_is_honoured_by_all_that_have_a_cache(architecture, models):
    loaded = models(architecture)
    assert (loaded.padding_fault is None) == (architecture not in ("mamba", "rwkv"))
    assert (loaded.mixing_fault is None) == (architecture != "rwkv")


@pytest.mark.parametrize("architecture", ["llama", "mamba", "rwkv", "gemma2 with a window"])
@pytest.mark.slow
def test_drawn_answers_are_the_same_alone_in_any_batch_shuffled_and_in_three_jobs(architecture, models):
    loaded = models(architecture)
    entries = prepare_answers(loaded.opened, drawn_trials(MANY[1:5], 2 if architecture == "llama" else 1, 8))
    expected = texts(write_answers(loaded, entries))
    shuffled = entries.copy()
    random.Random(3).shuffle(shuffled)  # noqa: S311
    for width in (7, 16):
        assert texts(write_answers(loaded, shuffled, width=width)) == expected
    assert texts(write_answers(loaded, shuffled[:12], width=1)).items() <= expected.items()
    for job in range(3):
        assert texts(write_answers(loaded, shuffled[job::3], width=5)).items() <= expected.items()
    for entry in shuffled[:6]:
        assert texts(write_answers(loaded, [entry])).items() <= expected.items()
    assert len(Counter(text for text, _, _ in expected.values())) > len(entries) / 2


def test_samples_differ_and_the_same_question_has_the_same_answers(loaded):
    result = written(loaded, [asked("One", name, samples=6, max_tokens=8) for name in ("a", "b")])
    found = [answer.text for answer in result.records]
    assert found[:6] == found[6:]
    assert len(set(found)) == 6
    assert [(answer.trial_id, answer.sample) for answer in result.records] == [(n, k) for n in "ab" for k in range(6)]


def test_another_seed_gives_other_answers(loaded):
    one, other = (written(loaded, [asked("One", seed=seed)]).records[0] for seed in (1, 2))
    assert one.text != other.text
    assert one.answer_key != other.answer_key


def test_a_longer_limit_goes_on_from_the_same_text(loaded):
    short, long = (written(loaded, [asked("One", max_tokens=n)]).records[0] for n in (6, 20))
    assert long.text.startswith(short.text)
    assert short.finish == "length"
    assert short.n_tokens == 6


def test_a_stop_text_is_cut_at_its_first_place_wherever_tokens_end(loaded):
    """Any part of what the model writes by itself may be a stop text, over the bounds of its tokens or inside one."""
    free = written(loaded, [asked("One", temperature=0, max_tokens=24)]).records[0]
    whole = free.text
    stops = [whole[start : start + size] for size in (1, 2, 3, 5) for start in range(3, len(whole) - size, 5)]
    trials = [asked("One", f"{n}", temperature=0, max_tokens=24, stop=(stop,)) for n, stop in enumerate(stops)]
    for stop, answer in zip(stops, written(loaded, trials).records, strict=True):
        assert answer.text == whole[: whole.index(stop)]
        assert answer.finish == "stop"
        if "\ufffd" in answer.text:
            continue  # random weights write bytes that are no characters; which token says one is not defined
        ids, tokens, _ = greedy_tokens(loaded, "One", 24)
        for n in (answer.n_tokens, max(answer.n_tokens - 1, 0)):
            said = whole_text(loaded.tokenizer, ids, tokens[:n])
            assert said.startswith(answer.text) == (n == answer.n_tokens)


def test_of_two_stop_texts_the_first_to_come_ends_the_answer(loaded):
    whole = written(loaded, [asked("One", temperature=0, max_tokens=24)]).records[0].text
    answer = written(loaded, [asked("One", temperature=0, max_tokens=24, stop=(whole[9:12], whole[4:6]))]).records[0]
    assert answer.text == whole[: min(whole.index(whole[9:12]), whole.index(whole[4:6]))]


def end_at(loaded, monkeypatch, token):
    monkeypatch.setitem(loaded.__dict__, "eos_ids", frozenset([token]))


def test_the_token_that_ends_a_text_is_no_part_of_it(loaded, monkeypatch):
    ids, tokens, _ = greedy_tokens(loaded, "One", 12)
    end = next(n for n in range(4, 12) if tokens[n] not in tokens[:n])
    end_at(loaded, monkeypatch, tokens[end])
    (answer,) = written(loaded, [asked("One", temperature=0, max_tokens=12)]).records
    assert (answer.finish, answer.n_tokens) == ("end", end)
    assert answer.text == loaded.tokenizer.continuation_text(ids, tokens[:end]).rstrip("\ufffd")


def test_a_model_that_ends_at_once_has_written_an_empty_text(loaded, monkeypatch):
    _, tokens, _ = greedy_tokens(loaded, "One", 1)
    end_at(loaded, monkeypatch, tokens[0])
    (answer,) = written(loaded, [asked("One", temperature=0)]).records
    assert (answer.text, answer.finish, answer.n_tokens, answer.status) == ("", "end", 0, Status.OK)


def test_trials_that_cannot_be_asked_are_rows_with_their_reason(model_folders):
    loaded = load_model(str(model_folders["byte_level"]), dtype="float32")
    trials = [asked("One", "good"), asked("", "empty", samples=2), asked("One", "long", max_tokens=1024)]
    good, first, second, long = written(loaded, trials).records
    assert good.status is Status.OK
    assert (first.status, first.sample, second.sample) == (Status.FAILED, 0, 1)
    assert "the prompt has no tokens" in first.reason
    assert (long.status, long.text) == (Status.FAILED, None)
    assert f"prompt and answer take up to 1027 tokens, {loaded.model_id} reads 1024 at most" in long.reason
    with pytest.raises(TokenizerError, match="none of 1 answers can be asked for, the first because"):
        written(loaded, trials[2:])


def test_an_empty_prompt_is_answered_where_a_token_begins_every_text(model_folders):
    loaded = load_model(str(model_folders["sentencepiece"]), dtype="float32")
    (answer,) = written(loaded, [asked("")]).records
    assert answer.status is Status.OK


def test_trials_that_are_read_by_labels_are_refused(loaded):
    with pytest.raises(QuestionError, match="is read by ScoreLabels, Generate was expected"):
        prepare_answers(loaded.opened, [trial("One", 2)])


def test_a_row_of_broken_logits_fails_and_its_neighbours_are_written(loaded):
    """A prompt of its own token, whose embedding is broken."""
    expected = texts(written(loaded, [asked("One", "good", samples=3)]))
    (bad,) = set(loaded.tokenizer.encode(["x"])[0]) - set(loaded.tokenizer.bos)
    weights = loaded.model.get_input_embeddings().weight
    before = weights[bad].clone()
    try:
        with torch.no_grad():
            weights[bad] = math.nan
        result = written(loaded, [asked("One", "good", samples=3), asked("x", "bad")])
        with pytest.raises(ScoringError, match="NaN or infinite logits at trial bad"):
            written(loaded, [asked("x", "bad")])
    finally:
        with torch.no_grad():
            weights[bad] = before
    assert texts(result).items() >= expected.items()
    failed = result.records[3]
    assert (failed.status, failed.text) == (Status.FAILED, None)
    assert failed.reason == (
        f"{loaded.model_id}: NaN or infinite logits at trial bad (eng, sample 0) (dtype float32); the weights are "
        "damaged: download or save them again"
    )


def test_out_of_memory_halves_the_rows_says_so_and_changes_no_answer(loaded):
    trials = [asked(prompt, f"q{n}", samples=3, max_tokens=8) for n, prompt in enumerate(MANY[3:6])]
    expected = written(loaded, trials)
    with exhaust(loaded.model, 60):
        result = written(loaded, trials, width=8)
    assert result.notes[0] == "out of memory: went on with 4 rows at a time"
    assert texts(result) == texts(expected)
    with exhaust(loaded.model, 40):
        *short, long = written(loaded, [*trials, asked(PROMPTS[0] * 2, "long")], width=2).records
    assert {answer.status for answer in short} == {Status.OK}
    assert "its tokens do not fit into the memory of cpu at trial long" in long.reason


def test_what_is_known_is_not_written_again_and_blocks_are_kept_as_they_are_whole(loaded, tmp_path):
    trials = [asked(prompt, f"q{n}", samples=5, max_tokens=4) for n, prompt in enumerate(MANY)]
    kept, seen = KnownAnswers(tmp_path), []

    def stop_late(done, total):
        seen.append(done)
        if done >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(loaded, trials, width=2, store=kept, on_progress=stop_late)
    entries = prepare_answers(loaded.opened, trials)
    assert sum(kept.get(entry.key) is not None for entry in entries) == 30 // (2 * BLOCK_ROWS) * 2 * BLOCK_ROWS == 16
    again = []
    result = written(loaded, trials, width=2, store=KnownAnswers(tmp_path), on_progress=lambda *at: again.append(at))
    assert 16 < again[0][0] < 30
    assert again[-1] == (40, 40)
    assert texts(result) == texts(written(loaded, trials))


def test_twenty_samples_more_leave_the_first_forty_as_they_were(loaded, tmp_path):
    few, more = (
        texts(result)
        for result in (
            written(loaded, [asked(PROMPTS[0], samples=n, max_tokens=4)], width=4, store=store)
            for n, store in ((40, KnownAnswers(tmp_path)), (60, KnownAnswers(tmp_path)))
        )
    )
    assert len(few) == 40
    assert few.items() <= more.items()
    assert texts(written(loaded, [asked(PROMPTS[0], samples=60, max_tokens=4)])) == more
    first, second = (prepare_answers(loaded.opened, [asked(PROMPTS[0], samples=n)]) for n in (40, 60))
    assert [entry.key for entry in first] == [entry.key for entry in second][:40]


def test_an_asking_that_is_known_needs_no_model_and_gives_the_same_file(loaded, tmp_path):
    asking = Asking(loaded.opened, [asked(prompt, f"q{n}", samples=2) for n, prompt in enumerate(PROMPTS)])
    known = asking.open_known(tmp_path / "known")
    result, described = asking.ask(loaded, store=known)
    asking.write(tmp_path / "one.parquet", result.records, described)
    asking.write(tmp_path / "two.parquet", *asking.recall(asking.open_known(tmp_path / "known")))
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    assert asking.is_written(tmp_path / "two.parquet")
    assert described["batch_invariance"] == {"answers": 2, "equal_share": 1.0, "agrees": True}


@pytest.mark.parametrize("dtype", ["bfloat16"])
def test_in_half_precision_answers_part_at_near_ties_only(model_folders, dtype):
    loaded = load_model(str(model_folders["byte_level"]), dtype=dtype)
    certificate = written(loaded, [asked(p, f"q{n}", max_tokens=20) for n, p in enumerate(MANY)]).certificate
    assert certificate.agrees
    assert certificate.doubt is None


def test_an_answer_that_changes_beside_others_is_a_doubt():
    doubt = GenerationCertificate(8, 0.5, False).doubt
    assert doubt == (
        "answers change with the batch where no two tokens were near a tie; 50% of 8 that were read again "
        "alone came out the same"
    )
    assert GenerationCertificate(0, 0.0, False).doubt is None


FAULTS = {"another row is seen": "_read", "padding is seen": "begin", "positions are off behind a join": "join"}


@pytest.fixture(scope="module", params=[0.0, 1.0])
def sound(request, models):
    """A model, eight trials of one temperature, and what it writes to them in four places: rows are left and joined."""
    loaded = models("gpt2")
    trials = [asked(p, f"q{n}", temperature=request.param, max_tokens=8 + 3 * n) for n, p in enumerate(MANY)]
    return loaded, trials, written(loaded, trials, width=4)


@pytest.mark.parametrize("fault", FAULTS)
def test_rows_that_are_not_read_as_they_are_alone_are_a_doubt(fault, sound, monkeypatch):
    loaded, trials, expected = sound
    assert (expected.certificate.equal_share, expected.certificate.agrees) == (1.0, True)
    plain = getattr(PaddedRows, FAULTS[fault])

    def faulty(rows, *given):
        if fault == "another row is seen":
            logits = plain(rows, *given)
            return 0.7 * logits + 0.3 * logits.roll(1, 0)
        if fault == "padding is seen":
            plain(rows, *given)
            rows._lengths = torch.full_like(rows._lengths, int(rows._lengths.max()))
            rows._cache = DynamicCache()
            width = max(map(len, given[0]))
            return rows._read(torch.tensor([[*[0] * (width - len(row)), *row] for row in given[0]]), 0)
        plain(rows, *given)
        rows._lengths = rows._lengths - 1
        return None

    monkeypatch.setattr(PaddedRows, FAULTS[fault], faulty)
    result = written(loaded, trials, width=4)
    assert texts(result) != texts(expected)
    assert not result.certificate.agrees
    assert result.certificate.doubt.startswith("answers change with the batch")


def test_what_is_read_again_is_a_quarter_of_what_was_written_and_two_answers_at_least(loaded):
    entries = prepare_answers(loaded.opened, [asked(p, f"q{n}", samples=9, max_tokens=40) for n, p in enumerate(MANY)])
    result = write_answers(loaded, entries)
    work = {entry.key: entry.request for entry in entries}
    answers = {answer.key: answer for answer in result.records}
    assert [len(choose_answers(work, dict(list(answers.items())[:count]))) for count in (1, 2, 5)] == [1, 2, 2]
    keys = choose_answers(work, answers)
    assert FEWEST < len(keys) <= CERTIFIED
    assert min(len(each.prompt_ids) for each in work.values()) in {len(work[key].prompt_ids) for key in keys}
    read = sum(len(work[key].prompt_ids) + len(answers[key].token_ids) for key in keys)
    new = sum(len(answer.token_ids) for answer in answers.values())
    assert read <= SHARE * (new + sum(map(len, {each.prompt_ids for each in work.values()})))


def test_a_text_of_more_places_than_a_pass_reads_is_compared_to_its_end(loaded, monkeypatch):
    monkeypatch.setattr(answer_certificate, "ROWS", 5)
    (entry,) = prepare_answers(loaded.opened, [asked("One", max_tokens=23)])
    (answer,) = write_answers(loaded, [entry]).records
    assert certify_answers(loaded, {entry.key: entry.request}, {entry.key: answer}).equal_share == 1.0
    for place in (0, 4, 5, 22):
        ids = list(answer.token_ids)
        ids[place] = (ids[place] + 1) % 100
        changed = replace(answer, token_ids=tuple(ids))
        assert not certify_answers(loaded, {entry.key: entry.request}, {entry.key: changed}).agrees
    cut = replace(answer, token_ids=answer.token_ids[:-1], finish="end")
    assert not certify_answers(loaded, {entry.key: entry.request}, {entry.key: cut}).agrees


def test_an_answer_that_does_not_fit_alone_is_left_out_of_the_certificate(loaded):
    (entry,) = prepare_answers(loaded.opened, [asked("One", max_tokens=20)])
    (answer,) = write_answers(loaded, [entry]).records
    with exhaust(loaded.model, 10):
        certificate = certify_answers(loaded, {entry.key: entry.request}, {entry.key: answer})
    assert certificate == GenerationCertificate(0, 0.0, False)
    assert certificate.doubt is None


def test_a_stop_text_ends_a_row_at_once_and_as_a_look_at_every_eighth_token_has_it(loaded, monkeypatch):
    whole = written(loaded, [asked("One", temperature=0, max_tokens=24)]).records[0].text
    parts = [whole[start : start + size] for start in range(2, len(whole) - 6, 3) for size in (1, 2, 6)]
    kinds = [(one, other) for one in parts[::3] for other in parts[::2]]
    trials = [asked("One", f"{n}", temperature=0, max_tokens=24, stop=stops) for n, stops in enumerate(kinds)]
    at_once = written(loaded, trials)
    monkeypatch.setattr(writing, "has_stop", lambda *_: False)
    later = written(loaded, trials)
    assert texts(at_once) == texts(later)
    lengths = [sum(len(answer.token_ids) for answer in result.records) for result in (at_once, later)]
    assert lengths[0] < lengths[1]
