"""Personas: each background once, counted, and sorted so that what is shared stands together."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.material.personas import asked_pairs, derive_personas
from valuesassets.instruments.worldvaluesbench.tables import PERSONAS
from valuesassets.records.errors import MissingData
from valuesassets.records.parquet import read_frame, write_frame

ATTRIBUTES = ("B_COUNTRY", "H_URBRURAL", "Q275")
PEOPLE = pd.DataFrame(
    {
        "participant_id": ["a", "b", "c", "d"],
        "B_COUNTRY": pd.array([404, 156, 156, 404], "Int64"),
        "H_URBRURAL": pd.array([1, 1, 1, 2], "Int64"),
        "Q275": pd.array([3, -5, pd.NA, 8], "Int64"),
    }
)
SAMPLES = pd.DataFrame({"question_id": ["Q1", "Q2", "Q1", "Q1"], "participant_id": ["a", "b", "b", "c"]})


def test_people_who_share_a_background_are_one_persona_worked_by_hand():
    personas = derive_personas(PEOPLE, SAMPLES, ATTRIBUTES)
    assert personas["profile"].tolist() == ["B_COUNTRY=156,H_URBRURAL=1", "B_COUNTRY=404,H_URBRURAL=1,Q275=3"]
    assert personas["n_people"].tolist() == [2, 1]
    assert personas["n_questions"].tolist() == [2, 1]
    assert personas["Q275"].isna().tolist() == [True, False]


def test_a_pair_is_asked_once_however_many_people_it_stands_for():
    pairs = asked_pairs(PEOPLE, SAMPLES, ATTRIBUTES)
    assert list(pairs.itertuples(index=False, name=None)) == [
        ("B_COUNTRY=156,H_URBRURAL=1", "Q1"),
        ("B_COUNTRY=156,H_URBRURAL=1", "Q2"),
        ("B_COUNTRY=404,H_URBRURAL=1,Q275=3", "Q1"),
    ]


def test_personas_agree_with_a_count_by_hand_of_many_people():
    rng = np.random.default_rng(1)
    people = pd.DataFrame({name: rng.integers(1, 4, 500) for name in ATTRIBUTES})
    people["participant_id"] = [f"p{number}" for number in range(500)]
    samples = pd.DataFrame(
        {"question_id": rng.choice(["Q1", "Q2"], 900), "participant_id": rng.choice(people["participant_id"], 900)}
    )
    seen: dict[tuple[int, ...], set[str]] = {}
    codes = people.set_index("participant_id")
    for person in samples["participant_id"]:
        seen.setdefault(tuple(codes.loc[person, list(ATTRIBUTES)]), set()).add(person)
    personas = derive_personas(people, samples, ATTRIBUTES)
    assert list(zip(*(personas[name] for name in ATTRIBUTES), strict=True)) == sorted(seen)
    assert personas["n_people"].tolist() == [len(seen[key]) for key in sorted(seen)]


def test_somebody_who_is_no_participant_is_told_by_row():
    samples = pd.DataFrame({"question_id": ["Q1", "Q1"], "participant_id": ["a", "z"]})
    with pytest.raises(MissingData, match=r"^probe_samples: row 2: person z is not a participant; draw"):
        derive_personas(PEOPLE, samples, ATTRIBUTES)


def test_an_attribute_that_the_data_set_lacks_is_told():
    with pytest.raises(MissingData, match=r"^participants: column Q288 is missing; name attributes that the data set"):
        derive_personas(PEOPLE, SAMPLES, ("Q288",))


def test_personas_are_a_table(tmp_path):
    personas = derive_personas(PEOPLE, SAMPLES, ATTRIBUTES)
    write_frame(tmp_path / "personas.parquet", personas, PERSONAS)
    assert read_frame(tmp_path / "personas.parquet", PERSONAS)["profile"].tolist() == personas["profile"].tolist()
