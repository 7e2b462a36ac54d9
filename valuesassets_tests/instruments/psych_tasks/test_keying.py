import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.keying import MODELS, SCALES, derive_keying
from valuesassets.measure.keying import keyed_means, label_preference
from valuesassets_tests.instruments.psych_tasks.made_marks import ITEMS, SCALE, expected_values

BOTH = ("forward", "reversed")


def derived(frame, scale=SCALE):
    return derive_keying(frame, {"worry": scale})


def only_row(frame, scale=SCALE):
    (row,) = derived(frame, scale)["scales"].to_dict("records")
    return row


@pytest.mark.parametrize(
    ("kind", "verdict"), [("label", "label preference"), ("trait", "trait"), ("random", "not told apart")]
)
@pytest.mark.parametrize("presentations", [("forward",), BOTH])
def test_label_trait_and_random_models_are_told_apart(kind, verdict, presentations):
    row = only_row(expected_values(kind, models=20, presentations=presentations))
    assert row["verdict"] == verdict
    assert row["pi_bias_low"] <= row["pi_bias"] <= row["pi_bias_high"]
    assert (row["models"], row["items"], row["reason"]) == (20, 6, None)


def test_in_one_presentation_it_is_the_correlation_of_plain_means():
    frame = expected_values("label").assign(presentation=None)
    table = frame.pivot(index="model", columns="item", values="expected")
    oracle = label_preference(*keyed_means(table.to_numpy(), np.isin(table.columns, SCALE.reversed)))
    row = only_row(frame)
    assert (row["rho"], row["pi_bias"]) == pytest.approx((oracle.rho, oracle.pi_bias))
    assert (row["rho_low"], row["pi_bias_high"]) == pytest.approx((oracle.rho_low, oracle.pi_bias_high))


def test_trait_and_bias_of_a_model_by_hand():
    # forward-keyed items 4 and 5, reverse-keyed 3 and 3, of 1 to 5
    rows = [("m", "survey", "worry", item, value, None) for item, value in ((1, 4.0), (2, 5.0), (4, 3.0), (5, 3.0))]
    tables = derived(pd.DataFrame(rows, columns=expected_values("label").columns))
    (row,) = tables["models"].to_dict("records")
    assert list(tables["models"].columns) == MODELS
    assert (row["forward_mean"], row["reverse_mean"]) == (4.5, 3.0)
    assert (row["trait"], row["bias"]) == (3.75, 0.75)
    (scale,) = tables["scales"].to_dict("records")
    assert list(tables["scales"].columns) == SCALES
    assert (scale["verdict"], scale["reason"]) == (None, "1 model of 1 line: 5 lines or more are needed, or no test of their order can be sure")


@pytest.mark.parametrize(("kind", "verdict"), [("label", "label preference"), ("trait", "trait")])
def test_a_scale_without_reverse_keyed_items_is_told_apart_by_its_presentations(kind, verdict):
    straight = SCALE._replace(items=(1, 2, 3), reversed=())
    frame = expected_values(kind, models=20, presentations=BOTH)
    frame = frame[frame["item"] <= 3]
    assert only_row(frame, straight)["verdict"] == verdict
    alone = only_row(frame[frame["presentation"] == "forward"], straight)
    assert (alone["rho"], alone["verdict"]) == (None, None)
    assert alone["reason"].startswith("all 3 items are forward-keyed")


def test_draws_of_one_item_are_averaged():
    frame = expected_values("trait")
    spread = pd.concat([frame.assign(expected=frame["expected"] + step) for step in (-0.3, 0.3)])
    once, twice = only_row(frame), only_row(spread)
    assert twice["rho"] == pytest.approx(once["rho"])
    assert twice["items"] == len(ITEMS)


def test_a_model_with_a_gap_keeps_the_scale_from_a_verdict_and_says_why():
    frame = expected_values("trait")
    tables = derived(frame[~((frame["model"] == "m05") & (frame["item"] == 2))])
    models = tables["models"].set_index("model")
    assert models.loc["m05", "reason"] == "1 of 6 answers are missing"
    assert pd.isna(models.loc["m05", "trait"])
    assert models.drop("m05")["trait"].notna().all()
    (row,) = tables["scales"].to_dict("records")
    assert (row["verdict"], row["reason"]) == (None, "1 of 72 answers are missing")
