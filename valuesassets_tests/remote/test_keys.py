import pytest

from valuesassets.records.errors import InputError
from valuesassets.remote.failures import Asker
from valuesassets.remote.gemini import GeminiService
from valuesassets.remote.keys import read_key


@pytest.mark.parametrize("key", ["AIza one", "AIza\nError", "schlüssel"])
def test_what_can_be_no_key_is_refused_without_being_shown(monkeypatch, key):
    monkeypatch.setenv("A_KEY", key)
    with pytest.raises(InputError, match="holds characters that are in no key") as error:
        read_key("A_KEY", Asker("here"), GeminiService())
    assert key not in str(error.value)
