"""What a model thinks before it answers is no part of its answer, and is counted and limited apart."""

import random
from bisect import bisect_left
from dataclasses import replace
from functools import cache

import pytest

from valuesassets.models.asking import Asking
from valuesassets.models.generating import prepare_answers, write_answers
from valuesassets.models.known_readings import KnownAnswers
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_weights, open_model
from valuesassets.models.writing import Writer
from valuesassets.models.written_text import whole_text
from valuesassets.records.errors import ScoringError, TokenizerError
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.thoughts import split_thought
from valuesassets.records.trials import Status
from valuesassets_tests.models.writers import asked, written
from valuesassets_tests.tiny_chats import ALWAYS_THINKING, THINKING, write_chat_model, write_parrot, write_thinker

SPELLED = ("<0x3C>", "<0x2F>", "t", "h", "i", "n", "k", "<0x3E>")
"""A closing tag that is no token."""
KINDS = {
    "the model begins": (THINKING, ("</think>",)),
    "the template begins": (ALWAYS_THINKING, ("</think>",)),
    "a tag in letters": (THINKING, SPELLED),
    "a tag that a token leaves for the answer": (ALWAYS_THINKING, (*SPELLED[:-1], ">All")),
}
LIMIT = 20


def thinking(folder, limit=LIMIT, dtype="float32"):
    """A model in a chat, thinking."""
    shown = Prompting(style="chat", answer_prefix="none", thinking="on", max_reasoning_tokens=limit)
    return load_weights(open_model(str(folder), dtype=dtype, device="cpu", prompting=shown))


@pytest.fixture(scope="module", params=KINDS)
def thinker(request, tmp_path_factory):
    """A model of each kind, and what it ends a thought by."""
    return thinking(write_thinker(tmp_path_factory.mktemp("m") / "m", *KINDS[request.param]))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The first kind alone."""
    return thinking(write_thinker(tmp_path_factory.mktemp("m") / "m"))


@pytest.fixture(scope="module")
def erratic(tmp_path_factory):
    """Random weights: any token at any time, each hanging on all before it."""
    return thinking(write_chat_model(tmp_path_factory.mktemp("m") / "m", "thinking"), 50)


def everything(result):
    """The answers of a result by trial and sample, all that they hold."""
    return {(answer.trial_id, answer.sample): answer for answer in result.records}


def raw_tokens(loaded, entries):
    """All that the model writes, thought and answer in one, as a model that does not think is let write."""
    opened = replace(loaded.opened, prompting=Prompting(style="chat", answer_prefix="none"))
    limit = loaded.opened.prompting.max_reasoning_tokens
    asked = [
        replace(e.request, readout=replace(e.request.readout, max_tokens=limit + e.request.readout.max_tokens, stop=()))
        for e in entries
    ]
    return [each.tokens for each in Writer(LoadedModel(opened, loaded.model, loaded.device), 64).write(asked)]


def by_hand(loaded, entry, tokens):
    """What an answer must be, from all that was written: the first token with which a closing tag is whole ends it."""
    readout, length = entry.request.readout, len(tokens)

    @cache
    def text(n):
        return whole_text(loaded.tokenizer, entry.request.prompt_ids, tokens[:n])

    end = bisect_left(range(length + 1), True, key=lambda n: "</think>" in text(n))
    if end > min(length, LIMIT):
        reasoning = text(min(length, LIMIT))
        return reasoning.removeprefix("<think>").strip(), min(length, LIMIT), None, None, None
    begins = end - (text(end)[-1] != ">")  # the token that ends the tag begins the answer
    while begins < min(length, LIMIT) and not text(begins + 1).partition("</think>")[2].strip():
        begins += 1
    thought, _, _ = text(length).partition("</think>")
    kept = tokens[begins : begins + readout.max_tokens]
    answer = text(begins + len(kept)).partition("</think>")[2].lstrip()
    stops = [answer.index(stop) for stop in readout.stop if stop in answer]
    is_full = len(kept) == readout.max_tokens
    finish = "stop" if stops else "length" if is_full else "end"
    said = answer[: min(stops)] if stops else answer
    count = next(
        n for n in range(len(kept) + 1) if len(text(begins + n).partition("</think>")[2].lstrip()) >= len(said)
    )
    return thought.removeprefix("<think>").strip(), begins, said, finish, count if stops else len(kept)


@pytest.mark.parametrize(
    ("settings", "samples", "ends"),
    [
        ({"max_tokens": 6}, 12, {"end", "length"}),
        ({"max_tokens": 1}, 12, {"length"}),
        ({"max_tokens": 4, "stop": ("er", "or")}, 25, {"end", "length", "stop"}),
    ],
)
def test_thought_and_answer_are_those_of_all_that_was_written_parted_at_the_closing_tag(
    thinker, settings, samples, ends
):
    trials = [asked("One\nA:", f"q{seed}", samples=samples, seed=seed, **settings) for seed in range(4)]
    entries = prepare_answers(thinker.opened, trials)
    found = everything(write_answers(thinker, entries))
    for entry, tokens in zip(entries, raw_tokens(thinker, entries), strict=True):
        answer = found[entry.trial_id, entry.sample]
        expected = by_hand(thinker, entry, tokens)
        given = answer.reasoning, answer.n_reasoning_tokens, answer.text, answer.finish, answer.n_tokens
        assert given == expected
    assert {answer.finish for answer in found.values()} == ends | {None}


@pytest.mark.slow
def test_the_closing_tag_may_be_the_last_token_of_the_limit_and_is_not_looked_for_behind_it(plain):
    trials = [asked("One\nA:", samples=60)]
    lengths = {a.sample: a.n_reasoning_tokens for a in written(plain, trials).records if a.status is Status.OK}
    assert len(set(lengths.values())) > 5
    for limit in sorted(set(lengths.values()))[:5]:
        found = everything(written(thinking(plain.opened.folder, limit), trials))
        within = [found["q/0", sample] for sample, length in lengths.items() if length <= limit]
        assert {answer.status for answer in within} == {Status.OK}
        assert all(answer.n_reasoning_tokens <= limit for answer in found.values())
        assert any(answer.n_reasoning_tokens == limit and answer.status is Status.FAILED for answer in found.values())


def test_a_thought_without_an_end_is_a_row_with_its_reason_and_what_was_thought(plain, tmp_path):
    known = KnownAnswers(tmp_path)
    result = written(plain, [asked("One\nA:", samples=60)], store=known)
    failed = [answer for answer in result.records if answer.status is Status.FAILED]
    assert 0 < len(failed) < 30
    cut = next(answer for answer in failed if answer.n_reasoning_tokens == LIMIT)
    assert cut.reason == (
        f"{plain.model_id}: its thought has no end (a tag such as </think>) in 20 tokens at trial q/0 (eng, sample "
        f"{cut.sample}) (dtype float32); raise max_reasoning_tokens, or say thinking = 'off' where the model does not "
        "think"
    )
    assert (cut.text, cut.finish, cut.n_tokens) == (None, None, None)
    assert len(cut.reasoning.split()) > 15
    again = KnownAnswers(tmp_path)
    assert all(again.get(answer.key) is not None for answer in result.records)
    with pytest.raises(ScoringError, match=r"its thought has no end .* in 1 tokens at trial q/0"):
        written(thinking(plain.opened.folder, 1), [asked("One\nA:")])


@pytest.mark.parametrize("which", ["plain", "erratic"])
@pytest.mark.slow
def test_thoughts_and_answers_are_the_same_alone_in_any_batch_shuffled_and_known(which, request, tmp_path):
    loaded = request.getfixturevalue(which)
    trials = [
        asked(f"{n}. One\nA:", f"q{n}", samples=4, seed=n, temperature=heat, max_tokens=12, stop=("er",))
        for n, heat in enumerate((0.7, 1.0, 1.5))
    ]
    entries = prepare_answers(loaded.opened, trials)
    result = write_answers(loaded, entries)
    assert result.certificate.agrees
    assert result.certificate.equal_share == 1.0
    expected = everything(result)
    assert {answer.status for answer in expected.values()} == {Status.OK, Status.FAILED}
    shuffled = entries.copy()
    random.Random(3).shuffle(shuffled)  # noqa: S311
    assert everything(write_answers(loaded, shuffled, width=3)) == expected
    thoughtful = [entry for entry in shuffled if expected[entry.trial_id, entry.sample].status is Status.OK][:3]
    for entry in thoughtful:
        assert everything(write_answers(loaded, [entry])).items() <= expected.items()
    known = KnownAnswers(tmp_path)

    def stop_late(done, _):
        if done >= 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_answers(loaded, entries, stop_late, known, width=1)
    assert sum(known.get(entry.key) is not None for entry in entries) == 8
    assert everything(write_answers(loaded, entries, store=KnownAnswers(tmp_path), width=1)) == expected


def test_another_thought_before_the_same_answer_is_a_doubt(plain, tmp_path):
    trials, changed = [asked("One\nA:", samples=8)], KnownAnswers(tmp_path)
    sound = [answer for answer in written(plain, trials).records if answer.status is Status.OK]
    changed.add(replace(each, token_ids=(each.token_ids[1], *each.token_ids[1:])) for each in sound)
    certificate = written(plain, trials, store=changed).certificate
    assert (certificate.equal_share, certificate.agrees) == (0.0, False)


@pytest.mark.slow
def test_in_half_precision_thoughts_and_answers_part_at_near_ties_only(erratic):
    loaded = thinking(erratic.opened.folder, 50, "bfloat16")
    trials = [asked(f"{n}. One\nA:", f"q{n}", max_tokens=30, temperature=2) for n in range(48)]
    certificate = written(loaded, trials).certificate
    assert certificate.answers
    assert certificate.agrees


def test_the_limit_is_part_of_what_an_answer_is_known_by_and_of_the_room_it_takes(plain):
    keys = {
        limit: prepare_answers(thinking(plain.opened.folder, limit).opened, [asked("One\nA:")])[0].key
        for limit in (LIMIT, 30)
    }
    assert len(set(keys.values())) == 2
    with pytest.raises(TokenizerError, match=r"prompt and answer take with its thought up to \d+ tokens"):
        written(thinking(plain.opened.folder, 2048), [asked("One\nA:")])


def test_thought_and_answer_come_apart_at_the_first_closing_tag():
    def parted(text):
        parts = split_thought(text)
        assert "".join(parts) == text
        return parts.reasoning, parts.answer

    assert parted("<think>\na</think>\n\nb</think>c") == ("a", "b</think>c")
    assert parted(" [THINK]a[/THINK]b") == ("a", "b")
    assert parted("<think></think>b") == ("", "b")
    assert parted("<|channel>thought\na<channel|>b") == ("a", "b")
    harmony = "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b"
    assert parted(harmony) == ("a", "b")
    assert parted("a</thought>b") == ("a", "b")
    assert parted("<think>a</thought>b</think>c") == ("a</thought>b", "c")
    assert split_thought("b\n") == ("", "b", "", "")


def test_a_thought_in_a_text_of_a_model_that_was_not_to_think_is_a_fault_that_is_named(tmp_path):
    folder = write_parrot(tmp_path / "m", "thinking", "<think>")
    model = open_model(str(folder), dtype="float32", device="cpu")
    asking = Asking(model, [asked("One\nA:", max_tokens=3)])
    result, described = asking.ask(load_weights(model))
    (answer,) = result.records
    assert answer.reason == (
        f"{folder}: the model thought (<think>) at trial q/0 (eng, sample 0) though thinking = 'off'; say thinking = "
        "'on', or use a model that can answer at once"
    )
    assert (answer.status, answer.text, answer.n_reasoning_tokens) == (Status.FAILED, None, 3)
    path = tmp_path / "answers.parquet"
    asking.write(path, result.records, described)
    assert asking.is_written(path)
    counted = replace(
        answer, text="<think>", finish="length", n_tokens=3, status=Status.OK, reason=None, reasoning=None
    )
    asking.write(path, [replace(counted, n_reasoning_tokens=None)], described)
    assert not asking.is_written(path)  # of a time when thoughts were taken for answers
