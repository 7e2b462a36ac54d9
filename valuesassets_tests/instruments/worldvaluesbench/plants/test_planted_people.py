"""Planted people answer as planted: moves by background that are known, in the columns and codes of WVS-7."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.worldvaluesbench.material.backgrounds import ATTRIBUTE_OF
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import (
    DEMO,
    Design,
    levels_of,
    plant_people,
    planted_model,
    planted_ratings,
    planted_shares,
    pooled_shares,
)
from valuesassets.records.frames import records
from valuesassets_tests.instruments.worldvaluesbench.made_files import PLANTED_SLOPES

WIDE = Design(tuple(load_value_questions()), (156, 276, 484, 566, 36, 32, 76), (1, 2), tuple(range(9)))


@given(seed=st.integers(0, 10_000), question=st.sampled_from(DEMO.questions))
@pytest.mark.slow
def test_every_model_gives_distributions_and_pooled_over_groups_they_are_the_pooled_shares(seed, question):
    for slope in PLANTED_SLOPES.values():
        shares = np.array([planted_model(question, levels_of(each), seed, slope) for each in DEMO.profiles])
        assert (shares > 0).all()
        assert shares.sum(axis=1) == pytest.approx(np.ones(16))
        assert shares.mean(axis=0) == pytest.approx(pooled_shares(question, seed), abs=1e-12)


def test_a_models_moves_are_its_slope_times_those_of_people():
    levels = levels_of(DEMO.profiles[5])
    people, pooled = planted_shares("Q106", levels, 3), pooled_shares("Q106", 3)
    assert np.abs(people - pooled).max() > 0.005
    assert planted_model("Q106", levels, 3, -0.4) - pooled == pytest.approx(-0.4 * (people - pooled))
    assert planted_model("Q106", levels, 3, 0.0) == pytest.approx(pooled)


@pytest.mark.slow
def test_every_code_of_education_is_planted_and_every_group_is_as_large():
    people = plant_people(720, 1, WIDE)
    assert set(people["Q275"]) == set(range(9))
    groups = [tuple(levels_of(each).values()) for each in records(people[list(ATTRIBUTE_OF.values())])]
    assert set(Counter(groups).values()) == {720 // (6 * 2 * 4)}


@pytest.mark.slow
def test_people_are_in_the_codes_of_the_file():
    people = plant_people(4_000, 2, WIDE)
    assert len(people.columns) == 1 + 42 + 2 + 239
    for name, allowed in {
        "Q56": [1, 2, 3],
        "Q119": [0, 1, 2, 3, 4],
        "Q241": range(11),
        "Q111": [1, 2, 3],
        "Q94": [0, 1, 2],
        "Q254": [1, 2, 3, 4, 5],
    }.items():
        _has_codes(people[name], allowed)
    assert people["W_WEIGHT"].mean() == pytest.approx(1, abs=0.03)


def _has_codes(codes, allowed: Sequence[int]) -> None:
    assert set(codes[codes >= 0]) == set(allowed)
    assert set(codes[codes < 0]) <= {-1, -2, -4, -5}


def test_one_id_is_shared_and_rows_are_repeated_as_asked():
    people = plant_people(160, 1, n_shared_ids=2, n_repeated_rows=3)
    assert len(people) == 163
    assert people["D_INTERVIEW"].duplicated().sum() == 5
    assert people.duplicated().sum() == 3
    assert not plant_people(160, 1, n_shared_ids=0)["D_INTERVIEW"].duplicated().any()


def test_people_of_a_group_answer_as_planted():
    people, question = plant_people(32_000, 5), DEMO.questions_by_id["Q7"]
    for profile in DEMO.profiles[:4]:
        here = people[list(ATTRIBUTE_OF.values())].eq(profile).all(axis=1)
        answers = people.loc[here & (people["Q7"] > 0), "Q7"]
        shares = [(answers == value).mean() for value in question.values]
        assert shares == pytest.approx(planted_shares("Q7", levels_of(profile), 5).tolist(), abs=0.04)


def test_a_question_is_planted_alike_whatever_stands_beside_it():
    alone = plant_people(100, 4, Design(("Q7",), DEMO.countries, DEMO.settlements, DEMO.education))
    assert alone["Q7"].equals(plant_people(100, 4)["Q7"])


def test_ratings_are_distributions_with_attributes_and_without():
    ratings = planted_ratings(-0.4, 1)
    sums = ratings.groupby(["question_id", *ATTRIBUTE_OF.values()], dropna=False)["prob"].sum()
    assert len(sums) == len(DEMO.questions) * (16 + 1)
    assert sums.to_numpy() == pytest.approx(np.ones(len(sums)))
    lines = ratings.to_csv(index=False).splitlines()
    assert lines[0] == "question_id,B_COUNTRY,H_URBRURAL,Q275,response_value,prob"
    assert lines[1].startswith("Q1,156,1,2,1,0.")
    assert sum(line.startswith("Q1,,,,") for line in lines) == 4
