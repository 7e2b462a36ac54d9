"""Everybody in the file is read and in a group if possible; ids are unique, and the ledger lists every change."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.material.backgrounds import ATTRIBUTE_OF, FACTORS, load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
from valuesassets.instruments.worldvaluesbench.material.soundness import people_faults
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import DEMO, plant_people
from valuesassets_tests.instruments.worldvaluesbench.made_files import RECODED, planted_dataset, planted_file, with_cell
from valuesassets_tests.people.synthetic_files import FORMATS

QUESTIONS = chosen_questions(DEMO.questions)


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_same_people(tmp_path, ending):
    frame = plant_people(120, 1, RECODED, n_repeated_rows=1)
    questions = chosen_questions(RECODED.questions)
    first = read_participants(planted_file(tmp_path, frame, "parquet"), questions)
    people = read_participants(planted_file(tmp_path, frame, ending), questions)
    pd.testing.assert_frame_equal(people.participants, first.participants)
    pd.testing.assert_frame_equal(people.value_answers, first.value_answers)
    pd.testing.assert_frame_equal(people.ledger, first.ledger)


def test_columns_are_those_of_the_contract(tmp_path):
    participants = planted_dataset(tmp_path).participants
    first = ["participant_id", "interview_id", "country", "weight", "split", *FACTORS]
    assert list(participants.columns) == first + [attribute.id for attribute in load_backgrounds().attributes]


def test_weights_have_a_mean_of_one_within_each_country_and_keep_their_ratios(tmp_path):
    frame = plant_people(64, 1, n_shared_ids=0)
    frame["W_WEIGHT"] *= frame["B_COUNTRY"]
    people = read_participants(planted_file(tmp_path, frame), QUESTIONS).participants
    means = people.groupby("country")["weight"].mean()
    assert means.to_numpy() == pytest.approx(np.ones(4))
    here = (frame["B_COUNTRY"] == 276).to_numpy()
    ratio = people["weight"].to_numpy()[here] / frame["W_WEIGHT"].to_numpy()[here]
    assert ratio == pytest.approx(np.full(here.sum(), ratio[0]))


def test_every_code_of_education_reaches_a_group_that_of_a_master_too(tmp_path):
    people = planted_dataset(tmp_path, 360, RECODED).participants
    levels = people.groupby("Q275")["education"].agg(["nunique", "first"])
    assert levels["nunique"].tolist() == [1] * 9
    assert levels["first"].tolist() == (
        ["primary_or_none"] * 2 + ["lower_secondary"] + ["upper_to_post_secondary"] * 3 + ["tertiary"] * 3
    )


def test_a_small_country_and_northern_ireland_stay(tmp_path):
    frame = plant_people(200, 1, RECODED)
    in_mexico = (frame["B_COUNTRY"] == 484).to_numpy()
    frame = frame[~in_mexico | (np.cumsum(in_mexico) <= 5)]
    people = read_participants(planted_file(tmp_path, frame), chosen_questions(RECODED.questions)).participants
    assert (people["country"] == 484).sum() == 5
    assert set(people.loc[people["country"] == 909, "continent"]) == {"Europe"}
    assert len(people) == len(frame)


def test_northern_cyprus_which_the_benchmark_does_not_know_stays_in_no_group_and_is_told(tmp_path):
    frame = with_cell("B_COUNTRY", 197)(plant_people(64, 1))
    dataset = read_participants(planted_file(tmp_path, frame), QUESTIONS)
    (person,) = dataset.participants.query("country == 197").to_dict("records")
    assert person["continent"] is None
    entries = dataset.ledger.query("subject == 'continent'")
    assert entries[["n", "why"]].to_numpy().tolist() == [[1, "B_COUNTRY says no continent: in no group"]]
    assert people_faults(dataset.participants)["continent"] == [{"B_COUNTRY": 197, "people": 1}]


def test_people_of_one_id_are_distinguished_and_rows_that_are_equal_are_one_person(tmp_path):
    frame = plant_people(64, 1, n_shared_ids=0)
    frame.loc[[0, 16, 32], "D_INTERVIEW"] = 7
    frame = pd.concat([frame, frame.iloc[[5, 16]]], ignore_index=True)
    dataset = read_participants(planted_file(tmp_path, frame), QUESTIONS)
    ids = dataset.participants["participant_id"]
    assert ids[[0, 16, 32]].tolist() == ["7-1", "7-2", "7-3"]
    assert ids.is_unique
    assert len(ids) == 64
    assert set(dataset.participants.loc[[0, 16, 32], "interview_id"]) == {"7"}
    entries = dataset.ledger[dataset.ledger["what"].isin(["merged", "renumbered"])]
    fifth = str(frame.loc[5, "D_INTERVIEW"])
    assert [tuple(row) for row in entries[["what", "subject", "n"]].to_numpy()] == [
        ("merged", fifth, 1),
        ("merged", "7", 1),
        ("renumbered", "7", 3),
    ]


def test_rows_that_differ_in_a_column_that_is_not_asked_for_are_two_people(tmp_path):
    frame = plant_people(64, 1, n_shared_ids=0, n_repeated_rows=1).assign(Q999=1)
    frame.loc[64, "Q999"] = 2
    dataset = read_participants(planted_file(tmp_path, frame), QUESTIONS)
    assert len(dataset.participants) == 65
    first = str(frame.loc[0, "D_INTERVIEW"])
    assert dataset.participants["participant_id"].iloc[[0, 64]].tolist() == [f"{first}-1", f"{first}-2"]


def test_drop_leaves_out_every_row_of_a_repeated_id(tmp_path):
    frame = plant_people(64, 1, n_shared_ids=2, n_repeated_rows=1)
    dataset = read_participants(planted_file(tmp_path, frame), QUESTIONS, repeated_ids="drop")
    once = ~frame["D_INTERVIEW"].duplicated(keep=False)
    assert dataset.participants["participant_id"].tolist() == frame.loc[once, "D_INTERVIEW"].astype(str).tolist()
    dropped = dataset.ledger[dataset.ledger["what"] == "dropped"]
    assert dropped["n"].sum() == (~once).sum() == 5


def test_a_person_whose_education_is_not_known_is_in_no_group_and_the_ledger_says_so(tmp_path):
    frame = plant_people(64, 1)
    frame.loc[[1, 2], "Q275"] = -2
    frame = frame.astype({"H_URBRURAL": float})
    frame.loc[3, "H_URBRURAL"] = np.nan
    dataset = read_participants(planted_file(tmp_path, frame), QUESTIONS)
    assert dataset.participants.loc[[1, 2], "education"].isna().all()
    assert dataset.participants["settlement"].isna().sum() == 1
    rows = dataset.ledger.set_index("subject").loc[["education", "settlement"], ["what", "n"]]
    assert rows.to_numpy().tolist() == [["missing", 2], ["missing", 1]]


def test_a_country_that_is_on_no_continent_of_the_list_is_kept_without_one(tmp_path):
    frame = plant_people(64, 1).replace({"B_COUNTRY": {484: 197}})
    dataset = read_participants(planted_file(tmp_path, frame), QUESTIONS)
    assert dataset.participants.loc[dataset.participants["country"] == 197, "continent"].isna().all()
    assert dataset.ledger.set_index("subject").loc["continent", "n"] == 16


def test_a_column_that_is_not_there_holds_nothing_and_the_ledger_says_so(tmp_path):
    frame = plant_people(64, 1).drop(columns=["Q94", "Q290"])
    dataset = read_participants(planted_file(tmp_path, frame), QUESTIONS)
    assert dataset.value_answers["Q94"].isna().all()
    assert dataset.participants["Q290"].isna().all()
    entries = dataset.ledger[dataset.ledger["why"] == "the file has no such column"]
    assert sorted(entries["subject"]) == ["Q290", "Q94"]


def test_a_file_without_ids_numbers_its_rows(tmp_path):
    frame = plant_people(64, 1).drop(columns="D_INTERVIEW")
    dataset = read_participants(planted_file(tmp_path, frame), QUESTIONS)
    assert dataset.participants["participant_id"].tolist() == [str(number) for number in range(1, 65)]
    entry = dataset.ledger.set_index("subject").loc["D_INTERVIEW"]
    assert (entry["what"], entry["n"]) == ("missing", 64)
    assert entry["why"] == "the file has no such column: people are numbered by their rows"


def test_attributes_are_the_codes_of_the_file(tmp_path):
    frame = plant_people(64, 1)
    people = read_participants(planted_file(tmp_path, frame), QUESTIONS).participants
    for attribute in load_backgrounds().attributes:
        assert people[attribute.id].tolist() == frame[attribute.id].tolist()
    assert people["country"].tolist() == frame[ATTRIBUTE_OF["continent"]].tolist()
