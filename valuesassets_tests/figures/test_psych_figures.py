"""Figures of transcripts, marks and histories show what their tables hold, for one model and for forty-six."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection

from valuesassets.figures.calibration_curve import draw_calibration_curve
from valuesassets.figures.history_ladder import draw_history_ladder
from valuesassets.figures.identification_matrix import draw_identification_matrix
from valuesassets.figures.keying_plane import draw_keying_plane
from valuesassets.figures.multi_token_share import draw_multi_token_share
from valuesassets.figures.panels import MOST_PANELS, looks_of
from valuesassets.figures.reliability_and_alignment import draw_reliability_and_alignment
from valuesassets.figures.status_bars import COLORS, draw_mark_ledger
from valuesassets_tests.figures.pictures import artist, grey, legend_labels, mesh, outside, overlapping, places, words
from valuesassets_tests.instruments.psych_tasks import made_up

TWO = (["model-a", "model-b"], ["ipip", "feedback"])
MANY = (made_up.names(46, "model"), made_up.names(18, "task"))
UNREAD = ["empty", "broken", "boundary", "too_long"]


def named(frame):
    return frame.assign(name=frame["scale"] + ", " + frame["task"])


def points(models=None, tasks=("ipip", "care")):
    frame = named(made_up.reliability(models or TWO[0], tasks)["reliability/scales"])
    return frame.assign(skill=0.3, skill_low=0.1, skill_high=0.5)


def shares(models, tasks):
    rows = [{"model": m, "kind": t, "share_multi_token": 0.1 * k} for m in models for k, t in enumerate(tasks[:9])]
    return pd.DataFrame(rows)


def every_figure(models, tasks, planted):
    keying = made_up.keying(models, tasks)
    return {
        "history_ladder": draw_history_ladder(made_up.gains(models, tasks), made_up.scores(models, tasks), planted),
        "reliability_and_alignment": draw_reliability_and_alignment(points(models, tasks[:8]), planted),
        "keying_plane": draw_keying_plane(named(keying["keying/models"]), named(keying["keying/scales"]), planted),
        "mark_ledger": draw_mark_ledger(made_up.ledger(models, tasks), UNREAD, planted=planted),
        "identification_matrix": draw_identification_matrix(
            made_up.identification(models, tasks), made_up.donors(5), planted
        ),
        "calibration_curve": draw_calibration_curve(made_up.quantiles(models, tasks), planted),
        "multi_token_share": draw_multi_token_share(shares(models, tasks), planted),
    }


@pytest.mark.parametrize(("models", "tasks"), [(["m"], ["t"]), TWO, MANY])
@pytest.mark.slow
def test_no_text_leaves_the_page_and_planted_stands_there(models, tasks):
    for name, figure in every_figure(models, tasks, True).items():
        assert "planted" in words(figure), name
        assert outside(figure) == [], name
        for axes in (axes for axes in figure.axes if axes.get_visible()):
            assert overlapping(axes.get_xticklabels()) == [], name
            assert overlapping(axes.get_yticklabels()) == [], name


@pytest.mark.slow
def test_planted_stands_nowhere_else():
    for name, figure in every_figure(*TWO, False).items():
        assert "planted" not in words(figure).lower(), name


def test_tables_without_rows_or_numbers_give_a_figure_that_says_so():
    scores, keying = made_up.scores(*TWO), made_up.keying(*TWO)
    lacking = named(keying["keying/models"]).assign(forward_mean=None)
    nothing = [
        draw_history_ladder(made_up.gains(*TWO).head(0), scores.assign(log_score=None)),
        draw_history_ladder(made_up.gains(*TWO).head(0), scores.head(0)),
        draw_reliability_and_alignment(points().assign(generalizability=None)),
        draw_keying_plane(lacking, named(keying["keying/scales"]).head(0)),
        draw_mark_ledger(made_up.ledger(*TWO).head(0), UNREAD),
        draw_identification_matrix(made_up.identification(*TWO).head(0)),
        draw_calibration_curve(made_up.quantiles(*TWO).head(0)),
        draw_multi_token_share(shares(*TWO).assign(share_multi_token=None)),
    ]
    for figure in nothing:
        assert "not available" in words(figure)


def test_the_ladder_climbs_through_the_log_scores():
    scores = made_up.scores(*TWO)
    figure = draw_history_ladder(made_up.gains(*TWO), scores)
    for model in TWO[0]:
        told = scores[(scores.model == model) & (scores.task == "ipip")].set_index("history")["log_score"]
        drawn = places(figure, f"ladder ipip {model}")
        assert drawn[:, 1].tolist() == [told[name] for name in ("alone", "other", "permuted", "human")]
        assert np.round(drawn[:, 0]).tolist() == [0, 1, 2, 3]
    assert artist(figure, "counting ipip").get_ydata()[0] == made_up.LEVELS["counting"]


def test_the_ladder_counts_models_in_which_a_step_holds_and_has_one_step_with_feedback():
    figure = draw_history_ladder(made_up.gains(*TWO), made_up.scores(*TWO))
    assert artist(figure, "step format").get_text() == "format\n↑2 ↓0"
    assert artist(figure, "step content").get_text() == "content\n↑1 ↓0"
    assert artist(figure, "step history").get_text() == "history\n↑2 ↓0"
    assert len(places(figure, "ladder feedback model-a")) == 2
    gains = made_up.gains(*TWO)
    worse = draw_history_ladder(gains.assign(estimate=-gains.estimate), made_up.scores(*TWO))
    assert artist(worse, "step format").get_text() == "format\n↑0 ↓2"


def test_a_person_is_what_lies_between_another_and_oneself_where_nothing_is_exchanged():
    scores = made_up.scores(["m"], ["t"])
    figure = draw_history_ladder(made_up.gains(["m"], ["t"]), scores[scores.history != "permuted"])
    assert artist(figure, "step person").get_text().startswith("person")


@pytest.mark.slow
def test_many_models_are_a_crowd_with_their_median():
    figure = draw_history_ladder(made_up.gains(*MANY), made_up.scores(*MANY))
    scores = made_up.scores(*MANY)
    human = scores[(scores.history == "human") & (scores.task == "task00")]
    assert places(figure, "median task00")[-1, 1] == pytest.approx(human.log_score.median())
    assert "each of 46 models" in legend_labels(figure)
    assert places(figure, "ladder task00 model45")[-1, 1] == pytest.approx(human.log_score.iloc[-1])


def test_reliability_is_across_and_skill_upward_and_neither_is_added_to_the_other():
    figure = draw_reliability_and_alignment(points())
    row = points().iloc[0]
    assert places(figure, f"point {row.history} {row['name']}").tolist() == [[row.generalizability, row.skill]]
    assert "never one number" in words(figure)
    own = artist(figure, f"point own {row['name']}")
    assert own.get_markerfacecolor() == "white"


def test_keying_stands_models_at_their_means_with_rho_and_pi_in_words():
    keying = {name: named(frame) for name, frame in made_up.keying(TWO[0], ["ipip"]).items()}
    figure = draw_keying_plane(keying["keying/models"], keying["keying/scales"])
    row = keying["keying/models"].iloc[0]
    drawn = places(figure, f"point {row['name']} {row.model}")
    assert drawn.tolist() == [[row.forward_mean, row.reverse_mean]]
    assert "ρ 0.96, π 0.98 [0.97, 0.99]" in words(figure)
    axes = figure.axes[0]
    assert sum(axes.get_xlim()) / 2 == pytest.approx(3), "the midpoint of the scale is the middle of the panel"
    narrow = keying["keying/models"].assign(forward_mean=3.01, reverse_mean=2.99, bias=0.0)
    assert draw_keying_plane(narrow, keying["keying/scales"]).axes[0].get_xlim() == (2.5, 3.5)
    assert "1 scales without items of both keyings" in words(figure)


def test_scales_beyond_the_most_panels_are_said_to_be_left_out():
    keying = {name: named(frame) for name, frame in made_up.keying(["a", "b", "c"], MANY[1]).items()}
    figure = draw_keying_plane(keying["keying/models"], keying["keying/scales"])
    assert f"{3 * 18 - MOST_PANELS} more panels are left to the tables." in words(figure)


def test_bars_are_the_shares_of_marks_that_were_not_read():
    ledger = made_up.ledger(*TWO)
    figure = draw_mark_ledger(ledger, UNREAD)
    bar = artist(figure, "boundary ipip, model-b, human")
    assert bar.get_width() == pytest.approx(20 / 400)
    assert artist(figure, "boundary ipip, model-a, each of 5 histories").get_width() == 0
    assert "32 of 400" in words(figure)
    assert set(legend_labels(figure)) == {"empty", "broken", "boundary", "too long"}


def test_marks_that_a_history_cannot_have_are_counted_beside_and_are_no_loss():
    ledger = made_up.ledger(["m"], ["t"])
    left = ledger.head(1).assign(status="not_asked", marks=100)
    figure = draw_mark_ledger(pd.concat([ledger, left]), UNREAD, ["not_asked"])
    assert "2 of 500; 100 not asked" in words(figure)
    assert artist(figure, "empty alone").get_width() == 1 / 500
    assert "not asked" not in legend_labels(figure)


@pytest.mark.slow
def test_of_too_many_cells_the_worst_are_shown():
    figure = draw_mark_ledger(made_up.ledger(*MANY), UNREAD)
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(rows) == 48
    assert all("model45" in row for row in rows[:18])
    assert "48 of 828 cells" in words(figure)


def test_statuses_are_told_apart_without_colour():
    figure = draw_mark_ledger(made_up.ledger(*TWO), UNREAD)
    hatches = [artist(figure, f"{status} ipip, model-b, human").get_hatch() for status in UNREAD]
    assert len(set(hatches)) == len(UNREAD)
    assert len({round(grey(color)) for color in COLORS}) == len(COLORS)


def test_identification_is_a_dot_at_each_share_and_a_shade_where_there_are_many():
    few = made_up.identification(*TWO)
    figure = draw_identification_matrix(few)
    by_task = pd.concat([few[few.task == task] for task in TWO[1]])
    assert places(figure, "shares")[:, 0].tolist() == by_task.share.tolist()
    many = made_up.identification(*MANY)
    values = mesh(draw_identification_matrix(many))
    assert values.shape == (46, 18)
    assert values[7, 3] == many[(many.model == "model07") & (many.task == "task03")].share.iloc[0]
    crossed = places(draw_identification_matrix(many), "by chance")
    assert len(crossed) == ((many.low <= 0.5) & (many.high >= 0.5)).sum()


def test_the_matrix_of_people_is_the_own_log_score_less_the_donors():
    donors = made_up.donors(4)
    values = mesh(draw_identification_matrix(made_up.identification(["m"], ["t"]), donors))
    scores = donors.pivot(index="participant", columns="donor", values="log_score").to_numpy()
    np.testing.assert_allclose(values, np.diag(scores)[:, None] - scores)
    np.testing.assert_allclose(np.diag(values), 0)


def test_the_calibration_curve_holds_each_bin_with_its_number_of_answers_as_area():
    quantiles = made_up.quantiles(["m"], ["t"])
    figure = draw_calibration_curve(quantiles)
    dots = artist(figure, "bins t m")
    np.testing.assert_allclose(dots.get_offsets(), quantiles[["foretold", "observed"]].to_numpy(float))
    assert np.argsort(dots.get_sizes()).tolist() == np.argsort(quantiles.n_marks).tolist()


def test_many_models_share_one_curve_weighted_by_answers():
    quantiles = made_up.quantiles(MANY[0], ["t"]).astype({"observed": float, "n_marks": float})
    is_heavy = quantiles.model == "model00"
    quantiles.loc[is_heavy, ["observed", "n_marks"]] = quantiles[is_heavy].assign(observed=1.0, n_marks=45 * 90.0)[
        ["observed", "n_marks"]
    ]
    first = quantiles[quantiles.low == quantiles.low.min()]
    figure = draw_calibration_curve(quantiles)
    assert places(figure, "all t")[0, 1] == pytest.approx(np.average(first.observed, weights=first.n_marks))
    assert [len(dots.get_offsets()) for dots in figure.findobj(PathCollection)] == [len(quantiles)]


@pytest.mark.slow
def test_shares_of_several_tokens_stand_by_model_and_kind():
    frame = shares(*MANY)
    values = mesh(draw_multi_token_share(frame))
    assert values.shape == (46, 9)
    assert values[5, 4] == frame[(frame.model == "model05") & (frame.kind == "task04")].share_multi_token.iloc[0]
    lacking = frame.assign(share_multi_token=frame.share_multi_token.where(frame.model != "model05"))
    figure = draw_multi_token_share(lacking)
    assert np.isnan(mesh(figure)).sum() == 9
    assert legend_labels(figure) == ["not read"]


def test_eight_models_are_told_apart_and_nine_are_not():
    assert len(set(looks_of(made_up.names(8, "m")).values())) == 8
    assert len(set(looks_of(made_up.names(9, "m")).values())) == 1
