"""What a user of psych tasks does in the web UI, in a real browser: a backfill, a red cell, its marks, a mended one."""

import re

import pytest

from valuesassets_tests.desk.clicks import materialise_again, materialise_all, materializations, new_partitions
from valuesassets_tests.desk.web_ui import browsing, serving, shot
from valuesassets_tests.orchestration.rainy_study import EVERY_MARK, write_rainy_study, write_task
from valuesassets_tests.orchestration.small_study import run_study_file
from valuesassets_tests.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.group("browser, psych tasks")]
MODELS, TASKS = ("one", "two"), ("rain", "snow")
CELLS = sorted(f"{model}|{task}" for model in MODELS for task in TASKS)
OF_A_TASK = ("transcripts", "marks", "asked_marks", "trials")
UNREAD = "/assets/psych_tasks/answer_distributions?view=checks&checkDetail=marks_are_read"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rainy")


@pytest.fixture(scope="module")
def ui(folder):
    """The address of a UI over a study whose cells have not been read; the task `rain` finds a third of its marks."""
    study = write_rainy_study(folder, TASKS, MODELS)
    made = [f"psych_tasks/{noun}" for noun in OF_A_TASK] + ["models/weights", "psych_tasks/preflight"]
    with serving(run_study_file(folder, study, made), folder / "ui.log") as address:
        yield address


def test_a_red_cell_leads_to_its_marks_and_turns_green_once_the_task_file_is_mended(ui, folder):
    answers, ledger = "psych_tasks/answer_distributions", "psych_tasks/mark_ledger"
    with browsing(ui) as page:
        assert materialise_all(page, "psych_tasks/readings", len(CELLS), "psych_backfill") == CELLS
        wait_until(
            lambda: {*new_partitions(page, answers, ())} == {*CELLS} and materializations(page, ledger), 300
        )  # follow
        page.goto(f"/assets/{ledger}")
        page.get_by_text("[Show Markdown]").last.click()
        page.locator("img[src^='data:image/png']").first.wait_for()
        shot(page, "psych_ledger")

        assert "one|rain" in materialise_again(page, answers, "one|rain")
        page.goto(UNREAD)
        page.get_by_text("one|rain").first.wait_for()
        page.get_by_text("failing_rows").first.wait_for()
        page.get_by_text("no kind of the task rain is found before it").first.wait_for()
        shot(page, "psych_red_cell")
        with page.expect_popup() as opened:
            page.get_by_role("link", name=re.compile(r"rain\.html")).first.click()
        marks = opened.value
        marks.get_by_text("no kind of the task rain is found before it").first.wait_for()
        shot(marks, "psych_unread_marks")

        write_task(folder, "rain", EVERY_MARK)
        for noun in OF_A_TASK:
            assert materialise_again(page, f"psych_tasks/{noun}", "rain") == ["rain"]
        before = materializations(page, answers)
        assert materialise_again(page, "psych_tasks/readings", "one|rain") == ["one|rain"]
        wait_until(lambda: new_partitions(page, answers, before) == ["one|rain"], 240)  # follows by itself
        page.goto(UNREAD)
        page.get_by_text("one|rain").first.wait_for()
        page.get_by_text("Passed").first.wait_for()
        shot(page, "psych_green_cell")
