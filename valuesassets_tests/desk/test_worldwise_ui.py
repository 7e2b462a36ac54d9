"""What a user of worldwise does in the web UI, in a real browser: asks again what failed, and reads the page."""

import re

import pandas as pd
import pytest

from valuesassets.instruments.worldwise.trials.reason_trials import form_of
from valuesassets.orchestration.following.automation import SENSOR
from valuesassets.records.parquet import read_trials
from valuesassets.remote.asking import TWICE
from valuesassets_tests.desk.clicks import materialise_again
from valuesassets_tests.desk.web_ui import serving, shot, stop_sensor
from valuesassets_tests.orchestration.small_study import run_study_file
from valuesassets_tests.orchestration.talking_study import Talker, write_talking_study

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.group("browser, psych tasks")]
REASONS, CELL, N_OPEN = "worldwise/reasons", "MULD|talker", 6 * 3
"""The requests of the cell that fail: three answers to each of six dilemmas."""


@pytest.fixture(scope="module")
def talker():
    """A server that cannot answer one culture when it is asked openly what it would do."""
    found = Talker()
    found.silent = {"the Muldane Isles"}
    with found.serving():
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("talking")


@pytest.fixture(scope="module")
def ui(talker, folder):
    """The address of a UI over a small study that has been run."""
    environment = run_study_file(folder, write_talking_study(folder, talker.base_url))
    with serving(environment, folder / "ui.log") as address:
        stop_sensor(address, SENSOR)  # nothing here is about what follows by itself
        yield address


def test_failed_answers_are_named_with_dilemma_and_prompt_and_one_culture_of_one_model_is_asked_again(
    page, talker, folder
):
    storage = folder / "storage/small/worldwise"
    asked = next(trial for trial in read_trials(storage / "reason_trials/MULD.parquet") if form_of(trial) == "open")
    stored = storage / "reasons/talker/MULD.parquet"
    before = pd.read_parquet(stored).groupby("form")["status"].agg(set).to_dict()
    assert before == {"decide": {"ok"}, "open": {"failed"}}
    paid = talker.paid
    assert materialise_again(page, REASONS, CELL) == [CELL]
    assert talker.paid >= paid + N_OPEN  # in vain
    page.goto(f"/assets/{REASONS}?view=checks&checkDetail=every_prompt_was_asked")
    page.get_by_text(CELL).first.wait_for()
    page.get_by_text("failing_rows").first.wait_for()
    page.get_by_text(asked.question_id, exact=True).first.wait_for()
    page.get_by_text(asked.prompt.split("\n")[0]).first.wait_for()
    shot(page, "worldwise_failed_check")

    paid = talker.paid
    talker.silent.clear()
    assert materialise_again(page, REASONS, CELL) == [CELL]
    assert set(pd.read_parquet(stored)["status"]) == {"ok"}
    # What had been answered is not asked again; a few of the others are asked twice, to see how far answers differ.
    assert N_OPEN <= talker.paid - paid <= N_OPEN + TWICE
    page.goto(f"/assets/{REASONS}?view=checks&checkDetail=every_prompt_was_asked")
    page.get_by_text("Passed").first.wait_for()
    shot(page, "worldwise_asked_again")


def test_the_page_has_a_table_for_an_axis_that_is_not_valid_and_says_which_figures_are_published(page):
    page.goto("/assets/worldwise/report")
    with page.expect_popup() as opened:
        page.get_by_role("link", name=re.compile(r"report\.html")).first.click()
    report = opened.value
    gap = report.locator("section", has=report.get_by_role("heading", name="Do models write what they choose?"))
    gap.get_by_text("In place of the figure of reasons on MAS").wait_for()
    assert gap.locator("table", has_text="the axis is not valid").count() == 1
    appendix = report.locator("section", has=report.get_by_role("heading", name=re.compile("^Appendix")))
    assert appendix.get_by_text("The figures of this section repeat those of worldWiseAI").count() == 1
    captions = report.locator("figcaption")
    published = [text for text in captions.all_inner_texts() if text.startswith("As published: ")]
    assert len(published) == appendix.locator("figcaption").count() >= 11
    shot(report, "worldwise_report")
