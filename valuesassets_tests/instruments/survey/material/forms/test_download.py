"""What a server answers, and what becomes of it."""

import gc
import gzip
import time
from email.utils import formatdate

import pytest

from valuesassets_tests.instruments.survey.material.forms.fetching import CONTENT, fetch, refused
from valuesassets_tests.instruments.survey.material.forms.loopback_files import (
    answer,
    chunked,
    endless,
    file,
    refusing_port,
    reset,
)

pytestmark = pytest.mark.usefixtures("no_proxies")


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 599])
def test_a_busy_server_is_asked_again_after_doubling_pauses(served, status):
    served.replies = [answer(status)] * 3 + [file(CONTENT)]
    pauses = []
    assert fetch(served.url, pauses) == CONTENT
    assert pauses == [2, 4, 8]


def test_a_busy_server_is_not_asked_for_ever(served):
    served.replies = [answer(503)]
    message = refused(f"{served.url}/7")
    assert message == (
        f"{served.url}/7: not to be had in 4 attempts (the server answers 503); try later, or put the PDF into pdf_dir"
    )
    assert len(served.asked) == 4


@pytest.mark.parametrize(
    ("asked", "pause"),
    [
        ("30", 30),
        (" 30 ", 30),
        ("1", 2),
        ("3600", 120),
        ("9" * 30, 120),
        ("9" * 5000, 2),
        ("Fri, 31 Dec 2100 23:59:59 GMT", 120),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 2),
        ("Fri, 31 Dec 99999999 23:59:59 GMT", 2),
        ("soon", 2),
        ("-5", 2),
        ("", 2),
    ],
)
def test_the_pause_that_a_server_asks_for_is_kept_but_for_too_short_and_too_long_ones(served, asked, pause):
    served.replies = [answer(429, headers={"Retry-After": asked}), file(CONTENT)]
    pauses = []
    fetch(served.url, pauses)
    assert pauses == [pause]


def test_a_date_to_wait_for_is_a_pause_until_then(served, monkeypatch):
    served.replies = [answer(503, headers={"Retry-After": formatdate(time.time() + 5000, usegmt=True)}), file(CONTENT)]
    pauses = []
    monkeypatch.setattr("valuesassets.instruments.survey.material.forms.download.LONGEST_PAUSE_S", 10_000)
    fetch(served.url, pauses)
    assert 4000 < pauses[0] <= 5000


@pytest.mark.parametrize("status", [400, 404, 410, 451])
def test_a_refusal_is_final(served, status):
    served.replies = [answer(status)]
    message = refused(served.url)
    assert message == f"{served.url}: the server answers {status}; check the document number or use pdf_dir"
    assert len(served.asked) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_closed_door_asks_for_a_login_in_the_browser(served, status):
    served.replies = [answer(status)]
    assert f"answers {status}; open the link in a browser, log in" in refused(served.url)
    assert len(served.asked) == 1


@pytest.mark.parametrize("status", [204, 206, 304, 416])
def test_an_answer_that_brings_no_file_is_final(served, status):
    served.replies = [answer(status)]
    assert f"the server answers {status}" in refused(served.url)


def test_a_refused_connection_is_tried_again_and_named():
    pauses = []
    with refusing_port() as port:
        message = refused(f"http://127.0.0.1:{port}", pauses=pauses)
    assert "not to be had in 4 attempts (Connection refused); try later" in message
    assert pauses == [2, 4, 8]


def test_a_reset_connection_is_tried_again(served):
    served.replies = [reset, file(CONTENT, cut=50_000, then=reset), file(CONTENT)]
    assert fetch(served.url) == CONTENT


def test_a_silent_server_is_given_up_on_after_the_timeout(served):
    served.replies = [lambda handler: served.released.wait(30)]
    message = refused(served.url, timeout_s=0.1, attempts=2)
    assert "not to be had in 2 attempts (no answer within 0.1 s)" in message


def test_a_server_that_falls_silent_in_the_middle_is_asked_again(served):
    served.replies = [file(CONTENT, cut=50_000, then=lambda handler: served.released.wait(30)), file(CONTENT)]
    assert fetch(served.url, timeout_s=1) == CONTENT
    assert len(served.asked) == 2


@pytest.mark.parametrize("cut", [0, 1, 50_000, 99_999])
def test_a_download_that_was_cut_off_comes_whole_from_the_first_byte(served, cut):
    served.replies = [file(CONTENT, cut=cut), file(CONTENT)]
    assert fetch(served.url) == CONTENT
    assert {headers["Range"] for headers in served.headers} == {None}


def test_what_was_packed_on_the_way_is_unpacked(served):
    packed = gzip.compress(CONTENT)
    headers = {"Content-Encoding": "gzip", "Content-Length": str(len(packed))}
    served.replies = [answer(200, packed[: len(packed) // 2], headers), answer(200, packed, headers)]
    assert fetch(served.url) == CONTENT
    assert {headers["Accept-Encoding"] for headers in served.headers} == {"identity"}


def test_a_server_that_does_not_speak_http_is_given_up_on(served):
    served.replies = [lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")]
    assert "not to be had in 4 attempts (the connection was lost, or the answer broke off)" in refused(served.url)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # urllib3 leaves its socket open
def test_two_lengths_that_differ_are_no_answer(served):
    def reply(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "5")
        handler.send_header("Content-Length", "6")
        handler.end_headers()

    served.replies = [reply]
    assert "not to be had in 4 attempts" in refused(served.url)
    gc.collect()


# Lengths


@pytest.mark.parametrize("claimed", [100_001, 10**14])
def test_a_body_shorter_than_its_length_is_never_taken_for_whole(served, claimed):
    served.replies = [file(CONTENT, claimed=claimed)]
    message = refused(served.url, most_bytes=10**15)
    assert "the answer broke off" in message
    assert len(served.asked) == 4


def test_chunks_without_an_end_are_never_taken_for_whole(served):
    served.replies = [chunked(CONTENT, ends=False)]
    assert "the answer broke off" in refused(served.url)
    served.replies = [chunked(CONTENT[:30_000], CONTENT[30_000:])]
    assert fetch(served.url) == CONTENT


def test_of_chunks_with_a_length_only_the_chunks_count(served):
    served.replies = [chunked(CONTENT, headers={"Content-Length": "5"})]
    assert fetch(served.url) == CONTENT


def test_a_length_that_is_no_number_is_not_counted_on(served):
    served.replies = [answer(200, CONTENT, {"Content-Length": "many"})]
    assert fetch(served.url) == CONTENT


@pytest.mark.parametrize("reply", [file(CONTENT), endless(), chunked(CONTENT)])
def test_a_file_that_is_too_large_is_refused_and_not_kept(served, reply):
    served.replies = [reply]
    message = refused(served.url, most_bytes=2**16)
    assert "the file has more than 0.0625 MiB, no questionnaire has; check the document number" in message
    assert len(served.asked) == 1


def test_a_file_that_is_said_to_be_too_large_is_not_read(served):
    served.replies = [endless(headers={"Content-Length": "9" * 14})]
    assert "the file has more than" in refused(served.url)


def test_a_file_of_just_the_largest_size_is_taken(served):
    served.replies = [file(CONTENT)]
    assert fetch(served.url, most_bytes=100_000) == CONTENT
