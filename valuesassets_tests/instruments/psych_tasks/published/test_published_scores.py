import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.published.published_scores import (
    SCALES,
    SCORES,
    ScoredScale,
    alpha_columns,
    derive_published_scores,
    random_probs,
)
from valuesassets.measure.internal_consistency import cronbach_alpha, feldt_interval
from valuesassets_tests.instruments.psych_tasks.made_marks import ITEMS, SCALE, marks, softmax

DRAWS = 60


def derived(frame, scale=SCALE, draws=DRAWS, **scales):
    return derive_published_scores(frame, scales or {"worry": scale}, seed=3, draws=draws)


def only_row(tables):
    (row,) = tables["scales"].to_dict("records")
    return row


@pytest.fixture(scope="module")
def tables_by_kind():
    """Tables of models that like labels, that have a trait, and that have neither."""
    return {kind: derived(marks(kind)) for kind in ("label", "trait", "random")}


def test_a_score_by_hand_and_keyed_back():
    # people said 1 and 5, with a quarter and three quarters of the probability that they got: 4; turned round 2
    rows = [("m", "survey", "a", item, 1, 0.1, None, None) for item in (1, 4)]
    rows += [("m", "survey", "b", item, 5, 0.3, None, None) for item in (1, 4)]
    frame = pd.DataFrame(rows, columns=marks("random", 1, 1).columns)
    tables = derived(frame, ScoredScale((1, 4), (4,), 1, 5))
    assert list(tables["scores"].columns) == SCORES
    assert tables["scores"]["score"].tolist() == pytest.approx([4.0, 2.0])
    assert tables["scores"]["reading"].tolist() == ["exact", "exact"]
    assert only_row(tables)["reason"] == "1 model and 2 items: two or more of each are needed"
    assert only_row(tables)["alpha"] is None


def test_scores_are_the_weighted_means_of_what_people_answered():
    frame, tables = marks("label", models=3), derived(marks("label", models=3))
    scores = tables["scores"].set_index(["model", "item"])["score"]
    for (model, item), part in frame.groupby(["model", "item"]):
        mean = np.average(part["human_value"], weights=part["q_human"])
        assert scores[model, item] == pytest.approx(6 - mean if item in SCALE.reversed else mean)


def test_alpha_stands_beside_its_interval_and_its_nulls(tables_by_kind):
    assert list(tables_by_kind["trait"]["scales"].columns) == SCALES
    row = only_row(tables_by_kind["trait"])
    scores = tables_by_kind["trait"]["scores"].pivot(index="model", columns="item", values="score").to_numpy()
    assert row["alpha"] == pytest.approx(cronbach_alpha(scores))
    assert (row["alpha_low"], row["alpha_high"]) == pytest.approx(feldt_interval(row["alpha"], 12, 6))
    assert (row["models"], row["items"], row["reason"]) == (12, 6, None)
    assert row["null_low"] < 0 < row["null_high"] < row["alpha"]


def test_random_and_permuted_worlds_have_alphas_about_nought_whatever_the_models_do(tables_by_kind):
    for kind, tables in tables_by_kind.items():
        row = only_row(tables)
        # 12 models: the mean of alphas without covariance is 1 - (n - 1)/(n - 3), -.22
        assert row["alpha_random"] == pytest.approx(-0.22, abs=0.25), kind
        assert row["null_low"] < row["alpha_permuted"] < row["null_high"], kind
        assert row["alpha_random_low"] < row["alpha_random"] < row["alpha_random_high"], kind


def test_models_without_any_of_it_lie_inside_the_bands(tables_by_kind):
    row = only_row(tables_by_kind["random"])
    assert row["null_low"] < row["alpha"] < row["null_high"]
    assert row["alpha_random_low"] < row["alpha"] < row["alpha_random_high"]


def test_a_liking_for_labels_gives_the_same_without_any_item_and_a_trait_does_not():
    # nothing is reverse-keyed here, so that a liking for labels passes for a trait
    straight = SCALE._replace(reversed=())
    liking = only_row(derived(marks("label"), straight))
    assert liking["alpha"] > 0.9
    assert liking["alpha_label"] > 0.9
    trait = only_row(derived(marks("trait")))
    assert trait["alpha"] > 0.9
    assert trait["null_low"] < trait["alpha_label"] < trait["null_high"]


def test_keying_a_liking_for_labels_back_breaks_it(tables_by_kind):
    assert only_row(tables_by_kind["label"])["alpha"] < tables_by_kind["label"]["scales"]["null_low"].item()


def test_without_a_blank_history_the_row_says_so():
    row = only_row(derived(marks("trait").assign(q_blank_human=None)))
    assert row["alpha_label"] is None
    assert row["alpha"] > 0.9
    assert row["reason"] == "alpha_label: no model was asked without items (history blank)"
    same = only_row(derived(marks("trait").assign(q_blank_human=0.2)))
    assert same["alpha_label"] is None
    assert same["reason"] == "alpha_label: all models have the same sum over the items: nothing varies"


def test_the_late_reading_has_rows_of_its_own_where_it_was_read():
    frame = marks("trait")
    tables = derived(frame.assign(q_late_human=frame["q_human"].to_numpy()[::-1]))
    by_reading = tables["scales"].set_index("reading")
    assert list(by_reading.index) == ["exact", "late"]
    assert by_reading.loc["exact", "alpha"] == only_row(derived(frame))["alpha"]
    assert by_reading.loc["late", "alpha"] != by_reading.loc["exact", "alpha"]
    assert len(tables["scores"]) == 2 * 12 * len(ITEMS)


def test_unread_answers_take_no_part_and_a_score_of_none_is_refused_with_its_scale():
    frame = marks("trait")
    is_gap = (frame["model"] == "m03") & (frame["item"] == 2)
    few = frame.assign(q_human=frame["q_human"].where(~is_gap | (frame["participant"] == "p00")))
    score = derived(few)["scores"].query("model == 'm03' and item == 2")["score"].item()
    assert score == frame[is_gap & (frame["participant"] == "p00")]["human_value"].item()
    none = derived(frame.assign(q_human=frame["q_human"].where(~is_gap)))
    gap = none["scores"].query("model == 'm03' and item == 2").iloc[0]
    assert pd.isna(gap["score"])
    assert gap["reason"] == "no participant's answer was read"
    row = only_row(none)
    assert (row["alpha"], row["reason"]) == (None, "1 of 72 scores are missing")
    impossible = derived(frame.assign(q_human=frame["q_human"].where(~is_gap, 0.0)))["scores"]
    assert impossible["reason"].dropna().tolist() == ["every participant's answer has probability 0"]


def test_every_experiment_and_scale_stands_alone_and_the_seed_alone_draws():
    frame = marks("trait")
    both = pd.concat([frame, frame.assign(experiment="again")])
    halves = {"first": SCALE._replace(items=(1, 2, 4)), "second": SCALE._replace(items=(3, 5, 6))}
    tables = derived(both, **halves)
    assert tables["scales"][["experiment", "scale"]].to_numpy().tolist() == [
        ["survey", "first"],
        ["survey", "second"],
        ["again", "first"],
        ["again", "second"],
    ]
    alone = derived(frame, first=halves["first"])["scales"].iloc[0].to_dict()
    assert tables["scales"].iloc[0].to_dict() == alone


def test_few_marks_that_may_be_dealt_alike_still_have_their_nulls():
    # two models that differ in who is given which of two probabilities: dealt anew, they may come to the same
    rows = [("a", item, p, h, q) for item in (1, 2) for p, h, q in (("x", 1, 0.1), ("y", 5, 0.3))]
    rows += [("b", item, p, h, q) for item in (1, 2) for p, h, q in (("x", 1, 0.3), ("y", 5, 0.1))]
    frame = pd.DataFrame(rows, columns=["model", "item", "participant", "human_value", "q_human"])
    frame = frame.assign(experiment="survey", q_late_human=None, q_blank_human=None)
    row = only_row(derived(frame, ScoredScale((1, 2), (), 1, 5)))
    assert row["alpha"] == pytest.approx(1)
    assert np.isfinite([row["alpha_permuted"], row["alpha_random"]]).all()


def test_rows_in_another_order_give_the_same_scores():
    frame = marks("label", models=4)
    shuffled = frame.sample(frac=1, random_state=1)
    one, other = (derived(each)["scores"].sort_values(["model", "item"]) for each in (frame, shuffled))
    assert one["score"].tolist() == pytest.approx(other["score"].tolist())


def test_random_probabilities_are_of_softmaxes_of_normal_logits():
    pool = random_probs(5, np.random.default_rng(1))
    assert pool.size >= 100_000
    assert pool.mean() == pytest.approx(1 / 5)
    drawn = softmax(np.random.default_rng(2).normal(-10, 1, size=(50_000, 5)))[:, 0]
    quantiles = np.linspace(0.05, 0.95, 19)
    assert np.quantile(pool, quantiles) == pytest.approx(np.quantile(drawn, quantiles), rel=0.03)


def test_published_alpha_of_audit_has_its_interval_and_band():
    random = np.random.default_rng(1)
    row = alpha_columns(random.normal(size=(46, 1)) + random.normal(0, 2, size=(46, 11)))
    assert (row["null_low"], row["null_high"]) == pytest.approx((-0.61, 0.33), abs=0.005)
    assert row["alpha_low"] < row["alpha"] < row["alpha_high"]
