"""What keeps a span from being read is named in its reason, and takes no other trial with it; what passes cost."""

import math
from dataclasses import replace

import pytest
import torch

from valuesassets.models.asking import Asking
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loading import load_model, load_weights, open_model
from valuesassets.records.readouts import ScoreSpans, Span
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import SpanFault, Status, Trial, Turn, fault_of
from valuesassets_tests.models.spans.texts import NUMBERS, span_trial, transcript
from valuesassets_tests.tiny_chats import STYLES, write_chat_model
from valuesassets_tests.tiny_models import byte_level, sentencepiece_like, write_model

ONE = ScoreSpans((Span(2, 3, 0),), (("1", "2"),))


def chat(user, trial_id="p1", readout=ONE):
    turns = (Turn("user", user), Turn("assistant", "1"))
    return Trial(trial_id, "care", "eng", "<<1>>", "given", 0, None, readout, chat=turns)


def ask(loaded, *trials, store=None):
    return Asking(loaded.opened, trials).ask(loaded, store=store)[0]


def in_chat(folder):
    return load_weights(open_model(str(folder), None, "float32", "cpu", prompting=Prompting(style="chat")))


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    folder = write_model(tmp_path_factory.mktemp("m") / "m", sentencepiece_like(), spread=0.2)
    return load_model(str(folder), dtype="float32", device="cpu")


def test_a_candidate_that_changes_the_tokens_before_it_is_a_boundary(tmp_path):
    byte = load_model(str(write_model(tmp_path / "m", byte_level(), spread=0.2)), dtype="float32", device="cpu")
    merged = ScoreSpans((Span(25, 26, 0), Span(39, 42, 1)), (("1", "2"), ("ant", "ed")))
    text = "How important is work? <<1>>\nHow important?"
    read, unread = ask(byte, Trial("p1", "care", "eng", text, "given", 0, None, merged)).readings
    assert (read.status, fault_of(read.reason)) == (Status.OK, None)
    assert fault_of(unread.reason) is SpanFault.BOUNDARY
    assert "span 1: character 39: boundary: tokenizer of" in unread.reason


def test_a_template_that_raises_on_one_trials_turns_fails_that_trials_spans_alone(tmp_path):
    raising = (
        "{% if 'boom' in messages[0]['content'] %}{{ raise_exception('no way') }}{% endif %}" + STYLES["chatml"][0]
    )
    loaded = in_chat(write_chat_model(tmp_path / "m", "chatml", raising))
    for own in (False, True):
        readout = replace(ONE, history="own" if own else "given")
        failed, read = ask(loaded, chat("boom", readout=readout), chat("How many?", "p2", readout)).readings
        assert (failed.status, read.status) == (Status.FAILED, Status.OK)
        assert fault_of(failed.reason) is SpanFault.TEMPLATE
        assert "span 0: template: " in failed.reason
        assert "the chat template fails (TemplateError): no way" in failed.reason


def test_a_template_that_shows_turns_otherwise_is_the_templates_fault(tmp_path):
    changing = "{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\n' }}{% endfor %}"
    changing += "{{ 'assistant: #' if add_generation_prompt and 'odd' in messages[0]['content'] else '' }}"
    changing += "{{ 'assistant: ' if add_generation_prompt and 'odd' not in messages[0]['content'] else '' }}"
    cutting = STYLES["chatml"][0].replace("message['content']", "message['content'] | replace('odd', '')")
    for number, template in enumerate((changing, cutting)):
        loaded = in_chat(write_chat_model(tmp_path / str(number), "chatml", template))
        failed, read = ask(loaded, chat("odd one"), chat("How many?", "p2")).readings
        assert read.status is Status.OK
        assert fault_of(failed.reason) is SpanFault.TEMPLATE


@pytest.mark.slow
def test_a_text_that_is_too_long_and_logits_that_are_no_numbers_are_named(llama, tmp_path):
    long = ask(llama, span_trial(transcript([1]) + "word " * 4000 + "How many? <<3>>\n", NUMBERS[:9])).readings
    assert [fault_of(reading.reason) for reading in long] == [None, SpanFault.TOO_LONG]
    assert "too_long: prompt and answer take" in long[1].reason
    loaded = load_model(str(llama.opened.folder), dtype="float32", device="cpu")
    assert loaded.cache_fault is None
    with torch.no_grad():
        loaded.model.get_input_embeddings().weight[loaded.tokenizer.encode(["7"])[0][-1]] = math.nan
    broken = ask(loaded, span_trial("How many? <<1>> 7 <<2>>\n", NUMBERS[:7])).readings
    assert [fault_of(reading.reason) for reading in broken] == [None, SpanFault.NOT_A_NUMBER]
    assert "not_a_number: NaN or infinite logits at trial p1, span 1" in broken[1].reason
    own = ask(loaded, span_trial("How many? <<1>> 7 <<2>> or <<3>>\n", NUMBERS[:7], history="own")).readings
    assert [fault_of(reading.reason) for reading in own] == [None, SpanFault.NOT_A_NUMBER, SpanFault.NOT_A_NUMBER]


@pytest.mark.parametrize(
    "reason",
    [None, "", "m: trial p1: nothing ends '1' where", "m: the text 'my boundary: here' holds", "the template: fails"],
)
def test_what_has_another_cause_has_no_fault(reason):
    assert fault_of(reason) is None


def test_tokens_and_rows_are_those_that_went_through_the_model(llama, tmp_path):
    people = [span_trial(transcript([n, 2]), NUMBERS[:30], f"p{n}") for n in range(3)]
    assert llama.cache_fault is None
    tokens, rows = [], []

    def count_tokens(_module, _arguments, inputs):
        tokens.append(inputs["input_ids"].numel())

    def count_rows(_module, _arguments, logits):
        rows.append(len(logits))

    known = KnownReadings(tmp_path)
    with (
        llama.model.register_forward_pre_hook(count_tokens, with_kwargs=True),
        llama.model.get_output_embeddings().register_forward_hook(count_rows),
    ):
        asked = ask(llama, *people, store=known)
        assert asked.tokens_body + asked.tokens_certificate == sum(tokens)
        assert asked.certificate_cost.rows + asked.rows_head == sum(rows)
        assert asked.tokens_certificate > 0
        again = ask(llama, *people, store=KnownReadings(tmp_path))
    assert (again.tokens_body, again.rows_head, again.tokens_certificate) == (0, 0, asked.tokens_certificate)
    assert again.describe() == asked.describe()


def test_tokens_are_those_of_the_texts_and_of_the_inner_nodes_of_their_candidates(llama):
    trial = span_trial(transcript([1, 12]), NUMBERS[:30])
    asking = Asking(llama.opened, [trial])
    spans = asking.entries[0].text.spelled.spans
    nodes = sum(len(span.spelled.trie.inner_nodes) - 1 for span in spans)  # the root's row is the text's own
    asked = asking.ask(llama)[0]
    assert asked.tokens_body == max(entry.context_tokens for entry in asking.entries) + nodes
    assert asked.rows_head == nodes + len(spans)
