"""What is said when Gemini cannot be had, and how often it is asked before that."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from valuesassets.records.errors import InputError, PdfError, StudyError, ValuesAssetsError
from valuesassets_tests.instruments.survey.material.forms.gemini.loopback_server import gemini_server, question
from valuesassets_tests.parameters import fast
from valuesassets_tests.remote.loopback_gemini import candidate, hang, refusal, reset, saying
from valuesassets_tests.remote.mutated import mutated

SERVER_TIME = "Sun, 01 Nov 2026 07:28:00 GMT"
GOOGLES_DELAY = {
    "error": {
        "code": 429,
        "message": "You exceeded your quota.\n* Please retry in 34.2s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.2s"}],
    }
}


def always(fault, operation="generate"):
    return {(operation, time): fault for time in range(1, 9)}


def refused(ask, questions, faults, kind=ValuesAssetsError, **settings):
    """The message of an extraction that fails, and how many prompts were sent."""
    with gemini_server(questions, faults) as server:
        with pytest.raises(kind) as error:
            ask(server, **settings)
        assert server.stored == set()
    message = str(error.value)
    assert "\n" not in message
    assert type(error.value) is kind
    return message, len(server.asked)


@pytest.mark.parametrize("status", fast([408, 429, 500, 502, 503, 504], 429))
def test_a_busy_server_is_asked_again_after_doubling_pauses(ask, questions, status):
    message, sent = refused(ask, questions, always(refusal(status, "Overloaded.")), PdfError)
    assert f"pages 1 to 6: Gemini is busy ({status} Overloaded.) in 5 attempts; what was answered so far is" in message
    assert sent == 5
    assert ask.pauses[1:] == [2, 4, 8, 16]  # the first one waits for the upload


@pytest.mark.parametrize("status", fast([302, 400, 413], 400))
def test_a_refusal_is_not_repeated(ask, questions, status):
    message, sent = refused(ask, questions, always(refusal(status, "That will\nnot do.")), PdfError)
    assert f"Gemini refuses the request ({status} That will not do.); check the extractor's settings" in message
    assert sent == 1


def test_a_broken_connection_is_tried_again(ask, questions):
    message, sent = refused(ask, questions, always(reset), PdfError, attempts=3)
    assert "pages 1 to 6: the connection failed (ReadError: " in message
    assert "in 3 attempts" in message
    assert sent == 3


def test_a_server_that_does_not_answer_is_not_waited_for_for_ever(ask, questions):
    message, sent = refused(ask, questions, always(hang), PdfError, attempts=2, timeout_s=0.3)
    assert "pages 1 to 6: no answer within 0.3 s in 2 attempts" in message
    assert sent == 2


def test_a_server_that_is_not_there_is_an_error_in_one_line(ask, questions):
    with gemini_server(questions) as server:
        pass
    with pytest.raises(PdfError, match=r"upload: the connection failed \(ConnectError: .*\) in 2 attempts"):
        ask(server, attempts=2)


@pytest.mark.parametrize(
    ("headers", "body", "wait"),
    [
        ({"Retry-After": "7"}, {}, 7),
        ({"Retry-After": "0"}, {}, 0),
        ({"Retry-After": "Sun, 01 Nov 2026 07:28:30 GMT", "Date": SERVER_TIME}, {}, 30),
        ({"Retry-After": "Sun, 01 Nov 2026 07:00:00 GMT", "Date": SERVER_TIME}, {}, 0),
        ({"Retry-After": "Sun, 01 Nov 2015 07:00:00 GMT"}, {}, 0),
        ({"Retry-After": "Sun, 01 Nov 2015 07:00:00 -0000"}, {}, 2),
        ({"Retry-After": "soon"}, {}, 2),
        ({"Retry-After": "nan"}, {}, 2),
        ({}, GOOGLES_DELAY, 34.2),
        ({}, [GOOGLES_DELAY], 34.2),
        ({}, {"error": {"details": "soon"}}, 2),
        ({}, {"error": "busy"}, 2),
        ({}, "busy", 2),
    ],
)
@pytest.mark.slow
def test_the_pause_is_as_long_as_the_server_asks(ask, questions, headers, body, wait):
    with gemini_server(questions, {("generate", 1): saying(429, body, headers)}) as server:
        ask(server)
    assert ask.pauses[1:] == [pytest.approx(wait)]


def test_a_longer_wait_than_two_minutes_is_left_to_a_person(ask, questions):
    fault = refusal(429, "Quota exceeded.", headers={"Retry-After": "3600"})
    message, sent = refused(ask, questions, always(fault), PdfError)
    assert "Gemini asks to wait for 3600 s (429 Quota exceeded.); what was answered so far is kept" in message
    assert message.endswith("run it again in 60 minutes")
    assert sent == 1


def test_an_error_page_is_called_one_and_not_shown(ask, questions):
    message, _ = refused(ask, questions, always(saying(502, "<!DOCTYPE html><h1>Bad</h1>")), PdfError)
    assert "Gemini is busy (502 an HTML page)" in message


def test_a_page_in_place_of_an_answer_is_an_error(ask, questions):
    message, sent = refused(ask, questions, always(saying(200, "<html>log in</html>")), PdfError)
    assert "the answer is not what Gemini's interface promises (Expecting value" in message
    assert sent == 5


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "the answer is empty"),
        ("[]", "the answer is an array, an object with questions was expected"),
        (
            '{"questions": [{}]}',
            "not of the form asked for: key 'id' in entry 1 of 'questions' is missing",
        ),
        ('{"rows": []}', "not of the form asked for: key 'questions' is missing"),
    ],
)
def test_an_answer_of_another_form_is_asked_for_again_and_then_an_error(ask, questions, text, what):
    message, sent = refused(ask, questions, always(saying(200, candidate(text))), PdfError, attempts=3)
    assert "pages 1 to 6: the answer is " in message
    assert what in message
    assert sent == 3


def test_half_a_character_is_no_answer(ask, questions):
    answer = json.dumps({"questions": [{**question("v1"), "text": "\ud800", "page": 1}]})
    message, _ = refused(ask, questions, always(saying(200, candidate(answer))), PdfError, attempts=1)
    assert "holds half a character" in message


def test_no_candidate_at_all_is_no_answer(ask, questions):
    message, _ = refused(ask, questions, always(saying(200, {})), PdfError, attempts=1)
    assert "the answer is empty" in message


def test_an_unknown_model_is_named(ask, questions):
    message, sent = refused(ask, questions, {}, InputError, model="gemini-99")
    assert "Gemini has no model gemini-99 (404 models/gemini-99 is not found" in message
    assert "name another one in the extractor's settings" in message
    assert sent == 1


def test_an_address_without_gemini_is_not_taken_for_an_unknown_model(ask, questions):
    message, _ = refused(ask, questions, always(saying(404, "<html>nothing here</html>"), "start"), PdfError)
    assert "upload: Gemini refuses the request (404 an HTML page)" in message


def test_a_pdf_that_gemini_cannot_read_in_is_an_error(ask, questions):
    failed = {"name": "files/form-1", "uri": "x", "state": "FAILED", "error": {"message": "Unsupported\nPDF"}}
    message, sent = refused(ask, questions, {("poll", 1): saying(200, failed)}, PdfError)
    assert "Gemini cannot read the PDF in (Unsupported PDF)" in message
    assert sent == 0


def test_an_upload_is_not_waited_for_for_ever(ask, questions):
    patience = "has not read the PDF in after 120 s"
    with gemini_server(questions, polls=1000) as server, pytest.raises(PdfError, match=patience):
        ask(server)
    assert set(ask.pauses) == {2.0}
    assert server.stored == set()


@pytest.mark.parametrize("said", [{}, {"file": {}}])
@pytest.mark.slow
def test_an_upload_without_a_name_is_tried_again(ask, questions, said):
    unnamed = saying(200, said, {"X-Goog-Upload-Status": "final"})
    with gemini_server(questions, {("chunk", 1): unnamed}) as server:
        assert len(ask(server).rows) == 81
    assert server.requests["start"] == 2


def test_a_form_that_is_not_there_or_no_pdf_is_refused_before_anything_is_sent(ask, questions, tmp_path):
    (tmp_path / "page.pdf").write_text("<html>")
    with gemini_server(questions) as server:
        with pytest.raises(PdfError, match="no such file"):
            ask(server, pdf=tmp_path / "absent.pdf")
        with pytest.raises(PdfError, match="not a PDF but an HTML page"):
            ask(server, pdf=tmp_path / "page.pdf")
        with pytest.raises(StudyError, match="language tlh: the gemini extractor cannot name it; an ISO 639-3 code"):
            ask(server, language="tlh")
        assert server.total == 0


@pytest.mark.slow
def test_what_stops_us_leaves_no_copy_with_gemini(ask, questions):
    def stop(*pages):
        raise KeyboardInterrupt

    with gemini_server(questions) as server:
        with pytest.raises(KeyboardInterrupt):
            ask(server, on_page=stop)
        assert server.stored == set()
        assert len(ask(server).rows) == 81
    assert server.asked[1] == (7, 12)


def mutating(seed):
    """A reply that is not as promised: the response itself, or the questions in it."""

    def fault(handler, server):
        if seed % 4 == 3:
            body = {"file": server.file(next(iter(server.uploads)), 9)} if handler.command == "POST" else {}
            handler.say(
                200, mutated(body or server.file(handler.file_name, 9), seed), {"X-Goog-Upload-Status": "final"}
            )
            return
        good = server.answer_to(handler.body)
        if seed % 2:
            good["candidates"][0]["content"]["parts"][0]["text"] = mutated(
                json.loads(good["candidates"][0]["content"]["parts"][0]["text"]), seed
            )
        handler.say(200, json.dumps(good) if seed % 2 else mutated(good, seed))

    return fault


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_three_hundred_mutated_replies_are_questions_or_one_line(ask, questions, tmp_path, seed):
    faults = {("generate", time): mutating(4 * (seed + time) + time % 3) for time in range(1, 6)}
    faults |= {(name, 1): mutating(4 * seed + 3) for name in ("chunk", "poll") if not seed % 3}
    with gemini_server({1: questions[1]}, faults, polls=2) as server:
        try:
            rows = ask(server, cache=tmp_path / str(seed), attempts=5).rows
        except ValuesAssetsError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert all(set(row) == set(question("v1")) | {"page"} for row in rows)
