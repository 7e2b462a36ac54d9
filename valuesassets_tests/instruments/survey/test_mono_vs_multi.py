import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.mono_vs_multi import derive_mono_vs_multi
from valuesassets.records.errors import MissingData
from valuesassets_tests.instruments.survey.planted_grid import answers, demo, human, no_human, peopleless


@pytest.fixture(scope="module")
def found():
    return derive_mono_vs_multi(answers(), human(), demo())


def test_the_planted_advantage_of_monolingual_models_is_found(found):
    row = found.summary.set_index("measure").loc["own_country_advantage"]
    assert row["low"] > 0
    assert row["p_sign_test"] == pytest.approx(2 / 2**6)
    assert row["n_pairs"] == 6


def test_differences_are_mono_minus_multi(found):
    pairs = found.pairs
    assert pairs["difference"].to_numpy() == pytest.approx(pairs["advantage_mono"] - pairs["advantage_multi"])
    summary = found.summary.set_index("measure")
    by_hand = np.mean(pairs["entropy_bits_mono"] - pairs["entropy_bits_multi"])
    assert summary.at["entropy_bits", "mean_difference"] == pytest.approx(by_hand)


def test_equal_families_do_not_differ():
    mono = answers().query("model == 'reference-mono'")
    twins = [mono, mono.assign(model="reference-multi")]
    summary = derive_mono_vs_multi(pd.concat(twins), human(), demo()).summary
    assert (summary["mean_difference"] == 0).all()
    assert summary["p_sign_test"].isna().all()


def test_only_items_that_both_answered_are_compared():
    rows = answers()
    fewer = rows[(rows["model"] == "reference-mono") | rows["question_id"].isin(["v1", "v63"])]
    assert (derive_mono_vs_multi(fewer, human(), demo()).pairs["n_items"] <= 2).all()


@pytest.mark.parametrize("languages", [["eng"], []])
def test_fewer_than_two_pairs_are_refused(languages):
    rows = answers()
    rows = rows[(rows["model"] == "reference-mono") | rows["language"].isin(languages)]
    with pytest.raises(MissingData, match=f"{len(languages)} languages answered by both"):
        derive_mono_vs_multi(rows, human(), demo())


def test_without_people_only_entropies_are_compared():
    found = derive_mono_vs_multi(answers(), no_human(), peopleless())
    summary = found.summary.set_index("measure")
    assert np.isnan(summary.at["own_country_advantage", "mean_difference"])
    assert np.isfinite(summary.at["entropy_bits", "mean_difference"])
    assert any("human.source" in note for note in found.notes["note"])


def test_the_tables_say_that_families_differ_in_more_than_language(found):
    assert any("size, tokenizer and training data" in note for note in found.notes["note"])


def test_families_that_share_no_item_in_a_language_are_no_pair():
    rows = answers()
    is_apart = (rows["model"] == "reference-mono") & (rows["language"] == "pol")
    rows.loc[is_apart, "question_id"] = "own_" + rows.loc[is_apart, "question_id"]
    pairs = derive_mono_vs_multi(rows, human(), demo()).pairs
    assert len(pairs) == 5
    assert "pol" not in set(pairs["language"])
