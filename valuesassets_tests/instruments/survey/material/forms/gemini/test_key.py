import traceback

import pytest

from valuesassets.instruments.survey.material.forms.gemini.extraction import form_client
from valuesassets.records.errors import InputError, PdfError
from valuesassets.records.settings.questionnaires import GeminiSettings
from valuesassets_tests.instruments.survey.material.forms.gemini.loopback_server import gemini_server
from valuesassets_tests.remote.loopback_gemini import KEY, refusal, saying

NO_KEY = "GEMINI_API_KEY is not set, the gemini extractor needs it; set it to a key .*, or use the layout extractor"


def test_without_a_key_nothing_is_sent_and_the_message_says_what_to_do(ask, questions, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", " ")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    with gemini_server(questions) as server:
        with pytest.raises(InputError, match=NO_KEY):
            ask(server)
        assert server.total == 0


def test_only_the_key_in_gemini_api_key_is_sent(ask, questions, monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-another")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    with gemini_server(questions) as server:
        ask(server)
    assert server.keys == {KEY}


def test_a_wrong_key_is_refused_once_and_not_shown(ask, questions, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-wrong")
    with gemini_server(questions) as server:
        with pytest.raises(InputError) as error:
            ask(server)
        assert server.total == 1
    assert "upload: Gemini refuses the key (400 API key not valid." in str(error.value)
    assert str(error.value).endswith("check GEMINI_API_KEY")
    assert "AIza-wrong" not in str(error.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_without_permission_is_a_matter_of_the_key(ask, questions, status):
    refused = rf"refuses the key \({status} The API is disabled.\); check GEMINI_API_KEY"
    disabled = {("generate", 1): refusal(status, "The API is disabled.")}
    with gemini_server(questions, disabled) as server, pytest.raises(InputError, match=refused):
        ask(server)


@pytest.mark.slow
def test_the_key_is_nowhere_in_files_messages_logs_or_pictures_of_objects(ask, questions, form, logged, capfd):
    echoes = {
        ("generate", 1): refusal(503, f"key {KEY} is busy"),
        ("generate", 3): saying(400, f"x-goog-api-key: {KEY}"),
    }
    with gemini_server(questions, echoes) as server:
        with pytest.raises(PdfError) as error:
            ask(server)
        extraction = ask(server)
        client = form_client(form, GeminiSettings(base_url=server.base_url), print)
        client.send("a look", lambda sdk: sdk.models)
        client.close()
    texts = [
        *("".join(traceback.format_exception(error.value)), repr(error.value), repr(extraction), repr(client)),
        *(repr(value) for value in vars(client).values()),
        *logged,
        *(file.read_text() for file in ask.cache.rglob("*.json")),
        *capfd.readouterr(),
    ]
    assert "x-goog-api-key: ***" in str(error.value)
    assert len(logged) > 10
    assert not [text for text in texts if KEY in text]


def test_a_key_in_a_long_message_is_not_shown_in_part(ask, questions):
    long = {("generate", 1): refusal(400, "x" * 250 + KEY * 9)}
    with gemini_server(questions, long) as server, pytest.raises(PdfError) as error:
        ask(server)
    assert "AIza" not in str(error.value)
    assert "***…; check the extractor's settings" in str(error.value)


def test_a_redirect_does_not_take_the_key_elsewhere(ask, questions):
    with gemini_server(questions) as elsewhere:
        away = {("generate", 1): saying(307, "", {"Location": f"{elsewhere.base_url}/v1beta/x"})}
        refused = r"refuses the request \(307"
        with gemini_server(questions, away) as server, pytest.raises(PdfError, match=refused):
            ask(server)
        assert elsewhere.total == 0


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
def test_a_proxy_does_not_get_between_us_and_this_machine(ask, questions, monkeypatch, name):
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    with gemini_server(questions) as server:
        assert len(ask(server).rows) == 81


def test_a_proxy_is_used_for_other_machines(questions, form, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    client = form_client(form, GeminiSettings(base_url="https://gemini.invalid", attempts=1), print)
    with pytest.raises(PdfError, match=r"ConnectError: .*refused"):
        client.send("upload", lambda sdk: sdk.files.get(name="files/x"))
    client.close()
