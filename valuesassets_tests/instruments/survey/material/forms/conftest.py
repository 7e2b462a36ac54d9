import pytest

from valuesassets_tests.instruments.survey.material.forms.loopback_files import loopback


@pytest.fixture
def served():
    with loopback() as server:
        yield server


@pytest.fixture
def no_proxies(monkeypatch):
    """None of this machine's own settings for the web."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "requests_ca_bundle", "curl_ca_bundle"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
