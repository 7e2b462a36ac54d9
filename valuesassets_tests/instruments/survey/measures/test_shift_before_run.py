"""The smallest shift, told before a run."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.measures.shift_before_run import predict_shifts
from valuesassets.records.errors import MissingData
from valuesassets_tests.instruments.survey.measures.test_shift import COUNTRIES, QUESTIONS, SCALES, a_grid, a_study

GRID = a_grid()


def of_people(countries=COUNTRIES):
    """Rows of `HUMAN_DISTRIBUTIONS`."""
    shape = (len(countries), *SCALES.codes.shape)
    country, item, option = (each.ravel() for each in np.indices(shape))
    rows = {
        "country": np.array(countries)[country],
        "language": "eng",
        "question_id": np.array(SCALES.items)[item],
        "response_value": option + 1,
        "analysis_value": option + 1,
        "prob": GRID.people[: len(countries)].ravel(),
    }
    return pd.DataFrame(rows).assign(n=1000, design_effect=1.0)


def of_model(family="base"):
    """Usable answers by wording of the family before the change."""
    sides = GRID.sides[:, :, GRID.cells.index(("base", "eng"))]
    wording, item, option = (each.ravel() for each in np.indices(sides.shape[1:]))
    rows = {
        "question_id": np.array(SCALES.items)[item],
        "response_value": option + 1,
        "analysis_value": option + 1,
        "wording": wording,
        "prob": sides.mean(axis=0).ravel(),
        "prob_forward": sides[0].ravel(),
        "prob_reversed": sides[1].ravel(),
    }
    labels = {"model": family, "model_type": "multi", "language": "eng", "response_type": "likert5"}
    return pd.DataFrame(rows).assign(**labels, is_converted=False, p_valid=1.0)


def smallest(prediction):
    """The smallest mean move that is found."""
    assert prediction.power is not None, prediction.reason
    return prediction.power.smallest


def test_the_smallest_shift_towards_each_country_is_told_from_the_readings_before():
    predictions = list(predict_shifts(a_study(toward=("GB", "FR")), of_model(), of_people(), QUESTIONS))
    assert [each.toward for each in predictions] == ["GB", "FR"]
    assert all(each.is_read and 0.005 < smallest(each) < 0.1 for each in predictions)
    (alone,) = predict_shifts(a_study(), of_model(), of_people(), QUESTIONS)
    assert smallest(alone) < smallest(predictions[0])  # two countries are two tests


def test_before_anything_is_read_people_stand_in_for_the_model():
    study = a_study()
    for answers in (None, of_model("another")):
        (prediction,) = predict_shifts(study, answers, of_people(), QUESTIONS)
        assert not prediction.is_read
        assert prediction.power is not None
        assert prediction.power.n_items == len(SCALES.items)
    (own,) = predict_shifts(study, of_model(), of_people(), QUESTIONS)
    assert prediction.power.smallest == pytest.approx(smallest(own), rel=0.5)


def test_a_larger_drift_hides_more():
    small, large = (
        next(predict_shifts(a_study(drift=drift), of_model(), of_people(), QUESTIONS)) for drift in (0.03, 0.09)
    )
    assert smallest(large) > 2 * smallest(small)


def test_what_cannot_be_told_has_its_reason():
    (absent,) = predict_shifts(a_study(toward=("VN",)), of_model(), of_people(), QUESTIONS)
    assert (absent.power, absent.reason) == (None, "no people of VN in the study's files")
    (few,) = predict_shifts(a_study(), of_model(), of_people(COUNTRIES[:2]), QUESTIONS)
    assert str(few.reason).startswith("2 countries with people, 3 or more are needed")
    with pytest.raises(MissingData, match="no people of any country"):
        list(predict_shifts(a_study(), of_model(), of_people().iloc[:0], QUESTIONS))
