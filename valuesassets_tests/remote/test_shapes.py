"""Whatever shape a reply has, a user gets a record with its reason or one line, and never a number that is none."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valuesassets.models.loading import load_model
from valuesassets.models.serving import MODEL as SERVED
from valuesassets.models.serving import Handler, ServedModel
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.parquet import read_answers, read_readings
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Trial
from valuesassets.remote.asking import RemoteAsking
from valuesassets_tests.remote.loopback_gemini import KEY as GEMINI_KEY
from valuesassets_tests.remote.loopback_gemini import MODEL as GEMINI
from valuesassets_tests.remote.loopback_gemini import LoopbackGemini, candidate
from valuesassets_tests.remote.loopback_openai import KEY, MODEL, LoopbackOpenAi, counted, showing, written
from valuesassets_tests.remote.mutated import mutated
from valuesassets_tests.remote.remote_trials import asked
from valuesassets_tests.tiny_models import PROMPTS, byte_level, write_model

BATCH, BATCHES = 25, 12
"""Replies of a batch, and batches of a route: three hundred each."""
CHAT = Prompting(style="chat", answer_prefix="none")
THINKING = Prompting(style="chat", thinking="on", answer_prefix="none", max_reasoning_tokens=50)
THOUGHT = counted(written("<think>Two.</think>Four.", reasoning_content="Two and two."), thought=7)
PARTS = written(
    [{"type": "thinking", "thinking": [{"type": "text", "text": "Two."}]}, {"type": "text", "text": "Four."}]
)
BARE = {"model": MODEL, "choices": [{"text": "Four.", "finish_reason": "stop"}], "usage": {"completion_tokens": 4}}
TOP = showing({"1": 0.7, "2": 0.2, " 1": 0.05, "x": 0.02})
LEGACY = {
    "model": MODEL,
    "choices": [
        {
            "text": "1",
            "finish_reason": "length",
            "logprobs": {"tokens": ["1"], "token_logprobs": [-0.4], "top_logprobs": [{"1": -0.4, "2": -1.2, "x": -5}]},
        }
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 1},
}
LISTED = [{"token": "1", "tokenId": 16, "logProbability": -0.4}, {"token": "2", "tokenId": 17, "logProbability": -1.2}]
GEMINI_TOP = candidate("1", thoughts=0)
GEMINI_TOP["candidates"][0]["logprobsResult"] = {
    "topCandidates": [{"candidates": LISTED}],
    "chosenCandidates": [LISTED[0]],
}
TEXT = {"api": "completions"}
ROUTES = {
    "a chat's text": (written("Four."), CHAT, {}, False),
    "a thinking chat's text": (THOUGHT, THINKING, {}, False),
    "a chat's text in parts": (PARTS, THINKING, {}, False),
    "bare text": (BARE, Prompting(), TEXT, False),
    "a chat's likeliest tokens": (TOP, CHAT, {"route": "top_logprobs"}, True),
    "likeliest tokens by text": (LEGACY, Prompting(), TEXT | {"route": "top_logprobs"}, True),
    "Gemini's text": (candidate("Four.", thoughts=0), CHAT, {}, False),
    "Gemini's thoughts": (candidate("Four.", thought="Two and two."), THINKING, {}, False),
    "Gemini's likeliest tokens": (GEMINI_TOP, CHAT, {"route": "top_logprobs"}, True),
}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("THE_KEY", KEY)
    monkeypatch.setenv("GEMINI_KEY", GEMINI_KEY)


def labelled(number):
    return Trial(
        f"q{number}", f"q{number}", "eng", f"How many, {number}?", "forward", 0, None, ScoreLabels(("1", "2"), (1, 2))
    )


def require_sound(record):
    """See that a record has its reason, or numbers that are a distribution."""
    assert (record.status is Status.OK) == (record.reason is None)
    probs, p_valid = (getattr(record, name, None) for name in ("label_probs", "p_valid"))
    if probs is None or p_valid is None:
        return
    high = record.label_probs_high or probs
    assert all(0 <= low <= most <= 1 for low, most in zip(probs, high, strict=True))
    assert math.fsum(probs) - 1e-9 <= p_valid <= (record.p_valid_high or 1.0) <= 1


def ask_all(asking, folder, count):
    """What came of mutated replies, from the server and from the store: the same, and fit for a file."""
    known = asking.open_known(folder / "known")
    client = asking.connect(known)
    client.pause = lambda seconds: None
    try:
        result, described = asking.ask(client, store=known)
    except ValuesAssetsError:
        return
    assert len(result.records) == count
    for record in result.records:
        require_sound(record)
    path = folder / "records.parquet"
    asking.write(path, result.records, described)
    (read_readings if asking.route else read_answers)(path)
    again = RemoteAsking(asking.model, asking.endpoint, asking.prompting, asking.trials)
    again.open_known(folder / "known")
    whole = [record for record in result.records if record.status is not Status.FAILED]
    assert again.kept(known) >= len(whole)


def try_batches(try_batch, tmp_path):
    """Try seeds of replies, batch by batch, each with a folder of its own; how many replies were sent."""
    tried = itertools.count()

    @settings(max_examples=BATCHES, database=None)
    @given(seed=st.integers(0, 2**32))
    def each(seed):
        try_batch([seed + place for place in range(BATCH)], tmp_path / str(next(tried)))

    each()
    return next(tried) * BATCH


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUTES)
def test_three_hundred_mutated_replies_are_records_or_one_line(name, tmp_path, record_property):
    good, prompting, given_, is_labelled = ROUTES[name]
    trials = [labelled(n) if is_labelled else asked(f"question {n}", f"q{n}") for n in range(BATCH)]

    def try_batch(seeds, folder):
        replies = iter([mutated(good, seed) for seed in seeds])
        if name.startswith("Gemini"):
            server, model = LoopbackGemini(answer=lambda body: next(replies, good)), GEMINI
            settled = {"provider": "gemini", "base_url": server.base_url, "key_env": "GEMINI_KEY"}
            endpoint = Endpoint(**settled, attempts=1, concurrency=1, **given_)
        else:
            server, model = LoopbackOpenAi(lambda body: next(replies, good)), MODEL
            endpoint = server.endpoint(**given_)
        with server.serving():
            ask_all(RemoteAsking(model, endpoint, prompting, trials), folder, BATCH)

    count = try_batches(try_batch, tmp_path)
    record_property("replies", count)
    assert count >= 300


ERROR = {
    "error": {
        "code": 429,
        "message": "You exceeded your quota.",
        "status": "RESOURCE_EXHAUSTED",
        "type": "requests",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.2s"}],
    }
}
WAITS = ("", "0", "nan", "-1", "1" * 400, "soon", "Sun, 01 Nov 99999 07:28:00 GMT", "Sun, 01 Nov 2026 07:28:00")


@pytest.mark.slow
@pytest.mark.parametrize("interface", ["openai", "gemini"])
def test_three_hundred_mutated_refusals_are_one_line_too(interface, tmp_path):
    trials = [asked(f"question {n}", f"q{n}") for n in range(BATCH)]

    def try_batch(seeds, folder):
        left = iter(seeds)

        def refuse(handler, *_):
            seed = next(left)
            headers = {"Retry-After": WAITS[seed % len(WAITS)], "Date": WAITS[-1 - seed % 3]}
            handler.say((400, 404, 409, 429, 500, 503)[seed % 6], mutated(ERROR, seed), headers)

        if interface == "gemini":
            server = LoopbackGemini({("generate", n): refuse for n in range(1, BATCH)})
            given_, model = {"provider": "gemini", "base_url": server.base_url, "key_env": "GEMINI_KEY"}, GEMINI
            endpoint = Endpoint(**given_, attempts=1, concurrency=1)
        else:
            server, model = LoopbackOpenAi(faults=dict.fromkeys(range(1, BATCH), refuse)), MODEL
            endpoint = server.endpoint()
        with server.serving():
            ask_all(RemoteAsking(model, endpoint, CHAT, trials), folder, BATCH)

    assert try_batches(try_batch, tmp_path) >= 300


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = write_model(tmp_path_factory.mktemp("m") / "m", byte_level(), spread=0.2)
    return folder, load_model(str(folder), device="cpu")


@pytest.mark.slow
@pytest.mark.parametrize("route", ["token_ids", "echo"])
def test_three_hundred_mutated_replies_of_an_exact_route_too(model, route, tmp_path):
    folder, loaded = model
    seeds_left = iter(())

    class Mutating(Handler):
        """A server that answers otherwise than it was asked."""

        def answer(self, body):
            reply = self.server.complete(body)
            seed = next(seeds_left, None)
            self.say(200, reply if seed is None else mutated(reply, seed))

    trials = [
        Trial(f"q{n}", f"q{n}", "eng", f"{PROMPTS[0]} {n}", "forward", 0, None, ScoreLabels(("1", "2"), (1, 2)))
        for n in range(BATCH)
    ]

    def try_batch(seeds, place):
        nonlocal seeds_left
        seeds_left = iter(seeds)
        with ServedModel(loaded, Mutating).serving() as server:
            endpoint = Endpoint(
                provider="openai",
                base_url=server.base_url,
                api="completions",
                route=route,
                tokenizer=str(folder),
                attempts=1,
                concurrency=1,
            )
            ask_all(RemoteAsking(SERVED, endpoint, Prompting(), trials), place, BATCH)

    assert try_batches(try_batch, tmp_path) >= 300
