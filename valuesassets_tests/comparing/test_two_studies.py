"""Two studies side by side: what was planted between them is found, and between two runs of one there is nothing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from valuesassets.comparing.two_studies import (
    Side,
    compare_answers,
    compare_cells,
    compare_points,
    compare_prompts,
    compare_settings,
    sentences,
)
from valuesassets.records.errors import MissingData
from valuesassets_tests.comparing.planted_grid import probe
from valuesassets_tests.figures.made_up_analyses import map_frame

ONE = Side("one", {"seed": 1}, {"survey/m/deu": {"revision": "a"}}, {"survey/deu": {"v1/0/forward": "Work?"}})


@pytest.fixture(scope="module")
def rows():
    return probe()


def moved(rows, seed, noise=0.0, tilt=None):
    """Answers as another run gives them: with noise, and moved up the scale where `tilt` is true."""
    random, shares = np.random.default_rng(seed), rows["prob_averaged"].to_numpy(dtype=float)
    shares = shares * np.exp(noise * random.normal(size=len(rows)))
    if tilt is not None:
        shares = shares * np.exp(np.where(tilt(rows), 0.4 * rows["response_value"], 0.0))
    keys = [rows[name] for name in ("model", "language", "question_id")]
    return rows.assign(prob_averaged=shares / pd.Series(shares, rows.index).groupby(keys).transform("sum"))


def test_between_two_runs_of_one_study_nothing_differs(rows):
    found = compare_answers(Side("one", probe=rows), Side("two", probe=rows.sample(frac=1, random_state=1)))
    assert len(found["cells"]) == 12
    assert not found["cells"]["differs"].any()
    assert not found["questions"]["differs"].any()
    assert found["cells"]["jsd_distance"].max() < 1e-7
    assert all("every mean is the same" in said for said in sentences(found))


@pytest.mark.slow
def test_noise_alone_is_seldom_taken_for_a_difference(rows):
    """Each table as a whole errs in one of twenty cases; in 20 runs more than 5 have a probability below 0.1 %."""
    found = [compare_answers(Side("one", probe=rows), Side("two", probe=moved(rows, seed, 0.3))) for seed in range(20)]
    for table in ("cells", "questions"):
        assert sum(each[table]["differs"].any() for each in found) <= 5


def test_a_family_that_answers_higher_is_found_in_each_of_its_cells_and_no_other(rows):
    other = moved(rows, 1, 0.1, lambda each: each["model"] == "reference-multi")
    cells = compare_answers(Side("one", probe=rows), Side("two", probe=other))["cells"]
    assert (cells["differs"] == (cells["model"] == "reference-multi")).all()
    assert (cells.loc[cells["differs"], "difference_low"] > 0).all()
    back = compare_answers(Side("two", probe=other), Side("one", probe=rows))["cells"]
    assert np.allclose(back["difference"], -cells["difference"])


def test_one_question_that_is_answered_otherwise_in_every_language_is_found(rows):
    other = moved(rows, 1, 0.02, lambda each: (each["question_id"] == "v39") & (each["model"] == "reference-mono"))
    found = compare_answers(Side("one", probe=rows), Side("two", probe=other))
    questions = found["questions"]
    assert questions.loc[questions["differs"], ["model", "question_id"]].to_numpy().tolist() == [
        ["reference-mono", "v39"]
    ]
    assert not found["cells"]["differs"].any()
    assert "1 of" in list(sentences(found))[1]
    assert "most reference-mono v39, by +" in list(sentences(found))[1]


def test_a_difference_is_measured_in_units_of_the_scale(rows):
    of_one = (rows["model"] == "reference-mono") & (rows["language"] == "deu") & (rows["question_id"] == "v39")
    one = rows[of_one].assign(prob_averaged=(rows["response_value"] == 1).astype(float))
    other = rows[of_one].assign(prob_averaged=(rows["response_value"] == 10).astype(float))
    found = compare_answers(Side("one", probe=one), Side("two", probe=other))
    assert found["cells"].loc[0, ["difference", "n"]].tolist() == [1.0, 1]
    assert np.isnan(found["cells"].loc[0, "difference_low"])  # a single question has no interval
    assert not found["cells"]["differs"].any()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows.head(0), "two: no answers are stored that could be compared"),
        (lambda rows: rows.assign(status="failed"), "two: no answers are stored"),
        (
            lambda rows: rows.assign(question_id="w" + rows["question_id"]),
            "no question in common, v1, v5, v6 here and w",
        ),
        (lambda rows: rows.assign(model="other"), "no cell in common, reference-mono/eng, "),
    ],
)
def test_what_has_nothing_in_common_is_one_line(rows, change, said):
    with pytest.raises(MissingData) as caught:
        compare_answers(Side("one", probe=rows), Side("two", probe=change(rows)))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cells_prompts_and_settings_that_differ_are_listed_and_no_others():
    other = replace(
        ONE,
        settings={"seed": 2, "owners": "team:x"},
        cells={"survey/m/deu": {"revision": "b"}, "survey/m/fra": {}},
        prompts={"survey/deu": {"v1/0/forward": "Work!", "v2/0/forward": "Family?"}},
    )
    assert compare_settings(ONE, other).to_numpy().tolist() == [["seed", "1", "2"], ["owners", "", "team:x"]]
    assert compare_cells(ONE, other).to_numpy().tolist() == [
        ["survey/m/deu", "revision", "a", "b"],
        ["survey/m/fra", "cell", "not read", "read"],
    ]
    assert compare_prompts(ONE, other).to_numpy().tolist() == [
        ["survey/deu", 0, 1, 0, 1, "v1/0/forward", "Work?", "Work!"]
    ]
    assert not sum(len(each(ONE, ONE)) for each in (compare_settings, compare_cells, compare_prompts))
    with pytest.raises(MissingData, match="a folder of results does not say its settings"):
        compare_settings(ONE, Side("two"))


def test_a_point_that_has_moved_is_told_from_those_that_have_not_where_the_axes_are_the_same():
    points = map_frame(["deu", "eng"], ["m"]).assign(margin_x=0.01, margin_y=0.01)
    axes = pd.DataFrame({"indicator": ["A008"], "slope_x": [0.3], "slope_y": [0.1]})
    one = Side("one", points=points, axes=axes)
    far = points.copy()
    far.loc[(far["kind"] == "model") & (far["language"] == "deu"), ["x", "x_low", "x_high"]] += 3.0
    found = compare_points(one, Side("two", points=far, axes=axes)).set_index("language")
    assert found["differs_x"].to_dict() == {"deu": True, "eng": False}
    assert found.loc["deu", ["dx", "dy"]].tolist() == pytest.approx([3.0, 0.0])
    assert found.loc["deu", "dx_low"] < 3.0 < found.loc["deu", "dx_high"]
    assert not found["differs_y"].any()
    with pytest.raises(MissingData, match="axes of their own"):
        compare_points(one, Side("two", points=far, axes=axes.assign(slope_x=0.2)))
    with pytest.raises(MissingData, match="two: there is no map"):
        compare_points(one, Side("two"))
