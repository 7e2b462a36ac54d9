import base64
import functools
import hashlib
import re
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser

import pandas as pd
import pytest

from valuesassets.instruments.survey.comparing.answer_grid import answer_grid
from valuesassets.instruments.survey.distances import derive_distances
from valuesassets.instruments.survey.report import Gate, Refused, render_report
from valuesassets.instruments.survey.reporting.gates import derive_gates
from valuesassets.instruments.survey.reporting.parts import table
from valuesassets.instruments.survey.reporting.trace import Traces, trace_cells
from valuesassets.records.schemas import read_readings, read_trials
from valuesassets.records.study_files import load_study
from valuesassets_tests.figures.made_up import (
    comparison_frame,
    comparison_frames,
    controls_frame,
    hardness_frame,
    human_frame,
    map_frame,
    mds_frame,
    mono_multi_frames,
    pairs_frame,
    probe_frame,
    quality_frames,
    recovery_frame,
    sampled_columns,
    statistics_frame,
)
from valuesassets_tests.instruments.survey import planted_grid
from valuesassets_tests.instruments.survey.reporting.test_claims import TESTS

CLAIMS = "What can be claimed"
SECTIONS = [
    CLAIMS,
    "Methods paragraph and citations",
    "Calibration",
    "Quality",
    "Cultural map",
    "From a point to its page",
    "Distances between cells",
    "Comparison with humans",
    "Monolingual against multilingual",
    "Item statistics",
    "Extraction faults",
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
    return derive_distances(answer_grid(planted_grid.answers()), planted_grid.demo()).frames()


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


def test_what_can_be_claimed_stands_first_and_every_link_leads_to_a_place_on_the_page(page):
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", page) == SECTIONS
    elements = Elements(page)
    assert elements.open == []
    ids = [attributes["id"] for _, attributes in elements.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [link["href"] for link in elements.of("a")]
    assert links[: len(SECTIONS)] == [f"#{part['id']}" for part in elements.of("section")]
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_the_quality_section_shows_how_far_other_estimators_lie_and_only_where_some_were_asked(page):
    study, parts = everything()
    moved = parts["probe"].assign(prob_pride=parts["probe"].prob_reversed)
    quality = section(render_report(study, **(parts | {"probe": moved})), "Quality")
    assert "How far other estimators lie from the answers used here" in quality
    assert quality.count(">pride<") == parts["probe"].groupby(["model", "language"]).ngroups
    assert "other estimators" not in page


def test_nothing_is_fetched_and_nothing_but_the_pages_own_script_may_run(page):
    elements = Elements(page)
    assert elements.of("script") == [{}]
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


def test_every_picture_has_words_and_every_table_a_caption_and_headings(page):
    elements = Elements(page)
    assert len(elements.of("img")) == 10
    assert all(len(image["alt"]) > 20 for image in elements.of("img"))
    assert [svg["aria-label"][:29] for svg in elements.of("svg")] == ["Map of models and countries; "]
    assert len(elements.of("caption")) == len(elements.of("table")) > 8
    assert {heading["scope"] for heading in elements.of("th")} == {"col", "row"}
    assert Elements(page).of("html") == [{"lang": "en"}]


def test_what_others_wrote_is_escaped(page):
    assert "<script>alert" not in page
    assert "How important is work &lt;script&gt;alert(1)&lt;/script&gt;?" in page
    assert "option 2 has no label &lt;b&gt;bold&lt;/b&gt;" in page


def test_gates_are_told_apart_by_words_and_the_failed_come_first(page):
    summary = section(page, CLAIMS)
    assert "Gates: 1 passed, 1 failed, 1 never looked at." in summary
    marks = [summary.index(mark) for mark in ("✗ failed", "○ missing", "✓ passed")]
    assert marks == sorted(marks)


def test_what_no_section_could_show_is_listed_with_what_is_missing():
    study = load_study("demo")
    page = render_report(study, distances=Refused("fewer than two cells"))
    assert "Distances between cells: fewer than two cells" in section(page, CLAIMS)
    assert "Every figure and table of the study is on this page." not in page


def test_a_complete_page_says_so(page, stored_once):
    study, parts = everything()
    said = "Every figure and table of the study is on this page."
    traces = trace_cells(stored_once.folder, [("reference-mono", "eng")])
    assert said in section(render_report(study, **parts, traces=traces), CLAIMS)
    assert said not in section(page, CLAIMS)
    assert "From a point to its page: no provenance was handed to the report" in section(page, CLAIMS)


def test_many_passed_gates_and_long_tables_are_folded_and_short_ones_are_not():
    study, parts = everything()
    many = [Gate(f"Gate {number}.", True) for number in range(22)]
    long = parts["provenance"] * 44
    page = section(render_report(study, gates=many, provenance=long), CLAIMS)
    assert "<summary>Gates passed: 22</summary>" in page
    assert re.search(r"<details><summary>Hashes: models[^<]*\(44 rows\)</summary>", page)
    assert "<details>" not in section(render_report(study, gates=parts["gates"]), CLAIMS)


def test_planted_and_recovered_stand_by_response_type_with_their_bounds(page):
    _, parts = everything()
    comparison = parts["calibration"]["comparison"]
    shown = section(page, "Calibration")
    binary = comparison[comparison.response_type == "binary"]
    row = re.search(r"<tr><th[^>]*>binary</th>(.*?)</tr>", shown).group(1)
    numbers = re.findall(r">([\d.]+)<", row)
    found = [len(binary)]
    for error in ("w1_unit_error", "p_valid_error", "position_bias_error"):
        found += [binary[error].mean(), binary[error].quantile(0.95)]
    assert [float(number) for number in numbers] == pytest.approx(found, abs=0.0006)
    assert "W1 unit 0.02, P_valid 0.02, position bias 0.03" in shown
    assert "Sampled answers" not in shown


def test_sampled_answers_stand_beside_with_the_bound_that_chance_widens():
    sampled = {"comparison": sampled_columns(comparison_frame()), "recovery": recovery_frame()}
    shown = section(render_report(load_study("demo"), calibration=sampled), "Calibration")
    row = re.search(r"Sampled answers.*?<tr><th[^>]*>all</th>(.*?)</tr>", shown, re.DOTALL).group(1)
    assert re.findall(r">([\d.]+)<", row)[-3:] == ["0.034", "0.045", "0.055"]


def test_the_cells_that_were_not_recovered_are_named():
    recovery = recovery_frame()
    recovery.loc[1, ["is_recovered", "reason"]] = [False, "mean w1_unit_error 0.310 is above 0.02"]
    shown = section(render_report(load_study("demo"), calibration={"recovery": recovery}), "Calibration")
    assert "11 of 12 calibrated cells were recovered within the bounds; not recovered: reference-mono in deu." in shown
    assert "mean w1_unit_error 0.310 is above 0.02" in shown


def test_the_hardness_of_the_plants_stands_beside_the_recovery(page):
    assert "How hard the plants were" in section(page, "Calibration")
    assert re.search(r"<th[^>]*>both ends share</th>", section(page, "Calibration"))


def test_phantoms_of_another_language_must_fail_and_those_that_do_not_are_named(page):
    shown = section(page, "Calibration")
    assert "2 of 2 pairs failed, as they must." in shown
    assert re.search(r"<th[^>]*>reference-mono eng</th><td[^>]*>deu</td>", shown)
    passing = controls_frame().assign(fails=[True, False])
    blind = section(render_report(load_study("demo"), negative_controls=passing), "Calibration")
    assert "1 of 2 pairs failed" in blind
    assert "cannot tell them apart: deu answered by fra." in blind


def test_gates_on_the_negative_controls_pass_only_where_every_pair_failed():
    study, parts = everything()
    calibration, quality = parts["calibration"], parts["quality"]

    def gate(controls):
        found = derive_gates(study, {}, {}, calibration, quality, controls)
        return next((one for one in found if "another language" in one.sentence), None)

    assert gate(controls_frame()).is_passed
    wrong = gate(controls_frame().assign(fails=[True, False]))
    assert (wrong.is_passed, wrong.is_missing) == (False, False)
    assert "deu answered by fra" in wrong.found
    assert gate(Refused("not run")).is_missing
    assert gate(None) is None


def test_a_gate_that_was_never_looked_at_is_missing_and_not_failed():
    study, parts = everything()
    gates = derive_gates(study, {"eng": [], "deu": ["a fault"]}, {}, Refused("none"), parts["quality"])
    by_sentence = {gate.sentence: gate for gate in gates}
    missing = {name for name, gate in by_sentence.items() if gate.is_missing}
    assert "The questions of fra were extracted without a fault." in missing
    assert "Every model of reference-mono passed its preflight." in missing
    assert "Planted answers were recovered." in missing
    assert by_sentence["The questions of eng were extracted without a fault."].is_passed
    failed = by_sentence["The questions of deu were extracted without a fault."]
    assert (failed.is_passed, failed.is_missing) == (False, False)


def test_reliability_passes_fails_or_was_never_measured():
    study, parts = everything()
    rows = [
        {"model": "sure", "generalizability": 0.9, "generalizability_low": 0.8, "generalizability_high": 0.95},
        {"model": "vague", "generalizability": 0.3, "generalizability_low": 0.1, "generalizability_high": 0.5},
        {"model": "unasked", "generalizability": float("nan"), "reason": "asked in one wording"},
    ]
    frames = {"families": pd.DataFrame(rows)}
    found = {
        gate.sentence.split()[5]: gate
        for gate in derive_gates(study, {}, {}, Refused("none"), parts["quality"], None, frames)
        if "other wordings" in gate.sentence
    }
    assert {name: (gate.is_passed, gate.is_missing) for name, gate in found.items()} == {
        "sure": (True, False),
        "vague": (False, False),
        "unasked": (False, True),
    }
    assert "generalizability 0.30 [0.10, 0.50], 0.5 or more wanted" in found["vague"].found
    assert found["unasked"].found == "asked in one wording"


def test_what_is_missing_and_why_is_said(page):
    assert "11 of 12 cells were read" in section(page, "Methods paragraph and citations")
    claims = section(page, CLAIMS)
    assert "Anything that rests on reference-mono in eng and reference-multi in bul." in claims
    assert re.search(r">reference-multi bul</th><td[^>]*>no readings: the job failed<", claims)
    quality = section(page, "Quality")
    assert "Cells missing: reference-multi in bul. Cells flagged: reference-mono in eng." in quality
    assert "no readings: the job failed" in quality
    assert "P_valid below 0.10 in 7 of 12 cells" in quality


def test_faults_are_counted_per_language_and_listed(page):
    extraction = section(page, "Extraction faults")
    assert re.search(r"<th[^>]*>eng</th><td[^>]*>0</td>", extraction)
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
    names += ("calibration", "negative_controls", "item_statistics", "extraction_faults")
    reasons = {name: Refused(f"the reason of {name} < here") for name in names}
    bare = render_report(study, **{**parts, **reasons, "provenance": ()})
    assert Elements(bare).of("img") == []
    assert Elements(bare).of("svg") == []
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
    shown = re.sub(r'<pre id="bibtex-text">.*?</pre>', "", bare.split("<main>")[1].split("</main>")[0], flags=re.DOTALL)
    assert not re.search(r"\d\.\d{3}", shown)


def test_no_failure_becomes_a_number_in_a_table():
    shown = table(
        "t", pd.DataFrame({"x": [1.5, None], "is_ok": [True, None], "reason": [None, "unread"], "gone": None})
    )
    assert shown.columns == ("x", "is ok", "reason")
    assert [[cell.text for cell in row] for row in shown.rows] == [
        ["1.500", "yes", ""],
        ["not available", "not available", "unread"],
    ]


def test_a_column_of_numbers_is_set_to_the_right_and_a_cell_is_one_column():
    shown = table("t", pd.DataFrame({"model": ["m"], "language": ["pol"], "p_valid_mean": [None], "n": [3]}))
    assert shown.headings == (("cell", "words"), ("n", "number"))
    gap = table("t", pd.DataFrame({"language": ["pol", "fra"], "p_valid_mean": [None, 0.5]}))
    assert gap.headings == (("language", "words"), ("P_valid mean", "number"))
    assert [[cell.text for cell in row] for row in shown.rows] == [["m pol", "3"]]


def test_analyses_that_the_study_has_stand_where_they_belong_and_others_do_not():
    study, parts = everything()
    notes = pd.DataFrame({"note": ["One wording only: coefficients are over orders."]})
    table = pd.DataFrame({"model": ["reference-mono"], "coefficient": [0.71]})
    page = render_report(
        study,
        **parts,
        reliability=Refused("fewer than three languages"),
        signal={"notes": notes, "tests": TESTS},
        position_bias={"sizes": table, "notes": notes},
    )
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert titles[3:6] == ["Quality", "Reliability", "Signal against human answers"]
    assert titles.index("Position bias") == titles.index("Monolingual against multilingual") + 1
    assert "<strong>Not shown:</strong> fewer than three languages" in section(page, "Reliability")
    shown = section(page, "Position bias")
    assert "One wording only" in shown
    assert re.search(r"Position bias: sizes\..*>0\.710<", shown, re.DOTALL)
    assert "Reliability: fewer than three languages" in section(page, CLAIMS)


def test_tests_of_all_analyses_stand_together_with_their_corrected_p():
    study, parts = everything()
    distances = parts["distances"] | {"tests": TESTS.assign(test_family="zones")}
    page = render_report(study, **(parts | {"distances": distances}), signal={"tests": TESTS})
    claims = section(page, CLAIMS)
    table = re.search(r"Every test of this run.*?</table>", claims, re.DOTALL)[0]
    assert len(re.findall("<tr>", table)) == 1 + 2 * len(TESTS)
    assert "corrected by Holm&#39;s procedure within three declared families" in section(page, "Methods paragraph.*?")


def test_claims_stand_in_two_lists(page):
    lists = re.findall(r"<h3>(This run[^<]*)</h3>(.*?)</div>", section(page, CLAIMS), re.DOTALL)
    assert [title for title, _ in lists] == ["This run supports", "This run does not support"]
    assert "Anything about people." in lists[1][1]
    assert "Anything about people." not in lists[0][1]


def test_the_methods_can_be_copied_and_the_sources_are_those_of_the_run(page):
    methods = section(page, "Methods paragraph and citations")
    assert re.search(r'id="methods-text">This is a test of the instrument', methods)
    assert {button["data-copy"] for button in Elements(methods).of("button")} == {"methods-text", "bibtex-text"}
    assert "@book{inglehart2005," in methods
    assert "@inproceedings{burchell2025," not in methods


def test_the_page_says_its_own_size(page):
    said = re.search(r"This page has ([\d.]+) MB *and fetches nothing", page)[1]
    assert float(said) == pytest.approx(len(page.encode()) / 1e6, abs=0.05)


@pytest.fixture(scope="module")
def traced(stored_once):
    cells = stored_once.study.cells()
    return render_report(
        stored_once.study,
        probe=stored_once.probe,
        quality=stored_once.quality,
        cultural_map={"points": stored_once.points},
        traces=trace_cells(stored_once.folder, cells),
    )


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


def test_readings_and_missing_indicators_are_shown_with_key_and_reason(traced, stored_once):
    reading = read_readings(stored_once.path("readings", "reference-mono/fra.parquet"))[0]
    shown = re.search(r'id="trace-reference-mono-fra".*?Back to the map', traced, re.DOTALL)[0]
    known = {one.trial_id: one for one in read_readings(stored_once.path("readings", "reference-mono/fra.parquet"))}
    assert known["v7/0/forward"].reading_key in shown
    assert reading.reading_key not in shown
    assert "missing: v170: dropped: unreliable in too many cells" in shown


def test_a_changed_form_is_said_and_its_page_not_shown(stored):
    path = stored.path("questionnaire_pdf", "fra.pdf")
    path.write_bytes(path.read_bytes() + b"%")
    traces = trace_cells(stored.folder, [("reference-mono", "eng"), ("reference-mono", "fra"), ("nobody", "fra")])
    page = render_report(stored.study, cultural_map={"points": stored.points}, traces=traces)
    assert page.count("data:image/png") == 14
    assert "<strong>A link does not hold:</strong>" in page
    assert "the PDF has changed since its questions were read" in page
    assert "nobody in fra:" in section(page, "From a point to its page")


def test_forty_four_points_stay_small_and_are_drawn_once_per_language(stored_once):
    one = trace_cells(stored_once.folder, [("reference-mono", "eng")])
    both = trace_cells(stored_once.folder, [("reference-mono", "eng"), ("reference-multi", "eng")])
    size = [len(render_report(stored_once.study, traces=traces).encode()) for traces in (Traces(), one, both)]
    per_language, per_cell = size[1] - size[0], size[2] - size[1]
    assert 22 * per_language + 22 * per_cell < 8_000_000
    assert per_cell < per_language
