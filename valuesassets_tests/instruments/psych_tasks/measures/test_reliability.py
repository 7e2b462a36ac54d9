import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.measures.reliability import (
    COMPONENTS,
    FACTORS,
    SCALES,
    coefficient,
    derive_reliability,
)
from valuesassets.instruments.psych_tasks.measures.scale_answers import consistency_frame
from valuesassets.measure.internal_consistency import cronbach_alpha, feldt_interval
from valuesassets.measure.resampling import jackknife_ends
from valuesassets.records.errors import MissingData
from valuesassets_tests.instruments.psych_tasks.made_marks import SCALE


def values_of(seed, shape=(12, 8, 2, 3), model=1.0, item=0.5, presentation=0.3, draw=0.3, rest=0.3):
    """(models, items, presentations, draws) expected values of planted standard deviations: of models and of models x
    each facet."""
    random = np.random.default_rng(seed)
    m, i, p, d = shape
    return (
        3
        + random.normal(0, model, (m, 1, 1, 1))
        + random.normal(0, 0.7, (1, i, 1, 1))
        + random.normal(0, item, (m, i, 1, 1))
        + random.normal(0, presentation, (m, 1, p, 1))
        + random.normal(0, draw, (m, 1, p, d))
        + random.normal(0, rest, shape)
    )


def rows_of(values, **more):
    places = pd.MultiIndex.from_product([range(size) for size in values.shape], names=FACTORS)
    frame = places.to_frame(index=False).assign(expected=values.ravel())
    frame["presentation"] = frame["presentation"].map({0: "forward", 1: "reversed"})
    frame["model"] = "m" + frame["model"].astype(str)
    return frame.assign(**{"history": "own", "experiment": "survey", "scale": "worry"} | more)


def only_row(frame):
    (row,) = derive_reliability(frame)["scales"].to_dict("records")
    return row


def test_by_hand_models_that_agree_everywhere_have_one_and_models_that_are_noise_little():
    alike = np.broadcast_to(np.arange(5.0)[:, None, None, None], (5, 4, 2, 2))
    assert coefficient(alike) == pytest.approx(1)
    noise = np.mean([coefficient(values_of(seed, model=0, item=0, presentation=0, draw=0)) for seed in range(40)])
    assert noise < 0.35


def test_over_items_it_is_cronbachs_alpha_of_the_other_facets_means():
    values = values_of(1)
    row = only_row(rows_of(values))
    assert row["over_items"] == pytest.approx(cronbach_alpha(values.mean(axis=(2, 3))))


def test_it_is_how_well_scores_of_other_items_presentations_and_draws_would_agree():
    true, shape = np.random.default_rng(2).normal(size=(400, 1, 1, 1)), (400, 8, 2, 3)
    first, second = (true + values_of(seed, shape, model=0, presentation=0.6) for seed in (3, 4))
    agreement = np.corrcoef(first.mean(axis=(1, 2, 3)), second.mean(axis=(1, 2, 3)))[0, 1]
    assert coefficient(first) == pytest.approx(agreement, abs=0.06)


def test_more_conditions_that_are_alike_make_a_score_more_reliable():
    few, many = (
        np.mean([coefficient(values_of(seed, (12, n, 2, 3), item=2.0)) for seed in range(20)]) for n in (4, 20)
    )
    assert few < many - 0.05


def test_every_coefficient_has_its_interval_and_is_about_its_own_facet():
    # presentations turn models round, items and draws do not
    values = values_of(5, item=0.1, presentation=3.0, draw=0.1, rest=0.1)
    tables = derive_reliability(rows_of(values))
    assert list(tables["scales"].columns) == SCALES
    (row,) = tables["scales"].to_dict("records")
    for name in ("generalizability", "over_items", "over_presentations", "over_draws"):
        assert 0 <= row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] <= 1, name
    assert row["over_presentations"] < 0.6 < 0.95 < row["over_items"]
    assert row["over_draws"] > 0.95
    assert row["generalizability"] <= row["over_presentations"] + 0.05
    assert (row["models"], row["items"], row["presentations"], row["draws"]) == (12, 8, 2, 3)
    assert row["reason"] is None
    components = tables["components"]
    assert list(components.columns) == COMPONENTS
    assert components["share"].sum() == pytest.approx(1)
    assert components.set_index("source")["share"].idxmax() == "model x presentation"


def test_a_facet_of_one_level_is_told_in_words():
    row = only_row(rows_of(values_of(6, (6, 5, 1, 1)), presentation=None, history="alone"))
    assert row["reason"] == (
        "shown in one presentation: what the other would change was not measured; one draw: what other answers of the "
        "model's own would change was not measured"
    )
    assert row["generalizability"] == pytest.approx(row["over_items"])
    assert pd.isna(row["over_presentations"])
    assert pd.isna(row["over_draws"])


def test_two_items_are_enough_and_one_leaves_the_other_facets():
    two = only_row(rows_of(values_of(7, (6, 2, 2, 3))))
    assert 0 <= two["generalizability"] <= 1
    assert two["generalizability_low"] <= two["generalizability"] <= two["generalizability_high"]
    one = only_row(rows_of(values_of(7, (6, 1, 2, 3))))
    assert pd.isna(one["over_items"])
    assert 0 <= one["over_draws"] <= 1
    assert one["reason"].endswith("one item: what others would change was not measured")


@pytest.mark.parametrize("shape", [(12, 8, 1, 1), (7, 8, 2, 1), (12, 2, 2, 3)])
def test_over_one_facet_the_interval_is_feldts_or_the_wider_one_that_leaves_models_out(shape):
    values = values_of(21, shape)
    row, items = only_row(rows_of(values)), values.mean(axis=(2, 3))
    alpha, (n, k) = cronbach_alpha(items), shape[:2]
    exact = feldt_interval(alpha, n, k)
    left_out = np.array([cronbach_alpha(np.delete(items, model, axis=0)) for model in range(n)])
    without = jackknife_ends(alpha, left_out)
    ends = max(0, min(exact[0], without[0])), min(1, max(exact[1], without[1]))
    assert (row["over_items_low"], row["over_items_high"]) == pytest.approx(ends)


def test_models_of_a_line_are_no_separate_evidence():
    values = values_of(22, (5, 8, 1, 1))
    copied = rows_of(np.repeat(values, 4, axis=0))
    copied["line"] = copied["model"].map({f"m{number}": f"line {number // 4}" for number in range(20)})
    alone, related, taken_alone = only_row(rows_of(values)), only_row(copied), only_row(copied.drop(columns="line"))
    assert (related["models"], related["lines"], taken_alone["lines"]) == (20, 5, 20)

    def width(row):
        return row["over_items_high"] - row["over_items_low"]

    assert width(taken_alone) < width(related)
    assert related["over_items_low"] == pytest.approx(alone["over_items_low"], abs=0.2)
    few = copied.assign(line="the only one")
    assert only_row(few)["reason"].startswith("no interval: the models are of 1 line, 3 or more are needed")


def test_where_a_coefficient_is_0_the_interval_has_a_width():
    for seed in range(40):
        row = only_row(rows_of(values_of(seed, (6, 6, 1, 1), model=0, item=1)))
        assert row["over_items_low"] < row["over_items_high"], seed


def test_what_cannot_be_had_is_refused_with_its_reason():
    few = only_row(rows_of(values_of(8, (2, 5, 2, 3))))
    assert few["reason"] == "2 models, 3 or more are needed to tell them apart"
    assert pd.isna(few["generalizability"])
    nothing = only_row(rows_of(values_of(8, (5, 1, 1, 1))))
    assert nothing["reason"].startswith("no facet has several levels")
    constant = only_row(rows_of(np.full((4, 3, 2, 2), 2.5)))
    assert constant["reason"] == "all models answer the same: nothing varies"
    with pytest.raises(MissingData, match="no facet"):
        coefficient(values_of(8, (5, 1, 1, 1)))


def test_items_that_were_not_read_everywhere_are_left_out_and_counted():
    values = values_of(9)
    frame = rows_of(values)
    is_gap = (frame["model"] == "m3") & (frame["item"] == 2) & (frame["draw"] == 1)
    row = only_row(frame[~is_gap])
    assert row["items"] == 7
    assert row["reason"] == "1 items were not read everywhere and are left out"
    assert row["generalizability"] == pytest.approx(coefficient(np.delete(values, 2, axis=1)))
    nowhere = only_row(frame[~((frame["model"] == "m3") & (frame["draw"] == 1))])
    assert nowhere["reason"] == "8 items were not read everywhere and are left out; no item was read everywhere"


def test_histories_experiments_and_scales_stand_apart():
    values = values_of(10)
    alone = rows_of(values[..., :1], history="alone")
    both = derive_reliability(pd.concat([rows_of(values), alone, rows_of(values, scale="calm")]))["scales"]
    assert both[["history", "scale"]].to_numpy().tolist() == [["own", "worry"], ["alone", "worry"], ["own", "calm"]]
    assert both["draws"].tolist() == [3, 1, 3]
    assert both["generalizability"].iloc[0] == both["generalizability"].iloc[2]


def test_consistency_rests_on_what_no_human_answer_stands_before_and_reversed_items_are_turned():
    marks = pd.DataFrame(
        [
            {"mark": mark, "history": history, "expected_value": value}
            for mark, history, value in [
                (1, "alone", 2.0),
                (4, "own", 2.0),
                (1, "human", 5.0),
                (1, "blank", 5.0),
                (9, "own", 1),
            ]
        ]
    )
    frame = consistency_frame(marks, {"joy": SCALE})
    assert frame[["item", "history", "expected"]].to_numpy().tolist() == [[1, "alone", 2.0], [4, "own", 4.0]]
