"""Tables as they are written become figures; what is not there is not drawn, and nothing of it raises."""

import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.analyses import page_analyses
from valuesassets.instruments.cultural_robustness.measures.language_pairs import pair_square
from valuesassets.instruments.cultural_robustness.published.columns import published_scores
from valuesassets.instruments.cultural_robustness.report.pictures import (
    PUBLISHED,
    language_points,
    published_rows,
    ratio_points,
    status_counts,
)
from valuesassets_tests.figures.pictures import words
from valuesassets_tests.instruments.cultural_robustness import made_frames
from valuesassets_tests.instruments.cultural_robustness.made_vectors import answer_rows, drawn_cells
from valuesassets_tests.reporting.runs import drawn

ANALYSES = page_analyses()
PICTURES = [drawing.name for analysis in ANALYSES.values() for drawing in analysis.drawings]


@pytest.mark.slow
def test_every_figure_is_drawn_of_all_tables_and_those_of_scores_of_scores_alone():
    assert list(drawn(ANALYSES, made_frames.every_frame(), is_planted=True)) == PICTURES
    of_scores = drawn(ANALYSES, {"scores": made_frames.scores()}, is_planted=False)
    assert list(of_scores) == ["seed_and_null", "diversity_robustness"]


@pytest.mark.parametrize("name", list(made_frames.every_frame()))
@pytest.mark.slow
def test_a_table_that_is_missing_or_empty_raises_nothing(name):
    frames = made_frames.every_frame(["cultures"])
    missing = {each: frame for each, frame in frames.items() if each != name}
    empty = frames | {name: frames[name].head(0)}
    assert list(drawn(ANALYSES, missing, is_planted=True)) == list(drawn(ANALYSES, empty, is_planted=True))


def test_scores_of_one_kind_alone_draw_what_they_have():
    scores = made_frames.scores(["m"])
    ours = scores[~scores.score.isin(PUBLISHED)]
    assert list(drawn(ANALYSES, {"scores": ours}, is_planted=False)) == ["diversity_robustness"]
    published = scores[scores.score.isin(PUBLISHED)]
    assert list(drawn(ANALYSES, {"scores": published}, is_planted=False)) == ["seed_and_null"]


def test_the_published_scores_are_those_that_the_published_columns_give():
    scored = published_scores(pd.DataFrame(answer_rows(drawn_cells(1))), "m")
    assert list(scored.scores["score"]) == list(PUBLISHED)
    assert list(published_rows(scored.scores.sample(frac=1, random_state=0))["score"]) == list(PUBLISHED)


def test_a_model_that_lacks_a_ratio_has_no_point_but_its_numbers_and_the_reason():
    points, without = ratio_points(made_frames.scores())
    assert points["model"].tolist() == ["cultures"]
    assert points[["diversity", "diversity_low", "robustness_high"]].to_numpy().tolist() == [[0.62, 0.5, 0.97]]
    assert without == [("no-signal", f"both refused, {made_frames.REFUSED}")]
    scores = made_frames.scores(["m"])
    lacking = scores.assign(
        value=scores.value.where(scores.score != "diversity"),
        status=scores.status.where(scores.score != "diversity", "undefined"),
        reason=scores.reason.where(scores.score != "diversity", "no answers without a country"),
    )
    _, without = ratio_points(lacking)
    assert without == [("m", "diversity undefined, no answers without a country; robustness 0.91 [0.85, 0.97]")]


def test_a_square_of_pairs_is_symmetric_with_nothing_between_a_language_and_itself():
    languages, square = pair_square(made_frames.pairs(["m"]), "unanchored_distance")
    assert languages == list(made_frames.SIX)
    assert (square == square.T).all()
    assert square.diagonal().tolist() == [0.0] * 6
    assert square[0, 1] == pytest.approx(0.1 + 0.2 * 0.3)


def test_two_languages_have_no_plane_and_one_kind_of_answers_has_no_gain_and_both_are_said():
    two = made_frames.pairs(["m"], ["eng", "deu"])
    points, notes = language_points(two, made_frames.groups([]))
    assert not len(points)
    assert notes[0] == "m has no plane of culture gain: 2 languages lie on a line."
    plain = made_frames.pairs(["m"]).assign(culture_gain=None)
    points, notes = language_points(plain, made_frames.groups([]))
    assert set(points["distance"]) == {"plain distance"}
    assert notes == ["m has no plane of culture gain: answers of one kind are missing."]
    figure = drawn(ANALYSES, {"language_pairs": plain}, is_planted=False)["language_map"]
    assert notes[0] in words(figure)
    assert "not available" in words(figure)


def test_statuses_are_counted_by_model_and_language():
    counts = status_counts(made_frames.quality()).set_index(["model", "language", "status"])["n"].sort_index()
    assert counts["cultures", "ell"].to_dict() == {"empty": 2, "truncated": 4, "wrong_language": 2, "echo": 2, "ok": 30}
    assert counts.sum() == 480
