import numpy as np
import pandas as pd
import pytest

from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.comparing.mono_vs_multi import agreements, agreements_by_item, derive_mono_vs_multi
from valuesassets.measure.multiple_tests import holm
from valuesassets_tests.comparing.made_up_grid import answers_of, drawn, mixed, people_of, with_families
from valuesassets_tests.comparing.planted_grid import answers, demo, human, no_human, peopleless


@pytest.fixture(scope="module")
def found():
    return derive_mono_vs_multi(answer_grid(answers(), human()), demo())


def test_the_planted_advantage_of_monolingual_models_is_found(found):
    assert found["summary"].set_index("measure").at["own_country_advantage", "low"] > 0
    row = found["summary"].set_index("measure").loc["own_country_agreement"]
    assert row["low"] > 0
    assert row["p_sign_test"] == pytest.approx(2 / 2**6)
    assert row["n_pairs"] == 6


def test_differences_are_mono_minus_multi(found):
    pairs = found["pairs"]
    assert pairs["difference"].to_numpy() == pytest.approx(pairs["advantage_mono"] - pairs["advantage_multi"])
    summary = found["summary"].set_index("measure")
    by_hand = np.mean(pairs["entropy_bits_mono"] - pairs["entropy_bits_multi"])
    assert summary.at["entropy_bits", "mean_difference"] == pytest.approx(by_hand)


def test_equal_families_do_not_differ():
    mono = answers().query("model == 'reference-mono'")
    twins = [mono, mono.assign(model="reference-multi")]
    summary = derive_mono_vs_multi(answer_grid(pd.concat(twins), human()), demo())["summary"]
    assert (summary["mean_difference"] == 0).all()
    assert summary["p_sign_test"].isna().all()


def test_only_items_that_both_answered_are_compared():
    rows = answers()
    fewer = rows[(rows["model"] == "reference-mono") | rows["question_id"].isin(["v1", "v63"])]
    assert (derive_mono_vs_multi(answer_grid(fewer, human()), demo())["pairs"]["n_items"] <= 2).all()


@pytest.mark.parametrize("languages", [["eng"], []])
def test_fewer_than_two_pairs_are_a_partial_result_that_says_so(languages):
    rows = answers()
    rows = rows[(rows["model"] == "reference-mono") | rows["language"].isin(languages)]
    found = derive_mono_vs_multi(answer_grid(rows, human()), demo())
    assert len(found["pairs"]) == len(languages)
    assert found["tests"]["p"].isna().all()
    why = "1 language answered by both kinds of family" if languages else "1 mono and 0 multi families answered"
    assert any(why in note for note in found["notes"]["note"])
    if languages:
        assert found["summary"]["low"].isna().all()
        without = found["summary"].loc[found["summary"]["mean_difference"].isna(), "measure"]
        assert without.tolist() == ["own_country_agreement"]  # one language differs from no other


def test_without_people_only_entropies_are_compared():
    found = derive_mono_vs_multi(answer_grid(answers(), no_human()), peopleless())
    summary = found["summary"].set_index("measure")
    assert np.isnan(summary.at["own_country_advantage", "mean_difference"])
    assert np.isfinite(summary.at["entropy_bits", "mean_difference"])
    assert any("human.source" in note for note in found["notes"]["note"])


def test_the_tables_say_that_families_differ_in_more_than_language(found):
    assert any("size, tokenizer and training data" in note for note in found["notes"]["note"])


def test_families_that_share_no_item_in_a_language_are_no_pair():
    rows = answers()
    is_apart = (rows["model"] == "reference-mono") & (rows["language"] == "pol")
    rows.loc[is_apart, "question_id"] = "own_" + rows.loc[is_apart, "question_id"]
    pairs = derive_mono_vs_multi(answer_grid(rows, human()), demo())["pairs"]
    assert len(pairs) == 5
    assert "pol" not in set(pairs["language"])


def test_a_flat_model_that_is_nearer_in_raw_distance_does_not_win():
    study, people, noise = with_families(sharp="mono", flat="multi"), drawn(1, 80), drawn(2, 80, concentration=0.4)
    pool = np.mean(list(people.values()), axis=0)
    cells = {("sharp", code): mixed(p, noise[code], 0.45) for code, p in people.items()}
    cells |= {("flat", code): mixed(pool, np.full((80, 4), 0.25), 0.8) for code in people}
    found = derive_mono_vs_multi(answer_grid(answers_of(cells, study), people_of(people, study)), study)
    assert (found["pairs"]["distance_own_multi"] < found["pairs"]["distance_own_mono"]).all()
    summary = found["summary"].set_index("measure")
    assert summary.at["distance_own", "low"] > 0
    assert summary.at["entropy_bits", "high"] < 0
    assert summary.at["own_country_advantage", "low"] > 0
    assert found["tests"]["is_rejected"].tolist() == [True]


def test_one_pair_by_hand():
    study = with_families(one="mono", other="multi")
    people = {"eng": [[1.0, 0.0]], "fra": [[0.0, 1.0]]}
    cells = {("one", "eng"): [[1.0, 0.0]], ("other", "eng"): [[0.5, 0.5]]}
    rows = answers_of(cells, study, "binary")
    pair = derive_mono_vs_multi(answer_grid(rows, people_of(people, study)), study)["pairs"].iloc[0]
    assert (pair["advantage_mono"], pair["distance_own_mono"], pair["entropy_bits_mono"]) == pytest.approx(
        (1, 0, 0), abs=1e-3
    )
    assert (pair["advantage_multi"], pair["entropy_bits_multi"]) == pytest.approx((0, 1))
    assert pair["difference"] == pytest.approx(1, abs=1e-3)  # of a thousand people


def test_every_pair_of_families_is_a_test_of_one_family_and_null_families_are_none():
    study = with_families(a="mono", b="mono", c="multi", silent="no-signal")
    people = drawn(3, 40)
    cells = {
        (model, code): mixed(p, drawn(seed, 40)[code], 0.5)
        for seed, model in enumerate(("a", "b", "c", "silent"), 4)
        for code, p in people.items()
    }
    found = derive_mono_vs_multi(answer_grid(answers_of(cells, study), people_of(people, study)), study)
    assert set(zip(found["pairs"]["mono"], found["pairs"]["multi"], strict=True)) == {("a", "c"), ("b", "c")}
    assert set(found["tests"]["test_family"]) == {"mono vs multi"}
    assert found["tests"]["p_corrected"].tolist() == holm(found["tests"]["p"]).tolist()
    shown = found["summary"].query("measure == 'own_country_agreement'")["p_corrected"]
    assert shown.tolist() == found["tests"]["p_corrected"].tolist()


def simulate_flat_answers(scale, follows=(1.0, 1.0), seed=0, n_items=120):
    """Grids of two families that follow their countries so far; the log-odds of the second are multiplied."""
    study = with_families(one="mono", other="multi")
    random, languages = np.random.default_rng(seed), tuple(study.languages)
    level, apart = random.normal(0, 1, n_items), random.normal(0, 0.8, (len(languages), n_items))
    place = np.linspace(-0.5, 0.5, 4)

    def said(tilts):
        mass = np.exp(tilts[..., None] * place * 2)
        return mass / mass.sum(axis=-1, keepdims=True)

    cells = {}
    for model, factor, share in (("one", 1.0, follows[0]), ("other", scale, follows[1])):
        tilts = factor * (level + share * apart + random.normal(0, 0.6, apart.shape))
        cells |= {(model, code): of_code for code, of_code in zip(languages, said(tilts), strict=True)}
    people = dict(zip(languages, said(level + apart), strict=True))
    return derive_mono_vs_multi(answer_grid(answers_of(cells, study), people_of(people, study)), study)["summary"]


@pytest.mark.slow
def test_a_model_that_says_the_same_more_flatly_does_not_lose():
    summaries = [simulate_flat_answers(0.5, seed=seed).set_index("measure") for seed in range(20)]
    lower_advantage = [summary.at["own_country_advantage", "low"] > 0 for summary in summaries]
    rejected = [summary.at["own_country_agreement", "p_sign_test"] <= 0.05 for summary in summaries]
    assert np.mean(lower_advantage) > 0.9
    assert np.mean(rejected) <= 0.15
    worse = [simulate_flat_answers(2.0, (1.0, 0.3), seed).set_index("measure") for seed in range(10)]
    assert np.mean([summary.at["own_country_agreement", "p_sign_test"] <= 0.05 for summary in worse]) > 0.9


def test_languages_that_all_answer_alike_agree_with_no_country():
    answers, people = np.ones((3, 8)), np.random.default_rng(0).random((3, 8))
    assert agreements(answers, people, np.arange(3)).tolist() == [0, 0, 0]
    assert agreements(people, people, np.arange(3)).min() > 1
    assert np.isnan(agreements(people, people, np.array([0, 1, -1]))[2])


def test_what_an_item_gives_to_an_agreement_is_found_by_leaving_it_out():
    random, own = np.random.default_rng(5), np.array([2, 0, 1])
    people = random.random((3, 12))
    answers = 0.5 * people[own] + 0.5 * random.random((3, 12))
    answers[0, :4] = answers[1, 11] = np.nan
    parts, whole = agreements_by_item(answers, people, own), agreements(answers, people, own)
    assert np.array_equal(np.isnan(parts), np.isnan(answers))
    for item in range(12):
        without = agreements(np.delete(answers, item, axis=1), np.delete(people, item, axis=1), own)
        n = np.isfinite(answers).sum(axis=1)
        expected = np.where(np.isnan(answers[:, item]), np.nan, n * whole - (n - 1) * without)
        np.testing.assert_allclose(parts[:, item], expected, rtol=1e-9, atol=1e-9)


def test_the_interval_of_a_mean_difference_is_for_other_items_too():
    tables = derive_mono_vs_multi(answer_grid(answers(), human()), demo())
    pairs, row = tables["pairs"], tables["summary"].set_index("measure").loc["own_country_advantage"]
    assert row["source_of_variation"] == "languages and items"
    differences = pairs["advantage_mono"] - pairs["advantage_multi"]
    over_languages = differences.std(ddof=1) / np.sqrt(len(differences))
    assert row["low"] < row["mean_difference"] < row["high"]
    assert row["high"] - row["low"] > 2 * over_languages
