import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.plants.plants import country_preferences, plant_questions
from valuesassets.instruments.survey.published.axes import published_position
from valuesassets.measure.distances import tvd, uniform_like, wasserstein1_unit
from valuesassets.records.errors import MissingData
from valuesassets.records.questions import ResponseType
from valuesassets_tests.comparing.planted_grid import demo, planted, planted_in, questions
from valuesassets_tests.instruments.survey.analysed import on_analysis_scale
from valuesassets_tests.instruments.survey.asked import ask
from valuesassets_tests.instruments.survey.derived_indicators import derive_indicators, placed
from valuesassets_tests.needs import shared_file

CELL = ["model", "language"]


def by_question(rows, column="prob_averaged"):
    return {
        question: dict(zip(part["response_value"], part[column], strict=True))
        for question, part in rows.groupby("question_id")
    }


def hardness(kind):
    rows = planted()
    rows = rows[rows["response_type"] == kind] if kind else rows
    shares = [
        on_analysis_scale(question, part["response_value"], part["prob_averaged"])
        for (*_, question), part in rows.groupby([*CELL, "question_id"])
    ]
    distance = wasserstein1_unit if not kind or ResponseType(kind).is_ordinal else tvd
    return np.mean([distance(each, uniform_like(each)) for each in shares])


def first_component(means):
    """The first component's share of what sets countries apart, each question in units of its standard deviation."""
    apart = (means - means.mean(axis=0)) / means.std(axis=0)
    squares = np.linalg.svd(apart, compute_uv=False) ** 2
    return squares[0] / squares.sum()


@pytest.mark.published
def test_planted_countries_differ_along_as_many_dimensions_as_real_ones():
    means = []
    for language in demo().languages:
        preferences = country_preferences(demo(), language, questions())
        ordinal = {
            name: each for name, each in preferences.items() if each[0].response_type.is_ordinal and "@" not in name
        }
        means.append([probs @ np.array(question.values) for question, probs in ordinal.values()])
    published = pd.read_csv(shared_file("data", "human", "evs2017_expected_human_by_lang.csv"), index_col=0)
    six = published[["bul", "deu", "eng", "fra", "pol", "spa"]].dropna().to_numpy().T
    assert first_component(np.array(means)) == pytest.approx(first_component(six), abs=0.1)
    assert 0.4 < first_component(six) < 0.5


def test_plants_are_far_from_uniform():
    assert hardness(None) >= 0.15
    assert hardness("likert10") >= 0.10


def test_some_ten_point_items_have_real_mass_on_both_one_and_ten():
    rows = planted()
    ends = rows[(rows["response_type"] == "likert10") & rows["response_value"].isin([1, 10])]
    least = ends.groupby([*CELL, "question_id"])["prob_averaged"].min()
    assert (least > 0.15).mean() > 0.1


def test_half_of_the_questions_are_pulled_strongly_to_the_first_option():
    bias = planted().drop_duplicates([*CELL, "question_id"])["position_bias_magnitude"]
    assert 0.4 < (bias >= 0.15).mean() < 0.6


def test_p_valid_runs_from_a_twentieth_to_nearly_all_and_is_low_for_few():
    once = planted().drop_duplicates([*CELL, "question_id"])
    assert once["p_valid"].min() < 0.10
    assert once["p_valid_forward"].between(0.05, 0.95).all()
    assert once["p_valid"].max() > 0.9
    assert (once["p_valid"] < 0.10).groupby([once["model"], once["language"]]).sum().max() <= 4


def test_planted_answers_are_distributions_in_every_order():
    sums = planted().groupby([*CELL, "question_id"])[["prob_forward", "prob_reversed", "prob_averaged"]].sum()
    assert sums.to_numpy() == pytest.approx(1)


def test_monolingual_answers_land_near_their_country():
    misses = []
    for language, about in demo().languages.items():
        rows = planted()
        rows = rows[(rows["model"] == "reference-mono") & (rows["language"] == language)]
        point = placed(derive_indicators(by_question(rows)).means)
        misses.append(np.hypot(*np.subtract(point, published_position(about.country))))
    assert max(misses) < 0.3


def test_a_countrys_own_preferences_lie_exactly_on_its_published_position():
    for language, about in demo().languages.items():
        preferences = country_preferences(demo(), language, questions())
        answers = {key: dict(zip(variant.values, probs, strict=True)) for key, (variant, probs) in preferences.items()}
        point = placed(derive_indicators(answers).means)
        assert point == pytest.approx(published_position(about.country), abs=0.05)


def test_the_multilingual_family_lies_between_its_languages():
    spread = {}
    for family in ("reference-mono", "reference-multi"):
        points = [
            placed(derive_indicators(by_question(rows)).means)
            for _, rows in planted().query("model == @family").groupby("language")
        ]
        spread[family] = np.std(points, axis=0).mean()
    assert spread["reference-multi"] < 0.75 * spread["reference-mono"]


def test_a_second_choice_never_repeats_the_first():
    plants = plant_questions(demo(), "reference-mono", "eng", questions())
    assert plants["v111@v110=3"][0].values == (1, 2, 4)
    assert "v111" not in plants


def test_a_plant_does_not_depend_on_what_is_asked_beside_it():
    alone = plant_questions(demo(), "reference-mono", "eng", [ask("v7")])
    assert alone["v7"] == plant_questions(demo(), "reference-mono", "eng", questions())["v7"]


@pytest.mark.parametrize("kind", ["likert5", "categorical"])
def test_questions_without_a_canonical_id_are_planted_too(kind):
    plant = plant_questions(demo(), "reference-mono", "eng", [ask("Q1", 5, response_type=kind)])["Q1"][0]
    assert len(plant.preference) == 5
    assert sum(plant.preference) == pytest.approx(1)
    assert max(plant.preference) > 0.25


def test_languages_and_families_are_planted_differently():
    rows = planted().query("question_id == 'v153'")
    preferences = {tuple(part["prob_averaged"].round(6)) for _, part in rows.groupby(CELL)}
    assert len(preferences) == 12


@pytest.mark.parametrize("hash_seed", ["1", "2"])
@pytest.mark.slow
def test_plants_are_the_same_in_every_process(hash_seed):
    code = (
        "from valuesassets_tests.comparing.planted_grid import *\n"
        "from valuesassets.instruments.survey.plants.plants import plant_questions\n"
        "print(repr(plant_questions(demo(), 'reference-multi', 'pol', questions())['v54']))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == repr(plant_questions(demo(), "reference-multi", "pol", questions())["v54"])


def with_family(plants, model_type="mono"):
    family = demo().families["reference-mono"].model_copy(update={"plants": plants, "model_type": model_type})
    return demo().model_copy(update={"families": {"control": family}})


def answers_of(study):
    return planted_in(study, {language: questions() for language in study.languages})


@pytest.mark.parametrize("model_type", ["mono", "multi"])
def test_without_signal_every_language_answers_alike(model_type):
    rows = answers_of(with_family("no-signal", model_type))
    columns = ["prob_forward", "prob_reversed", "p_valid_forward", "p_valid_reversed"]
    spread = rows.groupby(["question_id", "response_value"])[columns].agg(np.ptp)
    assert spread.to_numpy().max() == pytest.approx(0)
    assert rows["position_bias_magnitude"].max() > 0.15  # still a hard plant


def test_always_first_takes_whatever_stands_first():
    rows = answers_of(with_family("always-first"))
    for _, part in rows.groupby(["language", "question_id"]):
        k = len(part)
        assert part["prob_forward"].tolist() == pytest.approx([1, *[0] * (k - 1)])
        assert part["prob_reversed"].tolist() == pytest.approx([*[0] * (k - 1), 1])
    assert rows["position_bias_magnitude"].to_numpy() == pytest.approx(1)


@pytest.mark.slow
def test_every_wording_has_plants_of_its_own_and_the_first_is_the_same_beside_others():
    wordings = demo().elicitation.model_copy(update={"wordings": 3})
    rows = answers_of(demo().model_copy(update={"elicitation": wordings})).query("language == 'eng'")
    assert set(rows["wording"]) == {0, 1, 2}
    alone = planted().query("language == 'eng'").reset_index(drop=True)
    assert rows.query("wording == 0").reset_index(drop=True).equals(alone)
    for column in ("prob_averaged", "p_valid"):
        wide = rows.pivot(index=["model", "question_id", "response_value"], columns="wording", values=column)
        assert 0.005 < (wide[1] - wide[0]).abs().mean() < 0.4
        assert 0.01 < (wide[2] - wide[1]).abs().mean() < 0.4


def test_half_of_the_questions_differ_clearly_in_p_valid_between_the_orders():
    once = planted().drop_duplicates([*CELL, "question_id"])
    assert 0.35 < ((once["p_valid_forward"] - once["p_valid_reversed"]).abs() > 0.15).mean() < 0.6


def test_nothing_to_plant_is_refused():
    with pytest.raises(MissingData, match="no reference family"):
        planted_in(demo(), {"swe": questions()})
