import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.measure.answer_frequencies import WEIGHTS, counting_probs, crowd_probs, own_probs
from valuesassets.records.errors import MissingData

K = 3


def answered(seed, people=5, items=4, repeats=1):
    """Participants, items and answers, every participant's in one order."""
    random = np.random.default_rng(seed)
    names = [f"p{person}" for person in range(people) for _ in range(items * repeats)]
    asked = list(range(items)) * people * repeats
    return names, asked, random.integers(0, K, len(names)).tolist()


def test_others_answers_by_hand():
    # item 1 has yes, yes, no: who said no sees two others, none of whom did
    people, items, said = ["a", "b", "c", "a"], [1, 1, 1, 2], ["yes", "yes", "no", "no"]
    assert crowd_probs(people, items, said, 2).tolist() == pytest.approx([1.5 / 3, 1.5 / 3, 0.5 / 3, 1 / 2])


def test_own_earlier_answers_by_hand():
    people, kinds, said = ["a", "b", "a", "a", "a"], ["x", "x", "x", "y", "x"], ["1", "1", "1", "1", "2"]
    k = [4, 4, 4, 2, 4]
    assert own_probs(people, kinds, said, k).tolist() == pytest.approx([1 / 4, 1 / 4, 1.25 / 2, 1 / 2, 0.25 / 3])


@given(st.integers(0, 10_000), st.integers(1, 2))
def test_both_are_what_counting_row_by_row_gives(seed, repeats):
    people, items, said = answered(seed, repeats=repeats)
    rows = list(zip(people, items, said, strict=True))
    crowd, own = crowd_probs(people, items, said, K), own_probs(people, ["x"] * len(rows), said, K)
    for place, (person, item, answer) in enumerate(rows):
        others = [each[2] for each in rows if each[1] == item and each[0] != person]
        earlier = [each[2] for each in rows[:place] if each[0] == person]
        assert crowd[place] == pytest.approx((others.count(answer) + 1 / K) / (len(others) + 1))
        assert own[place] == pytest.approx((earlier.count(answer) + 1 / K) / (len(earlier) + 1))


@pytest.mark.parametrize("seed", range(5))
def test_the_probabilities_of_all_that_could_be_answered_sum_to_one(seed):
    people, items, said = answered(seed)
    for place in (0, 7, len(said) - 1):
        sums = np.zeros(2)
        for other in range(K):
            instead = [*said[:place], other, *said[place + 1 :]]
            sums += [crowd_probs(people, items, instead, K)[place], own_probs(people, items, instead, K)[place]]
        assert sums == pytest.approx([1, 1])


def test_the_weight_is_the_best_one_for_the_others():
    random = np.random.default_rng(4)
    people = np.repeat(["a", "b", "c", "d"], [3, 5, 2, 6])
    crowd, own = random.uniform(0.05, 0.9, (2, people.size))
    found = counting_probs(crowd, own, people)
    for person in "abcd":
        others = [name for name in "abcd" if name != person]
        scores = [
            np.mean([np.log((1 - w) * crowd[people == name] + w * own[people == name]).mean() for name in others])
            for w in WEIGHTS
        ]
        weight = found.weights[person]
        assert weight == WEIGHTS[np.argmax(scores)]
        mine = people == person
        assert found.probs[mine] == pytest.approx((1 - weight) * crowd[mine] + weight * own[mine])


def test_changing_a_participants_answers_leaves_their_own_weight_alone():
    random = np.random.default_rng(5)
    people = np.repeat(["a", "b", "c"], 6)
    crowd, own = random.uniform(0.05, 0.9, (2, people.size))
    before = counting_probs(crowd, own, people).weights
    after = counting_probs(np.where(people == "b", own, crowd), np.where(people == "b", crowd, own), people).weights
    assert after["b"] == before["b"]
    assert after["a"] != before["a"]


def test_who_answers_as_they_did_before_is_foretold_by_their_own_answers():
    people = np.repeat([f"p{number}" for number in range(20)], 30)
    said = np.repeat(np.random.default_rng(6).integers(0, K, 20), 30)
    items = np.tile(np.arange(30), 20)
    crowd, own = crowd_probs(people, items, said, K), own_probs(people, ["x"] * said.size, said, K)
    assert counting_probs(crowd, own, people).weights.min() > 0.9


def test_a_single_participant_has_nobody_to_fit_the_weight_on():
    with pytest.raises(MissingData, match="1 participant: the weight"):
        counting_probs(np.array([0.5]), np.array([0.5]), ["a"])
