import subprocess
import sys

import pytest

from valuesassets.instruments.survey.material.forms.gemini.task import plan_extraction
from valuesassets.records.errors import PdfError
from valuesassets.records.settings.endpoints import Prices
from valuesassets.records.settings.questionnaires import GeminiSettings
from valuesassets_tests.instruments.survey.material.forms.gemini.loopback_server import gemini_server
from valuesassets_tests.remote.loopback_gemini import refusal


def planned(form, ask, **settings):
    return plan_extraction(form, "eng", GeminiSettings(**settings), ask.cache)


def test_a_plan_sends_nothing_writes_nothing_and_needs_no_key(form, ask, questions, monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY")
    with gemini_server(questions) as server:
        plan = planned(form, ask, base_url=server.base_url)
        assert server.total == 0
    assert not ask.cache.exists()
    assert [str(pages) for pages in plan.requests][-1] == "pages 25 to 27"
    assert plan.kept == ()
    assert plan.bytes_to_send == form.stat().st_size
    assert "begin on pages 1 to 6 of the 27 pages" in plan.prompt
    assert plan.cost_usd is None
    assert str(plan).startswith("5 requests to gemini-3.8-flash (pages 1 to 6, pages 7 to 12,")
    assert "an estimate: " in str(plan)
    assert str(plan).endswith("thoughts not counted, at unknown prices")


def test_a_plan_counts_the_whole_pdf_with_every_request_and_prices_it(form, ask):
    plan = planned(form, ask, pages_per_request=9, prices=Prices(input=1, output=10))
    assert plan.input_tokens == 3 * 27 * 560 + 3 * len(plan.prompt) // 4
    assert plan.output_tokens == 35_000
    assert plan.cost_usd == pytest.approx((plan.input_tokens + 350_000) / 1e6)
    assert str(plan).endswith(f"about {plan.cost_usd:.2f} USD")


def test_a_plan_leaves_out_what_was_kept(form, ask, questions):
    with gemini_server(questions, {("generate", 5): refusal(400)}, most_rows=15) as server:
        with pytest.raises(PdfError):
            ask(server)
        requests = list(server.asked)
        plan = planned(form, ask)
        sent = server.total
        ask(server)
        assert server.total > sent
        done = planned(form, ask)
    assert requests == [(1, 6), (1, 3), (4, 6), (7, 12), (7, 9)]
    assert [str(pages) for pages in plan.kept] == ["pages 1 to 3", "pages 4 to 6"]
    assert [str(pages) for pages in plan.requests][:2] == ["pages 7 to 9", "pages 10 to 12"]
    assert "The last question listed so far is v18:" in plan.prompt
    assert plan.prompt == server.prompts[4]
    assert done.requests == ()
    assert (done.prompt, done.bytes_to_send, done.input_tokens, done.output_tokens) == ("", 0, 0, 0)
    assert str(done) == "nothing is sent: every answer was kept"


def test_a_plan_with_page_images_counts_the_pictures(form, ask, questions):
    plan = planned(form, ask, use_page_images=True)
    assert plan.input_tokens == 31 * 1120 + 5 * len(plan.prompt) // 4  # the last request has no page to follow
    assert plan.bytes_to_send > 31 * 1000


@pytest.mark.slow
def test_a_plan_does_not_load_the_sdk(form, tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from valuesassets.instruments.survey.material.forms.gemini import extraction\n"
        "from valuesassets.instruments.survey.material.forms.gemini.task import plan_extraction\n"
        "from valuesassets.records.settings.questionnaires import GeminiSettings\n"
        "print(plan_extraction(Path(sys.argv[1]), 'eng', GeminiSettings(), Path(sys.argv[2])))\n"
        "assert not {'google.genai', 'httpx2'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, form, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
