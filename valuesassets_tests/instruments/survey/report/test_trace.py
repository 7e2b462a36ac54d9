import re
from html import escape

import pytest

from valuesassets.instruments.survey.report.trace import Traces, trace_cells
from valuesassets.records.parquet import read_readings, read_trials
from valuesassets_tests.instruments.survey.whole_report import Elements, rendered, section


@pytest.fixture(scope="module")
def traced(stored_once):
    cells = stored_once.study.cells()
    return rendered(
        stored_once.study,
        probe=stored_once.probe,
        quality=stored_once.quality,
        cultural_map={"points": stored_once.points},
        traces=trace_cells(stored_once.folder, cells),
    )


@pytest.mark.slow
def test_a_point_leads_to_its_items_and_these_to_prompts_and_page_without_a_script(traced, stored_once):
    elements = Elements(traced)
    assert elements.open == []
    ids = [attributes["id"] for _, attributes in elements.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {link["href"].removeprefix("#") for link in elements.of("a")}
    assert links <= set(ids)
    for model, language in stored_once.study.cells():
        assert f"trace-{model}-{language}" in links
        items = [part for part in ids if part.startswith(f"trace-{model}-{language}-")]
        assert len(items) == 17
    forms = {part for part in ids if re.fullmatch(r"form-(eng|fra)-v\d+", part)}
    assert len(forms) == 28
    assert forms <= links
    pages = [image for image in elements.of("img") if image["src"].startswith("data:image/png")]
    assert len(pages) == 28
    trial = read_trials(stored_once.path("trials", "fra.parquet"))[0]
    of_map = next(t for t in read_trials(stored_once.path("trials", "fra.parquet")) if t.question_id == "v7")
    assert f'<pre lang="fra">{escape(of_map.prompt)}</pre>' in traced
    assert escape(trial.prompt) not in traced


@pytest.mark.slow
def test_readings_and_missing_indicators_are_shown_with_key_and_reason(traced, stored_once):
    reading = read_readings(stored_once.path("readings", "reference-mono/fra.parquet"))[0]
    section = re.search(r'id="trace-reference-mono-fra".*?Back to the map', traced, re.DOTALL)[0]
    readings = {one.trial_id: one for one in read_readings(stored_once.path("readings", "reference-mono/fra.parquet"))}
    assert readings["v7/0/forward"].reading_key in section
    assert reading.reading_key not in section
    assert "missing: v170: dropped: unreliable in too many cells" in section


@pytest.mark.slow
def test_a_changed_form_is_said_and_its_page_not_shown(stored):
    path = stored.path("questionnaire_pdf", "fra.pdf")
    path.write_bytes(path.read_bytes() + b"%")
    traces = trace_cells(stored.folder, [("reference-mono", "eng"), ("reference-mono", "fra"), ("nobody", "fra")])
    page = rendered(stored.study, cultural_map={"points": stored.points}, traces=traces)
    assert page.count("data:image/png") == 14
    assert "<strong>A link does not hold:</strong>" in page
    assert "the PDF has changed since its questions were read" in page
    assert "nobody in fra:" in section(page, "From a point to its page")


@pytest.mark.slow
def test_forty_four_points_stay_small_and_are_drawn_once_per_language(stored_once):
    one = trace_cells(stored_once.folder, [("reference-mono", "eng")])
    both = trace_cells(stored_once.folder, [("reference-mono", "eng"), ("reference-multi", "eng")])
    size = [len(rendered(stored_once.study, traces=traces).encode()) for traces in (Traces(), one, both)]
    per_language, per_cell = size[1] - size[0], size[2] - size[1]
    assert 22 * per_language + 22 * per_cell < 8_000_000
    assert per_cell < per_language
