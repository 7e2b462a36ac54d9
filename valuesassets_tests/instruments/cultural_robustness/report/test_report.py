"""The page opens with what published scores give without culture, and says what its tables support and what not."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.analyses import page_analyses
from valuesassets.instruments.cultural_robustness.report import claims as claims_of
from valuesassets.instruments.cultural_robustness.report import report
from valuesassets.instruments.cultural_robustness.report.answers_section import anchors_of, status_table
from valuesassets.instruments.cultural_robustness.report.claims import claims, gates
from valuesassets.instruments.cultural_robustness.report.methods import methods, sources
from valuesassets.instruments.cultural_robustness.report.page_tables import spell_scores
from valuesassets.instruments.cultural_robustness.report.report import groupings, own_ranks
from valuesassets.reporting.report import render_report
from valuesassets.reporting.run import reading_origin
from valuesassets_tests.instruments.cultural_robustness import made_frames
from valuesassets_tests.reporting.runs import run_of

ANCHORS = [
    "answer",
    "claims",
    "published-scores",
    "diversity-robustness",
    "countries",
    "groups",
    "answers",
    "embedder",
    "calibration",
    "methods",
    "origins",
]
IDENTITY = {"model": '"/somewhere/on/disk/cultures"', "revision": "null", "weights_id": '"abc123"'}
PAGE = {
    "has_planted_people": True,
    "provenance": [reading_origin("cultures/eng", IDENTITY)],
    "versions": {"Python": "3.11.7"},
}


def render(frames, pages=None):
    run = run_of(frames, page_analyses(), **PAGE)
    return render_report(replace(run, found={**run.found, "answer_pages": pages or {}}), report)


@pytest.fixture(scope="module")
def frames():
    return made_frames.every_frame()


LINKS = {"cultures": {"ell": "../answers/cultures/ell.html"}}


@pytest.fixture(scope="module")
def page(frames):
    return render(frames, LINKS)


def claims_text(is_supported, frames, **changed):
    """Claims of one side; `changed`: what the rows of one score of the first model have instead."""
    scores = frames["scores"]
    for name, values in changed.items():
        is_it = (scores.score == name) & (scores.model == "cultures")
        scores = scores.assign(**{key: scores[key].where(~is_it, new) for key, new in values.items()})
    all_claims = claims({**frames, "scores": scores}, is_planted=False)
    return " | ".join(f"{each.sentence} {each.because}" for each in all_claims if each.is_supported == is_supported)


def rows_of(page, anchor):
    """The cells of all tables of a section."""
    section = re.search(rf'<section id="{anchor}".*?</section>', page, re.S)[0]
    rows = re.findall(r"<tr>(.*?)</tr>", section, re.S)
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)] for row in rows]


GAIN = "Without a country, answers in different languages differ as cultures do, and not only as languages do"


def test_a_gain_above_0_that_counts_supports_the_claim_and_a_refused_model_does_not(frames):
    numbers = "cultures: culture_gain 0.310 [0.250, 0.370], p\xa00.002, 0.001 by chance; diversity 0.62 [0.50, 0.74]"
    assert f"{GAIN} (cultures). {numbers}" in claims_text(True, frames)
    assert f"{GAIN} (no-signal). no-signal: culture_gain -0.029" in claims_text(False, frames)


@pytest.mark.parametrize("changed", [{"p": 0.06}, {"low": -0.01}, {"value": -0.31, "low": None}, {"value": None}])
def test_it_is_not_supported_where_test_interval_or_sign_is_against_it(frames, changed):
    assert f"{GAIN} (cultures)" not in claims_text(True, frames, culture_gain=changed)
    assert f"{GAIN} (cultures and no-signal)" in claims_text(False, frames, culture_gain=changed)


def test_languages_that_differ_but_not_as_their_countries_do_are_no_cultures(frames):
    changed = {"p": 0.4}
    assert f"{GAIN} (cultures)" not in claims_text(True, frames, own_country_advantage=changed)
    assert "not shown to be closer to the answers for their own countries" in claims_text(
        False, frames, own_country_advantage=changed
    )


def test_the_level_is_the_studys(frames):
    strict = claims(frames, is_planted=False, alpha=0.001)
    assert not any(each.is_supported for each in strict)


def test_a_score_that_cannot_be_had_says_why(frames):
    why = {"value": None, "p": None, "reason": "no answers without a country"}
    assert f"{GAIN} (cultures and no-signal). cultures: no answers without a country" in claims_text(
        False, frames, culture_gain=why
    )


def test_no_published_score_supports_anything_and_each_stands_beside_its_null(frames):
    assert "published score" not in claims_text(True, frames)
    not_so = claims_text(False, frames)
    assert "A published score shows that answers differ by culture." in not_so
    assert "cultures, cd 0.310 (null 0.104)" in not_so
    assert "cultures, csp 0.600 (null 0.770)" in not_so


def test_nothing_is_claimed_of_a_language_that_is_dropped_or_that_the_embedder_does_not_know(frames):
    unsupported = claims_text(False, {**frames, "embedder_report": made_frames.embedder(["ell"])})
    assert "Anything about cultures in tam. 0.43 of its answers without a country count" in unsupported
    assert "Anything that rests on answers in ell. the embedder finds 0.31 of the translations" in unsupported


def test_gates_follow_questions_embedder_and_calibration(frames):
    assert [gate.outcome for gate in gates(frames)] == ["passed", "passed", "failed", "passed"]
    assert "30 of 40 answers" in gates(frames)[2].found  # in one language of one model
    wrong = {
        "question_report": made_frames.question_faults(1),
        "embedder_report": made_frames.embedder(["ell"]),
        "calibration": made_frames.calibration(1),
    }
    by_sentence = {gate.sentence: gate for gate in gates(wrong)}
    assert by_sentence.pop(claims_of.COUNT).outcome == "missing"
    assert all(gate.outcome == "failed" for gate in by_sentence.values())
    assert by_sentence[claims_of.ASKED_THE_SAME].found == "fra 3: foreign"
    assert by_sentence[claims_of.KNOWN].found.startswith("ell: finds 0.31 of the translations")
    assert by_sentence[claims_of.RECOVERED].found == "cultures, diversity: recovered 0.640, planted 0.620"
    assert [gate.outcome for gate in gates({})] == ["missing"] * 3


def test_questions_without_any_fault_pass(frames):
    (first, *_) = gates({"question_report": frames["question_report"].head(0)})
    assert (first.outcome, first.found) == ("passed", "no fault, no warnings")


@pytest.mark.slow
def test_the_page_opens_with_published_scores_and_holds_every_id_once_and_fetches_nothing(page):
    assert re.findall(r'<section id="([\w-]+)"', page) == ANCHORS
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert not re.search(r'<[^>]+\b(src|href)="(?!data:|#|\.\./answers/)', page)
    assert page.count("<img ") == 4
    assert page.count("<svg ") == 1


@pytest.mark.slow
def test_it_says_first_what_translations_and_arbitrary_answers_get(page):
    first = page[page.index('id="published-scores"') : page.index('id="diversity-robustness"')]
    assert "get seed_diversity 0.104, seed_robustness 0.896, cd 0.104, cr 0.896." in first
    assert "Answers that have nothing to do with their question get csp 0.770, csp_question 0.720." in first
    assert ["cultures", "csp", "0.600", "0.770", "6", "6"] in rows_of(page, "published-scores")


def test_nulls_that_differ_between_models_are_said_as_a_range(frames):
    scores = frames["scores"]
    is_it = (scores.score == "cd") & (scores.model == "cultures")
    other = scores.assign(null=scores["null"].where(~is_it, 0.2))
    assert "cd 0.104 to 0.200" in render({"scores": other})


@pytest.mark.slow
def test_every_own_score_stands_beside_its_interval_test_and_null_or_the_reason(page):
    table_rows = rows_of(page, "diversity-robustness")
    assert ["cultures", "culture_gain", "0.310 [0.250, 0.370]", "0.002", "0.001", "6", "6", ""] in table_rows
    assert ["cultures", "repeated_answers", "0.100 [0.050, 0.160]", "no test", "none", "6", "6", ""] in table_rows
    refused = ["not available", "not available", "6", "6", made_frames.REFUSED]
    assert ["no-signal", "diversity", "refused", *refused] in table_rows


@pytest.mark.slow
def test_a_models_point_leads_to_the_links_of_its_answers_and_says_its_numbers(page):
    anchor = "answers-1-cultures"
    assert f'<a href="#{anchor}" aria-label="cultures: diversity 0.62 [0.50, 0.74], robustness' in page
    place = page[page.index(f'<h3 id="{anchor}">cultures</h3>') :]
    place = place[: place.index("</p>")]
    assert '<a href="../answers/cultures/ell.html">ell (30 of 40 ok)</a>' in place
    assert "eng (40 of 40 ok)" in place


def test_two_models_never_share_a_place(frames):
    quality = frames["answer_quality"].assign(model=["a/b", "a b"] * 240)
    assert len(set(anchors_of(quality).values())) == 2


def test_the_own_country_has_its_rank_and_what_chance_gives(frames):
    profiles = made_frames.profiles(["m"], ["ell"])
    profiles = profiles.assign(closeness=[0.3, 0.2, 0.1, 0.25, 0.0, None])
    (row,) = own_ranks(profiles)
    assert (row["country"], row["rank"], row["by_chance"]) == ("GR", "2 of 5", "3")
    assert not own_ranks(profiles.assign(is_own=False))


@pytest.mark.slow
def test_groups_stand_beside_what_plain_distances_give(frames, page):
    cultures, no_signal = groupings(frames)
    assert cultures["beyond_language"] == "eng, pol, bul | deu, ell | fra"
    assert cultures["by_plain_distances"] == "eng, deu, fra, pol | ell | bul", "the scripts"
    assert no_signal["beyond_language"] == "none is named: structure is not above chance"
    assert "eng, deu, fra, pol | ell | bul" in page


def test_two_languages_and_one_kind_of_answers_have_no_grouping(frames):
    two = {"language_pairs": made_frames.pairs(["m"], ["eng", "deu"])}
    plain = {"language_pairs": made_frames.pairs(["m"]).assign(unanchored_distance=None)}
    for each in (two, plain):
        (row,) = groupings(each)
        assert "by_plain_distances" not in row


@pytest.mark.slow
def test_answers_are_counted_by_status_and_what_is_left_out_is_named(frames, page):
    counts = {(row["model"], row["language"]): row for row in status_table(frames["answer_quality"])}
    faults = {"empty": 2, "echo": 2, "truncated": 4, "wrong_language": 2}
    common = {"model": "cultures", "language": "ell", "answers": 40, "ok": 30, "share_ok": 0.75}
    assert counts["cultures", "ell"] == common | faults
    assert ["cultures tam", "0.43 of its answers without a country count, 0.80 are needed"] in rows_of(page, "answers")
    nothing = render({**frames, "dropped": frames["dropped"].head(0)})
    assert "No language was left out." in nothing


@pytest.mark.slow
def test_the_embedders_share_of_translations_stands_beside_chance(page):
    assert ["eng", "0.970", "0.167", "0.300", "6", "ok"] in rows_of(page, "embedder")
    assert "Language accounts for 0.30 of the variance of the questions&#39; vectors." in page


@pytest.mark.slow
def test_planted_stands_beside_recovered(page):
    assert ["cultures", "robustness", "0.930", "0.920", "0.050", "yes"] in rows_of(page, "calibration")


@pytest.mark.slow
def test_sources_are_those_that_the_tables_rest_on(frames, page):
    assert set(sources(frames)) == {
        *("valuesassets", "szekely2013", "efron1993", "phipson2010", "holm1979", "rousseeuw1987", "kruskal1964"),
        "fieller1954",
        "hall1992",
        *("libovicky2020", "capabilities2024", "eloquent2026"),
    }
    assert "10.18653/v1/2020.findings-emnlp.150" in page
    assert sources({}) == ("valuesassets",)
    assert "rousseeuw1987" not in sources({"language_pairs": frames["language_pairs"]})


def test_the_methods_have_this_pages_numbers(frames):
    text = " ".join(methods(frames, is_planted=False))
    assert "Two models (cultures and no-signal) were asked 20 questions without a country in six languages" in text
    assert "10 of 480 answers were not ok (2 empty, 2 echo, 2 wrong language and 4 truncated)" in text
    assert "The analysis leaves out cultures in tam, where too few" in text
    assert "at least 0.97 of the cases in each language; language accounted for 0.30 of the variance" in text
    assert "Eight permutation tests" in text
    assert "The ratios are refused for no-signal." in text
    assert "3 of 3 facts planted into cultures" in text
    assert methods({}, is_planted=False) == []


def test_what_is_missing_is_named_in_its_section_and_among_the_claims():
    text = render({})
    assert re.findall(r'<section id="([\w-]+)"', text) == ANCHORS
    assert text.count("this analysis was not handed to the report") == 2 * 7, "in each section and among the claims"


@pytest.mark.parametrize("n", [0, 1])
def test_tables_of_a_row_or_none_make_a_page(n):
    short = {name: frame.head(n) for name, frame in made_frames.every_frame().items()}
    text = render(short)
    assert re.findall(r'<section id="([\w-]+)"', text) == ANCHORS


@pytest.mark.slow
def test_names_are_escaped_and_folders_lose_their_path(frames):
    evil = "<script>alert(1)</script>"
    named = {name: each.replace({"model": {"cultures": evil}}) for name, each in frames.items()}
    text = render(named, {evil: {"ell": '"><b>'}})
    assert "<script>alert" not in text
    assert '"><b>' not in text
    assert "/somewhere/on" not in text
    assert "disk/cultures" in text


@pytest.mark.slow
def test_the_same_tables_give_the_same_page(frames, page):
    assert render(frames, LINKS) == page


def test_a_score_without_a_number_shows_its_status_in_place_of_it():
    last = made_frames.scores().iloc[-1].to_dict()
    (row,) = spell_scores(pd.DataFrame([last | {"value": None, "status": "refused"}]))
    assert (row["value"], row["p"], row["null"]) == ("refused", None, None)


def test_a_model_whose_answers_cannot_be_used_is_named_in_a_gate_and_a_sentence(frames):
    status = ["ok"] * 11 + ["loop"] * 20 + ["empty"] * 9
    common = {"language": "ell", "kind": "unspecific", "sample": 0, "reason": None, "spoken_language": "ell"}
    weak = pd.DataFrame({**common, "model": "weak", "id": [str(n) for n in range(40)], "status": status})
    status = ["ok"] * 9 + ["truncated"]
    fine = pd.DataFrame({**common, "model": "fine", "id": [str(n) for n in range(10)], "status": status})
    quality = pd.concat([weak, fine], ignore_index=True)
    by_sentence = {gate.sentence: gate for gate in gates({"answer_quality": quality})}
    assert by_sentence[claims_of.COUNT].outcome == "failed"
    sentence = "weak in ell gives 11 of 40 answers that can be used: 20 loop, 9 empty."
    assert claims_of.weaknesses(quality) == [sentence]
    assert claims_of.weaknesses(weak.drop(columns="model")) == [sentence.removeprefix("weak in ")]
    assert sentence in render({**frames, "answer_quality": quality})
    assert {gate.sentence: gate.outcome for gate in gates({"answer_quality": fine})}[claims_of.COUNT] == "passed"


def test_a_cell_without_answers_is_named(frames):
    quality = frames["answer_quality"].head(1)
    model, language = quality["model"].iloc[0], quality["language"].iloc[0]
    wanted = pd.DataFrame({"model": [model, "other"], "language": [language, "ell"]})
    by_sentence = {gate.sentence: gate for gate in gates({"answer_quality": quality, "cells": wanted})}
    assert by_sentence[claims_of.ANSWERED].found == "1 of 2 cells; missing: other in ell"
