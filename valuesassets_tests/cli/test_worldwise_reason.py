"""`worldwise reason` behind APIs: answers of every kind, faults that pass, a kill, a budget, and a key seen nowhere."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import count

import pytest
from typer.testing import CliRunner

from valuesassets.cli.app import app
from valuesassets.cli.asking import lock_name
from valuesassets.instruments.worldwise.tables import REASONS
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.parquet import read_frame
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS, JAPAN, write
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.remote import loopback_gemini, loopback_openai
from valuesassets_tests.remote.loopback_gemini import LoopbackGemini, candidate, refusal, reset
from valuesassets_tests.remote.loopback_openai import LoopbackOpenAi, refusing, saying, written
from valuesassets_tests.tiny_models import byte_level, write_model

DRAWS, CONCURRENCY = 4, 4
N_ANSWERS = 2 * 3 * 3 * DRAWS
"""Of two dilemmas, three personas, two orders of `decide` and `open`."""
BAND, DECIDE = DILEMMAS[0]["situation"], "DECISION: A, B or NEITHER"
DECIDED = "DECISION: B\nVALUES: Fun; Order; Thrift\nREASON: I want to hear them. The return can wait."


def said_to(prompt):
    """What is answered to a prompt, and what ends it: nothing odd but to the first dilemma."""
    is_decide, is_odd = DECIDE in prompt, BAND in prompt
    if is_odd and "You live in a city" in prompt:
        return ("DECISION: NEITHER", "end") if is_decide else (None, "filtered")
    if is_odd and "You live in Japan" in prompt:
        return ("DECISION: A\nVALUES: Fun", "cut") if is_decide else (None, "refused")
    return (DECIDED if is_decide else "I go and hear them. It is a fine evening.", "end")


EXPECTED = {"declined": 2 * DRAWS, "filtered": DRAWS, "truncated": 2 * DRAWS, "ok": N_ANSWERS - 6 * DRAWS}


class OpenAi:
    """A server with OpenAI's interface that answers dilemmas, with three faults that pass."""

    key, model, options = loopback_openai.KEY, loopback_openai.MODEL, ()
    expected = EXPECTED | {"refused": DRAWS}

    def __init__(self):
        faults = {
            3: refusing(429, headers={"Retry-After": "0.1"}),
            7: refusing(503),
            11: lambda handler: reset(handler, handler.server),
        }
        self.server = LoopbackOpenAi(self.answer, faults, wait_s=0.02)

    def answer(self, body):
        text, end = said_to(body["messages"][-1]["content"])
        if end == "refused":
            return written(None, refusal="I would rather not.")
        return written(text, {"end": "stop", "cut": "length", "filtered": "content_filter"}[end])

    @property
    def paid(self):
        return self.server.paid


class Gemini:
    """The same with Gemini's."""

    key, model, options = loopback_gemini.KEY, loopback_gemini.MODEL, ("--provider", "gemini")
    expected = EXPECTED | {"filtered": 2 * DRAWS}
    """Gemini has no words for a model that refuses by itself."""

    def __init__(self):
        faults = {
            ("generate", 3): refusal(429, headers={"Retry-After": "0.1"}),
            ("generate", 7): refusal(503),
            ("generate", 11): reset,
        }
        self.paid, self._paying = 0, count(1)
        self.server = LoopbackGemini(faults, answer=self.answer)

    def answer(self, body):
        self.paid = next(self._paying)
        time.sleep(0.02)
        text, end = said_to(body["contents"][-1]["parts"][0]["text"])
        ends = {"end": "STOP", "cut": "MAX_TOKENS", "filtered": "SAFETY", "refused": "PROHIBITED_CONTENT"}
        return candidate(text or "", ends[end], thoughts=0)


@pytest.fixture(params=[OpenAi, Gemini], ids=["openai", "gemini"])
def api(request, monkeypatch):
    found = request.param()
    monkeypatch.setenv("THE_KEY", found.key)
    with found.server.serving():
        yield found


@pytest.fixture
def given(api, tmp_path):
    """The arguments of a run."""
    scenarios = write(tmp_path / "dilemmas.json", DILEMMAS)
    cultures = write(tmp_path / "cultures.json", {"JPN": JAPAN})
    return [
        *("worldwise", "reason", "--model", api.model, "--base-url", api.server.base_url, "--api-key-env", "THE_KEY"),
        *("--scenarios", scenarios, "--cultures", cultures, "--draws", DRAWS, "--concurrency", CONCURRENCY),
        *("--output", tmp_path / "out.parquet", "--known", tmp_path / "answers", *api.options),
    ]


def run(arguments, *more):
    """A run in this process that must succeed; what it prints."""
    done = CliRunner().invoke(app, [*map(str, arguments), *map(str, more)])
    assert done.exit_code == 0, done.exception
    return done.output


@pytest.mark.slow
def test_killed_after_thirty_answers_no_more_than_what_was_under_way_is_paid_twice(api, given, tmp_path, logged):
    command = [sys.executable, "-m", "valuesassets.cli", *map(str, given)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        while api.paid < 30:
            assert process.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "out.parquet").exists()
    said = run(given)
    assert N_ANSWERS <= api.paid <= N_ANSWERS + CONCURRENCY
    reasons = read_frame(tmp_path / "out.parquet", REASONS)
    assert Counter(reasons["status"]) == api.expected
    assert said.endswith(
        f"{N_ANSWERS} answers in {tmp_path / 'out.parquet'}: "
        + ", ".join(f"{n} {status}" for status, n in Counter(reasons["status"]).most_common())
        + "\n"
    )
    before = api.paid, (tmp_path / "out.parquet").read_bytes()
    said += run(given)
    assert (api.paid, (tmp_path / "out.parquet").read_bytes()) == before
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > N_ANSWERS
    texts = [said.encode(), "\n".join(logged).encode(), *(path.read_bytes() for path in files)]
    assert not [text for text in texts if api.key.encode() in text]


@pytest.mark.slow
def test_rows_say_what_was_answered_and_what_it_took(api, given, tmp_path):
    run(given)
    reasons = read_frame(tmp_path / "out.parquet", REASONS)
    read = reasons[(reasons["form"] == "decide") & (reasons["status"] == "ok")]
    assert set(map(tuple, read["values"])) == {("Fun", "Order", "Thrift")}
    # B stands for either pole, as orders exchange the options.
    assert read.groupby(["culture", "scenario_id", "order"])["decision"].nunique().eq(1).all()
    assert set(read["decision"]) == {"high", "low"}
    assert (set(read["prompt_tokens"]), set(read["output_tokens"])) == ({1000}, {50})
    assert reasons["cost_usd"].isna().all()  # prices are not known
    assert sorted(reasons["draw"].unique()) == list(range(DRAWS))
    assert not reasons.loc[reasons["status"] != "ok", "decision"].notna().any()


@pytest.mark.slow
def test_a_budget_of_ten_pays_ten_at_most_leaves_rows_and_raised_it_goes_on(api, given, tmp_path):
    said = run(given, "--budget-requests", 10)
    assert api.paid <= 10
    reasons = read_frame(tmp_path / "out.parquet", REASONS)
    assert Counter(reasons["status"])["not_asked"] == N_ANSWERS - api.paid
    assert f"{N_ANSWERS - api.paid} not_asked" in said
    assert (reasons.loc[reasons["status"] == "not_asked", "reason"].str.contains("raise it and run it again")).all()
    run(given, "--budget-requests", 100)
    assert api.paid == N_ANSWERS
    assert "not_asked" not in set(read_frame(tmp_path / "out.parquet", REASONS)["status"])


def test_what_it_comes_to_is_said_before_anything_is_asked(api, given, tmp_path):
    prices = json.dumps(str(api.server.base_url))
    endpoint = f'provider = "{api.options[1] if api.options else "openai"}"\nbase_url = {prices}\nkey_env = "THE_KEY"\n'
    (tmp_path / "endpoint.toml").write_text(f"{endpoint}budget_usd = 0.000001\nprices = {{ input = 1, output = 2 }}\n")
    cut = given.index("--base-url")
    options = [*given[:cut], *given[cut + 4 :]][: -len(api.options) or None]
    done = CliRunner().invoke(app, [*map(str, options), "--endpoint", str(tmp_path / "endpoint.toml")])
    assert done.exit_code == 1
    assert f"{N_ANSWERS} answers, of them 0 known; to be asked: about {N_ANSWERS} requests, " in done.output
    assert "USD" in done.output
    assert "nothing was asked: the budget is used up" in str(done.exception)
    assert api.paid == 0


def test_a_model_that_is_loaded_here_writes_and_what_it_wrote_is_known(tmp_path):
    texts = [json.dumps(each) for each in DILEMMAS]
    model = write_model(tmp_path / "tiny", byte_level(texts), spread=0.1)
    scenarios = write(tmp_path / "dilemmas.json", DILEMMAS)
    local = ["worldwise", "reason", "--model", model, "--scenarios", scenarios, "--draws", 2, "--max-tokens", 3]
    local += ["--forms", "open,advocate", "--output", tmp_path / "out.parquet", "--known", tmp_path / "known"]
    said = run(local)
    reasons = read_frame(tmp_path / "out.parquet", REASONS)
    assert Counter(reasons["form"]) == {"open": 2 * 2 * 2, "advocate": 2 * 2 * 2}
    assert set(reasons["status"]) <= {"ok", "truncated", "unparsed"}
    assert reasons["output_tokens"].between(0, 3).all()
    before = (tmp_path / "out.parquet").read_bytes()
    assert run(local) == said
    assert (tmp_path / "out.parquet").read_bytes() == before


def test_two_runs_that_keep_answers_in_one_folder_would_both_pay(api, given, tmp_path):
    (tmp_path / "answers").mkdir()
    with (tmp_path / "answers" / lock_name(api.model)).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = CliRunner().invoke(app, [*map(str, given)])
    assert str(done.exception) == (
        f"{tmp_path / 'answers'}: another run keeps answers of {api.model} here and is still asking; wait for it, or "
        "name another folder with --known"
    )
    assert (api.paid, done.exit_code) == (0, 1)
    assert not (tmp_path / "out.parquet").exists()


HTML, ERROR = "<html>log in</html>", {"error": {"message": "overloaded"}}
ONE_BY_ONE = {"attempts": 1, "concurrency": 1}
WRONG = {
    "no key": ({}, {"THE_KEY": None}, {}, "THE_KEY is not set, the openai endpoint needs it"),
    "a key with a line break": (
        {},
        {"THE_KEY": "sk-1\nsk-2"},
        {},
        "THE_KEY holds characters that are in no key (a blank, a line break?); copy it again",
    ),
    "a key for the name of its variable": (
        {"key_env": "sk-loopback"},
        {},
        {},
        "key 'key_env': the name of a variable was expected, such as GEMINI_API_KEY; the key itself is its value",
    ),
    "an address without https": (
        {"base_url": "http://models.example.org/v1"},
        {},
        {},
        "an https address was expected (found http://models.example.org/v1): the key travels with every request",
    ),
    "a refusal that repeats the key": (
        {},
        {"THE_KEY": "sk-another"},
        {},
        "refuses the key (401 Incorrect API key: Bearer ***)",
    ),
    "no such model": (
        ONE_BY_ONE,
        {},
        {1: refusing(404, "The model does not exist")},
        "has no model tiny-chat-0101 (404",
    ),
    "no credit": (
        ONE_BY_ONE,
        {},
        {1: refusing(429, "You exceeded your quota", code="insufficient_quota")},
        "has no credit left for this key",
    ),
    "a page in place of every answer": (
        ONE_BY_ONE,
        {},
        {None: saying(200, HTML)},
        "the answer is no JSON (an HTML page)",
    ),
    "an error with status 200": (ONE_BY_ONE, {}, {None: saying(200, ERROR)}, "the answer is an error"),
    "no choice in any answer": (
        ONE_BY_ONE,
        {},
        {None: saying(200, {"model": loopback_openai.MODEL, "choices": []})},
        "the answer holds no choice, or several",
    ),
    "a server that asks to wait for an hour": (
        ONE_BY_ONE,
        {},
        {None: refusing(429, headers={"Retry-After": "3600"})},
        "asks to wait for 3600 s",
    ),
    "a budget without prices": (
        {"budget_usd": 1.0},
        {},
        {},
        "budget_usd needs prices, what a million tokens cost; add them, or say budget_tokens",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_keeps_a_model_behind_an_api_from_being_asked_is_one_line(name, tmp_path, monkeypatch):
    settings, environment, faults, said = WRONG[name]
    every = faults.pop(None, None)
    server = LoopbackOpenAi(faults=dict.fromkeys(range(1, 100), every) if every else faults)
    for variable, key in ({"THE_KEY": loopback_openai.KEY} | environment).items():
        monkeypatch.delenv(variable, raising=False) if key is None else monkeypatch.setenv(variable, key)
    stated = {"provider": "openai", "base_url": server.base_url, "key_env": "THE_KEY"} | settings
    (tmp_path / "endpoint.toml").write_text("".join(f"{key} = {json.dumps(each)}\n" for key, each in stated.items()))
    scenarios = write(tmp_path / "dilemmas.json", DILEMMAS)
    with server.serving():
        given = ["--model", loopback_openai.MODEL, "--endpoint", tmp_path / "endpoint.toml", "--scenarios", scenarios]
        given += ["--forms", "open", "--draws", 1, "--output", tmp_path / "out.parquet"]
        done = CliRunner().invoke(app, ["worldwise", "reason", *map(str, given)])
    assert done.exit_code == 1
    assert isinstance(done.exception, ValuesAssetsError)
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)
    texts = [str(done.exception), done.output, *(path.read_text() for path in tmp_path.rglob("*") if path.is_file())]
    assert not [text for text in texts for key in (loopback_openai.KEY, "sk-another", "sk-1") if key in text]
    assert not (tmp_path / "out.parquet").exists()


def test_what_one_dilemma_is_answered_with_a_fault_is_a_row_and_the_others_stay(tmp_path, monkeypatch):
    faults = {1: saying(200, HTML), 2: saying(200, ERROR), 3: saying(200, {"choices": []}), 4: refusing(400, "no")}
    server = LoopbackOpenAi(faults=faults)
    monkeypatch.setenv("THE_KEY", loopback_openai.KEY)
    stated = {"provider": "openai", "base_url": server.base_url, "key_env": "THE_KEY"} | ONE_BY_ONE
    (tmp_path / "endpoint.toml").write_text("".join(f"{key} = {json.dumps(each)}\n" for key, each in stated.items()))
    scenarios = write(tmp_path / "dilemmas.json", DILEMMAS)
    given = ["worldwise", "reason", "--model", loopback_openai.MODEL, "--endpoint", tmp_path / "endpoint.toml"]
    given += ["--scenarios", scenarios, "--forms", "open", "--draws", 2, "--output", tmp_path / "out.parquet"]
    with server.serving():
        said = run(given)
        reasons = read_frame(tmp_path / "out.parquet", REASONS)
        assert Counter(reasons["status"]) == {"failed": 4, "ok": 4}
        assert reasons.loc[reasons["status"] == "failed", "reason"].str.startswith(loopback_openai.MODEL).all()
        assert "4 failed, 4 ok" in said or "4 ok, 4 failed" in said
        run(given)
    assert set(read_frame(tmp_path / "out.parquet", REASONS)["status"]) == {"ok"}
    assert server.paid == 8


@pytest.mark.parametrize("thinks", [False, True])
def test_a_decision_in_a_thought_is_none_and_who_may_think_is_read_behind_it(tmp_path, monkeypatch, thinks):
    thought = "<think>\nThe person may want A.\nDECISION: A\nREASON: I win alone.\n</think>\n\n"
    server = LoopbackOpenAi(lambda body: written(thought + DECIDED))
    monkeypatch.setenv("THE_KEY", loopback_openai.KEY)
    shown = tmp_path / "thinking.toml"
    shown.write_text(
        'style = "chat"\nanswer_prefix = "none"\nthinking = "on"\nmax_reasoning_tokens = 50\n'
        if thinks
        else 'style = "chat"\nanswer_prefix = "none"\n'
    )
    scenarios = write(tmp_path / "dilemmas.json", DILEMMAS)
    given = ["worldwise", "reason", "--model", loopback_openai.MODEL, "--base-url", server.base_url]
    given += ["--api-key-env", "THE_KEY", "--scenarios", scenarios, "--forms", "decide", "--draws", 1]
    given += ["--prompting", shown, "--output", tmp_path / "out.parquet"]
    with server.serving():
        if not thinks:
            done = CliRunner().invoke(app, list(map(str, given)))
            assert "the model thought (<think>) though thinking = 'off'; say thinking = 'on'" in str(done.exception)
            return
        run(given)
    reasons = read_frame(tmp_path / "out.parquet", REASONS)
    assert set(reasons["status"]) == {"ok"}
    assert set(reasons["text"]) == {DECIDED}
    assert set(reasons["decision"]) == {"low", "high"}  # B in both orders
