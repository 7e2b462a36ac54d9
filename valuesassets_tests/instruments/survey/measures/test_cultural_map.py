import numpy as np
import pandas as pd
import pytest

from valuesassets.answers.quality_report import report_quality, usable_answers
from valuesassets.instruments.survey.material.indicators import INDICATORS, components
from valuesassets.instruments.survey.measures import cultural_map
from valuesassets.instruments.survey.measures.map.points import NOT_DISTINGUISHABLE, PLACED
from valuesassets.instruments.survey.published.axes import average_means, published_position, reference_projector
from valuesassets.instruments.survey.tables import POINTS
from valuesassets.records.errors import HumanDataError, MissingData, ScoringError
from valuesassets_tests.comparing.drawn_rows import drawn_rows
from valuesassets_tests.comparing.planted_grid import answers, demo, human, no_human, peopleless, probe
from valuesassets_tests.instruments.survey.crowds import respondents
from valuesassets_tests.instruments.survey.derived_indicators import placed

PARTS_OF_ALL = [part.partition("@")[0] for indicator in INDICATORS for part in components(indicator)]


def place_on_map(rows, people, study, *more):
    return cultural_map.place_on_map(rows, people, study, *more)["points"]


@pytest.fixture(scope="module")
def points():
    return place_on_map(answers(), human(), demo())


def of(points, kind):
    return points[points["kind"] == kind].set_index("label")


def without(rows, *questions):
    return rows[~rows["question_id"].str.partition("@")[0].isin(questions)]


@pytest.mark.slow
def test_answers_without_content_land_on_a_plausible_secular_spot(points):
    free = of(points, "content_free")
    assert (free.at["uniform answers", "x"], free.at["uniform answers", "y"]) == pytest.approx((0.5, 2.0), abs=0.01)
    # good and don't mind are listed first and last, so respect for authority is 1.5 instead of 2: .52 / 2 lower
    assert free.at["always the first option", "y"] == pytest.approx(2.006 - 0.26, abs=0.01)


@pytest.mark.slow
def test_planted_models_land_near_the_country_that_they_were_planted_with(points):
    for label, row in of(points, "model").filter(like="mono", axis=0).iterrows():
        country = demo().languages[label.split()[-1]].country
        assert np.hypot(*np.subtract((row["x"], row["y"]), published_position(country))) < 0.35


@pytest.mark.slow
def test_planted_and_published_positions_correlate(points):
    models = of(points, "model").filter(like="mono", axis=0)
    published = np.array([published_position(country) for country in models["country"]])
    for number, axis in enumerate(("x", "y")):
        assert np.corrcoef(models[axis].astype(float), published[:, number])[0, 1] > 0.95


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_region_holds_every_point_that_answers_within_their_bounds_can_have():
    """Answers whose probabilities are known to within 5 % of the way to another set of answers."""
    rows, random = answers(), np.random.default_rng(5)
    keys = ["model", "language", "question_id"]

    def moved():
        weights = pd.Series(random.gamma(0.3, size=len(rows)), index=rows.index)
        other = weights / rows.assign(weight=weights).groupby(keys)["weight"].transform("sum")
        return 0.95 * rows["prob"] + 0.05 * other

    rows["prob_forward"] = rows["prob_reversed"] = rows["prob"]
    bounded = rows.assign(prob_low=0.95 * rows["prob"], prob_high=0.95 * rows["prob"] + 0.05)
    boxes = of(place_on_map(bounded, human(), demo()), "model")
    narrow = of(place_on_map(rows, human(), demo()), "model")
    reached = 0.0
    for _ in range(20):
        there = of(
            place_on_map(rows.assign(prob=(prob := moved()), prob_forward=prob, prob_reversed=prob), human(), demo()),
            "model",
        )
        for axis in "xy":
            assert (boxes[f"{axis}_low"] - 1e-9 <= there[axis]).all()
            assert (there[axis] <= boxes[f"{axis}_high"] + 1e-9).all()
            half = (boxes[f"{axis}_high"] - boxes[f"{axis}_low"]) / 2
            reached = max(reached, float((np.abs(there[axis] - narrow[axis]) / half).max()))
    assert reached > 0.3  # the region is not as wide as one likes


def test_uniform_answers_are_hollow_and_called_so():
    rows = answers()
    even = 1 / rows.groupby(["model", "language", "question_id"])["prob"].transform("size")
    rows["prob"] = rows["prob_forward"] = rows["prob_reversed"] = even
    models = of(place_on_map(rows, human(), demo()), "model")
    assert not models["is_distinguishable"].astype(bool).any()
    assert (models["note"] == NOT_DISTINGUISHABLE).all()
    assert models["distance_from_content_free"].astype(float).to_numpy() == pytest.approx(np.zeros(12), abs=1e-9)
    assert (models["distance_low"] == 0).all()


@pytest.mark.parametrize("missing", [("v7",), ("v170",), ("v7", "v170", "v63")])
def test_uniform_answers_are_hollow_whatever_indicators_they_lack(missing):
    rows = without(answers(), *missing)
    even = 1 / rows.groupby(["model", "language", "question_id"])["prob"].transform("size")
    rows["prob"] = rows["prob_forward"] = rows["prob_reversed"] = even
    models = of(place_on_map(rows, human(), demo()), "model")
    assert (models["n_indicators"] == 10 - len(missing)).all()
    assert not models["is_distinguishable"].astype(bool).any()
    assert models["distance_from_content_free"].astype(float).to_numpy() == pytest.approx(np.zeros(12), abs=1e-9)


def test_a_family_that_is_not_reliable_has_no_verdict():
    reliability = {"reference-mono": 0.1, "reference-multi": 0.9}
    tables = cultural_map.place_on_map(answers(), human(), demo(), None, reliability)
    verdicts = tables["tests"][tables["tests"]["test_family"] == "map"].set_index("model")
    assert verdicts.at["reference-mono", "verdict"] == "not tested"
    assert "not reliable (generalizability 0.10)" in verdicts.at["reference-mono", "note"]
    assert np.isnan(verdicts.at["reference-mono", "p"])
    assert verdicts.at["reference-multi", "p"] < 0.05


@pytest.mark.slow
def test_distances_from_no_content_lie_in_their_intervals(points):
    models = of(points, "model")
    assert (models["distance_low"] <= models["distance_from_content_free"]).all()
    assert (models["distance_from_content_free"] <= models["distance_high"]).all()
    assert (models["is_distinguishable"] == (models["distance_low"] > 0)).all()


@pytest.mark.slow
def test_a_missing_indicator_is_set_to_the_pooled_mean_and_counted(points):
    rows = answers()
    fewer = rows[(rows["model"] != "reference-mono") | (rows["question_id"] != "v31")]
    models = of(place_on_map(fewer, human(), demo()), "model")
    row, before = models.loc["reference-mono eng"], of(points, "model").loc["reference-mono eng"]
    assert (row["n_indicators"], row["missing"], row["drawn"]) == (9, "A165", True)
    pooled = human().query("question_id == 'v31'").groupby("response_value")["prob"].mean()
    own = rows.query("model == 'reference-mono' and language == 'eng' and question_id == 'v31'")
    change = (pooled @ [1, 2]) - own["prob"].to_numpy() @ [1, 2]
    slope = reference_projector().slopes[0][list(INDICATORS).index("A165")]
    assert row["x"] - before["x"] == pytest.approx(slope * change)


def test_an_indicator_that_no_model_has_is_taken_from_the_people_too():
    points = place_on_map(without(answers(), "v31"), human(), demo())
    assert (of(points, "human")["missing"] == "A165").all()
    assert any("No model has A165" in note for note in points.attrs["notes"])


def test_under_six_indicators_a_point_is_not_drawn_and_the_notes_say_so():
    few = without(answers(), "v7", "v31", "v63", "v98", "v110")
    points = place_on_map(few, human(), demo())
    models = of(points, "model")
    assert not models["drawn"].any()
    assert (models["n_indicators"] == 5).all()
    assert any("Not drawn, under 6" in note for note in points.attrs["notes"])
    assert models[[*PLACED]].isna().all(axis=None)
    assert models["note"].str.startswith("not drawn: 5 of 10 indicators").all()


def test_a_cell_without_an_indicator_has_no_place_of_its_own_while_others_have_theirs():
    rows = answers()
    is_bare = (rows["model"] == "reference-mono") & (rows["language"] == "eng")
    some = pd.concat([without(rows[is_bare], *PARTS_OF_ALL), rows[~is_bare]], ignore_index=True)
    tables = cultural_map.place_on_map(some, human(), demo())
    models = of(tables["points"], "model")
    assert models.loc["reference-mono eng", [*PLACED]].isna().all()
    assert models.drop(index="reference-mono eng")["x"].notna().all()
    sensitivity = tables["sensitivity"]
    assert sensitivity[(sensitivity["model"] == "reference-mono") & (sensitivity["language"] == "eng")].empty


def test_an_indicator_needs_all_of_its_parts():
    models = of(place_on_map(without(answers(), "v95"), human(), demo()), "model")
    assert (models["missing"] == "Y003").all()


def test_without_people_the_mean_of_five_countries_stands_in_and_the_notes_say_so():
    points = place_on_map(answers(), no_human(), peopleless())
    assert of(points, "human").empty
    pooled = of(points, "pooled_human").iloc[0]
    assert (pooled["x"], pooled["y"]) == pytest.approx(placed(average_means()))
    assert any("human.source = 'none'" in note for note in points.attrs["notes"])


@pytest.mark.slow
def test_the_table_has_its_columns_and_every_published_country(points):
    assert list(points.columns) == POINTS.schema_with(()).names
    assert len(of(points, "published")) == 109
    assert points["drawn"].dtype == bool


@pytest.mark.slow
def test_planted_points_say_so(points):
    assert (of(points, "model")["source"] == "planted").all()
    assert any("planted" in note for note in points.attrs["notes"])


def fitted(projector="fitted"):
    return demo().model_copy(update={"map": demo().map.model_copy(update={"projector": projector})})


@pytest.fixture(scope="module")
def fitted_map():
    return cultural_map.place_on_map(answers(), human(), fitted(), respondents(n=1000))


def in_wordings(frames):
    """Usable answers of several probes, one wording each."""
    probed = pd.concat([rows.assign(wording=k) for k, rows in enumerate(frames)], ignore_index=True)
    return usable_answers(probed, report_quality(probed, demo().cells(), demo().thresholds), by_wording=True)


def noisy_probe(seed):
    rows, random = probe(), np.random.default_rng(seed)
    for column in ("prob_forward", "prob_reversed"):
        moved = rows[column] * random.uniform(0.7, 1.3, len(rows))
        rows[column] = moved / moved.groupby([rows[name] for name in ("model", "language", "question_id")]).transform(
            "sum"
        )
    return rows.assign(prob_averaged=(rows["prob_forward"] + rows["prob_reversed"]) / 2)


@pytest.mark.slow
def test_a_box_spans_every_order_of_every_wording():
    wordings = [noisy_probe(seed) for seed in range(3)]
    models = of(place_on_map(in_wordings(wordings), human(), demo()), "model")
    assert (models["n_views"] == 6).all()
    one_by_one = [
        of(place_on_map(answers(rows.assign(prob_averaged=rows[column])), human(), demo()), "model")
        for rows in wordings
        for column in ("prob_forward", "prob_reversed")
    ]
    for axis in ("x", "y"):
        ends = np.array([each[axis].to_numpy(dtype=float) for each in [*one_by_one, models]])
        assert models[f"{axis}_low"].to_numpy(dtype=float) == pytest.approx(ends.min(axis=0))
        assert models[f"{axis}_high"].to_numpy(dtype=float) == pytest.approx(ends.max(axis=0))


def test_what_one_wording_lacks_is_there_as_it_is_on_average():
    rows = noisy_probe(0)
    is_lacking = rows["question_id"] == "v63"
    models = of(place_on_map(in_wordings([rows, rows[~is_lacking]]), human(), demo()), "model")
    mean = rows.copy()
    for column in ("prob_forward", "prob_reversed"):
        mean[column] = mean[column].where(~is_lacking, mean["prob_averaged"])
    whole = of(place_on_map(in_wordings([rows, mean]), human(), demo()), "model")
    ends = ["x", "x_low", "x_high", "y", "y_low", "y_high"]
    assert models[ends].to_numpy(dtype=float) == pytest.approx(whole[ends].to_numpy(dtype=float))
    assert (models["n_indicators"] == 10).all()


def test_always_the_first_option_is_hollow_and_called_so():
    rows = answers()
    first = (
        rows.groupby(["model", "language", "question_id"])["response_value"].transform("min") == rows["response_value"]
    )
    last = (
        rows.groupby(["model", "language", "question_id"])["response_value"].transform("max") == rows["response_value"]
    )
    rows["prob_forward"], rows["prob_reversed"] = first.astype(float), last.astype(float)
    rows["prob"] = (rows["prob_forward"] + rows["prob_reversed"]) / 2
    models = of(place_on_map(rows, human(), demo()), "model")
    assert (models["note"] == NOT_DISTINGUISHABLE).all()
    assert (models["nearest_content_free"] == "always the first option").all()


def test_a_family_that_is_not_reliable_gives_way_to_the_table():
    tables = cultural_map.place_on_map(
        answers(), human(), demo(), None, {"reference-mono": 0.8, "reference-multi": 0.31}
    )
    models = of(tables["points"], "model")
    assert models.groupby("model")["drawn"].all().to_dict() == {"reference-mono": True, "reference-multi": False}
    assert "coefficient of 0.31" in models.at["reference-multi eng", "note"]
    assert any(
        "reference-multi; the table of reliability takes their place" in note for note in tables["notes"]["note"]
    )


def test_a_coefficient_that_could_not_be_had_does_not_pass_the_gate():
    models = of(place_on_map(answers(), human(), demo(), None, {"reference-mono": float("nan")}), "model")
    assert not models.filter(like="mono", axis=0)["drawn"].any()


@pytest.mark.slow
def test_leaving_an_indicator_out_moves_the_point_as_if_it_were_missing():
    tables = cultural_map.place_on_map(answers(), human(), demo())
    without_trust = of(place_on_map(answers()[answers()["question_id"] != "v31"], human(), demo()), "model")
    moved = tables["sensitivity"].query("kind == 'model' and indicator == 'A165'")
    assert len(tables["sensitivity"]) == (12 + 6) * 10
    for row in moved.to_dict("records"):
        other = without_trust.loc[f"{row['model']} {row['language']}"]
        assert (row["x"], row["y"]) == pytest.approx((other["x"], other["y"]))
        assert row["shift"] == pytest.approx(np.hypot(row["shift_x"], row["shift_y"]))


def test_a_family_agrees_with_its_countries_on_the_planted_grid():
    tables = cultural_map.place_on_map(answers(), human(), demo())
    verdicts = tables["tests"].dropna(subset="verdict").set_index("model")
    assert (verdicts["verdict"] == "agrees with its countries").all()
    assert any("reference-mono: its points agree with its 6 countries" in note for note in tables["notes"]["note"])


def test_without_people_families_are_held_against_published_positions():
    tables = cultural_map.place_on_map(answers(), no_human(), peopleless())
    verdicts = tables["tests"].dropna(subset="verdict")
    assert (verdicts["note"] == "against published positions").all()
    assert (verdicts["verdict"] == "agrees with its countries").all()


def test_one_model_in_two_languages_is_placed_but_not_tested():
    rows = answers().query("model == 'reference-mono' and language in ['eng', 'pol']")
    tables = cultural_map.place_on_map(rows, human(), demo())
    assert of(tables["points"], "model")["drawn"].all()
    assert tables["tests"].dropna(subset="verdict")["verdict"].tolist() == ["not tested"]


def test_respondents_take_the_place_of_distributions_and_are_resampled_whole():
    crowd = respondents(("GB", "PL"), n=300)
    tables = cultural_map.place_on_map(answers(), human(), demo(), crowd)
    people = of(tables["points"], "human")
    assert people["country"].tolist() == ["GB", "PL"]
    assert (people["source"] == "made-up.sav").all()
    assert any("bootstrap over whole respondents" in note for note in tables["notes"]["note"])
    assert any("2 pairs of points" in note for note in tables["notes"]["note"])


def test_fitted_axes_have_no_residual_and_widen_boxes_by_half_of_a_countrys_interval(fitted_map):
    points = fitted_map["points"]
    assert points[["residual_sd_x", "residual_sd_y"]].isna().all(axis=None)
    people, models = of(points, "human"), of(points, "model")
    half = ((people["x_high"] - people["x_low"]) / 2).astype(float).median()
    assert models["margin_x"].astype(float).to_numpy() == pytest.approx(np.full(12, half))
    assert "congruence" in " ".join(fitted_map["notes"]["note"])
    assert points.attrs["unlike"] == []


def test_fitted_axes_place_the_people_around_the_middle(fitted_map):
    pooled = of(fitted_map["points"], "pooled_human").iloc[0]
    # the scores' means are 0 over people, the pooled point is that of means over all who answered
    assert (pooled["x"], pooled["y"]) == pytest.approx((0, 0), abs=0.02)


def test_published_countries_come_to_fitted_axes_by_procrustes_or_not_at_all(fitted_map):
    assert len(of(fitted_map["points"], "published")) == 109
    assert any("Procrustes fit (scale" in note for note in fitted_map["notes"]["note"])
    three = cultural_map.place_on_map(answers(), human(), fitted(), respondents(("GB", "PL", "BG"), n=400))
    assert of(three["points"], "published").empty
    assert any("Published positions are not drawn: 3 of their countries" in note for note in three["notes"]["note"])


def test_a_country_without_a_published_position_is_drawn_and_left_out_of_the_comparison():
    tables = cultural_map.place_on_map(answers(), human(), fitted(), respondents(("GB", "DE", "FR", "PL", "XK"), n=300))
    assert "XK" in of(tables["points"], "human").index
    people = tables["tests"].iloc[0]
    assert (people["n"], people["note"]) == (4, "no published position: XK")


def test_an_indicator_that_no_respondent_answered_is_missing_everywhere():
    crowd = respondents(n=400)
    crowd["E025"] = np.nan
    tables = cultural_map.place_on_map(answers(), human(), fitted(), crowd)
    assert (of(tables["points"], "model")["missing"] == "E025").all()
    assert tables["projector"].set_index("indicator").at["E025", "slope_x"] == 0
    assert np.isfinite(tables["points"][["x", "y"]].astype(float)).all(axis=None)


def test_people_asked_too_little_are_not_drawn():
    crowd = respondents(("GB", "PL"), n=100)
    crowd.loc[crowd["country"] == "PL", list(INDICATORS[:5])] = np.nan
    tables = cultural_map.place_on_map(answers(), human(), demo(), crowd)
    assert of(tables["points"], "human")["drawn"].tolist() == [True, False]
    assert any("People not drawn, under 6 indicators" in note and "Poland" in note for note in tables["notes"]["note"])


def test_answers_that_do_not_sum_to_one_are_named():
    people = human()
    people.loc[(people["country"] == "PL") & (people["question_id"] == "v7"), "prob"] *= 1.1
    with pytest.raises(HumanDataError, match=r"country PL.*question v7"):
        place_on_map(answers(), people, demo())
    rows = answers()
    rows.loc[(rows["language"] == "pol") & (rows["question_id"] == "v7"), "prob"] *= 1.1
    with pytest.raises(ScoringError, match="model reference-mono, language pol, wording 0, question v7"):
        place_on_map(rows, human(), demo())


def test_fitted_axes_that_respondents_do_not_carry_are_refused():
    with pytest.raises(MissingData, match=r"map\.projector = 'fitted'"):
        place_on_map(answers(), human(), fitted())


def test_the_tables_have_their_names_and_the_notes_their_place():
    tables = cultural_map.place_on_map(answers(), human(), demo())
    assert list(tables) == ["points", "projector", "sensitivity", "tests", "notes"]
    assert tables["notes"]["note"].tolist() == tables["points"].attrs["notes"]
    assert 3 <= len(tables["points"].attrs["caption"]) <= 7
    countries = {code: demo().languages[code].country for code in answers()["language"].unique()}
    pairs = ", ".join(f"{code} with {country}" for code, country in countries.items())
    assert f"Compare models with people: {pairs}." in tables["points"].attrs["caption"]
    alone = cultural_map.place_on_map(answers(), no_human(), demo())["points"].attrs["caption"]
    assert not any(line.startswith("Compare models with people") for line in alone)


def test_the_same_seed_gives_the_same_map():
    one, other = (cultural_map.place_on_map(answers(), human(), demo(), respondents(n=50)) for _ in range(2))
    pd.testing.assert_frame_equal(one["points"], other["points"])
    pd.testing.assert_frame_equal(one["tests"], other["tests"])


@pytest.mark.slow
def test_a_point_of_draws_says_how_far_it_moves_when_it_is_drawn_again_and_its_box_reaches_there():
    exact = answers()
    exact = exact[(exact["model"] == "reference-multi") & (exact["language"] == "eng")]
    whole = of(place_on_map(exact, no_human(), demo()), "model").iloc[0]
    again = [
        of(place_on_map(drawn_rows(exact, 40, ["reference-multi"], seed), no_human(), demo()), "model").iloc[0]
        for seed in range(60)
    ]
    drawn = pd.DataFrame(again)
    for axis in "xy":
        sd = drawn[axis].astype(float).std()
        assert np.sqrt((drawn[f"draws_sd_{axis}"] ** 2).mean()) == pytest.approx(sd, rel=0.25)
        assert drawn[axis].mean() == pytest.approx(whole[axis], abs=3 * sd / np.sqrt(len(drawn)))
        within = (drawn[f"{axis}_low"] <= whole[f"{axis}_low"]) & (whole[f"{axis}_high"] <= drawn[f"{axis}_high"])
        assert within.mean() > 0.85
    assert 0.05 < drawn["draws_sd_x"].mean() < 0.25
    mixed = place_on_map(drawn_rows(answers(), 40, ["reference-multi"]), no_human(), demo())
    models = of(mixed, "model")
    is_exact = models["model"] != "reference-multi"
    assert (models.loc[is_exact, ["draws_sd_x", "draws_sd_y"]] == 0).all().all()
    assert (models.loc[~is_exact, ["draws_sd_x", "draws_sd_y"]] > 0).all().all()
    assert {"draws_sd_x", "draws_sd_y"} == POINTS.where_used
    assert any("draws_sd_x" in note for note in mixed.attrs["notes"])
    assert not {*place_on_map(answers(), no_human(), demo())} & POINTS.where_used
