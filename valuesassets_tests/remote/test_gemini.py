"""What is asked of Gemini for an answer, and what its responses amount to, through the real SDK."""

import json
import math

import pytest

from valuesassets.records.errors import EndpointError, InputError
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Turn
from valuesassets.remote.asking import RemoteAsking
from valuesassets_tests.remote.loopback_gemini import KEY, MODEL, LoopbackGemini, candidate, refusal, saying
from valuesassets_tests.remote.remote_trials import LABELLED, asked

CHAT = Prompting(style="chat")
THINKING = Prompting(style="chat", thinking="on", answer_prefix="none", max_reasoning_tokens=50)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("THE_KEY", KEY)


def put(trials, *responses, prompting=CHAT, known=None, attempts=1):
    """The answers to trials, asked one after the other, with how they were made, and the server that was asked."""
    answers = iter(responses)
    server = LoopbackGemini(answer=lambda body: next(answers, candidate("Seven.", thoughts=0)))
    with server.serving():
        endpoint = Endpoint(
            provider="gemini", base_url=server.base_url, key_env="THE_KEY", attempts=attempts, concurrency=1
        )
        asking = RemoteAsking(MODEL, endpoint, prompting, trials)
        kept = asking.open_known(known) if known else None
        result, described = asking.ask(asking.connect(kept), store=kept)
    return result.records, described | {"notes": result.notes}, server


def one(response, prompting=CHAT, **settings):
    """The answer that a response amounts to, beside one that is sound."""
    (answer, _), _, _ = put([asked("a", "q0", **settings), asked("b", "q1")], response, prompting=prompting)
    return answer


def test_prompts_are_turns_of_the_user_and_settings_are_sent_as_they_are():
    chat = (Turn("system", "Be brief."), Turn("user", "a"), Turn("assistant", "b"), Turn("user", "c"))
    trials = [asked("How many?\nAnswer:", "q0", samples=2, temperature=0.5, top_p=0.9), asked("x", "q1", chat=chat)]
    _, described, server = put(trials, prompting=Prompting(style="chat", system="Answer."))
    assert server.keys == {KEY}
    first, second, third = server.bodies
    assert first["contents"] == [{"role": "user", "parts": [{"text": "How many?\nAnswer:"}]}]
    assert first["systemInstruction"]["parts"] == [{"text": "Answer."}]
    config = first["generationConfig"]
    assert config.pop("seed") != second["generationConfig"].pop("seed")
    assert config == second["generationConfig"]
    assert config.pop("thinkingConfig") == {"thinking_budget": 0}  # as the SDK spells it; Google takes either
    assert config == {"maxOutputTokens": 12, "temperature": 0.5, "topP": 0.9}
    assert [(turn["role"], turn["parts"][0]["text"]) for turn in third["contents"]] == [
        ("user", "a"),
        ("model", "b"),
        ("user", "c"),
    ]
    assert third["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert KEY not in json.dumps(described, default=str)


def test_an_answer_ends_by_the_model_by_a_stop_text_or_by_the_limit():
    ends = [
        (one(candidate("Four.", thoughts=0)), "Four.", "end"),
        (one(candidate("Four.\nFive.", thoughts=0), stop=("F!", "\n")), "Four.", "stop"),
        (one(candidate("Four", "MAX_TOKENS", thoughts=0)), "Four", "length"),
        (one(candidate("", thoughts=0)), "", "end"),
        (one(candidate("", "MAX_TOKENS", thoughts=0)), "", "length"),
    ]
    for answer, text, finish in ends:
        assert (answer.status, answer.text, answer.finish, answer.n_tokens) == (Status.OK, text, finish, 50)
        assert answer.model_version == f"{MODEL}-001"


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, Status.REFUSED, "Gemini refused the prompt (SAFETY)"),
        (candidate("", "PROHIBITED_CONTENT"), Status.REFUSED, "Gemini stopped (PROHIBITED_CONTENT)"),
        (candidate("Half", "RECITATION"), Status.REFUSED, "Gemini stopped (RECITATION)"),
        (candidate("", "OTHER"), Status.FAILED, "Gemini stopped (OTHER); run it again later"),
        ({}, Status.FAILED, "the answer is empty; name another model"),
        (candidate("\ud800", thoughts=0), Status.FAILED, "the answer holds half a character, which no file can hold"),
        (candidate("Four."), Status.FAILED, "the model thought (7 tokens) though thinking = 'off'"),
    ],
)
def test_what_is_no_answer_is_a_row_without_text_and_with_its_reason(response, status, reason):
    answer = one(response)
    assert (answer.status, answer.text, answer.finish, answer.n_tokens) == (status, None, None, None)
    assert reason in answer.reason
    assert (f"{MODEL}: trial q0 (eng, sample 0): " in answer.reason) == (status is Status.FAILED)


def test_what_a_model_thinks_stands_apart_from_what_it_answers():
    answer = one(candidate("Four.", thought="Two and two."), prompting=THINKING)
    assert (answer.text, answer.reasoning, answer.n_tokens, answer.n_reasoning_tokens) == (
        "Four.",
        "Two and two.",
        50,
        7,
    )


def test_thoughts_have_a_budget_beside_that_of_the_answer():
    _, _, server = put([asked("a", "q0")], candidate("Four.", thought="Two."), prompting=THINKING)
    config = server.bodies[0]["generationConfig"]
    assert config["maxOutputTokens"] == 12 + 50
    assert config["thinkingConfig"] == {"include_thoughts": True, "thinking_budget": 50}


def test_two_versions_of_a_model_are_named():
    other = candidate("Seven.", thoughts=0) | {"modelVersion": f"{MODEL}-002"}
    _, described, _ = put([asked("a", "q0"), asked("b", "q1")], other)
    assert described["model_versions"] == [f"{MODEL}-001", f"{MODEL}-002"]
    assert described["notes"] == [f"answers come from 2 versions of the model: {MODEL}-001, {MODEL}-002"]


def test_where_not_one_answer_can_be_had_it_is_an_error():
    with pytest.raises(EndpointError, match=r"trial q0 .*: Gemini stopped \(OTHER\)"):
        put([asked("a", "q0")], candidate("", "OTHER"))


def test_trials_of_another_readout_are_refused():
    with pytest.raises(InputError, match="is read by ScoreLabels, and route = 'sampled' asks for no probabilities"):
        RemoteAsking(MODEL, Endpoint(provider="gemini", route="sampled"), CHAT, [LABELLED])


def test_what_was_answered_is_known_by_host_model_and_body_and_damage_is_asked_for_again(tmp_path):
    trials, warned = [asked("a", "q0"), asked("b", "q1")], []
    records, described, server = put(trials, {"promptFeedback": {"blockReason": "SAFETY"}}, known=tmp_path)
    endpoint = Endpoint(provider="gemini", base_url=server.base_url)

    def opened(*trials, model=MODEL, prompting=CHAT, endpoint=endpoint):
        asking = RemoteAsking(model, endpoint, prompting, trials)
        return asking, asking.open_known(tmp_path, warned.append)

    asking, known = opened(*trials)
    answers, again = asking.recall(known)
    assert (tuple(answers), again) == (records, described)
    assert asking.plan(known) == "2 answers, of them 2 known"
    renamed, known = opened(asked("a", "other"), asked("b", "q1", stop=("ev",)))
    found, _ = renamed.recall(known)
    assert [answer.trial_id for answer in found] == ["other", "q1"]
    assert [answer.text for answer in found] == [None, "S"]
    for others in ({"model": "m"}, {"prompting": THINKING}, {"endpoint": Endpoint(provider="gemini")}):
        asking, known = opened(*trials, **others)
        assert asking.kept(known) == 0
    for other in ({"seed": 1}, {"max_tokens": 13}, {"temperature": 0.0}):
        asking, known = opened(asked("a", "q0", **other))
        assert asking.kept(known) == 0
    texts = [path.read_text() for path in tmp_path.rglob("*.json")]
    assert not [text for text in texts if KEY in text or "content-length" in text.lower()]
    assert not warned
    (path,) = [path for path in tmp_path.rglob("*.json") if "Seven" in path.read_text()]
    path.write_text(path.read_text().replace("Seven", "Eight"))
    asking, known = opened(*trials)
    assert asking.kept(known) == 1
    assert warned == [f"{path}: what was known is damaged; it is asked for again"]


def test_a_page_in_place_of_an_answer_is_no_answer():
    server = LoopbackGemini({("generate", 1): saying(200, "<html>log in</html>")})
    with server.serving():
        endpoint = Endpoint(provider="gemini", base_url=server.base_url, key_env="THE_KEY", attempts=1)
        asking = RemoteAsking(MODEL, endpoint, CHAT, [asked("a", "q0")])
        with pytest.raises(EndpointError, match="the answer is not what Gemini's interface promises"):
            asking.ask(asking.connect(None))


def shown(probs):
    """A response with the probabilities of its first token."""
    listed = [{"token": token, "logProbability": math.log(prob)} for token, prob in probs.items()]
    response = candidate("1", thoughts=0)
    response["candidates"][0]["logprobsResult"] = {"topCandidates": [{"candidates": listed}]}
    return response


def test_probabilities_of_its_likeliest_tokens_are_read_with_their_bounds():
    (reading,), described, server = put([LABELLED], shown({"1": 0.7, "2": 0.28}))
    assert reading.label_probs == pytest.approx((0.7, 0.28))
    assert reading.label_probs_high == pytest.approx((0.72, 0.3))
    assert described["route"] == "top_logprobs"
    config = server.bodies[0]["generationConfig"]
    assert {
        "maxOutputTokens": 1,
        "temperature": 1.0,
        "responseLogprobs": True,
        "logprobs": 20,
    }.items() <= config.items()


def test_tokens_of_one_text_are_summed_and_one_without_a_number_is_none():
    response = shown({"1": 0.6, "2": 0.25, "x": 0.01})
    listed = response["candidates"][0]["logprobsResult"]["topCandidates"][0]["candidates"]
    listed.append({"token": "1", "logProbability": math.log(0.13)})
    (reading,), _, _ = put([LABELLED], response)
    assert reading.label_probs == pytest.approx((0.73, 0.25))
    del listed[1]["logProbability"]
    with pytest.raises(InputError, match=r"no log-probability \(of the token '2': None\)"):
        put([LABELLED], response)


def test_probabilities_behind_a_thought_are_none():
    response = shown({"1": 0.6, "2": 0.39})
    response["usageMetadata"]["thoughtsTokenCount"] = 9
    with pytest.raises(InputError, match=r"the model thought \(9 tokens\) before it answered"):
        put([LABELLED], response)


def test_thoughts_in_its_text_are_split_off_or_named():
    answer = one(candidate("<think>Two.</think>Four.", thoughts=0), prompting=THINKING)
    assert (answer.text, answer.reasoning) == ("Four.", "Two.")
    assert "the model thought (<think>)" in one(candidate("<think>Two.</think>Four.", thoughts=0)).reason


def test_an_end_that_is_not_known_is_named_with_what_to_do():
    assert (
        "Gemini stopped (VANISHED), an end that is not known here; see what" in one(candidate("x", "VANISHED")).reason
    )
    assert "called a tool" in one(candidate("x", "MALFORMED_FUNCTION_CALL")).reason


def test_a_model_of_its_that_shows_none_is_named_with_the_reason():
    refused = refusal(400, "Logprobs is not enabled for models/gemini-3.8-flash")
    server = LoopbackGemini({("generate", 1): refused})
    with server.serving():
        endpoint = Endpoint(provider="gemini", base_url=server.base_url, key_env="THE_KEY")
        asking = RemoteAsking(MODEL, endpoint, CHAT, [LABELLED])
        client = asking.connect(None)
        with pytest.raises(InputError, match=r"by any route .*Logprobs is not enabled"):
            asking.ask(client)
