"""Notices to a web hook and a mail server of this machine; one that is down, slow or refuses."""

import http.server
import json

import pytest

from valuesassets.desk.summaries.notices import VARIABLE, is_asked_for, send_notices
from valuesassets_tests.loopback import LoopbackServer
from valuesassets_tests.loopback_mail import LoopbackMail

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in what Apprise imports

SECRET = "s3cr3t-t0ken"


class Hook(http.server.BaseHTTPRequestHandler):
    """Keeps what it is given."""

    status = 200

    def do_POST(self):
        self.server.taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_):
        pass


class Refusing(Hook):
    status = 403


class Silent(Hook):
    def do_POST(self):
        self.server.released.wait()


@pytest.fixture
def serve():
    servers = []

    def start(handler):
        server = LoopbackServer(handler)
        server.taken = []
        running = server.serving()
        running.__enter__()
        servers.append(running)
        return server

    yield start
    for running in servers:
        running.__exit__(None, None, None)


def hook(server):
    return f"json://user:{SECRET}@127.0.0.1:{server.port}/{SECRET}"


def test_without_an_address_nothing_is_asked_for(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert not is_asked_for()
    monkeypatch.setenv(VARIABLE, " ")
    assert not is_asked_for()


def test_a_web_hook_and_a_mailbox_get_the_text(serve, monkeypatch):
    server, mail = serve(Hook), LoopbackMail()
    letter_box = f"mailto://127.0.0.1:{mail.port}?from=me@example.org&to=you@example.org&mode=insecure"
    monkeypatch.setenv(VARIABLE, f"{hook(server)}, {letter_box}")
    with mail.serving():
        assert send_notices("demo: ended", "4 failed\nhttp://page") == "2 of 2 notices sent"
    (taken,) = server.taken
    assert (taken["title"], taken["message"]) == ("demo: ended", "4 failed\nhttp://page")
    (letter,) = mail.letters
    assert "Subject: demo: ended" in letter
    assert "4 failed" in letter


def test_what_does_not_get_through_is_said_in_one_line_without_its_address(serve, monkeypatch, logged, capfd):
    gone = serve(Hook)
    gone.server_close()
    addresses = [hook(serve(Hook)), hook(serve(Refusing)), hook(gone), f"jsn://{SECRET}"]
    monkeypatch.setenv(VARIABLE, " ".join(addresses))
    said = send_notices("t", "b")
    assert said == (
        "1 of 4 notices sent; address 2 (json) was not reached; address 3 (json) was not reached; "
        "address 4 (unknown kind) was not reached"
    )
    out, err = capfd.readouterr()
    assert SECRET not in "\n".join([*logged, out, err, said])


@pytest.mark.parametrize("address", [SECRET, f"{SECRET}://x"])
def test_an_address_that_is_none_is_not_repeated(monkeypatch, address):
    monkeypatch.setenv(VARIABLE, address)
    assert send_notices("t", "b") == "0 of 1 notices sent; address 1 (unknown kind) was not reached"


def test_who_is_silent_is_not_waited_for_long(serve, monkeypatch):
    quick, silent = serve(Hook), serve(Silent)
    monkeypatch.setenv(VARIABLE, f"{hook(silent)} {hook(quick)}")
    assert send_notices("t", "b", seconds=3) == "1 of 2 notices sent; address 1 (json) did not answer within 3 s"
    assert not silent.released.is_set()  # it says nothing still
    assert len(quick.taken) == 1
