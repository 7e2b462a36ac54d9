"""Which addresses are asked, and by which way: redirects, proxies, certificates."""

import pytest

from valuesassets_tests.instruments.survey.material.forms.fetching import CONTENT, fetch, refused
from valuesassets_tests.instruments.survey.material.forms.loopback_files import (
    answer,
    endless,
    file,
    loopback,
    redirect,
    refusing_port,
    self_signed,
    tunnel,
)

pytestmark = pytest.mark.usefixtures("no_proxies")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/7",
        "file:///etc/passwd",
        "http://example.org/7",
        "http://127.0.0.1.example.org/7",
        "http://127.0.0.1@example.org/7",
        "http://example.org\\@127.0.0.1/7",
        "http://[::1/7",
        "http://localhost:many/7",
        "https://",
        "example.org/7",
        "",
    ],
)
def test_only_https_and_this_machine_are_asked(url):
    assert "only https addresses are fetched" in refused(url)


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST", "127.0.0.1"])
def test_this_machine_may_be_asked_by_any_of_its_names(served, name):
    served.replies = [file(CONTENT)]
    assert fetch(f"http://{name}:{served.port}/7") == CONTENT


def test_this_machine_may_be_asked_by_its_new_address():
    try:
        with loopback(file(CONTENT), host="::1") as server:
            assert fetch(server.url) == CONTENT
    except OSError:
        pytest.skip("this machine has no IPv6")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(served, status):
    served.replies = [redirect("/files/eng.pdf?key=1", status), file(CONTENT)]
    assert fetch(f"{served.url}") == CONTENT
    assert served.asked == ["/", "/files/eng.pdf?key=1"]


def test_ten_redirects_are_followed_and_eleven_are_not(served):
    served.replies = [redirect(f"/{n}") for n in range(10)] + [file(CONTENT)]
    assert fetch(served.url) == CONTENT
    served.asked.clear()
    served.replies = [redirect(f"/{n}") for n in range(11)] + [file(CONTENT)]
    assert "the server redirects more than 10 times; open the link in a browser" in refused(served.url)
    assert len(served.asked) == 11


@pytest.mark.parametrize("steps", [["/a"], ["/b", "/a"], ["/b", "/c", "/b"]])
def test_redirects_in_a_circle_are_one_error(served, steps):
    served.replies = [redirect(step) for step in steps * 6]
    message = refused(f"{served.url}/a")
    assert message.startswith(f"{served.url}/a: the server redirects more than 10 times; open the link in a browser")
    assert len(served.asked) == 11


def test_a_redirect_back_with_a_cookie_is_no_circle(served):
    served.replies = [redirect("/door"), redirect("/7", headers={"Set-Cookie": "guest=yes; Path=/"}), file(CONTENT)]
    assert fetch(f"{served.url}/7") == CONTENT
    assert served.asked == ["/7", "/door", "/7"]
    assert served.headers[2]["Cookie"] == "guest=yes"


def test_the_body_of_a_redirect_is_not_read(served):
    served.replies = [endless(302, {"Location": "/7"}), file(CONTENT)]
    assert fetch(served.url) == CONTENT


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("http://example.org/7?key=secret", "'http://example.org/7'"),
        ("http://me:secret@example.org/7", "'http://example.org/7'"),
        ("http://127.0.0.1.example.org/7", "'http://127.0.0.1.example.org/7'"),
        ("ftp://example.org/7", "'ftp://example.org/7'"),
        ("file:///etc/passwd", "'file:///etc/passwd'"),
        ("javascript:alert(1)", "'javascript:alert(1)'"),
        ("http://[::1/7", "'http://[::1/7'"),
        ("http://x\x1b[2J/", r"'http://x\x1b[2J/'"),
    ],
)
def test_a_redirect_to_anything_but_the_safe_web_is_refused(served, target, shown):
    served.replies = [redirect(target)]
    message = refused(served.url)
    assert f"the server redirects to {shown}, and only https addresses of the web are followed" in message
    assert "secret" not in message


def test_a_password_in_an_address_is_used_and_not_told(served):
    url = served.url.replace("//", "//me:secret@") + "/7"
    served.replies = [answer(404)]
    message = refused(url)
    assert message.startswith(f"{served.url}/7: ")
    assert served.headers[-1]["Authorization"].startswith("Basic ")


# Proxies and certificates


@pytest.fixture
def https_web(served, tmp_path, monkeypatch):
    """The server plays a proxy and, at the end of its tunnels, the host forms.example."""
    tls, trusted = self_signed(tmp_path, "forms.example")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(trusted))
    monkeypatch.setenv("HTTPS_PROXY", served.url.replace("//", "//me:secret@"))
    served.tunnel = tunnel(tls)
    return served


def test_other_machines_are_asked_through_the_proxy(https_web):
    https_web.replies = [https_web.tunnel, file(CONTENT, cut=64_000), https_web.tunnel, file(CONTENT)]
    assert fetch("https://forms.example/7") == CONTENT
    assert https_web.asked == ["forms.example:443", "/7"] * 2
    assert https_web.headers[0]["Proxy-Authorization"].startswith("Basic ")
    assert https_web.headers[1]["Proxy-Authorization"] is None


@pytest.mark.parametrize(
    "target", ["http://forms.example/8", "http://127.0.0.1:{port}/8", "https://127.0.0.1:{port}/8"]
)
def test_the_safe_web_leads_neither_to_plain_http_nor_to_this_machine(https_web, target):
    https_web.replies = [https_web.tunnel, redirect(target.format(port=https_web.port))]
    message = refused("https://forms.example/7")
    assert "only https addresses of the web are followed" in message
    assert https_web.asked == ["forms.example:443", "/7"]


def test_a_redirect_within_the_safe_web_is_followed(https_web):
    https_web.replies = [https_web.tunnel, redirect("/8"), https_web.tunnel, file(CONTENT)]
    assert fetch("https://forms.example/7") == CONTENT


def test_no_proxy_stands_before_this_machine(served, monkeypatch):
    with refusing_port() as port:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        served.replies = [file(CONTENT)]
        assert fetch(served.url) == CONTENT


@pytest.mark.parametrize("name", ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
def test_a_proxy_that_refuses_is_named_by_its_variable_without_its_password(served, monkeypatch, name):
    monkeypatch.setenv(name, served.url.replace("//", "//me:secret@"))
    served.replies = [answer(407)]
    message = refused("https://forms.example/7")
    assert message == (
        f"https://forms.example/7: the proxy that {name} names answers 407; correct or unset {name}, or put the PDF "
        "into pdf_dir"
    )
    assert served.asked == ["forms.example:443"]


def test_a_busy_proxy_is_asked_again(https_web):
    https_web.replies = [answer(503), https_web.tunnel, file(CONTENT)]
    pauses = []
    assert fetch("https://forms.example/7", pauses) == CONTENT
    assert pauses == [2]


def test_a_proxy_that_is_not_there_is_named_by_its_variable(monkeypatch):
    with refusing_port() as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@127.0.0.1:{port}")
        message = refused("https://forms.example/7")
    assert "(the proxy that HTTPS_PROXY names cannot be reached: Connection refused); try later" in message
    assert "secret" not in message


@pytest.mark.parametrize("proxy", ["http://", "ftp://me:secret@host", "socks5://me:secret@host:1", "http://a:b:secret"])
def test_a_proxy_variable_that_names_no_proxy_is_named(monkeypatch, proxy):
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    message = refused("https://forms.example/7")
    assert "HTTPS_PROXY names no proxy that can be used, http://host:port was expected" in message
    assert "secret" not in message


def test_a_certificate_that_cannot_be_verified_is_final(tmp_path):
    tls, _ = self_signed(tmp_path, "localhost")
    with loopback(file(CONTENT), tls=tls) as server:
        message = refused(f"https://localhost:{server.port}/7")
        assert server.asked == []
    assert "the server's certificate cannot be verified; let REQUESTS_CA_BUNDLE name" in message


def test_a_server_that_speaks_plain_http_is_not_taken_for_a_safe_one(served):
    served.replies = [file(CONTENT)]
    message = refused(f"https://localhost:{served.port}/7")
    assert "not to be had in 4 attempts" in message
    assert "SSL" in message


def test_certificates_that_are_not_there_are_not_blamed_on_the_disk(https_web, tmp_path, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "none.pem"))
    message = refused("https://forms.example/7")
    assert message.endswith("correct or unset REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE")
