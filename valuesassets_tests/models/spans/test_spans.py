import math
from argparse import Namespace
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
import torch
from scipy import stats

from valuesassets.models.asking import Asking
from valuesassets.models.engine import OutOfMemory
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loading import load_model, load_weights, open_model
from valuesassets.models.spans.open_spans import draw_candidate
from valuesassets.records.errors import ScoringError, TokenizerError
from valuesassets.records.readouts import Span
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Turn
from valuesassets_tests.models.spans.oracle import SpanOracle
from valuesassets_tests.models.spans.texts import INSTRUCTIONS, NUMBERS, span_trial, transcript
from valuesassets_tests.parameters import fast
from valuesassets_tests.tiny_chats import write_chat_model
from valuesassets_tests.tiny_models import ARCHITECTURES, UNSUITABLE, byte_level, sentencepiece_like, write_model

TOKENIZERS = {
    "digits split": sentencepiece_like,
    "digits merged": byte_level,
    "bytes": lambda: byte_level(size=257),
}
ANSWERS = [3, 12, 70, 120]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of models by tokenizer and architecture, made once."""
    made = {}

    def folder(tokenizer="digits split", architecture="llama"):
        if (tokenizer, architecture) not in made:
            where = tmp_path_factory.mktemp("m") / "m"
            made[tokenizer, architecture] = write_model(
                where, TOKENIZERS[tokenizer](), architecture=architecture, spread=0.2
            )
        return made[tokenizer, architecture]

    return folder


@pytest.fixture(scope="module")
def llama(folders):
    return load_model(str(folders()), dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def models(folders):
    """A loaded model and its oracle, by tokenizer and architecture, made once."""

    @cache
    def model(tokenizer, architecture):
        folder = folders(tokenizer, architecture)
        return load_model(str(folder), dtype="float32", device="cpu"), SpanOracle(folder)

    return model


def ask(loaded, *trials, store=None, on_progress=None):
    return Asking(loaded.opened, trials).ask(loaded, on_progress, store)[0]


@pytest.mark.parametrize("history", ["given", "own"])
@pytest.mark.parametrize("architecture", fast(["llama", "gpt2", "bloom"], "llama"))
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_every_candidate_is_read_as_one_pass_per_step_in_float64_reads_it(models, tokenizer, architecture, history):
    loaded, oracle = models(tokenizer, architecture)
    asked = span_trial(transcript(ANSWERS[:3]), history=history, seed=5)
    result = ask(loaded, asked)
    assert result.certificate.agrees
    assert bool(result.notes) == (architecture == "bloom")
    text, written, behind = asked.prompt, "", 0
    for span, reading in zip(asked.readout.spans, result.readings, strict=True):
        written += text[behind : span.start]
        expected = oracle.log_probs(written, NUMBERS, (">>",))
        assert reading.status is Status.OK, reading.reason
        assert [math.log(prob) for prob in reading.label_probs] == pytest.approx(expected, abs=1e-5)
        key = f"5 {loaded.opened.weights_id}"
        drawn = draw_candidate([math.exp(p) for p in expected], NUMBERS, key, tuple(oracle.ids(written)))
        written += drawn if history == "own" else text[span.start : span.end]
        behind = span.end


def test_the_published_reading_takes_the_row_of_the_answer_and_later_tokens_behind_the_persons(folders, llama):
    asked, oracle = span_trial(transcript(ANSWERS), as_published=True), SpanOracle(folders())
    plain = ask(llama, span_trial(transcript(ANSWERS)))
    for span, reading, other in zip(asked.readout.spans, ask(llama, asked).readings, plain.readings, strict=True):
        before = asked.prompt[: span.start]
        expected = oracle.late(asked.prompt, len(oracle.ids(before)), NUMBERS, before)
        assert [math.log(prob) for prob in reading.label_probs_published] == pytest.approx(expected, abs=1e-5)
        assert reading.label_probs == pytest.approx(other.label_probs, rel=1e-4)
        assert other.label_probs_published is None


@pytest.mark.slow
def test_instructions_that_fifty_people_share_go_through_the_model_once(llama):
    instructions = INSTRUCTIONS * 12
    people = [span_trial(transcript([n, n + 1], instructions), NUMBERS[:13], f"p{n}") for n in range(50)]
    shared = llama.tokenizer.encode([instructions])[0]
    assert llama.cache_fault is None  # found by passes of its own, once
    read = []

    def count(_module, _arguments, inputs):
        read.append(int((inputs["position_ids"] < len(shared)).sum()))

    with llama.model.register_forward_pre_hook(count, with_kwargs=True):
        result = ask(llama, *people)
    # Once, and once for each span that is read again, alone.
    assert sum(read) == len(shared) * (1 + result.certificate.trials)


@pytest.mark.parametrize("history", ["given", "own"])
@pytest.mark.slow
def test_a_pass_that_was_stopped_ends_with_the_bytes_of_an_undisturbed_one(llama, tmp_path, history):
    published = history == "given"
    people = [
        span_trial(
            transcript([n, 2 * n, 3]), NUMBERS[:40], f"p{n}", history=history, seed=n % 2, as_published=published
        )
        for n in range(7)
    ]
    whole = ask(llama, *people)
    for stop in (1, 3, 6):
        known = KnownReadings(tmp_path / str(stop))

        def broken_off(done, _total, stop=stop):
            if done >= 3 * stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ask(llama, *people, store=known, on_progress=broken_off)
        resumed = ask(llama, *people, store=KnownReadings(tmp_path / str(stop)))
        assert list(map(repr, resumed.readings)) == list(map(repr, whole.readings))
        assert resumed.describe() == whole.describe()
    certified = ask(llama, *people, store=KnownReadings(tmp_path / "6"))  # stopped behind the last reading
    assert certified.describe() == whole.describe()
    assert whole.certificate.trials == 2
    assert whole.certificate.agrees
    again = ask(llama, *reversed(people))
    assert {(r.trial_id, r.span): repr(r) for r in again.readings} == {
        (r.trial_id, r.span): repr(r) for r in whole.readings
    }


def test_what_is_known_costs_no_pass(llama, tmp_path):
    people, counts = [span_trial(transcript([n, 2]), trial_id=f"p{n}") for n in range(3)], []
    known = KnownReadings(tmp_path)
    first = ask(llama, *people, store=known, on_progress=lambda *count: counts.append(count))
    assert counts == [(2, 6), (4, 6), (6, 6)]
    assert Asking(llama.opened, people).recall(KnownReadings(tmp_path))[0] == list(first.readings)


@pytest.mark.parametrize("architecture", fast([*ARCHITECTURES, *UNSUITABLE], "llama", "rwkv"))
def test_the_strategy_is_found_by_trying_and_all_read_the_same(models, architecture):
    loaded, oracle = models("digits merged", architecture)
    result = ask(loaded, asked := span_trial(transcript([7, 12]), NUMBERS[::9]))
    assert bool(result.notes) == (architecture in UNSUITABLE)
    strategies = dict.fromkeys(ARCHITECTURES, "beside one cached text")
    strategies |= dict.fromkeys(UNSUITABLE, "on copies of the cached text")
    strategies |= dict.fromkeys(("mamba", "rwkv"), "each sequence alone")
    assert result.strategy == strategies[architecture]
    for span, reading in zip(asked.readout.spans, result.readings, strict=True):
        expected = oracle.log_probs(asked.prompt[: span.start], NUMBERS[::9], (">>",))
        assert [math.log(prob) for prob in reading.label_probs] == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("history", ["given", "own"])
@pytest.mark.slow
def test_what_reaches_beyond_a_models_window_is_read_as_the_window_has_it(tmp_path, history):
    folder = write_model(tmp_path / "m", sentencepiece_like(), architecture="mistral", spread=0.2, sliding_window=200)
    loaded, oracle = load_model(str(folder), dtype="float32", device="cpu"), SpanOracle(folder)
    assert loaded.cache_fault is None
    candidates = ("1234567", "7654321")
    empty = INSTRUCTIONS + "".join(f"{n}. So? <<>>\n" for n in range(10))
    asked = span_trial(empty if history == "own" else empty.replace("<<>>", "<<1234567>>"), candidates, history=history)
    result = ask(loaded, span_trial("So? <<>>\n", candidates, "short", history=history), asked)
    assert len(oracle.ids(empty)) < 200 < len(oracle.ids(empty.replace("<<>>", "<<1234567>>")))
    assert result.strategy == "beside one cached text"
    assert not result.notes
    written, behind = "", 0
    for span, reading in zip(asked.readout.spans, result.readings[1:], strict=True):
        written += asked.prompt[behind : span.start]
        behind = span.end
        expected = oracle.log_probs(written, candidates, (">>",))
        assert [math.log(prob) for prob in reading.label_probs] == pytest.approx(expected, abs=1e-5)
        own = draw_candidate(
            reading.label_probs, candidates, f"0 {loaded.opened.weights_id}", tuple(oracle.ids(written))
        )
        written += own if history == "own" else "1234567"


def test_as_published_a_text_that_ends_before_a_candidate_would_has_no_number(llama):
    cut, whole = (
        ask(llama, span_trial(f"How many? <<5{end}", ("1", "10"), close=(">>",), as_published=True)).readings[0]
        for end in ("", ">>")
    )
    assert cut.status is Status.OK
    assert cut.label_probs_published is None
    assert whole.label_probs_published is not None
    assert cut.label_probs == pytest.approx(whole.label_probs, rel=1e-5)


@pytest.mark.slow
def test_a_window_gives_the_tokens_of_the_whole_text(folders, monkeypatch):
    from valuesassets.models.spans import spelling

    odd = "a  b\r\n\tÄ ß 𓀀 12345678901234567890123456789 ...   — „x“\x00\x07 " * 9
    text = "".join(f"{odd[n:]}? <<{n}>>{odd[:n]}" for n in range(0, 40, 5))
    for tokenizer in TOKENIZERS:
        opened = load_model(str(folders(tokenizer)), dtype="float32", device="cpu").opened
        windowed = Asking(opened, [span_trial(text, NUMBERS[:13])]).entries
        with monkeypatch.context() as patch:
            patch.setattr(spelling, "WINDOW", 10**9)
            whole = Asking(opened, [span_trial(text, NUMBERS[:13])]).entries
        assert [entry.key for entry in windowed] == [entry.key for entry in whole]
        assert windowed[0].text.spelled == whole[0].text.spelled


def test_a_candidate_that_begins_another_shares_its_mass_by_what_closes_an_answer(folders, llama):
    asked = span_trial("How many? <<1>>\n", ("1", "10", "100", "2"))
    (reading,) = ask(llama, asked).readings
    oracle = SpanOracle(folders()).log_probs("How many? <<", ("1", "10", "100", "2"), (">>",))
    assert [math.log(prob) for prob in reading.label_probs] == pytest.approx(oracle, abs=1e-5)
    assert reading.resolution_mass_min < reading.resolution_mass < 1
    (unclosed,) = Asking(llama.opened, [span_trial("How many? <<1>>\n", ("1", "10"), close=())]).entries
    assert unclosed.reason.endswith(
        "nothing ends '1' where another candidate goes on from it; name what stands behind an answer as `close`"
    )


def test_a_span_is_known_by_all_that_its_reading_hangs_on(llama):
    def key(text="In 3 days? <<1>>\n", candidates=("1", "10"), **settings):
        return Asking(llama.opened, [span_trial(text, candidates, **settings)]).entries[0].key

    others = [key("In 5 days? <<1>>\n"), key(candidates=("1", "12")), key(close=(".",)), key(as_published=True)]
    assert len({key(), *others}) == 5
    assert key("In 3 days? <<2>> of them\n") == key()  # a given answer and what follows it, unless it is published
    assert key("In 3 days? <<2>>\n", as_published=True) != key(as_published=True)


def test_a_span_that_cannot_be_asked_is_a_row_with_its_place_and_takes_no_other_with_it(folders, llama):
    byte = load_model(str(folders("digits merged")), dtype="float32", device="cpu")
    asked = span_trial("How important is work? <<1>>\nHow import<<ant>>?", ("1", "2"))
    merged = replace(asked, prompt="How important is work? <<1>>\nHow important?", readout=replace(
        asked.readout, spans=(asked.readout.spans[0], Span(39, 42, 1)), sets=(("1", "2"), ("ant", "ed"))))  # fmt: skip
    read, unread = ask(byte, merged).readings
    assert read.status is Status.OK
    assert unread.status is Status.FAILED
    assert unread.span == 1
    assert "span 1: character 39: boundary: tokenizer of" in unread.reason
    assert "the tokens of the text ending in" in unread.reason
    (first,) = Asking(byte.opened, [span_trial("<<1>> is it.", ("1", "2"), close=())][:1]).entries
    assert first.key
    at_zero = replace(
        span_trial("<<1>> is it."), prompt="1 is it.", readout=replace(asked.readout, spans=(Span(0, 1, 0),))
    )
    with pytest.raises(TokenizerError, match="nothing stands before the answer that the model could have read; put"):
        ask(byte, at_zero)
    (begun,) = ask(llama, at_zero).readings  # behind its beginning-of-text token
    assert begun.status is Status.OK


def test_answers_that_are_no_candidates_and_places_without_an_answer_are_read_all_the_same(llama):
    text = transcript(["120", "", "ich weiß\x00\x07 nicht", 5])
    readings = ask(llama, span_trial(text, as_published=True)).readings
    assert [reading.status for reading in readings] == [Status.OK] * 4
    assert [reading.label_probs_published is None for reading in readings] == [False, True, False, False]


def test_candidates_that_differ_in_case_only_are_told_apart_or_named(folders, llama, tmp_path):
    asked = span_trial("Yes or no? <<yes>>\n", ("yes", "Yes"), close=())
    (reading,) = ask(llama, asked).readings
    assert reading.status is Status.OK
    from tokenizers import normalizers

    lowering = byte_level()
    lowering.backend_tokenizer.normalizer = normalizers.Lowercase()
    folder = write_model(tmp_path / "m", lowering)
    with pytest.raises(TokenizerError, match=r"'yes' and 'Yes' are the same tokens behind|comes back as"):
        ask(load_model(str(folder), dtype="float32", device="cpu"), replace(asked, prompt=asked.prompt.lower()))


def test_a_text_of_two_hundred_thousand_characters_is_read_as_far_as_the_model_was_made_for(llama):
    text = transcript([1, 2]) + "word " * 40_000 + "How many? <<3>>\n"
    readings = ask(llama, span_trial(text, NUMBERS[:10])).readings
    assert [reading.status for reading in readings] == [Status.OK, Status.OK, Status.FAILED]
    assert "reads 1024 at most" in readings[2].reason


def test_logits_that_are_no_numbers_make_no_reading(folders):
    loaded = load_model(str(folders()), dtype="float32", device="cpu")
    assert loaded.cache_fault is None
    with torch.no_grad():
        loaded.model.get_input_embeddings().weight[loaded.tokenizer.encode(["7"])[0][-1]] = math.nan
    with pytest.raises(ScoringError, match=r"NaN or infinite logits at trial p1, span 0 "):
        ask(loaded, span_trial("7 How many? <<1>>\n", NUMBERS[:7]))
    read, broken = ask(loaded, span_trial("How many? <<1>> 7 <<2>>\n", NUMBERS[:7])).readings
    assert (read.status, broken.status) == (Status.OK, Status.FAILED)


def test_own_answers_behind_one_that_could_not_be_read_are_not_read_either(folders, llama):
    asked = span_trial("How many? <<1>> So <<2>> or <<3>>\n", ("1", "10"), close=(), history="own")
    with pytest.raises(ScoringError, match="nothing ends '1'"):
        ask(llama, asked)
    readings = ask(llama, asked, span_trial("How many? <<1>>\n", ("1", "2"), "p2")).readings
    assert [reading.status for reading in readings] == [Status.FAILED] * 3 + [Status.OK]
    assert "trial p1, span 2 has no reading: an answer before it could not be drawn (span 0, character" in (
        readings[2].reason
    )


def test_too_little_memory_halves_the_pieces_and_then_fails_the_text_alone(folders):
    loaded = load_model(str(folders()), dtype="float32", device="cpu")
    plain = ask(loaded, asked := span_trial(transcript([1, 2]), NUMBERS[:9]))

    def fail(most):
        def hook(_module, _arguments, inputs):
            if inputs["input_ids"].shape[1] > most:
                raise torch.OutOfMemoryError

        return hook

    with loaded.model.register_forward_pre_hook(fail(70), with_kwargs=True):
        halved = ask(loaded, asked)
    assert halved.notes[-1] == "out of memory: went on with pieces of 64 tokens"
    for one, other in zip(plain.readings, halved.readings, strict=True):
        assert one.label_probs == pytest.approx(other.label_probs, rel=1e-4)
    with (
        loaded.model.register_forward_pre_hook(fail(4), with_kwargs=True),
        pytest.raises(ScoringError, match="do not fit"),
    ):
        ask(loaded, asked)
    own = span_trial(transcript([1, 2]), NUMBERS[:9], history="own")
    with loaded.model.register_forward_pre_hook(fail(70), with_kwargs=True):
        halved = ask(loaded, own)
    assert halved.notes[-1] == "out of memory: went on with pieces of 64 tokens"
    assert [reading.status for reading in halved.readings] == [Status.OK] * 2


def test_a_span_that_does_not_fit_alone_is_left_out_of_the_certificate(folders, monkeypatch):
    loaded = load_model(str(folders()), dtype="float32", device="cpu")
    assert loaded.cache_fault is None

    def full(*_):
        raise OutOfMemory

    with monkeypatch.context() as patched:
        patched.setattr("valuesassets.models.spans.span_pass.new_strategy", lambda *_: Namespace(read=full))
        result = ask(loaded, span_trial(transcript([1, 2]), NUMBERS[:9]))
    assert [reading.status for reading in result.readings] == [Status.OK] * 2
    assert result.certificate.trials == 0
    assert not result.certificate.agrees


def test_own_answers_are_drawn_by_their_probabilities():
    probs = [0.05, 0.2, 0.0, 0.1, 0.15]
    drawn = Counter(draw_candidate(probs, "abcde", "7 weights", (1, 2, n)) for n in range(4000))
    assert drawn["c"] == 0
    expected = [4000 * prob / 0.5 for prob in probs if prob]
    assert 0.001 < stats.chisquare([drawn[text] for text in "abde"], expected).pvalue < 0.999


def test_in_a_chat_a_span_is_a_turn_and_the_end_of_the_turn_closes_it(tmp_path):
    folder = write_chat_model(tmp_path / "m", "chatml")
    chat = (Turn("user", "How many?"), Turn("assistant", "1"), Turn("user", "And now?"), Turn("assistant", "12"))
    asked = span_trial("How many? <<1>> And now? <<12>>", ("1", "12", "2"), close=())
    loaded = load_model(str(folder), dtype="float32", device="cpu")
    with pytest.raises(TokenizerError, match="nothing ends '1'"):
        ask(loaded, asked)
    in_chat = load_weights(open_model(str(folder), None, "float32", "cpu", prompting=Prompting(style="chat")))
    oracle, before = SpanOracle(folder), "<|im_start|>user\nHow many?<|im_end|>\n<|im_start|>assistant\n"
    oracle.ids = lambda text: oracle.tokenizer(text, add_special_tokens=False)["input_ids"]  # the template says all
    behind = "1<|im_end|>\n<|im_start|>user\nAnd now?<|im_end|>\n<|im_start|>assistant\n"
    for reading, text in zip(ask(in_chat, replace(asked, chat=chat)).readings, (before, before + behind), strict=True):
        reaches, masses = [], []
        for one in ("1", " 1"):
            start, ids = len(oracle.ids(text)), oracle.ids(text + one)
            steps = [float(oracle.next_probs(ids[:place])[ids[place]]) for place in range(start, len(ids))]
            after = [oracle.ids(text + one + end)[len(ids)] for end in ("<|im_end|>", "2")]
            reaches.append(math.prod(steps))
            masses.append(float(oracle.next_probs(ids)[after].sum()))
        resolution = sum(reach * mass for reach, mass in zip(reaches, masses, strict=True)) / sum(reaches)
        assert reading.resolution_mass == pytest.approx(resolution, rel=1e-5)
        if reading.status is Status.OK:
            expected = oracle.log_probs(text, ("1", "12", "2"), ("<|im_end|>",), ("", " "))
            assert [math.log(prob) for prob in reading.label_probs] == pytest.approx(expected, abs=2e-5)
