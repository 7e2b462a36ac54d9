"""Answers that were drawn once for many people have noise that is not part of people's spread; it is subtracted."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Probe, Rated
from valuesassets.instruments.worldvaluesbench.measures.awareness import derive_awareness, measures
from valuesassets.instruments.worldvaluesbench.measures.controls import OTHER_GROUPS, control_models, shuffled
from valuesassets.instruments.worldvaluesbench.measures.gathered import gather_probe
from valuesassets.instruments.worldvaluesbench.measures.group_moves import (
    Resampling,
    derive_moves,
    drawn_noise,
    scopes_of,
)
from valuesassets.records.errors import RatingsError
from valuesassets_tests.instruments.worldvaluesbench.made_up import made_probe, value_question
from valuesassets_tests.instruments.worldvaluesbench.rated_people import people_of, samples_of


def asked_of(groups, weights=None):
    n = len(groups)
    weights = np.ones(n) if weights is None else np.array(weights, dtype=float)
    return AskedQuestion(value_question(k=2), np.arange(n), np.array(groups), weights, np.ones(n), {}, {})


def drawn_probe(probe, n_draws, random, n_profiles=1):
    """A probe whose model m was asked so often of each profile; a group has so many, of people in turn."""
    questions = []
    for item in probe.questions:
        place = np.arange(len(item.groups)) % n_profiles
        profiles = item.groups * n_profiles + place
        exact = item.with_attributes["m"].probs
        first = np.unique(profiles, return_index=True)[1]
        counts = np.stack([random.multinomial(n_draws, probs / probs.sum()) for probs in exact[first]])
        n = np.full(len(profiles), float(n_draws))
        drawn_rated = Rated((counts / n_draws)[profiles], None, 0, 0, n_draws=n, profiles=profiles)
        questions.append(replace(item, with_attributes={"m": drawn_rated}))
    return Probe(probe.groups, questions)


def components(probe):
    """A_hh, A_mh and A_mm of the model m over all groups and questions."""
    (moved,) = derive_moves(probe, scopes_of(probe.groups)[:1], Resampling(probe, 0, 0), 5)["m"]
    return moved.components.sum(axis=0)


def test_noise_of_two_groups_by_hand():
    # three answers each, one of them the first: 1/3 * 2/3 / 2 = 1/9, whoever the people of the group are
    probs = np.tile([1 / 3, 2 / 3], (4, 1))
    rated = Rated(probs, None, 0, 0, n_draws=np.full(4, 3.0), profiles=np.array([0, 0, 1, 1]))
    rows, two = np.arange(4), asked_of([0, 0, 1, 1], [1, 2, 1, 1])
    assert drawn_noise(two, rated, rows, 2) == pytest.approx(np.eye(2) / 9)
    assert drawn_noise(two, replace(rated, profiles=np.arange(4)), rows, 2) is None
    assert drawn_noise(two, replace(rated, n_draws=None), rows, 2) is None
    # one profile in both groups moves both alike: nothing between them
    assert drawn_noise(two, replace(rated, profiles=np.zeros(4, int)), rows, 2) == pytest.approx(np.full((2, 2), 1 / 9))


def test_a_single_answer_varies_as_those_of_other_profiles_and_alone_its_noise_is_not_known():
    draws, profiles = np.array([3.0, 3, 1, 1]), np.array([0, 0, 1, 1])
    rated = Rated(np.tile([0.5, 0.5], (4, 1)), None, 0, 0, n_draws=draws, profiles=profiles)
    noise = drawn_noise(asked_of([0, 0, 1, 1]), rated, np.arange(4), 2)
    assert noise == pytest.approx(np.diag([1 / 8, 3 / 8]))
    alone = drawn_noise(asked_of([0, 0, 1, 1]), replace(rated, n_draws=np.ones(4)), np.arange(4), 2)
    assert np.isnan(alone).all()


@pytest.mark.parametrize("n_profiles", [1, 2, 4])
def test_a_drawn_models_own_component_is_that_of_the_exact_one_on_average(n_profiles):
    probe, random = made_probe(5, slopes={"m": 1.0}, n_questions=3), np.random.default_rng(1)
    drawn = np.array([components(drawn_probe(probe, 3, random, n_profiles))[2] for _ in range(150)])
    assert drawn.mean() == pytest.approx(components(probe)[2], abs=3 * drawn.std() / np.sqrt(drawn.size))


@pytest.mark.parametrize("n_draws", [5, 20])
def test_drawn_answers_have_the_exaggeration_direction_and_skill_of_exact_ones(n_draws):
    probe, random = made_probe(20, slopes={"m": 0.8}), np.random.default_rng(2)
    drawn = np.mean([components(drawn_probe(probe, n_draws, random)) for _ in range(30)], axis=0)
    assert measures(*drawn) == pytest.approx(measures(*components(probe)), abs=0.1)


def test_single_answers_shared_by_people_have_a_slope_with_its_interval_and_nothing_that_needs_their_noise():
    probe = drawn_probe(made_probe(20, slopes={"m": 0.8}), 1, np.random.default_rng(2))
    tables = derive_awareness(probe, 99, seed=0)
    row = tables["factors"].iloc[0]
    assert row["slope_low"] < row["slope"] < row["slope_high"]
    assert row[["exaggeration", "direction", "skill", "a_mm"]].isna().all()
    assert tables["style_free"]["exaggeration"].isna().all()


@pytest.mark.slow
def test_drawn_answers_that_follow_nobody_have_no_direction_and_those_that_do_have_one():
    directions = []
    for seed in range(10):
        random, probe = np.random.default_rng(seed), made_probe(8, seed=seed, slopes={"m": 0.0}, n_questions=4)
        moving = made_probe(8, seed=seed, slopes={"m": 1.0}, n_questions=4)
        directions.append(
            [
                derive_awareness(drawn_probe(each, 10, random), 49, seed=0)["factors"].iloc[0]["direction"]
                for each in (probe, moving)
            ]
        )
    blind, follows = np.array(directions).T
    assert np.isnan(blind).sum() >= 9
    assert np.isfinite(follows).sum() >= 9


def with_moving_people(n_per_group, seed):
    """Two splits of people whose groups answer unlike each other."""
    dataset = people_of(n_per_group, ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"], splits=("test", "train"))
    random, people = np.random.default_rng(seed), dataset.participants
    group = people.groupby(["continent", "settlement", "education"]).ngroup().to_numpy()
    for name in dataset.value_answers.columns.drop("participant_id"):
        shares = random.dirichlet(np.full(4, 3.0), 8)
        drawn = (random.random(len(people))[:, None] > np.cumsum(shares, axis=1)[group, :3]).sum(axis=1) + 1
        dataset.value_answers[name] = pd.array(drawn, "Int16")
    ids = people.loc[people["split"] == "test", "participant_id"]
    samples = samples_of(dataset)
    return dataset, samples[samples["participant_id"].isin(ids)].reset_index(drop=True)


def test_groups_of_another_split_are_a_ceiling_of_one():
    sums = np.zeros(3)
    for seed in range(6):
        dataset, samples = with_moving_people(100, seed)
        ids = dataset.participants["participant_id"]
        rated = pd.DataFrame({"QUESTION_ID": "Q1", "PARTICIPANT_ID": ids, "SCORE": 1})
        probe, _ = gather_probe(dataset, samples, {"model": rated})
        factors = derive_awareness(control_models(probe, dataset, samples, 0), 0, seed=0)["factors"]
        (row,) = factors[(factors["model"] == OTHER_GROUPS) & (factors["factor"] == "all")].to_dict("records")
        sums += [row["a_hh"], row["a_mh"], row["a_mm"]]
    hh, mh, mm = sums
    assert mh / hh == pytest.approx(1, abs=0.1)
    assert mm / hh == pytest.approx(1, abs=0.1)


def drawn_file(**changed):
    rows = [("Q1", country, answer, 0.25, 8) for country in (156, 276) for answer in (1, 2, 3, 4)]
    frame = pd.DataFrame(rows, columns=["question_id", "B_COUNTRY", "response_value", "prob", "n_draws"])
    return frame.assign(**changed)


def test_a_file_says_of_how_many_answers_its_distributions_are_and_shuffling_keeps_them_together():
    dataset = people_of(5)
    probe, _ = gather_probe(dataset, samples_of(dataset), {"model": drawn_file()})
    rated = next(each for each in probe.questions if each.question.id == "Q1").with_attributes["model"]
    assert (rated.n_draws == 8).all()
    assert len(np.unique(rated.profiles)) == 2
    other = control_models(probe, dataset, samples_of(dataset), 0).questions[0].with_attributes[shuffled("model")]
    assert (other.profiles != rated.profiles).any()
    assert sorted(other.profiles) == sorted(rated.profiles)


@pytest.mark.parametrize("n", [0, None])
def test_a_distribution_of_no_answers_is_refused_in_a_line(n):
    dataset = people_of(5)
    with pytest.raises(RatingsError, match=r"row 2: n_draws: found .*, how many answers were drawn was expected"):
        gather_probe(dataset, samples_of(dataset), {"model": drawn_file(n_draws=n)})
