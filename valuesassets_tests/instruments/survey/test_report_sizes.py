"""The report in a real browser on a wide screen, on a phone and on paper: on each of them it opens with its answer."""

import io

import pdfplumber
import pytest

from valuesassets_tests.desk.web_ui import chromium, page_of_file, shot
from valuesassets_tests.instruments.survey.whole_report import everything, whole_page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.group("browser")]
SENTENCES, BOXES, MAP, CONTENTS = ".opening .lead li", ".boxes a", ".opening figure img", "nav a"
SCREEN, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
MM = 96 / 25.4
PAPER = {"width": round(180 * MM), "height": round(267 * MM)}
"""A4 within its margins, in pixels."""
TOO_WIDE = "tables => tables.filter(table => table.offsetWidth > table.parentElement.offsetWidth + 1).length"


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """The page of all that a report may be given; in the end it has fetched nothing and complained of nothing."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(whole_page(), encoding="utf-8")
    with page_of_file(browser, file, **SCREEN) as page:
        yield page


def at_size(page, size):
    """The page as it opens on a screen of this size."""
    page.set_viewport_size(size)
    page.goto(page.url.partition("#")[0])
    page.evaluate("scrollTo(0, 0)")
    return page


def ends(page, selector):
    """Right and lower end of each element, in pixels from the corner of the screen."""
    boxes = [each.bounding_box() for each in page.locator(selector).all()]
    return [(box["x"] + box["width"], box["y"] + box["height"]) for box in boxes]


def test_on_a_wide_screen_sentences_map_and_boxes_stand_on_the_first_and_contents_stay_in_view(opened):
    page = at_size(opened, SCREEN)
    shot(page, "report_on_a_screen")
    places = {selector: ends(page, selector) for selector in (SENTENCES, BOXES, MAP, CONTENTS)}
    n_families, n_sections = len(everything()[0].families), page.locator("main > section").count()
    assert [len(each) for each in places.values()] == [n_families, 5, 1, n_sections]
    assert all(
        right <= SCREEN["width"] and lower <= SCREEN["height"] for each in places.values() for right, lower in each
    )
    for box in page.locator(BOXES).all():
        box.click()
        assert 0 <= page.locator(f"section{box.get_attribute('href')} h2").bounding_box()["y"] < SCREEN["height"]
        assert page.locator("nav").bounding_box()["y"] >= 0
        page.evaluate("scrollTo(0, 0)")
    page.locator(CONTENTS, has_text="Quality").click()
    page.locator(f"{CONTENTS}.here", has_text="Quality").wait_for()


def test_on_a_phone_the_answer_stands_above_the_map_and_contents_fold(opened):
    page = at_size(opened, PHONE)
    shot(page, "report_on_a_phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    above = [lower for _, lower in (*ends(page, SENTENCES), *ends(page, BOXES))]
    assert max(above) < page.locator(MAP).bounding_box()["y"] < PHONE["height"]
    assert not page.locator(CONTENTS).first.is_visible()
    page.locator("nav summary").click()
    page.locator(CONTENTS, has_text="Extraction faults").click()
    assert page.url.endswith("#extraction")
    assert not page.locator(CONTENTS).first.is_visible()
    assert page.locator("nav").bounding_box()["y"] >= 0


def test_on_paper_the_answer_stands_on_the_first_sheet_no_table_is_cut_and_small_print_is_unfolded(opened):
    page = at_size(opened, PAPER)
    because = page.locator(".claims small").first
    assert not because.is_visible()
    printed = page.pdf(prefer_css_page_size=True)
    page.emulate_media(media="print")
    firsts = [lower for selector in (SENTENCES, BOXES, MAP) for _, lower in ends(page, selector)]
    assert max(firsts) <= PAPER["height"]
    assert not page.locator("nav").is_visible()
    page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    assert page.locator(".wide:not([data-columns]) > table").evaluate_all(TOO_WIDE) == 0
    with pdfplumber.open(io.BytesIO(printed)) as sheets:
        first = sheets.pages[0]
        assert (round(float(first.width)), round(float(first.height))) == (595, 842)
        text = " ".join(sheet.extract_text() for sheet in sheets.pages[:2])
    assert set(because.inner_text().split()) <= set(text.split())
