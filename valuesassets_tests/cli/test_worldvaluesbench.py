"""The commands of WorldValuesBench: a data set out of the survey's file, examples of it, and one line for a fault."""

import json

import pytest

from valuesassets.instruments.worldvaluesbench.material.stored_dataset import read_dataset
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import Design, plant_people
from valuesassets_tests.cli.commands import refuse, succeed
from valuesassets_tests.instruments.worldvaluesbench.made_files import planted_file, with_cell, write_published_files

WHOLE = Design(tuple(load_value_questions()), (156, 276, 484, 909), (1, 2), (2, 7))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    return planted_file(tmp_path_factory.mktemp("answers"), plant_people(64, 1, WHOLE, n_repeated_rows=1))


def test_a_data_set_is_written_and_its_examples_are_printed(tmp_path, answers):
    made = tmp_path / "made"
    said = succeed("worldvaluesbench", "dataset", "--answers", answers, "--output", made)
    assert "1 rows merged: rows equal in every column are one person" in said
    assert "2 rows renumbered: several people have this id" in said
    assert len(read_dataset(made).participants) == 64
    printed = succeed("worldvaluesbench", "examples", "--dataset", made, "--split", "valid", "--limit", 5).splitlines()
    people = read_dataset(made).participants.set_index("participant_id")["split"]
    assert [people[json.loads(line)["participant_id"]] for line in printed] == ["valid"] * 5


def test_the_seeds_files_are_written_where_its_folder_is_given(tmp_path, answers):
    folder = write_published_files(tmp_path / "seed_files", list(load_value_questions()))
    made = tmp_path / "made"
    asked = ("worldvaluesbench", "dataset", "--answers", answers, "--output", made)
    said = succeed(*asked, "--repeated-ids", "drop", "--seed-files", folder)
    assert "3 rows dropped: several rows have this id" in said
    assert "3 rows unlike the seed's: its script keeps rows of this id as they are" in said
    lines = (made / "seed_format" / "full" / "full_value_qa.tsv").read_text().splitlines()
    assert len(lines) == 1 + 62
    assert len(lines[0].split("\t")) == 240


@pytest.mark.slow
def test_columns_that_the_file_lacks_are_told(tmp_path):
    lacking = planted_file(tmp_path, plant_people(64, 1, WHOLE).drop(columns=["D_INTERVIEW", "Q290", "Q7"]))
    asked = ("worldvaluesbench", "dataset", "--answers", lacking, "--output", tmp_path / "made")
    said = succeed(*asked).splitlines()
    assert f"{lacking}: no column Q290, Q7: nobody's answers to these are known" in said
    assert f"{lacking}: no column D_INTERVIEW: people are numbered by their rows" in said


def test_a_bad_file_is_one_line_and_nothing_is_left(tmp_path):
    bad = planted_file(tmp_path, with_cell("Q1", "Very important")(plant_people(64, 1)))
    line = refuse("worldvaluesbench", "dataset", "--answers", bad, "--output", tmp_path / "made")
    assert line == (
        f"{bad}: column Q1: 'Very important' in 1 rows, numbers were expected; save the file with its codes, not with "
        "their labels"
    )
    assert [path.name for path in tmp_path.iterdir()] == [bad.name]


def test_a_folder_that_is_no_data_set_is_one_line(tmp_path):
    line = refuse("worldvaluesbench", "examples", "--dataset", tmp_path, "--split", "test")
    assert line.startswith(f"{tmp_path / 'participants.parquet'}: no such file; name a folder that")


def test_an_output_that_is_a_file_is_one_line(tmp_path, answers):
    (tmp_path / "made").write_text("mine")
    line = refuse("worldvaluesbench", "dataset", "--answers", answers, "--output", tmp_path / "made")
    assert "cannot be written" in line


def asking(output, *more):
    """A command that would ask a model, once its other options are sound."""
    return ("worldvaluesbench", "ask", "--model", "m", "--dataset", "no_folder", "--output", output, *more)


def test_no_file_that_is_not_ratings_is_written_over(tmp_path, answers):
    was = answers.read_bytes()
    assert refuse(*asking(answers)) == (
        f"{answers}: exists and holds no ratings, whose header is question_id, ..., response_value, prob, ...; "
        "choose another name for the output"
    )
    assert answers.read_bytes() == was


@pytest.mark.parametrize(
    "content",
    [
        "question_id,B_COUNTRY,response_value,prob\nQ1,156,1,1\n",
        "question_id,response_value,prob,prob_forward,prob_reversed,p_valid,position_bias\nQ1,1,1,1,1,1,0\n",
        "",
    ],
)
def test_earlier_ratings_and_an_empty_file_may_be_written_over(tmp_path, content):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text(content)
    assert refuse(*asking(ratings)).startswith("no_folder: no such folder")


@pytest.mark.parametrize(
    ("option", "named", "said"),
    [
        ("--attributes", "B_COUNTRY,B_COUNTRY", "key 'attributes': B_COUNTRY stands there twice; name it once"),
        ("--attributes", "", "entry 1 of 'attributes'"),
        ("--questions", "", "entry 1 of 'questions'"),
    ],
)
def test_what_is_named_twice_or_not_at_all_is_refused_as_in_a_study(tmp_path, option, named, said):
    line = refuse(*asking(tmp_path / "ratings.csv", option, named))
    assert line.startswith("worldvaluesbench ask: ")
    assert said in line
