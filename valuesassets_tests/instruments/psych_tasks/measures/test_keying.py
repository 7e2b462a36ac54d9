import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.measures.keying import MODELS, SCALES, derive_keying
from valuesassets.measure.keying import keyed_means, label_lean, label_preference
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
    assert (scale["verdict"], scale["reason"]) == (
        None,
        "1 model of 1 line: 5 lines or more are needed, or no test of their order can be sure",
    )


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


def test_a_liking_for_a_place_shrinks_the_trait_of_expected_answers_and_leaves_its_lean():
    labels = np.arange(1, 6)
    models = {}
    for pull in (0.0, 6.0):
        rows = []
        for model, trait in enumerate((-0.4, -0.1, 0.1, 0.4)):
            for item in ITEMS:
                way = -1 if item in SCALE.reversed else 1
                logs = trait * way * (labels - 3) + pull * (labels == 5)
                shares = np.exp(logs) / np.exp(logs).sum()
                row = {"model": f"m{model}", "experiment": "survey", "scale": "worry", "item": item}
                rows.append(row | {"expected": shares @ labels, "lean": label_lean(np.log(shares), labels)})
        models[pull] = derived(pd.DataFrame(rows).assign(presentation=None))["models"].set_index("model")
    calm, pulled = models[0.0], models[6.0]
    assert abs(pulled.loc["m3", "trait"] - 3) < 0.1 * abs(calm.loc["m3", "trait"] - 3)
    assert pulled["trait_lean"].to_list() == pytest.approx(calm["trait_lean"].to_list())
    assert calm.loc["m3", "trait_lean"] == pytest.approx(0.4 * 4)  # .4 a label, over four steps
    assert calm["bias_lean"].to_list() == pytest.approx([0] * 4, abs=1e-9)
    assert (pulled["bias_lean"] > 1).all()


def test_models_of_one_line_count_as_one_and_too_few_lines_have_no_verdict():
    frame = expected_values("trait", models=8)
    copies = [frame.assign(model=frame["model"] + f" {size}", line=frame["model"]) for size in ("small", "large")]
    row, related = only_row(frame), only_row(pd.concat(copies))
    assert (related["models"], related["lines"]) == (16, 8)
    for name in ("rho", "rho_low", "rho_high", "p", "verdict"):
        assert related[name] == pytest.approx(row[name]), name
    of_four = pd.concat(copies)
    of_four["line"] = of_four["line"].str[-1].astype(int) % 4
    few = only_row(of_four)
    assert (few["verdict"], few["rho"]) == (None, None)
    assert few["reason"].startswith("16 models of 4 lines: 5 lines or more are needed")
