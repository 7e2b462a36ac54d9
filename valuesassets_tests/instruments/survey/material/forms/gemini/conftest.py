import pytest
from reportlab.pdfgen.canvas import Canvas

from valuesassets_tests.instruments.survey.material.forms.gemini.loopback_server import numbered_questions
from valuesassets_tests.remote.loopback_gemini import KEY

PAGES, PER_PAGE = 27, 3


@pytest.fixture(autouse=True)
def _a_key_and_nothing_else(monkeypatch):
    for name in ("GOOGLE_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)


@pytest.fixture(scope="session")
def questions():
    """Three questions on each of the form's pages."""
    return numbered_questions(PAGES, PER_PAGE)


@pytest.fixture(scope="session")
def form(tmp_path_factory, questions):
    """A form of 27 pages whose name is not ASCII."""
    path = tmp_path_factory.mktemp("forms") / "dotazník ČR.pdf"
    canvas = Canvas(str(path), pagesize=(300, 400), invariant=1)
    for rows in questions.values():
        for place, row in enumerate(rows):
            canvas.drawString(20, 360 - 30 * place, f"{row['id']} {row['text']}")
        canvas.showPage()
    canvas.save()
    return path


@pytest.fixture
def ask(form, tmp_path):
    """Has the form read by a server, with short timeouts; the pauses made stand in `ask.pauses`."""
    from valuesassets.instruments.survey.material.forms.gemini.extraction import extract_with_gemini
    from valuesassets.records.settings.questionnaires import GeminiSettings

    pauses = []

    def asked(server, *, pdf=form, on_page=None, cache=tmp_path / "answers", language="eng", **settings):
        chosen = GeminiSettings(**{"base_url": server.base_url, "timeout_s": 5, **settings})
        return extract_with_gemini(pdf, language, chosen, cache=cache, on_page=on_page, pause=pauses.append)

    asked.pauses, asked.cache = pauses, tmp_path / "answers"
    return asked
