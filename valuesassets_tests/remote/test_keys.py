import base64
import json

import pytest

from valuesassets.records.errors import EndpointError, InputError
from valuesassets.records.terminal import terminal_text
from valuesassets.remote.asking import RemoteAsking
from valuesassets.remote.failures import Asker
from valuesassets.remote.gemini import GeminiService
from valuesassets.remote.keys import holds_key, read_key
from valuesassets_tests.remote.loopback_openai import CHAT, KEY, MODEL, LoopbackOpenAi, refusing, saying, written
from valuesassets_tests.remote.remote_trials import asked

CODES = KEY.encode()
WAYS = {
    "as it is": KEY,
    "in a header's words": f"Authorization: Bearer {KEY}",
    "in capitals": KEY.upper(),
    "backwards": KEY[::-1],
    "its first half": KEY[:15],
    "its second half": KEY[-14:],
    "in halves": f"{KEY[:15]} and then {KEY[15:]}",
    "with blanks": " ".join(KEY),
    "with dashes": "-".join(KEY),
    "with characters of no width": "\u200b".join(KEY),
    "in wide letters": "".join(chr(ord(each) + 0xFEE0) for each in KEY),
    "a list of letters": json.dumps(list(KEY)),
    "numbers": json.dumps(list(CODES)),
    "hexadecimal": CODES.hex(),
    "hexadecimal, with colons": CODES.hex(":").upper(),
    "base64": base64.b64encode(CODES).decode(),
    "base64 of a header": base64.b64encode(b"Bearer " + CODES).decode(),
    "base64 of a user and the key": base64.urlsafe_b64encode(b"user:" + CODES + b"\n").decode(),
    "base64, backwards": base64.b64encode(CODES).decode()[::-1],
    "base64 of the key backwards": base64.b64encode(CODES[::-1]).decode(),
    "base32": base64.b32encode(CODES).decode(),
    "escaped as in a URL": "".join(f"%{each:02X}" for each in CODES),
    "escaped as in JSON": "".join(f"\\u{each:04x}" for each in CODES),
    "escaped as in C": "".join(f"\\x{each:02x}" for each in CODES),
    "escaped as in HTML": "".join(f"&#{each};" for each in CODES),
    "escaped as in HTML, hexadecimal": "".join(f"&#x{each:x};" for each in CODES),
}


@pytest.mark.parametrize("key", ["AIza one", "AIza\nError", "schlüssel"])
def test_what_can_be_no_key_is_refused_without_being_shown(monkeypatch, key):
    monkeypatch.setenv("A_KEY", key)
    with pytest.raises(InputError, match="holds characters that are in no key") as error:
        read_key("A_KEY", Asker("here"), GeminiService())
    assert key not in str(error.value)


@pytest.mark.parametrize("shown", WAYS.values(), ids=WAYS)
def test_a_key_that_a_server_hands_back_is_nowhere(shown, tmp_path, monkeypatch, logged, capfd):
    """In an answer, a refusal and the headers of both: in no file, log, message or output."""
    monkeypatch.setenv("THE_KEY", KEY)
    header = {"X-Seen": base64.b64encode(shown.encode()).decode() if not shown.isascii() else shown}
    scattered = written("Seven.") | {"debug": {f"part {n}": shown[n : n + 5] for n in range(0, len(shown), 5)}}
    servers = [
        LoopbackOpenAi(lambda body: written(f"Seven: {shown}")),
        LoopbackOpenAi(lambda body: scattered),
        LoopbackOpenAi(faults={1: refusing(400, f"not like this: {shown}", header)}),
        LoopbackOpenAi(faults={1: saying(500, {"error": {"message": "no", "param": shown}})}),
        LoopbackOpenAi(faults={1: lambda handler: handler.say(200, written("Seven."), header)}),
    ]
    found = []
    for number, server in enumerate(servers):
        asking = RemoteAsking(MODEL, server.endpoint(), CHAT, [asked("a", "q0")])
        known = asking.open_known(tmp_path / str(number))
        with server.serving():
            try:
                answers, described = asking.ask(asking.connect(known), store=known)
            except (InputError, EndpointError) as error:
                found.append(str(error))
            else:
                asking.write(tmp_path / f"{number}.parquet", answers.records, described)
                found.append(f"{answers}{described}")
    found += [path.read_bytes().decode(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    found += [*logged, *capfd.readouterr()]
    needles = {shown, json.dumps(shown)[1:-1], terminal_text(shown), repr(shown)[1:-1], KEY[:15], KEY[-14:]}
    assert not [text for text in found for needle in needles if needle in text]


def test_what_a_server_hands_back_is_said_and_nothing_more_is_sent(tmp_path, monkeypatch):
    monkeypatch.setenv("THE_KEY", KEY)
    server = LoopbackOpenAi(lambda body: written(base64.b64encode(CODES).decode()))
    asking = RemoteAsking(MODEL, server.endpoint(attempts=3), CHAT, [asked(f"q{n}", f"q{n}") for n in range(9)])
    known = asking.open_known(tmp_path)
    said = r"writes the key of THE_KEY into its answer \(status 200\), which is not kept; have the key replaced"
    with server.serving(), pytest.raises(InputError, match=said):
        asking.ask(asking.connect(known), store=known)
    assert len(server.bodies) <= 2


def test_answers_are_not_taken_for_the_key():
    text = json.dumps(written("Seven. sk-lo…6789, sk-loopback-*******6789, base64, 0123456789"))
    assert not holds_key(text, KEY)
    assert not holds_key("an EMPTY one, a token-abc", "EMPTY")
    assert not holds_key("", KEY)
    figures = "".join(map(str, CODES))
    assert not holds_key(f"-0.{figures[:20]}", KEY)  # a probability that begins as the key's numbers do, by chance
    assert holds_key(figures[:24], KEY)
