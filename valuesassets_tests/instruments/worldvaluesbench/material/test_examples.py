"""Examples are what was answered, once each: a person's background, a question, and the answer."""

import json

from valuesassets.instruments.worldvaluesbench.material.dataset_statistics import derive_dataset_statistics
from valuesassets.instruments.worldvaluesbench.material.examples import example_lines
from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions, load_value_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import DEMO, plant_people
from valuesassets_tests.instruments.worldvaluesbench.made_files import planted_dataset, planted_file


def test_there_is_an_example_for_every_answer_of_a_split(tmp_path):
    dataset = planted_dataset(tmp_path, 100)
    counts = derive_dataset_statistics(dataset)["splits"].set_index("split")["examples"]
    for split in ("full", "train", "valid", "test"):
        examples = [json.loads(line) for line in example_lines(dataset, split)]
        assert len(examples) == counts[split]
        assert len({(each["participant_id"], each["question_id"]) for each in examples}) == len(examples)


def test_an_example_by_hand(tmp_path):
    frame = plant_people(100, 1)
    first = json.loads(next(example_lines(planted_dataset(tmp_path, 100), "full")))
    assert first["rating"] == frame.loc[0, first["question_id"]]
    assert first["participant_id"] == f"{frame.loc[0, 'D_INTERVIEW']}-1"
    question = load_value_questions()[first["question_id"]]
    assert first["scale"] == [question.lo, question.hi]
    assert set(first) == {
        "participant_id",
        "question_id",
        "category",
        "question",
        "scale",
        "rating",
        "weight",
        "attributes",
    }


def test_attributes_that_are_missing_are_left_out(tmp_path):
    frame = plant_people(64, 1, n_shared_ids=0)
    frame.loc[[2, 9], "Q288"] = -1
    lacking = set(frame.loc[[2, 9], "D_INTERVIEW"].astype(str))
    dataset = read_participants(planted_file(tmp_path, frame), chosen_questions(DEMO.questions))
    examples = [json.loads(line) for line in example_lines(dataset, "full")]
    for each in examples:
        assert ("Q288" not in each["attributes"]) == (each["participant_id"] in lacking)
        assert {"B_COUNTRY", "H_URBRURAL", "Q275"} <= each["attributes"].keys()
