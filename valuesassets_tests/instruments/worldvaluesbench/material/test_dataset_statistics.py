"""Statistics count people and answers: those of the splits sum to those of all."""

from valuesassets.instruments.worldvaluesbench.material.dataset_statistics import derive_dataset_statistics
from valuesassets.instruments.worldvaluesbench.plants.planted_people import DEMO, plant_people
from valuesassets.instruments.worldvaluesbench.tables import QUESTION_STATISTICS, STATISTICS
from valuesassets_tests.instruments.worldvaluesbench.made_files import planted_dataset


def test_examples_are_answers_on_the_scale_zero_among_them(tmp_path):
    statistics = derive_dataset_statistics(planted_dataset(tmp_path, 200))
    frame = plant_people(200, 1)
    expected = {name: int((frame[name] >= 0).sum()) for name in DEMO.questions}
    assert (frame["Q94"] == 0).any()
    assert statistics["questions"].set_index("question_id")["n"].to_dict() == expected
    full = statistics["splits"].set_index("split").loc["full"]
    assert (full["participants"], full["examples"]) == (200, sum(expected.values()))


def test_splits_sum_to_the_full_data_set(tmp_path):
    statistics = derive_dataset_statistics(planted_dataset(tmp_path, 200))
    splits = statistics["splits"].set_index("split")
    assert splits.loc[["train", "valid", "test"]].sum().tolist() == splits.loc["full"].tolist()
    assert splits.index.tolist() == ["full", "train", "valid", "test"]
    questions = statistics["questions"]
    assert (questions["n"] == questions[["n_train", "n_valid", "n_test"]].sum(axis=1)).all()
    assert list(questions.columns) == QUESTION_STATISTICS.names
    assert list(statistics["splits"].columns) == STATISTICS.names
