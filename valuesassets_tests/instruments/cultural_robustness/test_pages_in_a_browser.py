"""The report and the pages of answers in a real browser, from files: from a model's point down to an answer."""

import pytest

from valuesassets_tests.desk.web_ui import chromium, page_of_file, shot
from valuesassets_tests.instruments.cultural_robustness.made_frames import every_frame
from valuesassets_tests.instruments.cultural_robustness.report.test_answer_pages import FAULTS, GREEK, rendered
from valuesassets_tests.instruments.cultural_robustness.report.test_report import render

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.group("browser")]
HOME = "answers/ell.html"


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A report, and beside it the page of one model and language."""
    place, frames = tmp_path_factory.mktemp("robustness"), every_frame()
    page = render(frames, {"cultures": {"ell": HOME}})
    (place / "report.html").write_text(page, encoding="utf-8")
    (place / "answers").mkdir()
    (place / HOME).write_text(rendered(dict(enumerate(FAULTS.values())), title="cultures in ell"), encoding="utf-8")
    return place


@pytest.fixture
def page(browser, folder):
    with page_of_file(browser, folder / "report.html", width=1700, height=1100) as page:
        yield page


def test_a_click_on_a_models_point_leads_to_its_answers_those_at_fault_first(page):
    point = page.locator("a[href='#answers-1-cultures']")
    assert "diversity 0.62 [0.50, 0.74]" in point.get_attribute("aria-label")
    shot(page, "robustness_report")
    point.click()
    assert page.url.endswith("#answers-1-cultures")
    page.locator("#answers-1-cultures + p a").click()
    page.wait_for_url(f"**/{HOME}")
    assert page.locator("main section").first.get_attribute("class") == "status flagged empty"
    shot(page, "robustness_answers")


def test_a_chosen_status_hides_the_others_and_a_folded_prompt_opens_to_its_answers(page, folder):
    page.goto((folder / HOME).as_uri())
    page.get_by_label("wrong language (1)").check()
    seen = page.locator("main section:visible")
    assert seen.count() == 1
    assert "Bring your hosts a tin of biscuits" in seen.inner_text()
    page.get_by_label(f"ok ({8 - len(FAULTS)})").check()
    answer = page.locator(".asked .said").first
    assert not answer.is_visible()
    page.locator(".asked summary").first.click()
    assert answer.inner_text() == GREEK
    page.get_by_label("all").check()
    assert page.locator("main section:visible").count() == len(FAULTS) + 1
