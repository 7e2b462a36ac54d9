import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from valuesassets.measure.answer_frequencies import FOLDS, earlier_probs, fitted_mixture, tally_probs
from valuesassets.records.errors import MissingData

TEXTS = ("x", "y", "z", "w")


def answered(seed, people=5, items=4):
    """Participants, items, answers, and what each mark offers: two to four texts, the answer among them."""
    random = np.random.default_rng(seed)
    names = [f"p{person}" for person in range(people) for _ in range(items)]
    asked = list(range(items)) * people
    offered = [tuple(random.choice(TEXTS, random.integers(2, 5), replace=False)) for _ in names]
    return names, asked, [str(random.choice(each)) for each in offered], offered


def test_others_answers_by_hand():
    # item 1 has yes, yes, no: who said no sees two others, none of whom did
    people, items, said = ["a", "b", "c", "a"], [1, 1, 1, 2], ["yes", "yes", "no", "no"]
    found = tally_probs(people, items, said, [("yes", "no")] * 4)
    assert found.tolist() == pytest.approx([1.5 / 3, 1.5 / 3, 0.5 / 3, 1 / 2])


def test_own_earlier_answers_by_hand():
    people, kinds, said = ["a", "b", "a", "a", "a"], ["x", "x", "x", "y", "x"], ["1", "1", "1", "1", "2"]
    offered = [tuple("1234")] * 3 + [tuple("12")] + [tuple("1234")]
    base = [1 / len(each) for each in offered]
    found = earlier_probs(people, kinds, said, offered, base)
    assert found.tolist() == pytest.approx([1 / 4, 1 / 4, 1.25 / 2, 1 / 2, 0.25 / 3])
    assert earlier_probs(people, kinds, said, offered, base, 4)[2] == pytest.approx((1 + 4 / 4) / 5)


@given(st.integers(0, 10_000))
def test_both_are_what_counting_row_by_row_gives(seed):
    people, items, said, offered = answered(seed)
    rows = list(zip(people, items, said, offered, strict=True))
    base = [1 / len(each) for each in offered]
    crowd = tally_probs(people, items, said, offered)
    own = earlier_probs(people, ["x"] * len(rows), said, offered, base)
    for place, (person, item, answer, texts) in enumerate(rows):
        others = [each[2] for each in rows if each[1] == item and each[0] != person and each[2] in texts]
        earlier = [each[2] for each in rows[:place] if each[0] == person and each[2] in texts]
        assert crowd[place] == pytest.approx((others.count(answer) + 1 / len(texts)) / (len(others) + 1))
        assert own[place] == pytest.approx((earlier.count(answer) + 1 / len(texts)) / (len(earlier) + 1))


@pytest.mark.parametrize("seed", range(5))
def test_the_probabilities_of_what_a_person_may_answer_sum_to_one(seed):
    """No probability is lost on labels of others: where lists and keys differ, too."""
    people, items, said, offered = answered(seed)
    for place in (0, 7, len(said) - 1):
        sums = np.zeros(2)
        for other in offered[place]:
            instead = [*said[:place], other, *said[place + 1 :]]
            base = [1 / len(each) for each in offered]
            sums += [
                tally_probs(people, items, instead, offered)[place],
                earlier_probs(people, ["x"] * len(said), instead, offered, base)[place],
            ]
        assert sums == pytest.approx([1, 1])


def test_the_weights_are_the_best_ones_for_the_others():
    random = np.random.default_rng(4)
    people = np.repeat(["a", "b", "c", "d"], [30, 50, 20, 60])
    given = {name: random.uniform(0.05, 0.9, people.size) for name in "pqr"}
    found = fitted_mixture(given, people)
    stacked = np.stack(list(given.values()), axis=1)
    for person in "abcd":
        others = [name for name in "abcd" if name != person]

        def loss(free, others=others):
            weights = np.exp([0, *free]) / np.exp([0, *free]).sum()
            return -np.mean([np.log(stacked[people == name] @ weights).mean() for name in others])

        best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10})
        weights = found.weights.loc[person].to_numpy()
        assert weights.sum() == pytest.approx(1)
        assert loss(np.log(weights[1:] / weights[0])) <= best.fun + 1e-4
        assert found.probs[people == person] == pytest.approx(stacked[people == person] @ weights)


def test_changing_a_participants_answers_leaves_their_own_weights_alone():
    random = np.random.default_rng(5)
    people = np.repeat(["a", "b", "c"], 6)
    one, other = random.uniform(0.05, 0.9, (2, people.size))
    before = fitted_mixture({"one": one, "other": other}, people).weights
    turned = {"one": np.where(people == "b", other, one), "other": np.where(people == "b", one, other)}
    after = fitted_mixture(turned, people).weights
    assert after.loc["b"].tolist() == before.loc["b"].tolist()
    assert after.loc["a"].tolist() != before.loc["a"].tolist()


def test_people_of_one_part_have_the_weights_of_all_others():
    people = [f"p{number:02}" for number in range(3 * FOLDS)]
    sure = np.where(np.arange(len(people)) % FOLDS == 0, 0.1, 0.9)
    weights = fitted_mixture({"even": np.full(len(people), 0.5), "sure": sure}, people).weights["sure"]
    assert weights.nunique() == 2
    assert weights.iloc[0] == weights.iloc[FOLDS] > weights.iloc[1]


def test_even_chances_are_what_is_left_where_no_tally_helps():
    random = np.random.default_rng(7)
    people = np.repeat([f"p{number}" for number in range(20)], 30)
    said = random.integers(0, 4, people.size).astype(str).tolist()
    offered = [tuple("0123")] * people.size
    own = earlier_probs(people.tolist(), ["x"] * people.size, said, offered, 0.25)
    found = fitted_mixture({"even": np.full(people.size, 0.25), "own": own}, people)
    assert np.log(own).mean() < np.log(0.25) - 0.03
    assert np.log(found.probs).mean() > np.log(0.25) - 0.003


def test_who_answers_as_they_did_before_is_predicted_by_their_own_answers():
    people = np.repeat([f"p{number}" for number in range(20)], 30)
    said = np.repeat(np.random.default_rng(6).integers(0, 3, 20), 30).astype(str).tolist()
    offered = [tuple("012")] * people.size
    crowd = tally_probs(people.tolist(), np.tile(np.arange(30), 20).tolist(), said, offered)
    own = earlier_probs(people.tolist(), ["x"] * people.size, said, offered, 1 / 3)
    assert fitted_mixture({"crowd": crowd, "own": own}, people).weights["own"].min() > 0.9


def test_a_single_participant_has_nobody_to_fit_the_weights_on():
    with pytest.raises(MissingData, match="1 participant: weights of tallies"):
        fitted_mixture({"even": np.array([0.5])}, ["a"])
