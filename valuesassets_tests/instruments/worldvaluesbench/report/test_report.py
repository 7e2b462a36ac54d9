"""The page says what its tables support and what they do not, and shows every table and figure that is there."""

import re

import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.analyses import ANALYSES
from valuesassets.instruments.worldvaluesbench.report import report
from valuesassets.instruments.worldvaluesbench.report.claims import claims
from valuesassets.instruments.worldvaluesbench.report.methods import methods, sources
from valuesassets.instruments.worldvaluesbench.report.report import score_summary
from valuesassets.reporting.report import render_report
from valuesassets_tests.instruments.worldvaluesbench.report.test_pictures import written
from valuesassets_tests.reporting.runs import drawn, run_of


def render(frames, is_planted=True):
    return render_report(run_of(frames, ANALYSES, has_planted_people=is_planted), report)


ROW = {"model": "m", "factor": "all", "slope": 0.8, "slope_low": 0.7, "slope_high": 0.9, "exaggeration": 0.85}
ROW |= {"direction": 0.94, "skill": 0.88, "p_value": 0.001, "p_corrected": 0.004, "n_arrangements": 34560}
ROW |= {"p_opposite": 1.0, "p_opposite_corrected": 1.0, "prompt_gain_unit": 0.002}


def sentences_of(is_supported, **changed):
    all_claims = claims({"awareness/factors": pd.DataFrame([ROW | changed])}, is_planted=False)
    return " ".join(claim.sentence + " " + claim.because for claim in all_claims if claim.is_supported == is_supported)


def test_a_slope_whose_interval_is_above_0_supports_that_the_model_moves_as_people_do():
    assert "m moves with a person's background in the direction that people move." in sentences_of(True)
    assert "slope 0.80 [0.70, 0.90]; p 0.004" in sentences_of(True)


@pytest.mark.parametrize(
    "changed",
    [
        {"slope_low": -0.1},
        {"p_corrected": 0.2},
        {"slope": None, "slope_low": None},
        {"slope_low": None},
        {"p_value": None, "p_corrected": None, "n_arrangements": 8},
    ],
)
def test_it_is_not_supported_where_the_interval_the_test_or_the_slope_is_wanting(changed):
    assert "in the direction that people move" in sentences_of(False, **changed)
    assert "in the direction that people move" not in sentences_of(True, **changed)


def test_a_contrary_model_and_a_caricature_are_called_so_and_are_no_nearer_to_people():
    contrary = {"slope": -0.4, "slope_low": -0.5, "slope_high": -0.3, "skill": -1.0, "prompt_gain_unit": -0.01}
    by_chance = contrary | {"p_value": 1.0, "p_corrected": 1.0}
    assert "the contrary way to people" not in sentences_of(True, **by_chance)
    contrary |= {"p_value": 1.0, "p_corrected": 1.0, "p_opposite": 0.001, "p_opposite_corrected": 0.004}
    assert "the contrary way to people" in sentences_of(True, **contrary)
    assert "nearer to people than its answers for nobody" in sentences_of(False, **contrary)
    caricature = {"slope": 1.6, "slope_low": 1.5, "slope_high": 1.7, "exaggeration": 2.1, "skill": -1.2}
    assert "makes more of a person's background than people do" in sentences_of(True, **caricature)
    assert "makes more of" not in sentences_of(True, **caricature | {"p_corrected": 0.2})
    assert "nearer to people than its own mean over backgrounds" in sentences_of(False, **caricature)


def test_a_model_whose_answers_get_worse_by_a_background_is_no_nearer_to_people_however_it_moves():
    worse = {"prompt_gain_unit": -0.061, "prompt_gain_low": -0.08, "skill": 0.685, "skill_low": 0.5}
    assert "nearer to people than its answers for nobody" in sentences_of(False, **worse)
    assert "nearer to people than its own mean over backgrounds" in sentences_of(True, **worse)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"prompt_gain_low": -0.001}, "nearer to people than its answers for nobody"),
        ({"skill_low": -0.1}, "nearer to people than its own mean over backgrounds"),
        ({"slope_category_low": -0.1, "slope_category_high": 1.2}, "in the direction that people move"),
    ],
)
def test_what_chance_alone_may_make_is_not_claimed(changed, sentence):
    sure = {"prompt_gain_unit": 0.05, "prompt_gain_low": 0.02, "skill": 0.7, "skill_low": 0.5}
    sure |= {"slope_category_low": 0.3, "slope_category_high": 1.1}
    assert sentence in sentences_of(True, **sure)
    assert sentence not in sentences_of(True, **sure | changed)


def test_too_few_arrangements_support_neither_direction():
    untested = {"p_value": None, "p_corrected": None, "p_opposite": None, "p_opposite_corrected": None}
    untested |= {"n_arrangements": 8}
    assert "no test: 8 arrangements of levels are too few" in sentences_of(False, **untested)
    assert "moves with" not in sentences_of(True, **untested, slope=-0.4, slope_low=-0.5, slope_high=-0.3)


def test_p_values_that_nobody_has_corrected_are_corrected_over_models():
    rows = [{**ROW, "model": model, "p_value": 0.02} for model in ("a", "b", "c")]
    rows += [{**ROW, "model": "a", "factor": "continent", "p_value": 0.02}]
    table = pd.DataFrame(rows).drop(columns="p_corrected")
    (claim, *_) = claims({"awareness/factors": table}, is_planted=False)
    assert not claim.is_supported
    assert "p 0.060" in claim.because


def test_where_no_test_could_reject_nothing_is_claimed_and_it_says_so():
    least = {"p_value": 1 / 96, "p_corrected": 8 / 96, "n_arrangements": 96}
    assert "96 arrangements of levels allow no corrected p below 0.083, so that nothing can be told" in sentences_of(
        False, **least
    )
    assert "moves with" not in sentences_of(True, **least)
    larger = {"p_value": 2 / 96, "p_corrected": 16 / 96, "n_arrangements": 96}
    assert "in the direction that people move" in sentences_of(False, **larger)


RELIABILITY = {"model": "m", "wording": "list", "other_wording": "sentence", "reliability": 0.3, "can_be_ranked": False}


@pytest.mark.parametrize(("value", "text"), [(0.3, "0.30"), (None, "it does not move")])
def test_models_are_not_ranked_where_moves_do_not_come_back_in_another_wording(value, text):
    frames = {
        "awareness/factors": pd.DataFrame([ROW]),
        "awareness/reliability": pd.DataFrame([{**RELIABILITY, "reliability": value}]),
    }
    (claim,) = (each for each in claims(frames, is_planted=False) if "ranking" in each.sentence)
    assert not claim.is_supported
    assert f"m under list and sentence: {text}" in claim.because
    page = render(frames)
    assert "the reliability of moves between wordings is below" in page
    frames["awareness/reliability"] = pd.DataFrame([{**RELIABILITY, "reliability": 0.9, "can_be_ranked": True}])
    assert not [each for each in claims(frames, is_planted=False) if "ranking" in each.sentence]


def test_a_model_in_a_further_wording_is_no_model_of_its_own():
    further = {**ROW, "model": "m sentence", "slope": 0.1, "p_value": 0.03}
    table = pd.DataFrame([{**ROW, "p_value": 0.04}, further]).drop(columns="p_corrected")
    scores = pd.DataFrame({"model": ["m", "m sentence"], "subset": "all", "w1_seed": 0.1})
    scores = scores.assign(question_id="Q1", n_people=9)
    frames = {
        "awareness/factors": table,
        "awareness/reliability": pd.DataFrame([RELIABILITY]),
        "benchmark_scores/scores": scores,
    }
    all_claims = claims(frames, is_planted=False)
    assert not [each for each in all_claims if each.sentence.startswith("m sentence ")]
    assert not [each for each in all_claims if "similar published scores" in each.sentence]
    assert any(each.is_supported and "p 0.040" in each.because for each in all_claims)
    assert "One model (m) was asked" in " ".join(methods(frames, is_planted=False))


def test_models_that_score_alike_and_move_apart_are_named():
    frames = written()
    frames["benchmark_scores/scores"] = frames["benchmark_scores/scores"].assign(w1_seed=0.1)
    sentences = [claim.sentence for claim in claims(frames, is_planted=False) if not claim.is_supported]
    assert "Models with similar published scores are alike." in sentences


def test_models_are_compared_over_the_questions_that_both_rate():
    # Over Q1 alone both are .1 away, and other people .11. Over both questions the first is .3 away, others .355.
    distances = {"one": (0.1, 0.5), "other": (0.1, None), "people of another split": (0.11, 0.6)}
    scores = pd.DataFrame(
        {"model": name, "subset": "all", "question_id": question, "w1_seed": w1, "w1_floor_unit": 0.04}
        for name, each in distances.items()
        for question, w1 in zip(("Q1", "Q2"), each, strict=True)
    )
    awareness = pd.DataFrame([ROW | {"model": "one"}, ROW | {"model": "other", "slope": 0.0}])
    by_sentence = {
        claim.sentence: claim
        for claim in claims({"benchmark_scores/scores": scores, "awareness/factors": awareness}, False)
    }
    alike = by_sentence["Models with similar published scores are alike."]
    assert alike.because == "one and other (W1 0.100 and 0.100, slopes 0.80 and 0.00)"
    more = by_sentence["That a model's published score shows more than pooled answers of other people would."]
    assert more.because == "pooled answers score 0.355 without any background; models lower by 0.040 or more: one"


def test_a_low_published_score_never_supports_awareness():
    for claim in claims(written(), is_planted=True):
        if "low published score (W1)" in claim.sentence:
            assert not claim.is_supported


def test_the_summary_holds_nulls_and_controls_beside_models():
    summary = score_summary(written()).set_index("model")
    assert {"aware", "aware without attributes", "uniform", "majority", "people of another split"} <= set(summary.index)
    assert summary.loc["aware", "slope"] == pytest.approx(0.8)
    assert summary.loc["uniform", "slope"] == 0


@pytest.mark.slow
def test_the_page_shows_all_that_is_there_and_says_what_is_not():
    frames = written()
    figures = drawn(ANALYSES, frames, is_planted=True)
    page = render(frames)
    assert page.count("<img src=") == len(figures)
    for title in ("What can be claimed", "Awareness", "as published", "Single questions", "How the readout changes"):
        assert title in page
    assert page.index("Awareness: does") < page.index("The score of WorldValuesBench")
    assert "Planted." in page
    assert "What models wrote can be read as ratings." in page
    assert "Zhao et al. 2024, table 2" in page
    assert "zhao2024" in page
    assert "gneiting2007" in page
    assert not re.search(r"\bnan\b|None\b", re.sub(r"<img[^>]*>", "", page))


@pytest.mark.slow
def test_the_page_tells_the_papers_prompts_from_samples_where_they_were_put():
    frames, sentence = written(), "Figures 5 to 10 are the prompts"
    assert sentence not in render(frames)
    own = frames["readout_comparison/readouts"].query("readout == 'sampled'").assign(readout="figure 9")
    frames["readout_comparison/readouts"] = pd.concat([frames["readout_comparison/readouts"], own], ignore_index=True)
    page = render(frames)
    assert sentence in page
    assert "figure 9" in page


def test_a_page_of_nothing_says_so_in_every_section():
    page = render({}, is_planted=False)
    assert page.count("Not shown:") >= 10
    assert "Planted." not in page


@pytest.mark.slow
def test_the_same_tables_give_the_same_page():
    frames = written()
    once, again = (render(frames) for _ in range(2))
    assert once == again


def test_sources_follow_from_the_tables():
    assert set(sources({})) == {"valuesassets", "zhao2024", "wvs7v6"}
    assert {"gneiting2007", "holm1979", "szekely2013"} <= set(sources(written()))


def test_methods_say_the_numbers_of_the_tables():
    text = " ".join(methods(written(), is_planted=True))
    assert text.startswith("This is a test of the instrument")
    assert "Two models (aware and blind) were asked" in text
    assert "two questions" in text
    assert "16 groups by continent, settlement and education" in text
    assert "up to 48" in text
