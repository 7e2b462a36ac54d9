import base64
import hashlib
import re

import pandas as pd
import pytest

from valuesassets.instruments.survey.report.trace import trace_cells
from valuesassets.records.study import load_study
from valuesassets.reporting.analyses import QUESTIONS
from valuesassets.reporting.parts import Gate, Refused, table
from valuesassets_tests.figures.made_up import human_frame
from valuesassets_tests.figures.made_up_analyses import mono_multi_frames
from valuesassets_tests.instruments.survey.whole_report import (
    CLAIMS,
    Elements,
    everything,
    rendered,
    section,
    whole_page,
)
from valuesassets_tests.reporting.test_claims import TESTS

SECTIONS = [
    "In short",
    CLAIMS,
    "Calibration",
    "Quality",
    "Cultural map",
    "From a point to its page",
    "Distances between cells",
    "Comparison with humans",
    "Monolingual against multilingual",
    "Item statistics",
    "Extraction faults",
    "Methods paragraph and citations",
    "Where answers are from",
]


@pytest.fixture(scope="module")
def page():
    return whole_page()


def undrawn(parts, *kept):
    """The parts without those that take long to draw, but for the kept ones."""
    drawn = {"probe", "quality", "calibration", "cultural_map", "distances", "human", "human_comparison"}
    drawn |= {"mono_vs_multi", "item_statistics"}
    refused = {name: Refused("drawn elsewhere") for name in drawn - set(kept)}
    return {**parts, **refused}


@pytest.mark.slow
def test_the_answer_stands_first_and_every_link_leads_to_a_place_on_the_page(page):
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", page) == SECTIONS
    elements = Elements(page)
    assert elements.open == []
    ids = [attributes["id"] for _, attributes in elements.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [link["href"] for link in elements.of("a")]
    assert links[: len(SECTIONS)] == [f"#{part['id']}" for part in elements.of("section")]
    assert {link.removeprefix("#") for link in links} <= set(ids)


@pytest.mark.slow
def test_the_quality_section_shows_how_far_other_estimators_lie_and_only_where_some_were_asked(page):
    study, parts = everything()
    moved = parts["probe"].assign(prob_pride=parts["probe"].prob_reversed)
    quality = section(rendered(study, **(undrawn(parts, "quality") | {"probe": moved})), "Quality")
    assert "How far other estimators lie from the answers used here" in quality
    assert quality.count(">pride<") == parts["probe"].groupby(["model", "language"]).ngroups
    assert "other estimators" not in page


@pytest.mark.slow
def test_nothing_is_fetched_and_nothing_but_the_pages_own_script_may_run(page):
    elements = Elements(page)
    data = {"type": "application/json", "id": "first-screen"}  # which is no script
    assert elements.of("script") == [data, {}]
    assert elements.of("link") == []
    assert all(image["src"].startswith("data:image/") for image in elements.of("img"))
    assert not re.search(r"https?:|\bfetch\(|XMLHttp|\bimport\(", page)
    assert "url(" not in page.split("</style>")[0]
    (policy,) = [meta["content"] for meta in elements.of("meta") if "http-equiv" in meta]
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; img-src data:; ")
    assert f"script-src 'sha256-{digest}';" in policy
    for image in elements.of("img"):
        if not image["src"].startswith("data:image/svg+xml;base64,"):
            continue
        svg = base64.b64decode(image["src"].split(",")[1]).decode()
        assert svg.rstrip().endswith("</svg>")
        assert not re.search(r'(href|src)="(?!#|data:)', svg)


@pytest.mark.slow
def test_every_picture_has_words_and_every_table_a_caption_and_headings(page):
    elements = Elements(page)
    assert len(elements.of("img")) == 11
    assert all(len(image["alt"]) > 20 for image in elements.of("img"))
    assert [svg["aria-label"][:29] for svg in elements.of("svg")] == ["Map of models and countries; "]
    assert len(elements.of("caption")) == len(elements.of("table")) > 8
    assert {heading["scope"] for heading in elements.of("th")} == {"col", "row"}
    assert Elements(page).of("html") == [{"lang": "en"}]


@pytest.mark.slow
def test_what_others_wrote_is_escaped(page):
    assert "<script>alert" not in page
    assert "How important is work &lt;script&gt;alert(1)&lt;/script&gt;?" in page
    assert "option 2 has no label &lt;b&gt;bold&lt;/b&gt;" in page


@pytest.mark.slow
def test_gates_are_distinguished_by_words_and_the_failed_come_first(page):
    summary = section(page, CLAIMS)
    assert "Gates: 1 passed, 1 failed, 1 not checked." in summary
    marks = [summary.index(mark) for mark in ("✗ failed", "○ missing", "✓ passed")]
    assert marks == sorted(marks)


def test_what_no_section_could_show_is_listed_with_what_is_missing():
    study = load_study("demo_survey")
    page = rendered(study, distances=Refused("fewer than two cells"))
    assert "Distances between cells: fewer than two cells" in section(page, CLAIMS)
    assert "Every figure and table of the study is on this page." not in page


@pytest.mark.slow
def test_a_complete_page_says_so(page, stored_once):
    study, parts = everything()
    sentence = "Every figure and table of the study is on this page."
    traces = trace_cells(stored_once.folder, [("reference-mono", "eng")])
    assert sentence in section(rendered(study, **parts, traces=traces), CLAIMS)
    assert sentence not in section(page, CLAIMS)
    assert "From a point to its page: no provenance was handed to the report" in section(page, CLAIMS)


@pytest.mark.slow
def test_passed_gates_and_long_tables_are_folded_and_others_are_not():
    study, parts = everything()
    many = [Gate(f"Gate {number}.", True) for number in range(22)]
    long = parts["provenance"] * 44
    page = rendered(study, gates=many, provenance=long)
    assert "<summary>Gates passed: 22</summary>" in section(page, CLAIMS)
    origins = section(page, "Where answers are from")
    assert re.search(r"<details><summary>Files, models and cells[^<]*\(44 rows\)</summary>", origins)
    short = section(rendered(study, gates=parts["gates"]), CLAIMS)
    assert "<summary>Gates failed" not in short
    assert "<summary>Gates missing" not in short
    assert "<table>\n<caption>Gates failed: 1</caption>" in short


@pytest.mark.slow
def test_what_is_missing_and_why_is_said(page):
    assert "11 of 12 cells were read" in section(page, "Methods paragraph and citations")
    claims = section(page, CLAIMS)
    assert "Anything that rests on reference-mono in eng and reference-multi in bul." in claims
    assert re.search(r">reference-multi bul</th><td[^>]*>no readings: the job failed<", claims)
    quality = section(page, "Quality")
    assert "Cells missing: reference-multi in bul. Cells flagged: reference-mono in eng." in quality
    assert "no readings: the job failed" in quality
    assert "P_valid below 0.10 in 7 of 12 cells" in quality


@pytest.mark.slow
def test_faults_are_counted_per_language_and_listed(page):
    extraction = section(page, "Extraction faults")
    assert re.search(r"<th[^>]*>eng</th><td[^>]*>0</td>", extraction)
    assert "bul: 1 faults" in extraction


@pytest.mark.slow
def test_the_map_carries_its_caveat_and_the_demo_says_planted(page):
    assert "invariance" in section(page, "Cultural map")
    assert "<strong>Planted.</strong>" in page
    assert "These respondents are synthetic" in section(page, "Comparison with humans")


@pytest.mark.slow
def test_the_same_parts_give_the_same_page_and_the_time_is_only_what_was_given(page):
    study, parts = everything()
    assert rendered(study, **parts) == page
    assert "report made" not in page
    assert "report made 2026-01-05" in rendered(study, made_at="2026-01-05")


def test_a_refused_analysis_leaves_its_reason_in_place_of_its_figure():
    study, parts = everything()
    names = ("probe", "quality", "cultural_map", "distances", "human", "human_comparison", "mono_vs_multi")
    names += ("calibration", "negative_controls", "item_statistics", "extraction_faults")
    reasons = {name: Refused(f"the reason of {name} < here") for name in names}
    bare = rendered(study, **{**parts, **reasons, "provenance": ()})
    assert Elements(bare).of("img") == []
    assert Elements(bare).of("svg") == []
    for name in names:
        assert f"the reason of {name} &lt; here" in bare
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", bare) == SECTIONS


def test_an_empty_frame_gives_its_own_reason():
    empty = human_frame().iloc[:0].copy()
    empty.attrs["reason"] = "no human data: the study names none"
    assert "no human data: the study names none" in section(
        rendered(load_study("demo_survey"), human=empty), "Comparison with humans"
    )


def test_the_notes_of_an_analysis_stand_beside_it_and_explain_empty_tables():
    notes = pd.DataFrame({"note": ["No human data: only entropies are compared."]})
    pairs, summary = mono_multi_frames()
    full = {"pairs": pairs, "summary": summary, "notes": notes}
    empty = {"cells": pd.DataFrame(), "by_response_type": pd.DataFrame(), "notes": notes}
    page = rendered(load_study("demo_survey"), mono_vs_multi=full, human_comparison=empty)
    assert "only entropies" in section(page, "Monolingual against multilingual")
    assert "<strong>Not shown:</strong> No human data" in section(page, "Comparison with humans")


def test_a_study_without_plants_never_says_planted():
    bare = rendered(load_study("evs2017"))
    assert "<strong>Planted.</strong>" not in bare
    assert "this study has no reference family" in section(bare, "Calibration")
    content = re.sub(
        r'<pre id="bibtex-text">.*?</pre>', "", bare.split("<main>")[1].split("</main>")[0], flags=re.DOTALL
    )
    assert not re.search(r"\d\.\d{3}", content)


def test_no_failure_becomes_a_number_in_a_table():
    cells = table(
        "t", pd.DataFrame({"x": [1.5, None], "is_ok": [True, None], "reason": [None, "unread"], "gone": None})
    )
    assert cells.columns == ("x", "is ok", "reason")
    assert [[cell.text for cell in row] for row in cells.rows] == [
        ["1.500", "yes", ""],
        ["not available", "not available", "unread"],
    ]


def test_a_column_of_numbers_is_set_to_the_right_and_a_cell_is_one_column():
    cells = table("t", pd.DataFrame({"model": ["m"], "language": ["pol"], "p_valid_mean": [None], "n": [3]}))
    assert cells.headings == (("cell", "words"), ("n", "number"))
    gap = table("t", pd.DataFrame({"language": ["pol", "fra"], "p_valid_mean": [None, 0.5]}))
    assert gap.headings == (("language", "words"), ("P_valid mean", "number"))
    assert [[cell.text for cell in row] for row in cells.rows] == [["m pol", "3"]]


def test_analyses_that_the_study_has_stand_where_they_belong_and_others_do_not():
    study, parts = everything()
    notes = pd.DataFrame({"note": ["One wording only: coefficients are over orders."]})
    table = pd.DataFrame({"model": ["reference-mono"], "coefficient": [0.71]})
    page = rendered(
        study,
        **undrawn(parts),
        reliability=Refused("fewer than three languages"),
        signal={"notes": notes, "tests": TESTS},
        position_bias={"sizes": table, "notes": notes},
    )
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert titles[3:6] == ["Quality", "Reliability", "Signal against human answers"]
    assert titles.index("Position bias") == titles.index("Monolingual against multilingual") + 1
    assert "<strong>Not shown:</strong> fewer than three languages" in section(page, "Reliability")
    content = section(page, "Position bias")
    assert "One wording only" in content
    assert re.search(r"Position bias: sizes\..*>0\.710<", content, re.DOTALL)
    assert "Reliability: fewer than three languages" in section(page, CLAIMS)


@pytest.mark.slow
def test_tests_of_all_analyses_stand_together_with_their_corrected_p():
    study, parts = everything()
    distances = parts["distances"] | {"tests": TESTS.assign(test_family="zones")}
    page = rendered(study, **(undrawn(parts) | {"distances": distances}), signal={"tests": TESTS})
    claims = section(page, CLAIMS)
    table = re.search(r"Every test of this run.*?</table>", claims, re.DOTALL)[0]
    assert len(re.findall("<tr>", table)) == 1 + 2 * len(TESTS)
    assert "corrected by Holm&#39;s procedure within three declared families" in section(page, "Methods paragraph.*?")


@pytest.mark.slow
def test_claims_stand_by_their_question_supported_beside_unsupported_with_the_small_print_folded(page):
    text = section(page, CLAIMS)
    headings = re.findall(r"<h4>(.*?)</h4>", text)
    assert headings == [question for question in QUESTIONS if question in headings]
    assert {"Calibration", "Map", "Models and people"} <= set(headings)
    lists = dict(re.findall(r'<ul aria-label="This run ([^"]*)">(.*?)</ul>', text, re.DOTALL))
    assert [name for name in lists if name.endswith(": Map")] == ["supports: Map", "does not support: Map"]
    people = "Anything about people.</summary><small>the respondents are synthetic"
    assert people in lists["does not support: Models and people"]
    assert [name for name, claims in lists.items() if people in claims] == ["does not support: Models and people"]


@pytest.mark.slow
def test_the_methods_can_be_copied_and_the_sources_are_those_of_the_run(page):
    methods = section(page, "Methods paragraph and citations")
    assert re.search(r'id="methods-text">This is a test of the instrument', methods)
    assert {button["data-copy"] for button in Elements(methods).of("button")} == {"methods-text", "bibtex-text"}
    assert "@book{inglehart2005," in methods
    assert "@inproceedings{burchell2025," not in methods


@pytest.mark.slow
def test_the_page_says_its_own_size(page):
    size = re.search(r"This page has ([\d.]+) MB *and fetches nothing", page)[1]
    assert float(size) == pytest.approx(len(page.encode()) / 1e6, abs=0.05)
