import itertools
import math
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from valuesassets.instruments.worldvaluesbench.answers.rated import Rated
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions, probe_questions
from valuesassets.instruments.worldvaluesbench.measures.benchmark_scores import (
    THRESHOLDS,
    derive_benchmark_scores,
    derive_threshold_shares,
)
from valuesassets.instruments.worldvaluesbench.measures.controls import control_models, majority_of_groups
from valuesassets.instruments.worldvaluesbench.measures.evaluation import evaluate
from valuesassets.instruments.worldvaluesbench.measures.gathered import gather_probe
from valuesassets.instruments.worldvaluesbench.published.published_scores import (
    beside_published,
    is_published_probe,
    load_published_scores,
)
from valuesassets.instruments.worldvaluesbench.report.report import score_summary
from valuesassets_tests.instruments.worldvaluesbench.implied_answers import answers_with, implied_shares, ratings_at
from valuesassets_tests.instruments.worldvaluesbench.rated_people import (
    asked_by_hand,
    drawn_scores,
    people_of,
    samples_of,
    scores_of,
)

NONE = math.nan


def row_of(probe, subset="all", model="model"):
    scores = derive_benchmark_scores(probe)
    return scores[(scores["model"] == model) & (scores["subset"] == subset)].iloc[0]


def test_missing_ratings_go_and_their_people_stay_and_one_off_the_scale_stays_where_it_is():
    # Q1 has answers 1 to 4. People: 1 1 1 4; ratings: 1, none, 7, 4: at 0, 2 and 1 on the scale from 0 to 1.
    row = row_of(asked_by_hand("Q1", [0, 0, 1, 1], [1, 1, 1, 4], {"model": [1, NONE, 7, 4]}))
    # F: 3/4 from 0 to 1, then 1. M: 1/3 from 0 to 1, 2/3 from 1 to 2. |F - M| = 5/12 + 1/3.
    assert row["w1_seed"] == pytest.approx(5 / 12 + 1 / 3)
    # Complete pairs on the scale: people 1 and 4, rated 1 and 4.
    assert row["w1_unit"] == 0
    assert row[["n_people", "n_ratings", "n_missing", "n_out_of_scale"]].tolist() == [4, 3, 1, 1]


def test_oracles_are_uniform_answers_and_the_most_frequent_one_the_lowest_code_of_several():
    row = row_of(asked_by_hand("Q1", [0, 0, 1, 1], [1, 1, 4, 4], {"model": [1, 1, 4, 4]}))
    # Uniform F: 1/4, 1/2, 3/4 against 1/2, 1/2, 1/2, over three cut points; majority: code 1, half the mass moves by 1.
    assert row["w1_uniform_unit"] == pytest.approx((1 / 4 + 0 + 1 / 4) / 3)
    assert row["w1_majority_unit"] == pytest.approx(1 / 2)


def test_a_subset_is_scored_on_its_own_people():
    probe = asked_by_hand("Q1", [0, 0, 1, 1], [1, 1, 4, 4], {"model": [1, 2, 4, NONE]})
    assert row_of(probe, "urban")["w1_seed"] == pytest.approx(1 / 2 / 3)
    assert row_of(probe, "rural")["w1_seed"] == 0
    assert row_of(probe, "rural")[["n_people", "n_ratings", "n_missing"]].tolist() == [2, 1, 1]
    assert set(derive_benchmark_scores(probe)["subset"]) == {"all", "Asia", "urban", "rural", "tertiary"}


def test_a_person_without_an_answer_leaves_the_pairs_and_the_pool():
    row = row_of(asked_by_hand("Q1", [0, 0, 0], [1, NONE, 1], {"model": [1, 4, 1]}))
    assert (row["n_people"], row["w1_unit"]) == (2, 0)
    assert row["w1_seed"] == pytest.approx(1 / 3)  # all ratings against all answers


def test_a_distribution_is_scored_as_the_same_ratings_given_one_by_one():
    probs = np.array([[0.5, 0, 0, 0.5]] * 4)
    whole = row_of(asked_by_hand("Q1", [0] * 4, [1, 2, 2, 3], {"model": Rated(probs, None, 0, 0)}))
    singly = row_of(asked_by_hand("Q1", [0] * 4, [1, 2, 2, 3], {"model": [1, 4, 1, 4]}))
    assert whole["w1_seed"] == pytest.approx(singly["w1_seed"])
    assert whole["w1_unit"] == pytest.approx(singly["w1_unit"])
    assert whole["w1_floor_unit"] < singly["w1_floor_unit"]  # ratings that were drawn have noise of their own


def test_without_a_rating_there_is_no_distance():
    row = row_of(asked_by_hand("Q1", [0, 0, 1, 1], [1, 1, 4, 4], {"model": [1, 1, NONE, NONE]}), "rural")
    assert row["n_missing"] == 2
    assert np.isnan([row["w1_seed"], row["w1_unit"], row["w1_floor_unit"]]).all()


@given(
    seed=st.integers(0, 10_000),
    question=st.sampled_from(["Q1", "Q7", "Q94", "Q106", "Q121"]),
    missing=st.floats(0, 0.5),
    off=st.floats(0, 0.3),
)
@pytest.mark.slow
def test_scores_are_those_of_the_published_formulas_by_scipy(seed, question, missing, off):
    random, scale = np.random.default_rng(seed), load_value_questions()[question]
    n = 40
    answers = random.integers(scale.lo, scale.hi + 1, n).astype(float)
    ratings = random.integers(scale.lo, scale.hi + 1, n).astype(float)
    ratings[random.random(n) < off] = random.choice([scale.lo - 3, scale.hi + 2, 42])
    ratings[random.random(n) < missing] = np.nan
    ratings[0] = scale.lo
    row = row_of(asked_by_hand(question, random.integers(0, 2, n).tolist(), answers, {"model": ratings}))

    def unit(codes):
        return (codes - scale.lo) / (scale.hi - scale.lo)

    given_ones = ratings[~np.isnan(ratings)]
    assert row["w1_seed"] == pytest.approx(wasserstein_distance(unit(answers), unit(given_ones)), abs=1e-12)
    both = (ratings >= scale.lo) & (ratings <= scale.hi)
    assert row["w1_unit"] == pytest.approx(wasserstein_distance(unit(answers[both]), unit(ratings[both])), abs=1e-12)
    codes = np.arange(scale.lo, scale.hi + 1)
    assert row["w1_uniform_unit"] == pytest.approx(wasserstein_distance(unit(answers), unit(codes)), abs=1e-12)
    most = min(codes, key=lambda code: (-np.sum(answers == code), code))
    assert row["w1_majority_unit"] == pytest.approx(wasserstein_distance(unit(answers), [unit(most)]), abs=1e-12)
    assert row[["n_ratings", "n_missing", "n_out_of_scale"]].tolist() == [
        given_ones.size,
        n - given_ones.size,
        given_ones.size - both.sum(),
    ]


def test_ratings_shuffled_over_people_within_a_question_score_the_same():
    dataset = people_of(20)
    ratings = {"model": drawn_scores(dataset, 1, missing=0.05, off=0.05)}
    samples = samples_of(dataset)
    probe, _ = gather_probe(dataset, samples, ratings)
    scores = derive_benchmark_scores(probe)
    disarranged = derive_benchmark_scores(control_models(probe, dataset, samples, 3))
    as_given, shuffled = (of[of["subset"] == "all"].set_index("question_id") for of in (scores, disarranged))
    assert np.abs(as_given["w1_seed"] - shuffled["w1_seed"]).max() <= 1e-9
    urban = [of[of["subset"] == "urban"]["w1_seed"].to_numpy() for of in (scores, disarranged)]
    assert np.abs(urban[0] - urban[1]).max() > 0.01  # they were moved between groups


@pytest.mark.slow
def test_the_floor_is_what_a_perfect_model_scores_on_average():
    random, shares, n = np.random.default_rng(0), np.array([0.4, 0.3, 0.2, 0.1]), 100
    perfect = Rated(np.tile(shares, (n, 1)), None, 0, 0)
    drawn = [
        row_of(asked_by_hand("Q1", [0] * n, random.choice([1, 2, 3, 4], n, p=shares), {"model": perfect}))
        for _ in range(150)
    ]
    distances, floors = (np.array([each[name] for each in drawn]) for name in ("w1_unit", "w1_floor_unit"))
    assert distances.mean() == pytest.approx(floors.mean(), rel=0.1)


def test_the_majority_of_each_group_is_as_near_as_one_answer_a_group_can_be():
    probe = asked_by_hand("Q1", [0, 0, 0, 1, 1, 1], [1, 1, 2, 4, 4, 3], {"model": [1] * 6})
    row = row_of(majority_of_groups(probe), model="majority of each group")
    assert row["w1_seed"] == pytest.approx((1 / 3 + 1 / 3) / 6)
    assert row["w1_seed"] < row["w1_majority_unit"]


def test_thresholds_count_what_stands_on_them():
    shares = published_as_scores()
    table = derive_threshold_shares(shares)
    at = table[table["threshold"].isin([0.1, 0.2])].pivot(index="model", columns="threshold", values="share")
    order = ["alpaca", "vicuna", "mixtral", "gpt-3.5"]
    assert (100 * at.loc[order, 0.2]).round(1).tolist() == [11.1, 25.0, 72.2, 75.0]
    assert (100 * at.loc[order, 0.1]).round(1).tolist() == [0.0, 5.6, 16.7, 33.3]
    assert sorted(set(table["threshold"])) == [step / 20 for step in range(21)] == list(THRESHOLDS)


def published_as_scores():
    """Table 2 with attributes, as if it were scored here."""
    printed = load_published_scores()
    of_oracles = {
        f"w1_{name}_unit": printed[printed["model"] == name].set_index("question_id")["w1_seed"]
        for name in ("uniform", "majority")
    }
    scores = printed[printed["attributes"] == "with"].drop(columns="attributes")
    for name, distances in of_oracles.items():
        scores[name] = scores["question_id"].map(distances)
    return scores.assign(subset="all", w1_unit=scores["w1_seed"])


def test_the_bundled_figures_are_the_published_ones_in_number_and_range():
    printed = load_published_scores()
    assert len(printed) == 360
    assert set(printed["question_id"]) == set(probe_questions())
    assert printed["w1_seed"].between(0, 1).all()


@pytest.mark.slow
def test_people_and_outputs_made_up_after_the_printed_table_give_all_its_360_numbers_and_percentages():
    """The real answers may not be passed on; these have the same distances from the two oracles."""
    printed, scales = load_published_scores(), load_value_questions()
    questions = list(probe_questions())
    dataset = people_of(125, questions)
    n_people = len(dataset.participants)
    random = np.random.default_rng(0)
    wanted = {
        key: part.set_index("question_id")["w1_seed"].to_dict()
        for key, part in printed.fillna({"attributes": ""}).groupby(["model", "attributes"], sort=False)
    }
    ratings = {"with": defaultdict(dict), "without": defaultdict(dict)}
    for name in questions:
        scale, n = scales[name], len(scales[name].values)
        shares = implied_shares(wanted["uniform", ""][name], wanted["majority", ""][name], n)
        answers, shuffled = answers_with(shares, n_people), random.permutation(n_people)
        dataset.value_answers[name] = pd.array(scale.lo + answers[shuffled], "Int16")
        for (model, side), distances in wanted.items():
            if side:
                ratings[side][model][name] = scale.lo + ratings_at(distances[name], answers, n)[shuffled]
    given = {side: {model: scores_of(dataset, of) for model, of in each.items()} for side, each in ratings.items()}
    samples = samples_of(dataset)
    tables = evaluate(dataset, samples, given["with"], given["without"], resamples=0)
    beside = beside_published(tables["benchmark_scores"])
    assert len(beside) == 360
    assert np.abs(beside["w1_seed"] - beside["w1_published"]).max() < 0.005
    shares = tables["threshold_shares"].query("subset == 'all'").set_index(["model", "threshold"])["share"]
    order = ["alpaca", "vicuna", "mixtral", "gpt-3.5"]
    assert [round(100 * shares[name, 0.2], 1) for name in order] == [11.1, 25.0, 72.2, 75.0]
    assert [round(100 * shares[name, 0.1], 1) for name in order] == [0.0, 5.6, 16.7, 33.3]
    of_models = tables["benchmark_scores"].query("subset == 'all' and model in @order")
    assert (of_models["n_missing"] == n_people / 10).all()
    assert (of_models["n_out_of_scale"] > 0).any()
    assert not is_published_probe(samples)


def test_the_published_score_pools_people_of_small_groups_which_are_compared_nowhere():
    # 39 people answered, 35 of them 1 and the four of the first group 4: all the way up the scale.
    dataset = people_of(5, ["Q1"])
    dataset.value_answers["Q1"] = pd.array([-1, *[4] * 4, *[1] * 35], "Int16")
    tables = evaluate(dataset, samples_of(dataset), {"model": scores_of(dataset, {"Q1": [1] * 40})}, resamples=0)
    scores = tables["benchmark_scores"]
    row = scores[(scores["model"] == "model") & (scores["subset"] == "all")].iloc[0]
    assert (row["n_people"], row["w1_seed"]) == (39, pytest.approx(4 / 39))
    assert len(tables["group_distances"].query("model == 'model'")) == 7


def test_the_published_score_is_of_people_whom_the_file_has_a_row_for_with_a_rating_or_without():
    # Of 20 of lower secondary education 19 answered 1 and are rated 1; one answered 4 and has an empty rating. The 20
    # of tertiary education all answered 4.
    dataset = people_of(5, ["Q1"])
    people = dataset.participants
    is_listed = (people["education"] == "lower_secondary").to_numpy()
    last = np.flatnonzero(is_listed)[-1]
    answers, ratings = np.where(is_listed, 1, 4), np.ones(40)
    answers[last], ratings[last] = 4, np.nan
    dataset.value_answers["Q1"] = pd.array(answers, "Int16")
    singly = scores_of(dataset, {"Q1": ratings})[is_listed]
    profiles = people.loc[is_listed, ["B_COUNTRY", "H_URBRURAL", "Q275"]].drop_duplicates()
    whole = profiles.assign(question_id="Q1", response_value=1, prob=1.0)
    one, other = (row_of(gather_probe(dataset, samples_of(dataset), {"model": each})[0]) for each in (singly, whole))
    assert one["w1_seed"] == pytest.approx(1 / 20)
    assert (one["n_people"], one["n_ratings"], one["n_missing"]) == (40, 19, 21)
    assert other["w1_seed"] == pytest.approx(1 / 20)  # who has no profile in the file has no row either


def test_questions_that_a_model_does_not_rate_are_in_no_share_and_not_counted():
    dataset = people_of(5)
    ratings = scores_of(dataset, {"Q1": dataset.value_answers["Q1"]})
    scores = derive_benchmark_scores(gather_probe(dataset, samples_of(dataset), {"model": ratings})[0])
    shares = derive_threshold_shares(scores)
    by_model = shares[(shares["subset"] == "all") & (shares["threshold"] == 0.1)].set_index("model")
    assert by_model.loc["model", ["n_questions", "share", "share_unit"]].tolist() == [1, 1, 1]
    assert by_model.loc["uniform", "n_questions"] == 2
    summary = score_summary({"benchmark_scores/scores": scores}).set_index("model")
    assert summary.loc["model", ["n_questions", "at_most_0.1"]].tolist() == [1, 1]
    nothing = derive_threshold_shares(scores.assign(w1_seed=NONE)).query("model == 'model'")
    assert set(nothing["n_questions"]) == {0}
    assert nothing["share"].isna().all()


def test_every_subset_and_question_has_one_row_of_each_model():
    dataset = people_of(6)
    probe, _ = gather_probe(
        dataset, samples_of(dataset), {"a": drawn_scores(dataset, 1), "b": drawn_scores(dataset, 2)}
    )
    scores = derive_benchmark_scores(probe)
    names = ["all", "Asia", "Europe", "urban", "rural", "lower_secondary", "tertiary"]
    keys = list(zip(scores["model"], scores["subset"], scores["question_id"], strict=True))
    assert keys == list(itertools.product(["a", "b"], names, ["Q1", "Q2"]))
