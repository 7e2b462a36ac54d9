import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from valuesassets.instruments.survey.distances import derive_distances
from valuesassets_tests.instruments.survey.planted_grid import answers

A, B = ("reference-mono", "eng"), ("reference-multi", "pol")


@pytest.fixture(scope="module")
def found():
    return derive_distances(answers())


def matrix(found, column):
    square = found.pairs.set_index(["model_a", "language_a", "model_b", "language_b"])[column].unstack([2, 3])
    return square[list(square.index)]


def test_the_matrix_is_whole_symmetric_and_zero_on_its_diagonal(found):
    for column in ("jsd_distance", "w1_unit"):
        square = matrix(found, column).to_numpy()
        assert square.shape == (12, 12)
        assert square == pytest.approx(square.T)
        assert np.diag(square) == pytest.approx(np.zeros(12), abs=1e-7)


def test_one_distance_agrees_with_scipy_over_the_shared_items(found):
    by_cell = {
        cell: rows.set_index(["question_id", "response_value"])["prob"]
        for cell, rows in answers().groupby(["model", "language"])
    }
    shared = sorted({q for q, _ in by_cell[A].index} & {q for q, _ in by_cell[B].index})
    oracle = np.mean([jensenshannon(by_cell[A][q].sort_index(), by_cell[B][q].sort_index(), base=2) for q in shared])
    assert matrix(found, "jsd_distance").loc[A, B] == pytest.approx(oracle)
    assert matrix(found, "n_items").loc[A, B] == len(shared)


def test_w1_rests_on_items_with_an_order_only(found):
    assert (found.pairs["n_items_w1"] < found.pairs["n_items"]).all()


def test_every_cell_has_a_point_and_the_stress_is_stated(found):
    assert len(found.points) == 12
    assert 0 < found.points["stress"].iloc[0] < 0.3
    assert "normalised stress" in found.notes["note"].iloc[0]


def test_two_cells_have_distances_but_no_plane():
    few = derive_distances(answers().query("model == 'reference-mono' and language in ['eng', 'pol']"))
    assert len(few.pairs) == 4
    assert few.points.empty
    assert "2 cells" in few.notes["note"].iloc[0]


def test_cells_that_share_no_item_have_no_distance():
    rows = answers().query("model == 'reference-mono' and language in ['eng', 'pol', 'deu']")
    rows = rows[(rows["language"] != "eng") ^ (rows["question_id"] == "v31")]
    few = derive_distances(rows)
    lone = few.pairs.query("language_a == 'eng' and language_b == 'pol'").iloc[0]
    assert lone["n_items"] == 0
    assert np.isnan(lone["jsd_distance"])
    assert few.points.empty
