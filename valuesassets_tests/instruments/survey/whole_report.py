"""Everything that a report may be given, and how its page is read."""

import functools
import re
from dataclasses import dataclass
from html.parser import HTMLParser

from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.comparing.distances import derive_distances
from valuesassets.instruments.survey.analyses import ANALYSES
from valuesassets.instruments.survey.report import report
from valuesassets.records.study import load_study
from valuesassets.reporting.parts import Gate
from valuesassets.reporting.report import render_report
from valuesassets.reporting.run import Run
from valuesassets_tests.comparing import planted_grid
from valuesassets_tests.figures.made_up import (
    comparison_frame,
    controls_frame,
    hardness_frame,
    human_frame,
    probe_frame,
    quality_frames,
    recovery_frame,
)
from valuesassets_tests.figures.made_up_analyses import (
    comparison_frames,
    map_frame,
    mds_frame,
    mono_multi_frames,
    pairs_frame,
    statistics_frame,
)

CLAIMS = "What can be claimed"


@dataclass(frozen=True)
class Fault:
    question_id: str
    page: int
    found: str


SHORT = {"probe": "probe_distributions", "quality": "quality_report", "human": "human_distributions"}
LATER = {"question_answers", "reliability", "signal", "position_bias", "simulated_worlds"}
"""Analyses that a study has here only where they are given."""


def made(study, gates=(), versions=None, provenance=(), **found):
    """The run of a study with these parts."""
    found = {SHORT.get(name, name): part for name, part in found.items()}
    analyses = {name: each for name, each in ANALYSES.items() if name in found or name not in LATER}
    return Run(study, found, analyses, gates, versions or {}, provenance)


def rendered(study, made_at=None, **parts):
    """The page of a study with these parts."""
    return render_report(made(study, **parts), report, made_at)


@functools.cache
def whole_page():
    """The page of everything, rendered once."""
    study, parts = everything()
    return rendered(study, **parts)


@functools.cache
def everything():
    """All that a report may be given; the Bulgarian cell of one family is missing."""
    study = load_study("demo_survey")
    whole = probe_frame()
    probe = whole[~((whole.model == "reference-multi") & (whole.language == "bul"))]
    pairs, summary = mono_multi_frames()
    return study, {
        "gates": [
            Gate("Every plant is recovered.", True, "12 of 12 cells"),
            Gate("No cell is missing or flagged.", False, "reference-multi in bul is missing"),
            Gate("Every model passed its preflight.", False, "no preflight yet", is_missing=True),
        ],
        "probe": probe,
        "quality": quality_frames(probe, study.cells()),
        "calibration": {"comparison": comparison_frame(), "recovery": recovery_frame(), "hardness": hardness_frame()},
        "negative_controls": controls_frame(),
        "cultural_map": {"points": map_frame()},
        "distances": planted_distances() | {"pairs": pairs_frame(), "points": mds_frame()},
        "human": human_frame(),
        "human_comparison": comparison_frames(),
        "mono_vs_multi": {"pairs": pairs, "summary": summary},
        "item_statistics": statistics_frame(probe),
        "extraction_faults": {"eng": [], "bul": [Fault("v7", 3, "option 2 has no label <b>bold</b>")]},
        "question_texts": {"v1": "How important is work <script>alert(1)</script>?"},
        "provenance": [{"what": "model reference-mono/eng", "hash": "9f2c"}],
    }


@functools.cache
def planted_distances():
    return derive_distances(answer_grid(planted_grid.answers()), planted_grid.demo())


class Elements(HTMLParser):
    """Every tag with its attributes, and which of those that must be closed were."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "img", "link", "br", "input"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def of(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def section(page, title):
    return re.search(rf"<section[^>]*>\s*<h2[^>]*>{title}</h2>.*?</section>", page, re.DOTALL).group()
