"""Figures of answers in many languages show what their tables hold, for two models and for twelve in 24 languages."""

import pandas as pd
import pytest

from valuesassets.figures.country_profiles import draw_country_profiles
from valuesassets.figures.diversity_robustness import draw_diversity_robustness
from valuesassets.figures.language_map import draw_language_map
from valuesassets.figures.published_and_null import draw_published_and_null
from valuesassets.figures.status_bars import MOST_ROWS, draw_answer_quality
from valuesassets.instruments.cultural_robustness.analyses import page_analyses
from valuesassets.instruments.cultural_robustness.report.pictures import language_points, status_counts
from valuesassets_tests.figures.pictures import artist, legend_labels, mesh, outside, overlapping, places, words
from valuesassets_tests.instruments.cultural_robustness import made_frames
from valuesassets_tests.reporting.runs import drawn

RATIOS = ("diversity", "robustness")


def a_model(name="m", diversity=0.6, robustness=0.9, width=0.1):
    row = {"model": name, "diversity": diversity, "robustness": robustness}
    for ratio in RATIOS:
        row |= {f"{ratio}_low": row[ratio] - width, f"{ratio}_high": row[ratio] + width}
    return row


def languages(n=3, side="culture gain", group=None, script="Latin"):
    rows = [
        {"model": "m", "distance": side, "language": f"l{number}", "script": script, "x": number - 1.0, "y": 0.5}
        | {"stress": 0.07, "group": group}
        for number in range(n)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("make", [made_frames.every_frame, made_frames.many])
@pytest.mark.slow
def test_no_text_leaves_the_page_or_stands_on_another(make):
    figures = drawn(page_analyses(), make(), is_planted=True)
    assert len(figures) == 5
    for name, figure in figures.items():
        assert "planted" in words(figure), name
        assert outside(figure) == [], name
        foot = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
        assert overlapping(foot) == [], name
        for axes in figure.axes:
            assert overlapping([*axes.get_xticklabels(), axes.xaxis.label]) == [], name
            assert overlapping([*axes.get_yticklabels(), axes.yaxis.label]) == [], name
            assert overlapping([*axes.texts, axes.title]) == [], name


@pytest.mark.slow
def test_planted_stands_nowhere_else():
    for name, figure in drawn(page_analyses(), made_frames.every_frame()).items():
        assert "planted" not in words(figure).lower(), name


def test_tables_without_rows_give_a_figure_that_says_so():
    frames = made_frames.every_frame()
    said = [
        words(draw_country_profiles(frames["country_profiles"].head(0))),
        words(draw_country_profiles(frames["country_profiles"].assign(closeness=None))),
        words(draw_language_map(languages().head(0))),
        words(draw_published_and_null(frames["scores"].assign(value=None))),
        words(draw_answer_quality(status_counts(frames["answer_quality"]).head(0))),
    ]
    assert all("not available" in each for each in said)
    assert "no model has both" in words(draw_diversity_robustness(pd.DataFrame([a_model()]).head(0)))


def test_a_model_stands_at_its_ratios_with_both_intervals_and_the_cross_at_0_and_1():
    figure = draw_diversity_robustness(pd.DataFrame([a_model()]))
    assert places(figure, "point m").tolist() == [[0.6, 0.9]]
    ends = sorted(line.get_segments()[0].tolist() for line in figure.axes[0].collections)
    assert ends == [[[0.5, 0.9], [0.7, 0.9]], [[0.6, 0.8], [0.6, 1.0]]]
    for name, at in (("no", 0), ("full", 1)):
        assert artist(figure, f"{name} diversity").get_xdata()[0] == at
        assert artist(figure, f"{name} robustness").get_ydata()[0] == at
    low, high = figure.axes[0].get_xlim()
    assert low < 0 < 1 < high


def test_models_without_a_point_are_named_with_the_reason_and_many_are_counted():
    few = draw_diversity_robustness(pd.DataFrame([a_model()]), [("n", "both refused, countries are not followed")])
    assert "Not in the plane: n: both refused, countries are not followed." in words(few)
    many = draw_diversity_robustness(pd.DataFrame([a_model()]), [(f"n{k}", "why") for k in range(11)])
    assert "3 more models have no point" in words(many)


def test_a_point_beyond_the_plane_is_said_and_a_long_interval_does_not_stretch_it():
    models = pd.DataFrame([a_model("near", width=30), a_model("far", diversity=7.5)])
    figure = draw_diversity_robustness(models)
    assert "Beyond the plane: far, diversity 7.50, robustness 0.90." in words(figure)
    assert figure.axes[0].get_xlim()[1] < 2.2
    assert "goes on beyond it" in words(figure)
    assert "goes on beyond it" not in words(draw_diversity_robustness(models.tail(1)))
    assert not figure.findobj(lambda one: one.get_gid() == "point far")


def test_closeness_is_a_shade_by_language_and_country_with_the_own_countries_first():
    profiles = made_frames.profiles(["m"])
    figure = draw_country_profiles(profiles)
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["IE", "DE", "FR", "PL", "GR", "BG"], "in the order of the languages whose own they are"
    told = profiles.pivot(index="language", columns="country", values="closeness").loc[list(made_frames.SIX), labels]
    assert mesh(figure).tolist() == told.to_numpy().tolist()
    box = places(figure, "own m ell")
    assert (int(box[0, 0]), int(box[0, 1])) == (4, 4)


def test_a_cell_is_crossed_where_its_interval_holds_0_and_only_there():
    profiles = made_frames.profiles(["m"])
    figure = draw_country_profiles(profiles)
    crossed = sum(len(places(figure, f"holds 0 {ink} m")) for ink in ("black", "white"))
    assert crossed == ((profiles.closeness_low <= 0) & (profiles.closeness_high >= 0)).sum() > 0


def test_models_beyond_the_page_are_left_to_the_table():
    assert "10 more models are in the table." in words(draw_country_profiles(made_frames.many()["country_profiles"]))


def test_groups_have_a_look_each_and_languages_without_one_are_grey():
    both = pd.concat([languages(2, group=1), languages(3, group=2).tail(1)])
    figure = draw_language_map(both)
    looks = {name: artist(figure, f"culture gain m {name}").get_marker() for name in ("l0", "l1", "l2")}
    assert looks["l0"] == looks["l1"] != looks["l2"]
    assert legend_labels(figure) == ["group 1", "group 2"]
    assert legend_labels(draw_language_map(languages())) == ["no groups are named"]


def test_scripts_are_named_in_the_plane_of_plain_distances_alone():
    greek = pd.concat([languages(side=side, script="Greek") for side in ("culture gain", "plain distance")])
    figure = draw_language_map(greek)
    left, right = ([text.get_text() for text in axes.texts] for axes in figure.axes)
    assert left == ["l0", "l1", "l2"]
    assert right == ["l0 (Greek)", "l1 (Greek)", "l2 (Greek)"]


def test_distances_on_the_map_are_those_of_the_table():
    points, _ = language_points(made_frames.pairs(), made_frames.groups())
    gain = points[(points.model == "cultures") & (points.distance == "culture gain")].set_index("language")
    apart = ((gain.loc["eng", ["x", "y"]] - gain.loc["deu", ["x", "y"]]) ** 2).sum() / 2
    assert apart == pytest.approx(0.3, abs=1e-3)
    assert gain.stress.iloc[0] < 0.01


def test_each_score_is_a_dot_beside_its_null():
    scores = made_frames.scores(["m"])
    published = scores[scores.score.isin(["cd", "csp"])]
    figure = draw_published_and_null(published)
    assert places(figure, "score cd m")[0].tolist() == [0.31, 0]
    assert places(figure, "null csp m")[0].tolist() == [0.77, 1]


def test_scores_without_a_number_are_counted_beside_their_row_and_those_without_a_null_have_no_bar():
    scores = pd.DataFrame(
        {"model": ["a", "b", "a"], "score": ["cd", "cd", "csp"], "value": [0.3, None, 0.6], "null": [None, None, 0.7]}
    )
    figure = draw_published_and_null(scores)
    assert "none in 1" in words(figure)
    assert not figure.findobj(lambda one: one.get_gid() == "null cd a")


def test_bars_are_the_shares_of_answers_that_are_not_ok():
    figure = draw_answer_quality(status_counts(made_frames.quality()))
    assert artist(figure, "truncated cultures, ell").get_width() == pytest.approx(4 / 40)
    assert artist(figure, "echo cultures, eng").get_width() == 0
    assert set(legend_labels(figure)) == {"empty", "truncated", "wrong language", "echo"}
    assert "10 of 40" in words(figure)


def test_nothing_wrong_says_so_and_of_many_rows_the_worst_are_shown():
    fine = made_frames.quality().assign(status="ok")
    assert "Nothing." in draw_answer_quality(status_counts(fine)).get_suptitle()
    figure = draw_answer_quality(status_counts(made_frames.many()["answer_quality"]))
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(rows) == MOST_ROWS
    assert rows[0] == "model00, dex"
