"""What a user of cultural robustness sees in the web UI, in a real browser: a grid that fills, answers to read."""

import re
from pathlib import Path

import pandas as pd
import pytest

from valuesassets.orchestration.following.automation import SENSOR
from valuesassets_tests.desk.clicks import materialise_all
from valuesassets_tests.desk.web_ui import serving, shot, stop_sensor
from valuesassets_tests.orchestration.small_study import copied

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.group("browser, psych tasks")]
CELLS = ["deu|cultures", "ell|cultures", "eng|cultures"]


@pytest.fixture(scope="module")
def ui(small_robustness, tmp_path_factory):
    """The address of a UI over a small study that has been run."""
    environment = copied(small_robustness, tmp_path_factory.mktemp("robustness"))
    with serving(environment, Path(environment["VALUESASSETS_STORAGE"]) / "ui.log") as address:
        stop_sensor(address, SENSOR)  # nothing here is about what follows by itself
        yield address


def opened_by(page, link):
    """The page that a link opens beside this one."""
    with page.expect_popup() as opened:
        link.click()
    return opened.value


def test_the_grid_of_answers_by_language_fills_and_a_cell_opens_to_its_prompts_and_answers(page):
    assert materialise_all(page, "cultural_robustness/answers", 3) == CELLS
    page.goto("/assets/cultural_robustness/answers?view=partitions&partition=ell%7Ccultures")
    page.get_by_text("answers written by").first.wait_for()
    shot(page, "robustness_grid")
    answers = opened_by(page, page.locator('a[href*="answer_quality/cultures/ell.html"]').first)
    answers.get_by_text("in another language").first.wait_for()
    flagged, *_, fine = answers.locator("main > section").all()
    assert "flagged" in flagged.get_attribute("class")
    assert fine.get_by_role("heading").inner_text().startswith("Nothing is wrong with: ")
    shot(answers, "robustness_answers")


def test_a_failed_check_names_each_question_and_leads_to_answers_with_that_one_first(page, small_robustness):
    page.goto("/assets/cultural_robustness/answer_quality?view=checks&checkDetail=answers_are_usable")
    page.get_by_text("failing_rows").first.wait_for()
    page.get_by_text("wrong_language").first.wait_for()
    (stored,) = small_robustness.glob("storage/*/cultural_robustness/answer_quality/cultures.csv")
    judged = pd.read_csv(stored)
    questions = set(judged.loc[~judged["status"].isin(["ok", "truncated"]), "id"])
    assert questions
    for question in questions:
        assert page.get_by_text(question, exact=True).count() > 0, question
    shot(page, "robustness_failed_check")
    answers = opened_by(page, page.get_by_role("link", name=re.compile(r"ell\.html")).first)
    answers.get_by_text("in another language").first.wait_for()


def test_the_page_is_opened_from_its_asset(page):
    page.goto("/assets/cultural_robustness/report")
    report = opened_by(page, page.get_by_role("link", name=re.compile(r"report\.html")).first)
    report.get_by_text("What can be claimed").first.wait_for()
    assert report.get_by_text("Planted.").count() > 0
    shot(report, "robustness_report")
