import pytest

from valuesassets.instruments.cultural_robustness.measures.measured import all_scores
from valuesassets.instruments.cultural_robustness.plants.calibration import calibrate_models
from valuesassets.records.errors import InputError
from valuesassets.records.study import load_study


def test_scores_and_calibration_of_no_model_fail_with_a_line_that_says_where_to_look():
    study = load_study("demo_cultural_robustness")
    for derive in (lambda: all_scores({}, {}), lambda: calibrate_models(study, {}, {}, {})):
        with pytest.raises(InputError, match="no model was measured; see why cultural_robustness/language_pairs"):
            derive()
