import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.measures.map.projector import (
    choose_axes,
    fit_axes,
    indicator_answers,
    respondent_weights,
)
from valuesassets.instruments.survey.published.axes import reference_projector
from valuesassets.measure.means import weighted_means
from valuesassets.records.errors import HumanDataError, MissingData
from valuesassets_tests.comparing.planted_grid import demo
from valuesassets_tests.instruments.survey.crowds import COUNTRIES, respondents


def study(projector="auto", source="files"):
    human = demo().human.model_copy(update={"source": source})
    return demo().model_copy(update={"human": human, "map": demo().map.model_copy(update={"projector": projector})})


def test_files_of_respondents_get_axes_of_their_own_and_planted_ones_the_published():
    crowd = respondents()
    assert choose_axes(study(), crowd).kind == "fitted"
    assert choose_axes(study(source="planted"), crowd).kind == "reference"
    assert choose_axes(study("fitted", "planted"), crowd).kind == "fitted"
    assert choose_axes(study("reference"), crowd).projector is reference_projector()


def test_two_countries_carry_no_axes_and_the_notes_say_so():
    crowd = respondents(("PL", "BG"))
    axes = choose_axes(study(), crowd)
    assert axes.kind == "reference"
    assert any("2 countries have respondents" in note for note in axes.notes)
    with pytest.raises(MissingData, match=r"map.projector = 'fitted'.*\(BG, PL\), 3 are needed.*say 'reference'"):
        choose_axes(study("fitted"), crowd)


def test_without_respondents_the_published_axes_stand_in():
    assert "no respondents to fit" in " ".join(choose_axes(study(), None).notes)


def test_the_mean_of_a_countrys_scores_is_the_point_of_its_means():
    crowd = respondents(missing=0)
    axes = fit_axes(crowd)
    for country in COUNTRIES:
        own = crowd[crowd["country"] == country]
        answers, weights = indicator_answers(own), respondent_weights(own)
        scores = axes.projector.place(answers)
        assert np.average(scores, axis=0, weights=weights) == pytest.approx(
            axes.projector.place(weighted_means(answers, weights))
        )


def test_scores_have_unit_variance_where_every_country_counts_the_same():
    crowd = respondents(missing=0)
    scores = fit_axes(crowd).projector.place(indicator_answers(crowd))
    weights = crowd["weight"] / crowd.groupby("country")["weight"].transform("sum")
    mean = np.average(scores, axis=0, weights=weights)
    assert mean == pytest.approx([0, 0], abs=1e-9)
    assert np.average((scores - mean) ** 2, axis=0, weights=weights) == pytest.approx([1, 1])


def test_a_country_with_twice_the_respondents_does_not_move_the_axes():
    crowd = respondents()
    twice = pd.concat([crowd, crowd[crowd["country"] == "PL"]])
    assert fit_axes(twice).projector.slopes == pytest.approx(fit_axes(crowd).projector.slopes)


def test_axes_between_people_are_found_and_pinned():
    axes = fit_axes(respondents(n=2000))
    table = axes.table.set_index("indicator")
    assert table.at["F118", "loading_x"] > 0
    assert table.at["F063", "loading_y"] < 0
    assert all(value > 0.9 for value in axes.congruence.values())
    assert axes.unlike == []
    assert axes.projector.residual_sd is None


def test_axes_unlike_the_published_ones_come_with_a_warning():
    crowd = respondents()
    # people for whom pride and respect for authority go the other way round
    crowd[["G006", "E018"]] = 4 - crowd[["G006", "E018"]]
    axes = fit_axes(crowd)
    assert axes.unlike == ["y"]
    assert any("Warning" in note and "the y axis is not that of the published map" in note for note in axes.notes)


def test_who_answered_five_indicators_takes_no_part():
    crowd = respondents(missing=0)
    few = crowd.head(200).copy()
    few[list(INDICATORS[:5])] = np.nan
    few[list(INDICATORS[5:])] = 100.0
    assert fit_axes(pd.concat([crowd, few])).projector.slopes == pytest.approx(fit_axes(crowd).projector.slopes)


def test_an_indicator_that_nobody_was_asked_is_left_out_and_named():
    crowd = respondents()
    crowd["E025"] = np.nan
    axes = fit_axes(crowd)
    assert axes.left_out == ("E025",)
    assert any("No respondent answered E025" in note for note in axes.notes)


def test_without_the_indicators_that_pin_them_there_are_no_axes():
    crowd = respondents()
    crowd["F118"] = np.nan
    with pytest.raises(MissingData, match="F118 and F063"):
        fit_axes(crowd)


def test_weights_and_columns_that_cannot_serve_are_named():
    crowd = respondents(("PL", "BG", "GR"), n=50)
    with pytest.raises(HumanDataError, match="column Y003 is missing"):
        fit_axes(crowd.drop(columns="Y003"))
    wrong = crowd.copy()
    wrong.loc[60, "weight"] = -1.0
    with pytest.raises(HumanDataError, match=r"of BG: weight -1\.0 of respondent BG10"):
        fit_axes(wrong)
    wrong.loc[wrong["country"] == "BG", "weight"] = 0.0
    with pytest.raises(HumanDataError, match="of BG: weights that are all 0"):
        fit_axes(wrong)
