"""The eight files are those that the published script writes, byte for byte, by another reading of it."""

import csv
import io
import json
import random
from pathlib import Path

import pytest

from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions, load_value_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import DEMO, Design, plant_people
from valuesassets.instruments.worldvaluesbench.published.format import read_published_files, write_published_format
from valuesassets.records.errors import InputError
from valuesassets_tests.instruments.worldvaluesbench.made_files import (
    RECODED,
    URUGUAY,
    planted_dataset,
    planted_file,
    write_published_files,
)
from valuesassets_tests.needs import shared_file

FILES = [
    f"{split}/{split}_{use}_qa.tsv" for split in ("full", "train", "valid", "test") for use in ("demographic", "value")
]


def published_script(answers: Path, folder: Path) -> dict[str, bytes]:
    """The files that the published script writes, cell by cell, without pandas: by file."""
    metadata, codebook, adjusted = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("question_metadata", "codebook", "answer_adjustment")
    )
    with open(answers, encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    people = [row for row in rows if int(float(row["D_INTERVIEW"])) != URUGUAY]
    backgrounds = [{name: cell(row[name], name, metadata, codebook, adjusted) for name in metadata} for row in people]
    columns = {
        use: ["D_INTERVIEW", *(n for n in metadata if metadata[n]["use_case"] == use and n != "D_INTERVIEW")]
        for use in ("demographic", "value")
    }
    places = list(range(len(people)))
    random.seed(0)
    random.shuffle(places)
    train = int(0.7 * len(people))
    test = train + int(0.15 * len(people))
    of = {"full": range(len(people)), "train": places[:train], "test": places[train:test], "valid": places[test:]}
    return {
        f"{split}/{split}_{use}_qa.tsv": tsv(columns[use], [backgrounds[place] for place in of[split]])
        for split in of
        for use in columns
    }


def cell(written, name, metadata, codebook, adjusted):
    """A cell: whole numbers without a point, recoded, told by its label; of ordered answers the number."""
    if written == "":
        return ""
    value = str(int(float(written)))
    if value in adjusted.get(name, {}):
        value = adjusted[name][value]
    if value == "":
        return ""
    if metadata[name]["answer_data_type"] == "ordinal":
        return "" if int(value) < 0 else value
    return codebook[name]["choices"].get(value, value)


def tsv(columns, rows) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    writer.writerows([[row[name] for name in columns] for row in rows])
    return text.getvalue().encode()


def people_of(design: Design, n: int):
    """People of whom three rows have the id that the seed leaves out, two of them alike; some cells are empty."""
    frame = plant_people(n, 3, design, n_shared_ids=0)
    uruguay = frame.index[frame["B_COUNTRY"] == 858][:2]
    frame.loc[uruguay, "D_INTERVIEW"] = URUGUAY
    frame.loc[n] = frame.loc[uruguay[0]]
    frame = frame.astype({"D_INTERVIEW": int})
    frame["Q274"] = frame["Q274"].astype(float)  # written as 1.0
    frame["Q290"] = frame["Q290"].where(frame.index % 7 > 0)  # empty for some
    return frame


def written(tmp_path, answers, folder, questions):
    dataset = read_participants(answers, chosen_questions(questions), repeated_ids="drop")
    paths = write_published_format(dataset, read_published_files(folder), tmp_path / "seed_format")
    contents = {path.relative_to(tmp_path / "seed_format").as_posix(): path.read_bytes() for path in paths}
    assert sorted(contents) == sorted(FILES)
    return contents


@pytest.mark.parametrize("ending", ["csv", "parquet", "sav"])
def test_the_eight_files_are_those_of_the_published_script_to_the_last_byte(tmp_path, ending):
    frame = people_of(RECODED, 403)
    folder = write_published_files(tmp_path / "seed_files", RECODED.questions)
    expected = published_script(planted_file(tmp_path, frame), folder)
    contents = written(tmp_path, planted_file(tmp_path, frame, ending), folder, RECODED.questions)
    for name in FILES:
        assert contents[name] == expected[name], name
    assert len(contents["full/full_value_qa.tsv"].splitlines()) == 1 + 401
    assert b'"no ""answer"""' in contents["full/full_demographic_qa.tsv"] or b'"missing;\t' in contents[FILES[0]]


@pytest.mark.published
def test_the_eight_files_are_those_of_the_published_script_with_its_own_labels(tmp_path):
    folder = shared_file("data", "wvb", "codebook.json").parent
    design = Design(tuple(load_value_questions()), RECODED.countries, RECODED.settlements, RECODED.education)
    frame = people_of(design, 300)
    answers = planted_file(tmp_path, frame)
    expected = published_script(answers, folder)
    assert written(tmp_path, answers, folder, design.questions) == expected


def test_renumbered_people_are_all_in_the_files_with_ids_of_their_own(tmp_path):
    folder = write_published_files(tmp_path / "seed_files", RECODED.questions)
    answers = planted_file(tmp_path, people_of(RECODED, 100))
    dataset = read_participants(answers, chosen_questions(RECODED.questions))
    write_published_format(dataset, read_published_files(folder), tmp_path)
    lines = (tmp_path / "full" / "full_value_qa.tsv").read_text().splitlines()
    assert len(lines) == 1 + 100
    assert sum(line.startswith(f"{URUGUAY}-") for line in lines) == 2


def test_a_variable_that_the_data_set_lacks_is_named(tmp_path):
    seed_files = read_published_files(write_published_files(tmp_path / "seed_files", ["Q1", "Q2"]))
    with pytest.raises(InputError, match=r"question_metadata.json: Q2 \(value\) is not in the data set; remove it"):
        write_published_format(planted_dataset(tmp_path, design=DEMO), seed_files, tmp_path / "seed_format")
    assert not (tmp_path / "seed_format").exists()
