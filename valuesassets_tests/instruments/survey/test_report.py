import base64
import re
from dataclasses import dataclass
from html.parser import HTMLParser

import pandas as pd
import pytest

from valuesassets.instruments.survey.report import Gate, Refused, render_report
from valuesassets.instruments.survey.report_parts import table
from valuesassets.records.study import load_study
from valuesassets_tests.figures.made_up import (
    comparison_frame,
    comparison_frames,
    human_frame,
    map_frame,
    mds_frame,
    mono_multi_frames,
    pairs_frame,
    probe_frame,
    quality_frames,
    recovery_frame,
    statistics_frame,
)

SECTIONS = [
    "Summary",
    "Calibration",
    "Quality",
    "Cultural map",
    "Distances between cells",
    "Comparison with humans",
    "Monolingual against multilingual",
    "Item statistics",
    "Extraction faults",
    "Provenance",
]


@dataclass(frozen=True)
class Fault:
    question_id: str
    page: int
    found: str


def everything():
    """All that a report may be given; the Bulgarian cell of one family is missing."""
    study = load_study("demo")
    whole = probe_frame()
    probe = whole[~((whole.model == "reference-multi") & (whole.language == "bul"))]
    pairs, summary = mono_multi_frames()
    return study, {
        "gates": [
            Gate("Every plant is recovered.", True, "12 of 12 cells"),
            Gate("No cell is missing or flagged.", False, "reference-multi in bul is missing"),
        ],
        "probe": probe,
        "quality": quality_frames(probe, study.cells()),
        "calibration": {"comparison": comparison_frame(), "recovery": recovery_frame()},
        "cultural_map": map_frame(),
        "distances": {"pairs": pairs_frame(), "points": mds_frame()},
        "human": human_frame(),
        "human_comparison": comparison_frames(),
        "mono_vs_multi": {"pairs": pairs, "summary": summary},
        "item_statistics": statistics_frame(probe),
        "extraction_faults": {"eng": [], "bul": [Fault("v7", 3, "option 2 has no label <b>bold</b>")]},
        "question_texts": {"v1": "How important is work <script>alert(1)</script>?"},
        "provenance": [{"what": "model reference-mono/eng", "hash": "9f2c"}],
    }


@pytest.fixture(scope="module")
def page():
    study, parts = everything()
    return render_report(study, **parts)


class Elements(HTMLParser):
    """Every tag with its attributes, and which of those that must be closed were."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "img", "link", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def of(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def section(page, title):
    return re.search(rf"<section[^>]*>\s*<h2[^>]*>{title}</h2>.*?</section>", page, re.DOTALL).group()


def test_every_section_stands_in_order_under_its_heading(page):
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", page) == SECTIONS
    elements = Elements(page)
    assert elements.open == []
    assert [link["href"] for link in elements.of("a")] == [f"#{part['id']}" for part in elements.of("section")]


def test_nothing_is_fetched_and_nothing_runs(page):
    elements = Elements(page)
    assert elements.of("script") == []
    assert elements.of("link") == []
    assert all(image["src"].startswith("data:image/svg+xml;base64,") for image in elements.of("img"))
    assert "http" not in page
    assert "url(" not in page.split("</style>")[0]
    for image in elements.of("img"):
        svg = base64.b64decode(image["src"].split(",")[1]).decode()
        assert svg.rstrip().endswith("</svg>")
        assert not re.search(r'(href|src)="(?!#|data:)', svg)


def test_every_picture_has_words_and_every_table_a_caption_and_headings(page):
    elements = Elements(page)
    assert len(elements.of("img")) == 9
    assert all(len(image["alt"]) > 20 for image in elements.of("img"))
    assert len(elements.of("caption")) == len(elements.of("table")) > 8
    assert all(heading["scope"] == "col" for heading in elements.of("th"))
    assert Elements(page).of("html") == [{"lang": "en"}]


def test_what_others_wrote_is_escaped(page):
    assert "<script>" not in page
    assert "How important is work &lt;script&gt;alert(1)&lt;/script&gt;?" in page
    assert "option 2 has no label &lt;b&gt;bold&lt;/b&gt;" in page


def test_gates_are_told_apart_by_words(page):
    summary = section(page, "Summary")
    assert "1 gates passed, 1 failed." in summary
    assert "✓ passed" in summary
    assert "✗ failed" in summary


def test_what_is_missing_and_why_is_said(page):
    assert "11 of 12 cells were read; missing: reference-multi in bul." in section(page, "Summary")
    quality = section(page, "Quality")
    assert "Cells missing: reference-multi in bul. Cells flagged: reference-mono in eng." in quality
    assert "no readings: the job failed" in quality
    assert "P_valid below 0.10 in 7 of 12 cells" in quality


def test_faults_are_counted_per_language_and_listed(page):
    extraction = section(page, "Extraction faults")
    assert re.search(r"<td[^>]*>eng</td><td[^>]*>0</td>", extraction)
    assert "bul: 1 faults" in extraction


def test_the_map_carries_its_caveat_and_the_demo_says_planted(page):
    assert "invariance" in section(page, "Cultural map")
    assert "<strong>Planted.</strong>" in page
    assert "These respondents are synthetic" in section(page, "Comparison with humans")


def test_the_same_parts_give_the_same_page_and_the_time_is_only_what_was_given(page):
    study, parts = everything()
    assert render_report(study, **parts) == page
    assert "report made" not in page
    assert "report made 2026-01-05" in render_report(study, made_at="2026-01-05")


def test_a_refused_analysis_leaves_its_reason_in_place_of_its_figure():
    study, parts = everything()
    names = ("probe", "quality", "cultural_map", "distances", "human", "human_comparison", "mono_vs_multi")
    names += ("calibration", "item_statistics", "extraction_faults")
    reasons = {name: Refused(f"the reason of {name} < here") for name in names}
    bare = render_report(study, **{**parts, **reasons, "provenance": ()})
    assert Elements(bare).of("img") == []
    for name in names:
        assert f"the reason of {name} &lt; here" in bare
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", bare) == SECTIONS


def test_an_empty_frame_gives_its_own_reason():
    empty = human_frame().iloc[:0].copy()
    empty.attrs["reason"] = "no human data: the study names none"
    assert "no human data: the study names none" in section(
        render_report(load_study("demo"), human=empty), "Comparison with humans"
    )


def test_the_notes_of_an_analysis_stand_beside_it_and_explain_empty_tables():
    notes = pd.DataFrame({"note": ["No human data: only entropies are compared."]})
    pairs, summary = mono_multi_frames()
    full = {"pairs": pairs, "summary": summary, "notes": notes}
    empty = {"cells": pd.DataFrame(), "by_response_type": pd.DataFrame(), "notes": notes}
    page = render_report(load_study("demo"), mono_vs_multi=full, human_comparison=empty)
    assert "only entropies" in section(page, "Monolingual against multilingual")
    assert "<strong>Not shown:</strong> No human data" in section(page, "Comparison with humans")


def test_a_study_without_plants_never_says_planted():
    bare = render_report(load_study("evs2017"))
    assert "<strong>Planted.</strong>" not in bare
    assert "this study has no reference family" in section(bare, "Calibration")
    assert not re.search(r"\d\.\d{3}", bare.split("</style>")[1])


def test_no_failure_becomes_a_number_in_a_table():
    shown = table(
        "t", pd.DataFrame({"x": [1.5, None], "is_ok": [True, None], "reason": [None, "unread"], "gone": None})
    )
    assert shown.columns == ("x", "is ok", "reason")
    assert [[cell.text for cell in row] for row in shown.rows] == [
        ["1.500", "yes", ""],
        ["not available", "not available", "unread"],
    ]
