import numpy as np
import pytest

from valuesassets.instruments.survey.cultural_map import COLUMNS, NOT_DISTINGUISHABLE, place_on_map
from valuesassets.instruments.survey.map_axes import average_means, published_position, reference_projector
from valuesassets_tests.instruments.survey.planted_grid import answers, demo, human, no_human, peopleless


@pytest.fixture(scope="module")
def points():
    return place_on_map(answers(), human(), demo())


def of(points, kind):
    return points[points["kind"] == kind].set_index("label")


def without(rows, *questions):
    return rows[~rows["question_id"].str.partition("@")[0].isin(questions)]


def test_answers_without_content_land_on_a_plausible_secular_spot(points):
    free = of(points, "content_free")
    assert (free.at["uniform answers", "x"], free.at["uniform answers", "y"]) == pytest.approx((0.5, 2.0), abs=0.01)
    # good and don't mind are listed first and last, so respect for authority is 1.5 instead of 2: .52 / 2 lower
    assert free.at["always the first option", "y"] == pytest.approx(2.006 - 0.26, abs=0.01)


def test_planted_models_land_near_the_country_that_they_were_planted_with(points):
    for label, row in of(points, "model").filter(like="mono", axis=0).iterrows():
        country = demo().languages[label.split()[-1]].country
        assert np.hypot(*np.subtract((row["x"], row["y"]), published_position(country))) < 0.35


def test_planted_and_published_positions_correlate(points):
    models = of(points, "model").filter(like="mono", axis=0)
    published = np.array([published_position(country) for country in models["country"]])
    for number, axis in enumerate(("x", "y")):
        assert np.corrcoef(models[axis].astype(float), published[:, number])[0, 1] > 0.95


def test_people_lie_in_their_intervals_near_their_published_position(points):
    for _, row in of(points, "human").iterrows():
        assert row["x_low"] <= row["x"] <= row["x_high"]
        assert row["y_low"] <= row["y"] <= row["y_high"]
        assert np.hypot(*np.subtract((row["x"], row["y"]), published_position(row["country"]))) < 0.25


def test_a_models_bar_spans_both_orders():
    rows = answers()
    rows["prob_forward"] = rows["prob_reversed"] = rows["prob"]
    models = of(place_on_map(rows, human(), demo()), "model")
    assert models["x_low"].to_numpy() == pytest.approx(models["x_high"].to_numpy())


def test_uniform_answers_are_hollow_and_called_so():
    rows = answers()
    even = 1 / rows.groupby(["model", "language", "question_id"])["prob"].transform("size")
    rows["prob"] = rows["prob_forward"] = rows["prob_reversed"] = even
    models = of(place_on_map(rows, human(), demo()), "model")
    assert not models["is_distinguishable"].astype(bool).any()
    assert (models["note"] == NOT_DISTINGUISHABLE).all()
    assert models["distance_from_content_free"].astype(float).to_numpy() == pytest.approx(np.zeros(12), abs=1e-9)
    assert (models["distance_low"] == 0).all()


def test_distances_from_no_content_lie_in_their_intervals(points):
    models = of(points, "model")
    assert (models["distance_low"] <= models["distance_from_content_free"]).all()
    assert (models["distance_from_content_free"] <= models["distance_high"]).all()
    assert (models["is_distinguishable"] == (models["distance_low"] > 0)).all()


def test_a_missing_indicator_is_set_to_the_pooled_mean_and_counted(points):
    rows = answers()
    fewer = rows[(rows["model"] != "reference-mono") | (rows["question_id"] != "v31")]
    models = of(place_on_map(fewer, human(), demo()), "model")
    row, before = models.loc["reference-mono eng"], of(points, "model").loc["reference-mono eng"]
    assert (row["n_indicators"], row["missing"], row["drawn"]) == (9, "A165", True)
    pooled = human().query("question_id == 'v31'").groupby("response_value")["prob"].mean()
    own = rows.query("model == 'reference-mono' and language == 'eng' and question_id == 'v31'")
    change = (pooled @ [1, 2]) - own["prob"].to_numpy() @ [1, 2]
    slope = reference_projector().slopes[0][reference_projector().indicators.index("A165")]
    assert row["x"] - before["x"] == pytest.approx(slope * change)


def test_an_indicator_that_no_model_has_is_taken_from_the_people_too():
    found = place_on_map(without(answers(), "v31"), human(), demo())
    assert (of(found, "human")["missing"] == "A165").all()
    assert any("No model has A165" in note for note in found.attrs["notes"])


def test_under_six_indicators_a_point_is_not_drawn_and_the_notes_say_so():
    few = without(answers(), "v7", "v31", "v63", "v98", "v110")
    found = place_on_map(few, human(), demo())
    models = of(found, "model")
    assert not models["drawn"].any()
    assert (models["n_indicators"] == 5).all()
    assert any("Not drawn, under 6" in note for note in found.attrs["notes"])


def test_an_indicator_needs_all_of_its_parts():
    models = of(place_on_map(without(answers(), "v95"), human(), demo()), "model")
    assert (models["missing"] == "Y003").all()


def test_without_people_the_mean_of_five_countries_stands_in_and_the_notes_say_so():
    found = place_on_map(answers(), no_human(), peopleless())
    assert of(found, "human").empty
    pooled = of(found, "pooled_human").iloc[0]
    assert (pooled["x"], pooled["y"]) == pytest.approx(reference_projector().place(average_means()))
    assert any("human.source = 'none'" in note for note in found.attrs["notes"])


def test_the_table_has_its_columns_and_every_published_country(points):
    assert list(points.columns) == COLUMNS
    assert len(of(points, "published")) == 109
    assert points["drawn"].dtype == bool


def test_planted_points_say_so(points):
    assert (of(points, "model")["source"] == "planted").all()
    assert any("planted" in note for note in points.attrs["notes"])
