"""Tables as they are written become figures; what is not there is not drawn, and nothing of it raises."""

import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.analyses import ANALYSES
from valuesassets.instruments.psych_tasks.report.pictures import (
    named_scales,
    scale_points,
    token_shares,
    with_layout,
)
from valuesassets_tests.figures.pictures import outside, words
from valuesassets_tests.instruments.psych_tasks.made_up import every_table
from valuesassets_tests.reporting.runs import drawn

PICTURES = [drawing.name for analysis in ANALYSES.values() for drawing in analysis.drawings]


@pytest.mark.slow
def test_every_figure_is_drawn_of_tables_as_they_are_written():
    figures = drawn(ANALYSES, every_table(), True)
    assert list(figures) == PICTURES
    for name, figure in figures.items():
        assert "planted" in words(figure), name
        assert outside(figure) == [], name


def test_an_asset_draws_what_its_own_tables_allow():
    frames = every_table()
    ledger = {"mark_ledger": frames["mark_ledger"]}
    assert set(drawn(ANALYSES, ledger, False)) == {"mark_ledger", "multi_token_share"}
    prediction = {name: frame for name, frame in frames.items() if name.startswith("prediction/")}
    of_prediction = {"history_ladder", "identification_matrix", "calibration_curve"}
    assert set(drawn(ANALYSES, prediction, False)) == of_prediction


@pytest.mark.parametrize("n", [0, 1])
def test_tables_of_a_row_or_none_draw_without_failing(n):
    frames = {name: frame.head(n) for name, frame in every_table().items()}
    assert set(drawn(ANALYSES, frames, False)) == (set(PICTURES) if n else set())


def test_refused_analyses_are_not_drawn():
    assert drawn(ANALYSES, {"keying/refused": pd.DataFrame({"reason": ["no scales"]})}, False) == {}


def test_figures_without_any_number_are_not_drawn():
    frames = every_table()
    for name, frame in frames.items():
        numbers = [column for column in frame if frame[column].dtype == float]
        frames[name] = frame.assign(**dict.fromkeys(numbers))
    assert set(drawn(ANALYSES, frames, False)) == {"mark_ledger"}, "counts are whole numbers"


def test_a_layout_is_named_where_a_model_has_several():
    frame = pd.DataFrame({"model": ["a", "a", "b"], "layout": ["chat", "plain", "chat"]})
    assert with_layout(frame)["model"].tolist() == ["a, chat", "a, plain", "b"]


def test_scales_are_named_by_no_more_than_tells_them_apart():
    frame = pd.DataFrame({"task": ["t", "u", "u"], "experiment": ["x", "x", "y"], "scale": ["s", "r", "r"]})
    assert named_scales(frame)["name"].tolist() == ["s", "r (x)", "r (y)"]
    assert named_scales(frame.head(2))["name"].tolist() == ["s", "r"]
    assert named_scales(frame.assign(scale="s"))["name"].tolist() == ["s (t)", "s (u) (x)", "s (u) (y)"]


def test_shares_of_several_tokens_are_weighted_by_marks():
    ledger = pd.DataFrame(
        {
            "model": "m",
            "task": "t",
            "kind": "rating",
            "layout": "marked",
            "marks": [30, 10, 5],
            "share_multi_token": [0.0, 1.0, None],
        }
    )
    (row,) = token_shares(ledger).to_dict("records")
    assert row == {"model": "m", "kind": "rating", "share_multi_token": 0.25}


def test_a_scale_stands_at_the_mean_skill_of_the_models_in_its_task():
    frames = every_table()
    points = scale_points(frames["reliability/scales"], frames["prediction/scores"])
    human = frames["prediction/scores"].query("history == 'human' and task == 'task-a'")
    row = points[points.task == "task-a"].iloc[0]
    assert row.skill == pytest.approx(human.skill.mean())
    assert (row.skill_low, row.skill_high) == pytest.approx((human.skill.min(), human.skill.max()))
