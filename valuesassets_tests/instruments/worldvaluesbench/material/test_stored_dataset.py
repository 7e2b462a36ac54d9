"""A data set comes back as it was written, and is written whole or not at all."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
from valuesassets.instruments.worldvaluesbench.material.stored_dataset import read_dataset, write_dataset
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import DEMO, plant_people
from valuesassets.instruments.worldvaluesbench.published.format import read_published_files
from valuesassets.records.errors import InputError, StorageError
from valuesassets_tests.instruments.worldvaluesbench.made_files import (
    RECODED,
    URUGUAY,
    planted_dataset,
    planted_file,
    write_published_files,
)


def test_what_was_written_is_read_again(tmp_path):
    frame = plant_people(100, 1, RECODED, n_repeated_rows=1).astype({"Q94": float})
    frame.loc[[2, 5], "Q94"] = None
    frame.loc[7, "Q275"] = -1
    dataset = read_participants(planted_file(tmp_path, frame), chosen_questions(RECODED.questions))
    write_dataset(dataset, tmp_path / "made")
    stored = read_dataset(tmp_path / "made")
    pd.testing.assert_frame_equal(stored.participants, dataset.participants)
    pd.testing.assert_frame_equal(stored.value_answers, dataset.value_answers)
    pd.testing.assert_frame_equal(stored.ledger, dataset.ledger)


def test_a_folder_holds_tables_statistics_ledger_and_the_published_files(tmp_path):
    published = read_published_files(write_published_files(tmp_path / "published", ["Q1", "Q94"]))
    write_dataset(planted_dataset(tmp_path), tmp_path / "made", published)
    files = {path.relative_to(tmp_path / "made").as_posix() for path in (tmp_path / "made").rglob("*.*")}
    tables = {"participants.parquet", "value_answers.parquet", "statistics.csv", "ledger.csv"}
    splits = ("full", "train", "valid", "test")
    assert files == tables | {f"seed_format/{s}/{s}_{use}_qa.tsv" for s in splits for use in ("demographic", "value")}
    assert (tmp_path / "made" / "statistics.csv").read_text().splitlines()[0] == "split,participants,examples"
    assert (tmp_path / "made" / "ledger.csv").read_text().splitlines()[0] == "what,subject,n,why"


def test_nothing_is_left_where_the_published_files_do_not_fit(tmp_path):
    published = read_published_files(write_published_files(tmp_path / "published", ["Q2"]))
    with pytest.raises(InputError, match=r"Q2 \(value\) is not in the data set"):
        write_dataset(planted_dataset(tmp_path), tmp_path / "made", published)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["published", "wvs.csv"]


def test_nothing_is_left_where_the_folder_cannot_be_written(tmp_path):
    (tmp_path / "made").write_text("a file of somebody's")
    with pytest.raises(StorageError, match="cannot be written"):
        write_dataset(planted_dataset(tmp_path), tmp_path / "made")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "wvs.csv"]


def test_what_is_no_data_set_is_named(tmp_path):
    with pytest.raises(StorageError, match=r"nowhere: no such folder.*worldvaluesbench dataset` writes one"):
        read_dataset(tmp_path / "nowhere")
    with pytest.raises(StorageError, match=r"participants.parquet: no such file; name a folder that"):
        read_dataset(tmp_path)


def test_tables_of_different_people_are_refused(tmp_path):
    for name, n in (("one", 64), ("other", 80)):
        write_dataset(planted_dataset(tmp_path, n), tmp_path / name)
    (tmp_path / "other" / "value_answers.parquet").replace(tmp_path / "one" / "value_answers.parquet")
    with pytest.raises(StorageError, match=r"participants.parquet and value_answers.parquet have different people"):
        read_dataset(tmp_path / "one")


def test_the_published_files_of_an_earlier_data_set_go_and_nothing_else_of_the_folder(tmp_path):
    published = read_published_files(write_published_files(tmp_path / "published", ["Q1", "Q94"]))
    folder, dataset = tmp_path / "made", planted_dataset(tmp_path)
    write_dataset(dataset, folder, published)
    (folder / "seed_format" / "full" / "mine.txt").write_text("mine")
    write_dataset(dataset, folder)
    assert [path.name for path in (folder / "seed_format").rglob("*.*")] == ["mine.txt"]
    (folder / "seed_format" / "full" / "mine.txt").unlink()
    write_dataset(dataset, folder)
    assert not (folder / "seed_format").exists()


def test_the_folder_may_be_the_one_we_are_in(tmp_path, monkeypatch):
    (tmp_path / "made").mkdir()
    monkeypatch.chdir(tmp_path / "made")
    write_dataset(planted_dataset(tmp_path), Path())
    assert len(read_dataset(tmp_path / "made").participants) == 64


def test_the_folder_may_be_a_link_to_another_file_system(tmp_path):
    """Nothing passes through the place of the link: it could not be renamed from there."""
    elsewhere = Path("/dev/shm")  # noqa: S108 - a folder of its own is made there
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("this machine has no second file system")
    with tempfile.TemporaryDirectory(dir=elsewhere) as place:
        (tmp_path / "link").symlink_to(place)
        write_dataset(planted_dataset(tmp_path), tmp_path / "link")
        assert sorted(path.name for path in Path(place).iterdir()) == [
            *("ledger.csv", "participants.parquet", "statistics.csv", "value_answers.parquet"),
        ]


def test_a_folder_that_was_made_for_nothing_goes(tmp_path):
    dataset = planted_dataset(tmp_path)
    with pytest.raises(StorageError, match="column split is missing"):
        write_dataset(replace(dataset, participants=dataset.participants.drop(columns="split")), tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("ids", "rule", "entries"),
    [
        ({0: URUGUAY, 1: URUGUAY}, "drop", []),
        ({0: 7, 1: 7, 2: URUGUAY, 3: URUGUAY}, "drop", [("7", 2, "its script keeps rows of this id as they are")]),
        ({0: 7, 1: 7}, "renumber", [("7", 2, "its script keeps rows of this id as they are")]),
        ({0: URUGUAY}, "drop", [(str(URUGUAY), 1, "its script drops this id")]),
    ],
)
def test_the_ledger_says_of_which_ids_the_eight_files_differ_from_the_published_ones(tmp_path, ids, rule, entries):
    published = read_published_files(write_published_files(tmp_path / "published", ["Q1", "Q94"]))
    frame = plant_people(64, 1, n_repeated_rows=0)
    frame["D_INTERVIEW"] = [ids.get(row, 1000 + row) for row in range(len(frame))]
    dataset = read_participants(planted_file(tmp_path, frame), chosen_questions(DEMO.questions), rule)
    write_dataset(dataset, tmp_path / "made", published)
    ledger = read_dataset(tmp_path / "made").ledger
    differences = ledger[ledger["what"] == "unlike the seed's"][["subject", "n", "why"]]
    assert list(differences.itertuples(index=False, name=None)) == entries
    assert list(write_dataset(dataset, tmp_path / "other").ledger["what"]) == list(dataset.ledger["what"])


def test_the_published_files_are_not_written_of_people_without_ids(tmp_path):
    published = read_published_files(write_published_files(tmp_path / "published", ["Q1", "Q94"]))
    file = planted_file(tmp_path, plant_people(64, 1).drop(columns="D_INTERVIEW"))
    dataset = read_participants(file, chosen_questions(DEMO.questions))
    with pytest.raises(
        InputError, match="column D_INTERVIEW: the survey's file has none, and the published files name"
    ):
        write_dataset(dataset, tmp_path / "made", published)
    assert not (tmp_path / "made").exists()
