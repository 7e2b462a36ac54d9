"""What a user sees of WorldValuesBench in the web UI, in a real browser: awareness, and the page of a set."""

import re
from pathlib import Path

import pytest

from valuesassets_tests.desk.web_ui import serving, shot
from valuesassets_tests.orchestration.small_study import copied

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.group("browser")]


@pytest.fixture(scope="module")
def ui(small_ratings, tmp_path_factory):
    """The address of a UI over a small study that has been run."""
    environment = copied(small_ratings, tmp_path_factory.mktemp("ratings"))
    with serving(environment, Path(environment["VALUESASSETS_STORAGE"]) / "ui.log") as address:
        yield address


def test_the_figure_of_awareness_is_opened_from_its_asset(page):
    page.goto("/assets/worldvaluesbench/awareness?view=partitions&partition=two")
    page.get_by_text("awareness_plane").first.wait_for()
    page.get_by_text("[Show Markdown]").first.click()
    page.locator("img[src^='data:image/png']").first.wait_for()
    shot(page, "awareness_opened")


def test_the_page_of_a_set_is_opened_from_its_asset_with_awareness_before_the_published_score(page):
    page.goto("/assets/worldvaluesbench/report?view=partitions&partition=two")
    with page.expect_popup() as opened:
        page.get_by_role("link", name=re.compile(r"two\.html")).first.click()
    report = opened.value
    report.get_by_text("What can be claimed").first.wait_for()
    titles = report.locator("h2").all_inner_texts()
    awareness, published = (
        next(place for place, title in enumerate(titles) if title.startswith(first))
        for first in ("Awareness", "The score of WorldValuesBench")
    )
    assert awareness < published
    assert report.get_by_text("Planted.").count() > 0
    shot(report, "worldvaluesbench_report")
