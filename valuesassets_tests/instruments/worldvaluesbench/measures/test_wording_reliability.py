from dataclasses import replace

import numpy as np
import pytest

from valuesassets.instruments.worldvaluesbench.answers.rated import Probe, Rated
from valuesassets.instruments.worldvaluesbench.measures.wording_reliability import (
    derive_wording_reliability,
    reliability,
)
from valuesassets_tests.instruments.worldvaluesbench.made_up import made_probe


@pytest.fixture(scope="module")
def probe():
    return made_probe(30, slopes={"one": 1.0, "weaker": 0.5, "other way": -0.5, "still": 0.0})


def test_moves_that_differ_in_size_alone_are_wholly_reliable_and_opposed_ones_are_minus_that(probe):
    assert reliability(probe, "one", "weaker") == pytest.approx(1)
    assert reliability(probe, "one", "other way") == pytest.approx(-1)


def test_a_wording_in_which_the_model_does_not_move_has_none(probe):
    table = derive_wording_reliability(probe, {"m": {"list": "one", "sentence": "still"}})
    assert np.isnan(table["reliability"].item())
    assert not table["can_be_ranked"].item()


def test_every_pair_of_wordings_has_a_row(probe):
    table = derive_wording_reliability(probe, {"m": {"list": "one", "sentence": "weaker", "seed": "other way"}})
    assert table[["wording", "other_wording"]].to_numpy().tolist() == [
        ["list", "sentence"],
        ["list", "seed"],
        ["sentence", "seed"],
    ]
    assert table["can_be_ranked"].tolist() == [True, False, False]


def test_single_ratings_of_the_same_moves_are_as_reliable_as_their_distributions():
    reliabilities = []
    for seed in range(12):
        probe, random = made_probe(20, seed=seed, slopes={"m": 1.0}), np.random.default_rng(seed)
        questions = []
        for item in probe.questions:
            probs = item.with_attributes["m"].probs
            k, models = probs.shape[1], {}
            for name in ("one", "two"):
                rated = (random.random(len(probs))[:, None] > np.cumsum(probs, axis=1)[:, :-1]).sum(axis=1)
                models[name] = Rated(np.eye(k)[rated], rated + 1.0, 0, 0)
            questions.append(replace(item, with_attributes=models))
        reliabilities.append(reliability(Probe(probe.groups, questions), "one", "two"))
    assert np.mean(reliabilities) == pytest.approx(1, abs=0.06)
