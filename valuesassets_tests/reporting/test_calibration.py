import re

import pytest

from valuesassets.records.study import load_study
from valuesassets_tests.figures.made_up import comparison_frame, controls_frame, recovery_frame, sampled_columns
from valuesassets_tests.instruments.survey.whole_report import everything, rendered, section, whole_page


@pytest.fixture(scope="module")
def page():
    return whole_page()


@pytest.mark.slow
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


@pytest.mark.slow
def test_sampled_answers_stand_beside_with_the_bound_that_chance_widens():
    sampled = {"comparison": sampled_columns(comparison_frame()), "recovery": recovery_frame()}
    shown = section(rendered(load_study("demo_survey"), calibration=sampled), "Calibration")
    row = re.search(r"Sampled answers.*?<tr><th[^>]*>all</th>(.*?)</tr>", shown, re.DOTALL).group(1)
    assert re.findall(r">([\d.]+)<", row)[-3:] == ["0.034", "0.045", "0.055"]


def test_the_cells_that_were_not_recovered_are_named():
    recovery = recovery_frame()
    recovery.loc[1, ["is_recovered", "reason"]] = [False, "mean w1_unit_error 0.310 is above 0.02"]
    shown = section(rendered(load_study("demo_survey"), calibration={"recovery": recovery}), "Calibration")
    assert "11 of 12 calibrated cells were recovered within the bounds; not recovered: reference-mono in deu." in shown
    assert "mean w1_unit_error 0.310 is above 0.02" in shown


@pytest.mark.slow
def test_the_hardness_of_the_plants_stands_beside_the_recovery(page):
    assert "How hard the plants were" in section(page, "Calibration")
    assert re.search(r"<th[^>]*>both ends share</th>", section(page, "Calibration"))


@pytest.mark.slow
def test_phantoms_of_another_language_must_fail_and_those_that_do_not_are_named(page):
    shown = section(page, "Calibration")
    assert "2 of 2 pairs failed, as they must." in shown
    assert re.search(r"<th[^>]*>reference-mono eng</th><td[^>]*>deu</td>", shown)
    passing = controls_frame().assign(fails=[True, False])
    blind = section(rendered(load_study("demo_survey"), negative_controls=passing), "Calibration")
    assert "1 of 2 pairs failed" in blind
    assert "cannot distinguish them: deu answered by fra." in blind
