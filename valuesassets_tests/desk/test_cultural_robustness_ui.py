"""What a user of cultural robustness sees in the web UI, in a real browser: a grid that fills, answers to read."""

import re
from pathlib import Path

import pytest

from valuesassets_tests.desk.clicks import materialise_all
from valuesassets_tests.desk.web_ui import browsing, serving, shot
from valuesassets_tests.orchestration.small_study import copied

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser, psych tasks")]
CELLS = ["deu|cultures", "ell|cultures", "eng|cultures"]


@pytest.fixture(scope="module")
def ui(small_robustness, tmp_path_factory):
    """The address of a UI over a small study that has been run."""
    environment = copied(small_robustness, tmp_path_factory.mktemp("robustness"))
    with serving(environment, Path(environment["VALUESASSETS_STORAGE"]) / "ui.log") as address:
        yield address


@pytest.fixture
def page(ui):
    with browsing(ui) as page:
        yield page


def test_the_grid_of_answers_by_language_fills(page):
    assert materialise_all(page, "cultural_robustness/answers", 3) == CELLS
    page.goto("/assets/cultural_robustness/answers?view=partitions&partition=ell%7Ccultures")
    page.get_by_text("answers written by").first.wait_for()
    shot(page, "robustness_grid")


def test_a_failed_check_names_each_answer_and_leads_to_prompts_and_answers_with_that_one_first(page):
    page.goto("/assets/cultural_robustness/answer_quality?view=checks&checkDetail=answers_are_usable")
    page.get_by_text("failing_rows").first.wait_for()
    page.get_by_text("wrong_language").first.wait_for()
    shot(page, "robustness_failed_check")
    with page.expect_popup() as opened:
        page.get_by_role("link", name=re.compile(r"ell\.html")).first.click()
    answers = opened.value
    answers.get_by_text("in another language").first.wait_for()
    shot(answers, "robustness_answers")


def test_the_page_is_opened_from_its_asset(page):
    page.goto("/assets/cultural_robustness/report")
    with page.expect_popup() as opened:
        page.get_by_role("link", name=re.compile(r"report\.html")).first.click()
    report = opened.value
    report.get_by_text("What can be claimed").first.wait_for()
    assert report.get_by_text("Planted.").count() > 0
    shot(report, "robustness_report")
