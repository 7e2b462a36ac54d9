"""How many rows go through a model at a time: by figures, since the cards that they stand for are not here."""

from dataclasses import replace

import pytest

from valuesassets.models import row_width
from valuesassets.models.loading import load_model
from valuesassets.models.row_width import choose_width, fitting_rows

GIB = 2**30


@pytest.mark.parametrize(
    ("memories", "weights", "rows"),
    [
        ([80 * GIB], 14 * GIB, 256),  # 33 GiB for rows of an eighth: 264 of them
        ([80 * GIB] * 2, 120 * GIB, 128),
        ([80 * GIB], 120 * GIB, 1),
        ([80 * GIB] * 8, 14 * GIB, 512),
    ],
)
def test_weights_over_several_cards_leave_what_all_of_them_have_beside(memories, weights, rows):
    assert fitting_rows(memories, weights, GIB // 8, 512) == rows


def test_a_model_that_is_spread_counts_the_cards_that_it_is_spread_over(model_folders, monkeypatch):
    loaded = load_model(str(model_folders["sentencepiece"]), dtype="float32", device="cpu")
    weights = sum(part.nbytes for part in loaded.model.parameters())
    row = row_width.row_bytes(loaded, 100)
    card = weights * 3 // 4 + 8 * row  # the weights do not fit on one
    monkeypatch.setattr(row_width, "total_bytes", {"cuda:0": card, "cuda:1": card}.__getitem__)
    loaded.model.hf_device_map = {"model.layers.0": 0, "model.layers.1": 1, "lm_head": "disk"}
    spread = replace(loaded, device="cuda:0")
    assert choose_width(spread, 100) == fitting_rows([card, card], weights, row, 512) >= 8
    loaded.model.hf_device_map = {"": 0}
    assert choose_width(spread, 100) == fitting_rows([card], weights, row, 512)
