"""What is asked of a server with OpenAI's interface, what its responses amount to, and what becomes of its faults."""

import json
import re
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from valuesassets.records.errors import EndpointError, InputError
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Turn
from valuesassets.remote.asking import RemoteAsking
from valuesassets.remote.budget import LEDGER, BudgetSpent
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.remote.loopback_gemini import hang, reset
from valuesassets_tests.remote.loopback_openai import (
    CHAT,
    KEY,
    MODEL,
    TEXT,
    LoopbackOpenAi,
    counted,
    refusing,
    saying,
    showing,
    written,
)
from valuesassets_tests.remote.remote_trials import LABELLED, asked
from valuesassets_tests.waiting import wait_until

THINKING = Prompting(style="chat", thinking="on", answer_prefix="none", max_reasoning_tokens=50)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("THE_KEY", KEY)


def put(trials, server, known=None, prompting=CHAT, **settings):
    """What a server that is up answers, with how it was asked."""
    asking = RemoteAsking(MODEL, server.endpoint(**settings), prompting, trials)
    kept = asking.open_known(known) if known else None
    client = asking.connect(kept)
    client.pause = lambda seconds: None
    return asking.ask(client, store=kept)


def one(response, trial=None, prompting=CHAT, **settings):
    """What a response amounts to, beside one that is sound."""
    answers = iter([response])
    sound = written("Seven.") if trial is None else showing({"1": 0.6, "2": 0.39})
    server = LoopbackOpenAi(lambda body: next(answers, sound))
    with server.serving():
        beside = asked("b", "q1") if trial is None else trial
        trials = [asked("a", "q0"), beside] if trial is None else [trial, asked_again(trial)]
        return put(trials, server, prompting=prompting, **settings)[0].records[0]


def asked_again(trial):
    return replace(trial, trial_id="other", prompt="Again?")


def questions(count):
    return [asked(f"question {number}", f"q{number}") for number in range(count)]


def test_bodies_are_what_the_interface_names_and_what_a_study_adds_or_leaves_out():
    chat = (Turn("system", "Be brief."), Turn("user", "a"), Turn("assistant", "b"), Turn("user", "c"))
    trials = [asked("How many?", "q0", temperature=0.5, top_p=0.9), asked("x", "q1", chat=chat)]
    text = {"choices": [{"text": "Seven.", "finish_reason": "stop"}]}
    server = LoopbackOpenAi(lambda body: text if "prompt" in body else written("Seven."))
    with server.serving():
        put(trials, server, prompting=Prompting(style="chat", system="Answer."), omit=["seed"], parameters={"n": 1})
        put([asked("bare", "q2")], server, prompting=TEXT, api="completions", parameters={"max_tokens": 7})
    first, second, bare = server.bodies
    assert first == {
        "path": "/v1/chat/completions",
        "model": MODEL,
        "messages": [{"role": "system", "content": "Answer."}, {"role": "user", "content": "How many?"}],
        "max_tokens": 12,
        "temperature": 0.5,
        "top_p": 0.9,
        "n": 1,
    }
    assert [turn["content"] for turn in second["messages"]] == ["Be brief.", "a", "b", "c"]
    assert (bare["path"], bare["prompt"], bare["max_tokens"]) == ("/v1/completions", "bare", 7)


def test_a_preamble_and_a_system_text_are_sent_in_the_prompts_language(tmp_path):
    persona = {"eng": "You live in Viet Nam.", "deu": "Sie leben in Vietnam."}
    chat = (Turn("system", "Be brief."), Turn("user", "a"))
    trials = [asked("How many?", "q0"), replace(asked("Wie viele?", "q1"), language="deu"), asked("x", "q2", chat=chat)]
    server = LoopbackOpenAi(
        lambda body: {"choices": [{"text": "7", "finish_reason": "stop"}]} if "prompt" in body else written("7")
    )
    prompting = Prompting(style="chat", preamble=persona, system={"eng": "A number.", "deu": "Eine Zahl."})
    with server.serving():
        put(trials, server, tmp_path, prompting)
        put(trials[:2], server, tmp_path, Prompting(preamble=persona), api="completions")
        put(trials, server, tmp_path)
        with pytest.raises(InputError, match=rf'^{MODEL}: prompting.system: no text in fra; add fra = "..."$'):
            put([replace(trials[0], language="fra")], server, prompting=Prompting(style="chat", system=persona))
    chats = [[turn["content"] for turn in body["messages"]] for body in server.bodies if "messages" in body]
    assert chats[:3] == [
        ["You live in Viet Nam.\nA number.", "How many?"],
        ["Sie leben in Vietnam.\nEine Zahl.", "Wie viele?"],
        ["You live in Viet Nam.\nBe brief.", "a"],
    ]
    assert chats[3:] == [["How many?"], ["Wie viele?"], ["Be brief.", "a"]]  # without a preamble it is another question
    texts = [body["prompt"] for body in server.bodies if "prompt" in body]
    assert texts == ["You live in Viet Nam.\nHow many?", "Sie leben in Vietnam.\nWie viele?"]


def test_what_the_sdks_variables_would_add_is_not_sent(monkeypatch):
    for name in ("ORG_ID", "PROJECT_ID", "ADMIN_KEY", "API_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", "somebody-elses")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: somebody-elses")
    server = LoopbackOpenAi()
    with server.serving():
        put([asked("a", "q0")], server)
    assert "somebody-elses" not in json.dumps(server.headers)


def test_a_server_on_this_machine_needs_no_key(monkeypatch):
    monkeypatch.delenv("THE_KEY")
    server = LoopbackOpenAi(key=None)
    with server.serving():
        result, _ = put([asked("a", "q0")], server, key_env=None)
    assert result.records[0].text == "Seven."


@pytest.mark.parametrize(
    ("response", "text", "finish"),
    [
        (written("Four."), "Four.", "end"),
        (written("Four", "length"), "Four", "length"),
        (written("Four", "model_length"), "Four", "length"),
        (written(""), "", "end"),
        (written(None), "", "end"),
        (written([]), "", "end"),
        (written("", "length"), "", "length"),
        *(
            (written("Four.", name), "Four.", "end")
            for name in ("eos", "eos_token", "end", "stop_sequence", "end_turn")
        ),
        *((written("Four.", name), "Four.", "end") for name in (None, "null", "FinishReason.STOP", "<|im_end|>")),
        (written("<think>\n\n</think>\n\nFour."), "Four.", "end"),
        (written([{"type": "text", "text": "Fo"}, {"type": "text", "text": "ur."}]), "Four.", "end"),
    ],
)
def test_an_answer_ends_by_the_model_or_the_limit(response, text, finish):
    answer = one(response)
    assert (answer.status, answer.text, answer.finish, answer.n_tokens) == (Status.OK, text, finish, 50)
    assert answer.model_version == MODEL


def test_what_a_model_thinks_stands_apart():
    answer = one(counted(written("Four.", reasoning_content="Two and two."), thought=7), prompting=THINKING)
    assert (answer.text, answer.reasoning, answer.n_reasoning_tokens) == ("Four.", "Two and two.", 7)


@pytest.mark.parametrize(
    "response",
    [
        written("<think>\nTwo and two.\n</think>\n\nFour."),
        written("Two and two.\n</think>\n\nFour."),
        written([{"type": "thinking", "thinking": [{"type": "text", "text": "Two and two."}]}, {"text": "Four."}]),
        written("Four.", thinking="Two and two."),
        written("Four.", reasoning_details=[{"type": "reasoning.text", "text": "Two and two."}]),
    ],
)
def test_thoughts_in_the_text_or_beside_it_are_split_off_where_a_model_may_think(response):
    answer = one(response, prompting=THINKING)
    assert (answer.status, answer.text, answer.reasoning) == (Status.OK, "Four.", "Two and two.")


@pytest.mark.parametrize("text", ["<think>Two and", "It begins so: <think>Two and", "Two and"])
def test_a_thought_that_is_never_closed_has_failed_and_stands_there(text):
    answer = one(written(text, "length"), prompting=THINKING)
    assert (answer.status, answer.text) == (Status.FAILED, None)
    assert "its thought has no end (a tag such as </think>)" in answer.reason
    assert "raise max_tokens, or max_reasoning_tokens" in answer.reason


CUT_THOUGHTS = [
    written("<think>Two and", "length"),
    written("", "length", reasoning_content="Two and"),
    counted(written("", "length"), thought=50),
    written("", "length"),
]


@pytest.mark.parametrize("response", [written(""), written("<think>Two.</think>"), *CUT_THOUGHTS])
def test_an_empty_answer_and_one_cut_off_are_kept_and_asked_for_once(response, tmp_path):
    server = LoopbackOpenAi(lambda body: response if "0" in str(body["messages"]) else written("Seven."))
    with server.serving():
        first, described = put(questions(5), server, tmp_path, THINKING, attempts=3)
        assert (server.paid, len(server.bodies)) == (5, 5)
        again, _ = put(questions(5), server, tmp_path, THINKING, attempts=3)
        asking = RemoteAsking(MODEL, server.endpoint(), THINKING, questions(5))
        assert asking.kept(asking.open_known(tmp_path)) == 5
        asking.write(tmp_path / "0.parquet", first.records, described)
        assert asking.is_written(tmp_path / "0.parquet")
    assert server.paid == 5
    assert again.records == first.records
    answer = first.records[0]
    is_cut = response in CUT_THOUGHTS
    assert (answer.status, answer.text) == ((Status.FAILED, None) if is_cut else (Status.OK, ""))
    assert answer.is_final


def test_thoughts_that_are_all_cut_off_are_one_line_and_asked_for_once(tmp_path):
    server = LoopbackOpenAi(lambda body: written("<think>Two and", "length"))
    with server.serving():
        for _ in range(2):
            with pytest.raises(EndpointError, match=r"its thought has no end .* raise max_tokens"):
                put(questions(3), server, tmp_path, THINKING)
        asking = RemoteAsking(MODEL, server.endpoint(), THINKING, questions(3))
        assert asking.recall(asking.open_known(tmp_path)) is None
    assert server.paid == 3


def test_twenty_draws_more_cost_twenty(tmp_path):
    counter = iter(range(1000))
    server = LoopbackOpenAi(lambda body: written(f"{next(counter)}."))

    def draw(count, **settings):
        asking = RemoteAsking(
            MODEL, server.endpoint(**settings), CHAT, [asked("a", "q0", samples=count)], is_compared=False
        )
        store = asking.open_known(tmp_path)
        return [answer.text for answer in asking.ask(asking.connect(store), store=store)[0].records]

    with server.serving():
        for settings in ({}, {"omit": ["seed"]}):
            before, texts = server.paid, draw(40, **settings)
            assert server.paid - before == len(set(texts)) == 40
            assert draw(60, **settings)[:40] == texts
            assert server.paid - before == 60


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        (written("", "content_filter"), Status.REFUSED, "the provider's filter stopped the answer"),
        (written(None, refusal="I cannot."), Status.REFUSED, "the model refused (I cannot.)"),
        (written("", None), Status.FAILED, "the answer is empty"),
        (written(7), Status.FAILED, "the answer is empty"),
        (written("") | {"choices": [{"finish_reason": "stop"}]}, Status.FAILED, "the answer is empty"),
        (written("x", "tool_calls"), Status.FAILED, "stopped (tool_calls): the model called a tool; let the server"),
        (written("x", "error"), Status.FAILED, "stopped (error); run it again later"),
        (written("x", "vanished"), Status.FAILED, "stopped (vanished), an end that is not known here; see what 127"),
        (written("<think>Two.</think>Four."), Status.FAILED, "the model thought (<think>) though thinking = 'off'"),
        (written("Two.</think>Four."), Status.FAILED, "the model thought (</think>) though thinking = 'off'"),
        (written("<think>Two", "length"), Status.FAILED, "the model thought (<think>) though thinking = 'off'"),
        (written("", "refusal"), Status.REFUSED, "the model refused"),
        (counted(written("Four."), thought=7), Status.FAILED, "the model thought (7 tokens) though thinking = 'off'"),
        (written("\ud800"), Status.FAILED, "half a character"),
        ({"model": MODEL, "choices": []}, Status.FAILED, "the answer holds no choice"),
        ({"error": {"message": "overloaded"}}, Status.FAILED, "the answer is an error ({'message': 'overloaded'})"),
        ([], Status.FAILED, "the answer is not what"),
        ("<html>log in</html>", Status.FAILED, "the answer is no JSON (an HTML page)"),
        ('{"model": "tiny', Status.FAILED, "the answer is no JSON"),
        (written("Four.", model="llama-9"), Status.FAILED, "another model answered (llama-9)"),
    ],
)
def test_what_is_no_answer_is_a_row_with_its_reason(response, status, reason):
    answer = one(response)
    assert (answer.status, answer.text) == (status, None)
    assert reason in answer.reason


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        (written("1"), Status.FAILED, "shows no probabilities"),
        (showing({"1": None, "2": 0.3}), Status.FAILED, "what is no log-probability (of the token '1': None)"),
        (showing({"1": 0.7, "2": 0.5}), Status.FAILED, "the probabilities that are shown sum to 1.2"),
        (showing({"1": 1.5}), Status.FAILED, "what is no log-probability"),
        (showing({"1": 0.3, "x": 0.2, "2": 0.1}), Status.UNRESOLVED, "the 3 likeliest tokens have 0.600"),
        (written("", "content_filter"), Status.REFUSED, "filter"),
        (counted(showing({"1": 0.9}), thought=5), Status.FAILED, "the model thought (5 tokens) before it answered"),
        (written("1", reasoning="Hm hm") | {}, Status.FAILED, "the model thought (2 tokens) before it answered"),
        (showing({"1": 1.0, "2": 1e-320}), Status.FAILED, "switch those off, by parameters such as { top_k = 0 }"),
    ],
)
def test_what_shows_no_probabilities_is_a_row_without_numbers(response, status, reason):
    reading = one(response, LABELLED, route="top_logprobs")
    assert (reading.status, reading.label_probs, reading.p_valid) == (status, None, None)
    assert reason in reading.reason


FAULTS = {
    "429 with Retry-After": refusing(429, headers={"Retry-After": "1"}),
    "429": refusing(429),
    "408": refusing(408),
    "409": refusing(409),
    "500": refusing(500),
    "503 HTML": saying(503, "<html>busy</html>"),
    "reset": lambda handler: reset(handler, handler.server),
    "HTML with 200": saying(200, "<html>log in</html>"),
    "JSON cut": saying(200, '{"model": "tiny-chat", "choi'),
    "error with 200": saying(200, {"error": {"message": "overloaded"}}),
    "no choice": saying(200, {"model": MODEL, "choices": []}),
    "another model": saying(200, written("Four.", model="llama-9")),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_passes_costs_no_answer_and_nothing_is_paid_twice(name, tmp_path):
    server = LoopbackOpenAi(faults={2: FAULTS[name]})
    with server.serving():
        result, _ = put(questions(5), server, tmp_path, attempts=3)
        assert [answer.text for answer in result.records] == ["Seven."] * 5
        assert (server.paid, len(server.bodies)) == (5, 6)
        put(questions(5), server, tmp_path, attempts=3)
        assert len(server.bodies) == 6


def test_a_request_that_hangs_is_given_up_and_asked_again(tmp_path):
    server = LoopbackOpenAi(faults={1: lambda handler: hang(handler, handler.server)})
    with server.serving():
        result, _ = put(questions(2), server, tmp_path, attempts=2, timeout_s=0.5)
        server.released.set()
    assert [answer.status for answer in result.records] == [Status.OK] * 2


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (refusing(402, "Payment Required"), "has no credit left for this key (402 Payment Required)"),
        (refusing(429, "You exceeded your quota", code="insufficient_quota"), "has no credit left for this key"),
        (refusing(401, f"Incorrect API key: {KEY}"), "refuses the key (401 Incorrect API key: ***)"),
        (refusing(404, "The model does not exist"), f"has no model {MODEL}"),
    ],
)
def test_without_credit_key_or_model_no_more_is_sent_than_is_under_way(fault, said, tmp_path):
    server = LoopbackOpenAi(faults=dict.fromkeys(range(6, 200), fault), wait_s=0.02)
    with server.serving(), pytest.raises(InputError, match=re.escape(said)) as error:
        put(questions(100), server, tmp_path, attempts=5, concurrency=4)
    assert KEY not in str(error.value)
    assert "\n" not in str(error.value)
    assert (server.paid, len(server.bodies) <= 5 + 4) == (5, True)


def test_a_redirect_is_not_followed_and_takes_no_key_along():
    elsewhere = LoopbackOpenAi()
    with elsewhere.serving():
        server = LoopbackOpenAi(faults={1: lambda handler: handler.say(307, "", {"Location": elsewhere.base_url})})
        with server.serving(), pytest.raises(EndpointError, match="refuses the request"):
            put([asked("a", "q0")], server)
    assert not elsewhere.bodies


def test_a_budget_is_held_what_was_answered_is_kept_and_raising_it_goes_on(tmp_path):
    server, trials = LoopbackOpenAi(), [asked(f"{number:1000}", f"q{number}", max_tokens=50) for number in range(30)]
    with server.serving():
        with pytest.raises(BudgetSpent, match="budget_requests = 10 does not reach"):
            put(trials, server, tmp_path, budget_requests=10)
        assert not server.bodies
        # By the rule of thumb 33 requests are 400 tokens each, in truth they are 1,050.
        most = {"budget_usd": 0.02, "prices": {"input": 1.0, "output": 1.0}, "concurrency": 4}
        with pytest.raises(BudgetSpent, match=r"budget_usd = 0\.02 is used up; raise it to go on; \d+ of 33 requests"):
            put(trials, server, tmp_path, **most)
        assert 15 <= server.paid <= 19
        spent = sum(json.loads(line)["prompt_tokens"] for line in next(tmp_path.rglob(LEDGER)).read_text().splitlines())
        assert spent == 1000 * server.paid
        with pytest.raises(BudgetSpent, match="does not reach"):
            put(trials, server, tmp_path, **most)
        paid = server.paid
        result, _ = put(trials, server, tmp_path, **most | {"budget_usd": 1.0})
        assert [answer.text for answer in result.records] == ["Seven."] * 30
        assert server.paid == 33 > paid  # three were sent twice, to see whether answers differ


def test_what_asking_comes_to_is_said_before(tmp_path):
    server = LoopbackOpenAi()
    endpoint = server.endpoint(budget_usd=1.0, prices={"input": 1000.0, "output": 0})
    asking = RemoteAsking(MODEL, endpoint, CHAT, questions(2))
    assert asking.plan(asking.open_known(tmp_path)) == (
        "2 answers, of them 0 known; to be asked: about 2 requests, 64 tokens, 0.04 USD; 76 tokens, 0.052 USD at most"
    )
    labelled = [replace(LABELLED, trial_id=f"q{number}", prompt=f"{number:30}") for number in range(3)]
    unchosen = RemoteAsking(MODEL, server.endpoint(), CHAT, labelled)  # its route is found when it is asked
    assert unchosen.plan(None) == (
        "3 readings, of them 0 known; to be asked: about 3 requests, 81 tokens; 141 tokens at most"
    )
    server.server_close()


@pytest.mark.slow
def test_of_four_hundred_requests_as_many_are_under_way_as_are_allowed():
    server = LoopbackOpenAi(wait_s=0.2)
    trials = questions(396)  # and four of them twice
    with server.serving():
        result, _ = put(trials, server, concurrency=16)
    assert {record.reason for record in result.records if record.status is not Status.OK} == set()
    assert (server.paid, server.most_at_once) == (400, 16)


def test_requests_keep_the_pace_and_all_wait_where_the_server_asks_to():
    server = LoopbackOpenAi(faults={3: refusing(429, headers={"Retry-After": "7"})})
    asking = RemoteAsking(MODEL, server.endpoint(requests_per_minute=60, attempts=2), CHAT, questions(4))
    client, pauses = asking.connect(None), []
    client.pause = pauses.append
    with server.serving():
        asking.ask(client)
    assert 7.0 in pauses
    assert sorted(round(pause) for pause in pauses if pause != 7.0) == [1, 2, 3, 4]


def test_a_key_is_in_no_file_log_or_message(tmp_path, logged, capfd, monkeypatch):
    monkeypatch.setenv("OPENAI_LOG", "debug")
    server = LoopbackOpenAi(faults={1: refusing(500, f"Authorization: Bearer {KEY}"), 2: refusing(503, f"{KEY} " * 90)})
    with server.serving():
        result, described = put(questions(12), server, tmp_path, attempts=2)
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(texts) > 10
    found = [*texts, *logged, *capfd.readouterr(), str(result), json.dumps(described, default=str)]
    assert not [text for text in found if KEY in text]


def test_two_versions_and_a_name_without_a_date_are_named(tmp_path):
    answers = iter(
        [written("Four.") | {"system_fingerprint": "fp_1"}, written("Four.") | {"system_fingerprint": "fp_2"}]
    )
    server = LoopbackOpenAi(lambda body: next(answers))
    with server.serving():
        result, described = put(questions(2), server)
    assert described["model_versions"] == [f"{MODEL}/fp_1", f"{MODEL}/fp_2"]
    assert result.notes == [f"answers come from 2 versions of the model: {MODEL}/fp_1, {MODEL}/fp_2"]


def test_some_requests_are_sent_twice_and_what_differs_is_recorded():
    labelled = [
        type(LABELLED)(f"q{n}", f"q{n}", "eng", f"p{n}", "forward", 0, None, LABELLED.readout) for n in range(40)
    ]
    counter = iter(range(1000))
    server = LoopbackOpenAi(lambda body: showing({"1": 0.6 + (0.01 if next(counter) >= 40 else 0), "2": 0.38}))
    with server.serving():
        _, described = put(labelled, server, route="top_logprobs")
    assert described["asked_twice"] == {"requests": 4, "largest_difference": pytest.approx(0.01)}


def kill_half_way(script, server):
    """Kill a process that asks a server, once 30 of its requests are answered, and wait until none is under way."""
    process = subprocess.Popen([sys.executable, "-c", script], cwd=REPOSITORY)
    wait_until(lambda: server.paid >= 30 or process.poll() is not None, every=0.01)
    assert process.poll() is None
    process.kill()
    process.wait()
    wait_until(lambda: server.at_once == 0)


@pytest.mark.slow
def test_killed_between_request_and_answer_only_what_was_under_way_is_paid_again(tmp_path):
    server = LoopbackOpenAi(wait_s=0.05)
    script = f"""
import sys
from pathlib import Path
from valuesassets_tests.remote.remote_trials import asked
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.remote.asking import RemoteAsking
endpoint = Endpoint(provider="openai", base_url={server.base_url!r}, key_env="THE_KEY", concurrency=4)
questions = [asked(f"question {{number}}", f"q{{number}}") for number in range(60)]
asking = RemoteAsking({MODEL!r}, endpoint, Prompting(style="chat"), questions)
known = asking.open_known(Path({str(tmp_path)!r}))
asking.ask(asking.connect(known), store=known)
"""
    with server.serving():
        kill_half_way(script, server)
        paid = server.paid
        put(questions(60), server, tmp_path, concurrency=4)
        assert server.paid <= 64 + 4  # 60, four of them twice
        assert paid >= 30
        before = server.paid
        put(questions(60), server, tmp_path, concurrency=4)
        assert server.paid == before


@pytest.mark.slow
def test_killed_in_the_middle_no_answer_that_had_come_is_paid_again_though_it_was_empty_or_cut_off(tmp_path):
    replies = [written(""), written("", "length"), written("<think>Two and", "length"), written("<think>a</think>7")]
    server = LoopbackOpenAi(lambda body: replies[len(body["messages"][0]["content"]) % 4], wait_s=0.05)
    script = f"""
from pathlib import Path
from valuesassets_tests.remote.test_openai_api import THINKING, drawn
from valuesassets.records.settings.endpoints import Endpoint
endpoint = Endpoint(provider="openai", base_url={server.base_url!r}, key_env="THE_KEY", concurrency=4)
asking = drawn(endpoint)
known = asking.open_known(Path({str(tmp_path)!r}))
asking.ask(asking.connect(known), store=known)
"""
    with server.serving():
        kill_half_way(script, server)
        asking = drawn(server.endpoint(concurrency=4))
        arrived = asking.kept(asking.open_known(tmp_path))
        assert server.paid - 4 <= arrived
        paid = server.paid
        asking.ask(asking.connect(tmp_path), store=asking.open_known(tmp_path))
        assert server.paid == paid + 80 - arrived
        asking = drawn(server.endpoint(concurrency=4))
        asking.ask(asking.connect(tmp_path), store=asking.open_known(tmp_path))
        assert server.paid == paid + 80 - arrived


def drawn(endpoint):
    """Eighty draws, twenty of each of four questions."""
    trials = [asked("?" * (number + 1), f"q{number}", samples=20) for number in range(4)]
    return RemoteAsking(MODEL, endpoint, THINKING, trials, is_compared=False)


def test_draws_are_asked_for_one_by_one_where_no_seed_tells_them_apart(tmp_path):
    replies = iter(["Seven.", "Eight.", "Nine."])
    server, trial = LoopbackOpenAi(lambda body: written(next(replies))), asked("a", "q0", samples=3)
    with server.serving():
        result, _ = put([trial], server, tmp_path, omit=["seed"])
        assert sorted(answer.text for answer in result.records) == ["Eight.", "Nine.", "Seven."]
        again, _ = put([trial], server, tmp_path, omit=["seed"])
    assert again.records == result.records
    assert server.paid == 3


def test_two_processes_on_one_store_lose_nothing(tmp_path):
    server = LoopbackOpenAi(wait_s=0.01)
    with server.serving():
        both = [threading.Thread(target=put, args=(questions(30), server, tmp_path)) for _ in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        before = server.paid
        result, _ = put(questions(30), server, tmp_path)
    assert (server.paid, {answer.text for answer in result.records}) == (before, {"Seven."})


@pytest.mark.slow
def test_what_asks_behind_an_api_imports_no_torch():
    code = (
        "import sys; from valuesassets.node import cells; from valuesassets.remote import asking, exact; "
        "from valuesassets.spelling import tokenizer_files; print({'torch', 'transformers'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
