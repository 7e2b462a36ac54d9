"""In a chat an answer that begins a turn counts with a space before it and without; elsewhere as it stands."""

import math
from dataclasses import replace

import pytest

from valuesassets.models.asking import Asking
from valuesassets.models.loading import load_weights, open_model
from valuesassets.records.errors import TokenizerError
from valuesassets.records.readouts import ScoreSpans, Span
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Trial, Turn
from valuesassets_tests.models.spans.oracle import SpanOracle
from valuesassets_tests.models.spans.texts import NUMBERS, span_trial, transcript
from valuesassets_tests.tiny_chats import STYLES, chat_tokenizer, write_parrot
from valuesassets_tests.tiny_models import byte_level, write_model

CHAT = (Turn("user", "How many?"), Turn("assistant", "1"), Turn("user", "And now?"), Turn("assistant", "12"))
FIRST = {
    "chatml": "<|im_start|>user\nHow many?<|im_end|>\n<|im_start|>assistant\n",
    "mistral": "<bos>[INST] How many? [/INST]",
}
"""What stands before the model's first word."""
BETWEEN = {
    "chatml": "<|im_end|>\n<|im_start|>user\nAnd now?<|im_end|>\n<|im_start|>assistant\n",
    "mistral": "<eos>[INST] And now? [/INST]",
}
END = {"chatml": "<|im_end|>", "mistral": "<eos>"}
CANDIDATES = ("12", "2", "7", "34")


def digits_merged(style):
    tokenizer, (template, tokens) = byte_level(), STYLES[style]
    tokenizer.add_special_tokens({"bos_token": "<bos>", "eos_token": "<eos>", "additional_special_tokens": tokens})
    tokenizer.chat_template = template
    return tokenizer


TOKENIZERS = {"digits split": chat_tokenizer, "digits merged": digits_merged}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}

    def folder(style="chatml", tokenizer="digits split"):
        if (style, tokenizer) not in made:
            where = tmp_path_factory.mktemp("m") / "m"
            made[style, tokenizer] = write_model(where, TOKENIZERS[tokenizer](style), spread=0.2)
        return made[style, tokenizer]

    return folder


def in_chat(folder, dtype="float64", **how):
    return load_weights(open_model(str(folder), None, dtype, "cpu", prompting=Prompting(style="chat", **how)))


def as_rendered(folder):
    """The oracle of a text that a template has rendered: that is all there is."""
    oracle = SpanOracle(folder)
    oracle.ids = lambda text: oracle.tokenizer(text, add_special_tokens=False)["input_ids"]
    return oracle


def asked(spans, candidates=CANDIDATES, chat=CHAT, prompt="How many? <<1>> And now? <<12>>", **settings):
    return Trial("p1", "care", "eng", prompt, "given", 0, None, ScoreSpans(spans, (candidates,), **settings), chat=chat)


TWO = (Span(12, 13, 0), Span(27, 29, 0))


def ask(loaded, *trials):
    return Asking(loaded.opened, trials).ask(loaded)[0]


def logs(probs):
    return [math.log(prob) for prob in probs]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("style", FIRST)
def test_in_a_chat_both_spellings_count_where_the_model_would_have_begun_itself(folders, style, tokenizer):
    folder = folders(style, tokenizer)
    oracle, said = as_rendered(folder), {"chatml": "1", "mistral": " 1"}[style]
    befores = (FIRST[style], FIRST[style] + said + BETWEEN[style])
    result = ask(in_chat(folder), asked(TWO))
    for reading, before in zip(result.readings, befores, strict=True):
        assert reading.status is Status.OK, reading.reason
        both = oracle.log_probs(before, CANDIDATES, (END[style],), ("", " "))
        assert logs(reading.label_probs) == pytest.approx(both, abs=1e-10)
        for lead in ("", " "):
            one = oracle.log_probs(before, CANDIDATES, (END[style],), (lead,))
            assert min(abs(a - b) for a, b in zip(logs(reading.label_probs), one, strict=True)) > 1e-6
    assert result.certificate.agrees


def test_the_published_reading_sums_both_spellings_too(folders):
    folder = folders()
    oracle, before = as_rendered(folder), FIRST["chatml"]
    (reading, _) = ask(in_chat(folder), asked(TWO, as_published=True)).readings
    text = before + "1" + BETWEEN["chatml"] + "12<|im_end|>\n"
    at, start = len(oracle.ids(before)), len(oracle.ids(before))
    expected = []
    for candidate in CANDIDATES:
        paths = [oracle.ids(before + lead + candidate)[start:] for lead in ("", " ")]
        rows = [[oracle.next_probs(oracle.ids(text)[: at + 1 + n])[token] for n, token in enumerate(p)] for p in paths]
        expected.append(sum(math.prod(map(float, row)) for row in rows))
    assert reading.label_probs_published == pytest.approx(expected, rel=1e-9)


def test_a_spelling_with_a_space_that_another_candidate_has_is_that_ones_alone(folders):
    folder = folders()
    oracle, before = as_rendered(folder), FIRST["chatml"]
    spelled = Asking(in_chat(folder).opened, [asked(TWO[:1], ("1", " 1"), CHAT[:2])]).entries[0].text.spelled.spans[0]
    assert [len(own) for own in spelled.spelled.spellings] == [1, 2]
    (reading,) = ask(in_chat(folder), asked(TWO[:1], ("1", " 1"), CHAT[:2])).readings
    expected = oracle.log_probs(before, ("1", " 1"), (END["chatml"],), ("", " "))
    assert logs(reading.label_probs) == pytest.approx(expected, abs=1e-10)


def test_in_a_bare_text_an_answer_is_spelled_as_it_stands_alone(folders):
    folder = folders()
    text = load_weights(open_model(str(folder), dtype="float64", device="cpu"))
    (first, _) = ask(text, asked(TWO, close=(">>",))).readings
    expected = SpanOracle(folder).log_probs("How many? <<", CANDIDATES, (">>",))
    assert logs(first.label_probs) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("at", "lead"), [(6, ""), (5, " ")])
def test_an_answer_further_on_in_a_turn_has_the_spelling_that_stands_there_alone(folders, at, lead):
    folder = folders("chatml", "digits merged")
    chat = (Turn("user", "How many?"), Turn("assistant", "plan: 2, then 12."))
    trial = asked((Span(12, 13, 0, 0, at), Span(27, 29, 0, 0, 14)), chat=chat, prompt="How many? <<2>> And now? <<12>>")
    if not lead:  # one character further on, and no space there
        chat = (chat[0], Turn("assistant", "plan:[2, then 12."))
        trial = replace(trial, chat=chat)
    oracle = as_rendered(folder)
    first, second = ask(in_chat(folder), trial).readings
    expected = oracle.log_probs(FIRST["chatml"] + chat[1].text[:at], CANDIDATES, (END["chatml"],), (lead,))
    assert logs(first.label_probs) == pytest.approx(expected, abs=1e-10)
    assert second.span == 1


def test_answers_of_one_turn_that_nobody_could_tell_apart_are_read_where_they_are_said_to_be(folders):
    folder = folders("chatml", "digits merged")
    chat = (Turn("user", "Twice?"), Turn("assistant", "2 2 2"))
    spans = (Span(2, 3, 0, 0, 0), Span(8, 9, 0, 0, 3))
    readings = ask(in_chat(folder), asked(spans, chat=chat, prompt="<<2>> <<2>>")).readings
    oracle, before = as_rendered(folder), "<|im_start|>user\nTwice?<|im_end|>\n<|im_start|>assistant\n"
    for reading, place, leads in zip(readings, (before, before + "2 2"), (("", " "), (" ",)), strict=True):
        expected = oracle.log_probs(place, CANDIDATES, (END["chatml"],), leads)
        assert logs(reading.label_probs) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("style", FIRST)
def test_the_models_own_answers_stand_in_the_chat_as_its_template_writes_them(folders, style):
    folder = folders(style)
    first, second = ask(in_chat(folder), asked(TWO, history="own", seed=None)).readings
    said = {"chatml": "", "mistral": " "}[style] + CANDIDATES[first.label_probs.index(max(first.label_probs))]
    expected = as_rendered(folder).log_probs(FIRST[style] + said + BETWEEN[style], CANDIDATES, (END[style],), ("", " "))
    assert logs(second.label_probs) == pytest.approx(expected, abs=1e-10)


def test_without_a_seed_own_answers_are_the_likeliest_ones(folders):
    loaded = load_weights(open_model(str(folders()), dtype="float64", device="cpu"))
    trial = span_trial(transcript([1, 2, 3]), texts := NUMBERS[2:10], history="own", seed=None)
    readings = ask(loaded, trial).readings
    likeliest = [texts[reading.label_probs.index(max(reading.label_probs))] for reading in readings]
    given = ask(loaded, span_trial(transcript(likeliest), texts)).readings
    for own, reading in zip(readings, given, strict=True):
        assert logs(own.label_probs) == pytest.approx(logs(reading.label_probs), abs=1e-10)
    drawn = [Asking(loaded.opened, [replace(trial, readout=replace(trial.readout, seed=s))]).entries for s in (0, None)]
    assert drawn[0][1].key != drawn[1][1].key


def test_spans_without_a_chat_are_read_in_the_bare_text_by_a_chat_model_as_by_any_other(folders):
    folder = folders()
    chatty = in_chat(folder)
    plain, turns = replace(asked(TWO, close=(">>",), chat=None), trial_id="plain"), asked(TWO)
    entries = Asking(chatty.opened, [plain, turns]).entries
    text = load_weights(open_model(str(folder), dtype="float64", device="cpu"))
    assert [entry.key for entry in entries[:2]] == [entry.key for entry in Asking(text.opened, [plain]).entries]
    assert entries[0].text.spelled.ids[0] == chatty.tokenizer.hf.bos_token_id
    assert [entry.context_tokens for entry in entries[:2]] == [
        len(SpanOracle(folder).ids(plain.prompt[: span.start])) for span in TWO
    ]
    both = ask(chatty, plain, turns).readings
    assert [reading.label_probs for reading in both[:2]] == [
        pytest.approx(reading.label_probs, rel=1e-9) for reading in ask(text, plain).readings
    ]
    own = replace(plain, readout=replace(plain.readout, history="own"))
    assert Asking(chatty.opened, [own]).entries[0].context_tokens is None
    assert ask(chatty, own).readings[1].label_probs == pytest.approx(ask(text, own).readings[1].label_probs, rel=1e-9)


def test_whether_a_model_thinks_is_tried_on_what_it_is_asked_in_a_chat(tmp_path):
    parrot = in_chat(write_parrot(tmp_path / "m", "thinking", "<think>"), "float32", answer_prefix="none")
    plain = asked(TWO, close=(">>",), chat=None)
    assert {reading.status for reading in ask(parrot, plain).readings} <= {Status.OK, Status.UNRESOLVED}
    (tmp_path / "m" / "chat_template.jinja").write_text(STYLES["chatml"][0], encoding="utf-8")
    parrot = in_chat(tmp_path / "m", "float32")
    with pytest.raises(TokenizerError, match="begins to think"):
        ask(parrot, plain, replace(asked(TWO), trial_id="p2"))
