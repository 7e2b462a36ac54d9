"""The report in a real browser, from a file: pointed at, clicked and typed from the map down to the printed page."""

import pytest

from valuesassets.instruments.survey.report.trace import trace_cells
from valuesassets.reporting.parts import Gate
from valuesassets_tests.desk.web_ui import chromium, page_of_file, shot
from valuesassets_tests.figures.made_up import controls_frame, human_frame, recovery_frame
from valuesassets_tests.instruments.survey.whole_report import rendered
from valuesassets_tests.reporting.test_claims import TESTS

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.group("browser")]
POINT = "#map-view a[href='#trace-reference-mono-fra']"


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def file(stored_once, tmp_path_factory):
    """The page of a stored study."""
    study = stored_once.study
    path = tmp_path_factory.mktemp("report") / "report.html"
    page = rendered(
        study,
        gates=[Gate("Every plant is recovered.", True, "4 of 4"), Gate("No item was dropped.", False, "v170")],
        probe=stored_once.probe,
        quality=stored_once.quality,
        calibration={"recovery": recovery_frame()},
        negative_controls=controls_frame(),
        cultural_map={"points": stored_once.points},
        human=human_frame(),
        signal={"tests": TESTS},
        traces=trace_cells(stored_once.folder, study.cells()),
        versions={"valuesassets": "0.1.0", "scorer": "3"},
        provenance=[{"what": "questionnaire eng", "sha256": "ab" * 32}],
    )
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture
def page(browser, file):
    with page_of_file(browser, file, width=1280, height=1000) as page:
        yield page


def middle(page, selector):
    box = page.locator(f"{selector} .reach").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.first_look
def test_a_point_is_pointed_at_and_clicked_down_to_the_printed_page(page):
    page.locator("#map-view").evaluate("view => view.scrollIntoView()")
    place = middle(page, POINT)
    page.mouse.move(*place)
    card = page.locator(".map-card")
    assert "reference-mono fra" in card.inner_text()
    assert "10 of 10 indicators" in card.inner_text()
    assert "not distinguishable from no content" in card.inner_text()
    shot(page, "report_map")
    page.mouse.click(*place)
    trace = page.locator("#trace-here details.trace")
    assert trace.locator("> .content").get_attribute("id") == "trace-reference-mono-fra"
    assert "missing: v170" in trace.locator(".indicator > summary", has_text="G006").inner_text()
    trace.locator(".indicator > summary", has_text="A008").click()
    item = trace.locator("#trace-reference-mono-fra-v7")
    item.locator("> summary").click()
    assert item.locator(".readings tbody tr").count() == 2
    picture = item.locator(".slot img")
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("image => image.naturalWidth") > 400
    item.locator(".prompt > summary").first.click()
    assert item.locator(".prompt pre").first.inner_text().startswith("Quand vous pensez")
    shot(page, "report_provenance")


def test_the_keyboard_leads_the_same_way_and_back(page):
    page.locator(POINT).focus()
    assert "reference-mono fra" in page.locator(".map-card").inner_text()
    page.keyboard.press("Enter")
    focused = "document.activeElement.closest('details')"
    assert page.evaluate(f"{focused}.querySelector('.content').id") == "trace-reference-mono-fra"
    for step, wanted in (("A008", None), ("v7", "trace-reference-mono-fra-v7")):
        page.keyboard.press("Tab")
        assert step in page.evaluate("document.activeElement.textContent")
        page.keyboard.press("Enter")
        assert wanted is None or page.evaluate(f"{focused}.id") == wanted
    page.locator("#trace-here .slot img").wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#trace-reference-mono-fra"
    assert page.locator("#trace-here details").count() == 0
    assert page.locator(".traces > details > #trace-reference-mono-fra").count() == 1


def test_groups_are_switched_off_with_their_names_and_the_map_is_zoomed_and_reset(page):
    point = page.locator("[id='point-model-reference-mono-fra-FR']")
    name = page.locator("[id='name-model-reference-mono-fra-FR']")
    assert point.is_visible()
    assert name.is_visible()
    page.get_by_label("reference-mono (2)").uncheck()
    assert not point.is_visible()
    assert not name.is_visible()
    page.get_by_label("reference-mono (2)").check()
    assert point.is_visible()
    svg = page.locator("#map-figure")
    whole = svg.get_attribute("viewBox")
    page.get_by_role("button", name="Zoom in").click()
    assert svg.get_attribute("viewBox") != whole
    page.get_by_role("button", name="Reset").click()
    assert svg.get_attribute("viewBox") == whole


def test_overlapping_marks_are_distinguished_by_the_nearest(page):
    page.locator("#map-view").evaluate("view => view.scrollIntoView()")
    for place in page.locator("#map-view a").all():
        label = place.get_attribute("aria-label").split(";")[0]
        box = place.locator(".reach").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.locator(".map-card").inner_text().startswith(label)


def test_a_claim_opens_to_what_it_rests_on_and_the_methods_are_copied(page):
    claim = page.locator(".claims details").first
    assert not claim.locator("small").is_visible()
    claim.locator("summary").click()
    assert claim.locator("small").is_visible()
    shot(page, "report_claims")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the paragraph").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("This is a test of the instrument:")
    assert copied == page.locator("#methods-text").inner_text()


def test_nothing_is_wider_than_a_narrow_screen(page):
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_without_a_script_the_same_is_reached_by_links(browser, file):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{file.as_uri()}#form-fra-v7")
        assert page.locator("#form-fra-v7 img").is_visible()
        assert not page.locator("#form-fra-v31 img").is_visible()
        page.goto(f"{file.as_uri()}#trace-reference-mono-fra")
        assert page.locator("#trace-reference-mono-fra .indicator").first.is_visible()
        assert page.locator(POINT).get_attribute("href") == "#trace-reference-mono-fra"
        assert not page.get_by_role("button", name="Copy the paragraph").is_visible()
