import numpy as np
import pytest

from valuesassets.instruments.worldvaluesbench.measures.benchmark_scores import derive_benchmark_scores
from valuesassets.instruments.worldvaluesbench.measures.controls import (
    OTHER_GROUPS,
    OTHER_PEOPLE,
    control_models,
    shuffled,
    without_attributes,
)
from valuesassets.instruments.worldvaluesbench.measures.gathered import gather_probe
from valuesassets_tests.instruments.worldvaluesbench.rated_people import drawn_scores, people_of, samples_of


def gathered(splits=("test", "train"), n_per_group=40):
    dataset = people_of(n_per_group, splits=splits)
    samples = samples_of(dataset)
    ids = dataset.participants.loc[dataset.participants["split"] == "test", "participant_id"]
    samples = samples[samples["participant_id"].isin(ids)].reset_index(drop=True)
    ratings, without = {"model": drawn_scores(dataset, 1)}, {"model": drawn_scores(dataset, 2)}
    probe, _ = gather_probe(dataset, samples, ratings, without)
    return dataset, samples, probe


def test_people_of_another_split_answer_for_those_asked_pooled_and_by_group():
    dataset, samples, probe = gathered()
    controls = control_models(probe, dataset, samples, 0)
    first = controls.questions[0]
    others = (dataset.participants["split"] == "train").to_numpy()
    answers = dataset.value_answers["Q1"].to_numpy(int)[others]
    pooled = first.with_attributes[OTHER_PEOPLE].probs
    shares = np.bincount(answers - 1, minlength=4) / answers.size  # groups are as large in both splits
    assert pooled == pytest.approx(np.tile(shares, (len(pooled), 1)))
    in_group = others & (dataset.participants[list(probe.groups.factors)] == list(probe.groups.levels[0])).all(axis=1)
    of_group = np.bincount(dataset.value_answers["Q1"].to_numpy(int)[in_group] - 1, minlength=4) / in_group.sum()
    assert first.with_attributes[OTHER_GROUPS].probs[first.groups == 0] == pytest.approx(
        np.tile(of_group, ((first.groups == 0).sum(), 1))
    )
    assert first.without == {}


def test_where_every_split_is_asked_no_other_people_are_left():
    dataset, samples, probe = gathered(splits=("test",))
    assert set(control_models(probe, dataset, samples, 0).questions[0].with_attributes) == {
        without_attributes("model"),
        shuffled("model"),
    }


def test_shuffled_ratings_are_the_same_ratings_of_other_people():
    dataset, samples, probe = gathered()
    again = [control_models(probe, dataset, samples, seed).questions[0].with_attributes for seed in (0, 0, 1)]
    ratings = [each[shuffled("model")].ratings for each in again]
    given = probe.questions[0].with_attributes["model"].ratings
    assert (ratings[0] == ratings[1]).all()
    assert (ratings[0] != ratings[2]).any()
    assert (ratings[0] != given).any()
    assert sorted(ratings[0]) == sorted(given)
    rated = again[0][shuffled("model")]
    assert (rated.probs.argmax(axis=1) + 1 == rated.ratings).all()


def test_pooled_answers_of_other_people_score_better_than_uniform_ones_where_answers_are_not_uniform():
    dataset, samples, probe = gathered()
    dataset.value_answers.loc[:, "Q1"] = np.resize([1, 1, 1, 2], len(dataset.value_answers))
    probe, _ = gather_probe(dataset, samples, {"model": drawn_scores(dataset, 1)})
    scores = derive_benchmark_scores(control_models(probe, dataset, samples, 0))
    row = scores[(scores["model"] == OTHER_PEOPLE) & (scores["question_id"] == "Q1") & (scores["subset"] == "all")]
    assert row["w1_seed"].item() < 0.2 < row["w1_uniform_unit"].item()
