"""Bad files of people's answers for WorldValuesBench, and bad files of the seed beside good ones."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.plants.planted_people import DEMO, plant_people
from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import Make, all_of, files, folders
from valuesassets_tests.instruments.worldvaluesbench.made_files import planted_file, with_cell, write_published_files

COMMAND = "worldvaluesbench dataset --answers wvs.csv --output made"
WITH_SEED = f"{COMMAND} --seed-files seed_files"
EXAMPLES = "worldvaluesbench examples --dataset made --split valid"
NAME_IT = "as WVS wave 7 has them; name that survey's file, with its variables' own names"
OTHERWISE = "is it another survey's variable, or coded otherwise?"
SAVE_CODES = "numbers were expected; save the file with its codes, not with their labels"
A_WEIGHT = "a number above 0 was expected of everyone; mend or remove these rows"


def answers(change: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame, ending: str = "csv") -> Make:
    """The demonstration's people, spoilt."""
    return lambda folder: planted_file(folder, change(plant_people(64, 1, n_shared_ids=0)), ending)


def seed_files(name: str, change: Callable[[dict], object]) -> Make:
    """Good answers beside files of the seed, of which one is spoilt."""

    def make(folder: Path) -> None:
        planted_file(folder)
        path = write_published_files(folder / "seed_files", DEMO.questions) / f"{name}.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        change(content)
        path.write_text(json.dumps(content), encoding="utf-8")

    return make


def bad(name: str, make: Make, message: str, command: str = COMMAND, **more: object) -> Case:
    return Case(name, command, message, make, **more)


CASES = [
    bad(
        "labels in place of codes",
        answers(lambda frame: frame.assign(Q1="Very important")),
        f"wvs.csv: column Q1: 'Very important' in 64 rows, {SAVE_CODES}",
    ),
    bad(
        "labels of education",
        answers(with_cell("Q275", "Master")),
        f"wvs.csv: column Q275: 'Master' in 1 rows, {SAVE_CODES}",
    ),
    bad(
        "a country by name",
        answers(with_cell("B_COUNTRY", "Germany")),
        f"wvs.csv: column B_COUNTRY: 'Germany' in 1 rows, {SAVE_CODES}",
    ),
    bad(
        "a code off its scale",
        answers(with_cell("Q1", 5)),
        f"wvs.csv: column Q1, country 566: 5 in 1 rows are none of its answers 1 to 4; {OTHERWISE}",
    ),
    bad(
        "zero on a scale from one",
        answers(with_cell("Q106", 0)),
        f"wvs.csv: column Q106, country 566: 0 in 1 rows are none of its answers 1 to 10; {OTHERWISE}",
    ),
    bad(
        "a code above a scale from zero",
        answers(with_cell("Q94", 3)),
        f"wvs.csv: column Q94, country 566: 3 in 1 rows are none of its answers 0 to 2; {OTHERWISE}",
    ),
    bad(
        "a fraction in an SPSS file",
        answers(lambda frame: with_cell("Q106", 2.5)(frame).astype({"Q106": float}), "sav"),
        f"wvs.sav: column Q106, country 566: 2.5 in 1 rows are no codes; {OTHERWISE}",
        COMMAND.replace("csv", "sav"),
    ),
    bad(
        "a code of education that there is not",
        answers(with_cell("Q275", 9)),
        "wvs.csv: column Q275, country 566: 9 in 1 rows are none of its codes 0, 1, 2, 3, 4, 5, 6, 7, 8; " + OTHERWISE,
    ),
    bad(
        "an unknown country",
        answers(with_cell("B_COUNTRY", 999)),
        "wvs.csv: column B_COUNTRY: unknown country code 999 (1 rows); ISO 3166-1 codes were expected (276, DE or "
        "DEU): mend or remove these rows",
    ),
    bad(
        "a negative weight",
        answers(with_cell("W_WEIGHT", -0.5)),
        f"wvs.csv: column W_WEIGHT, country 566: -0.5 in data row 4 (1 such rows), {A_WEIGHT}",
    ),
    bad(
        "a weight of zero",
        answers(with_cell("W_WEIGHT", 0)),
        f"wvs.csv: column W_WEIGHT, country 566: 0 in data row 4 (1 such rows), {A_WEIGHT}",
    ),
    bad(
        "a missing weight",
        answers(with_cell("W_WEIGHT", np.nan)),
        f"wvs.csv: column W_WEIGHT, country 566: no weight in data row 4 (1 such rows), {A_WEIGHT}",
    ),
    bad(
        "another wave",
        answers(lambda frame: frame.assign(A_WAVE=6)),
        "wvs.csv: column A_WAVE: 6 is of another wave or study, 7 was expected of WVS wave 7; name that file",
    ),
    bad(
        "another wave's variables",
        answers(lambda frame: frame.rename(columns={"B_COUNTRY": "V2", "Q275": "V248"})),
        f"wvs.csv: no column B_COUNTRY or Q275 among its 51 columns, {NAME_IT}",
    ),
    *(
        bad(
            f"no column {name}",
            answers(lambda frame, name=name: frame.drop(columns=name)),
            f"wvs.csv: no column {name} among its 50 columns, {NAME_IT}",
        )
        for name in ("B_COUNTRY", "H_URBRURAL", "Q275", "W_WEIGHT")
    ),
    bad(
        "none of the questions",
        answers(lambda frame: frame.drop(columns=list(DEMO.questions))),
        f"wvs.csv: none of the 239 questions, such as Q1, among its 45 columns, {NAME_IT}",
    ),
    bad(
        "people of one group",
        answers(lambda frame: frame.assign(B_COUNTRY=156, H_URBRURAL=1, Q275=3)),
        "wvs.csv: people of two groups (continent, settlement, education) were expected, found one, Asia, urban, "
        "upper_to_post_secondary; name a file of several countries or of all their people",
    ),
    bad(
        "nobody in any group",
        answers(lambda frame: frame.assign(Q275=-2)),
        "wvs.csv: people of two groups (continent, settlement, education) were expected, found none; name a file of "
        "several countries or of all their people",
    ),
    bad(
        "a header alone",
        answers(lambda frame: frame[:0]),
        "wvs.csv: no rows: nobody's answers are in it; is it cut off? fetch it again",
    ),
    bad(
        "a row without an id",
        answers(with_cell("D_INTERVIEW", np.nan)),
        "wvs.csv: column D_INTERVIEW: 1 rows have no id; fill or remove them",
    ),
    bad("no file", folders("made"), "wvs.csv: no such file; check the path"),
    bad(
        "a ZIP archive",
        files({"wvs.csv": b"PK\x03\x04zip"}),
        "wvs.csv: is a ZIP archive or an Office document, a CSV file was expected; unpack it and name the file inside",
    ),
    bad(
        "a full disk",
        answers(),
        "made/participants.parquet: cannot be written: File too large; nothing was changed; free space or choose "
        "another folder",
        largest_file=20_000,
    ),
    bad(
        "a file where the folder shall be",
        all_of(answers(), files({"made": "mine"})),
        "made: cannot be written: made is a file, not a folder; choose another folder",
    ),
    bad(
        "a rule for repeated ids that there is not",
        answers(),
        "Invalid value for '--repeated-ids': 'keep' is not one of 'renumber', 'drop'; see `valuesassets "
        "worldvaluesbench dataset --help`",
        f"{COMMAND} --repeated-ids keep",
        code=2,
    ),
    bad("no folder of the seed", answers(), "seed_files: no such folder; check the path", WITH_SEED),
    bad(
        "an empty folder of the seed",
        all_of(answers(), folders("seed_files")),
        "seed_files/question_metadata.json: no such file; check the path",
        WITH_SEED,
    ),
    bad(
        "a scale that is not the published one",
        seed_files("question_metadata", lambda content: content["Q94"].update(answer_scale_max=3)),
        "seed_files/question_metadata.json: Q94 has a scale of 0 to 3, 0 to 2 was expected; take the published file",
        WITH_SEED,
    ),
    bad(
        "a recoding that is not the published one",
        seed_files("answer_adjustment", lambda content: content["Q119"].pop("0")),
        "seed_files/answer_adjustment.json: Q119 is recoded by {'3': '4', '4': '5'}, {'0': '3', '3': '4', '4': '5'} "
        "was expected; take the published file",
        WITH_SEED,
    ),
    bad(
        "a variable that the file of answers has not",
        seed_files("question_metadata", lambda content: content.update(Q82={**content["Q275"]})),
        "seed_files/codebook.json: no Q82, which question_metadata.json has; take both of one version",
        WITH_SEED,
    ),
    bad(
        "examples of no data set",
        folders("made"),
        "made/participants.parquet: no such file; name a folder that `valuesassets worldvaluesbench dataset` "
        "has written",
        EXAMPLES,
    ),
    bad(
        "examples of a folder that is not there",
        answers(),
        "made: no such folder; check the path; `valuesassets worldvaluesbench dataset` writes one",
        EXAMPLES,
    ),
    bad(
        "a split that there is not",
        folders("made"),
        "Invalid value for '--split': 'dev' is not one of 'full', 'train', 'valid', 'test'; see `valuesassets "
        "worldvaluesbench examples --help`",
        EXAMPLES.replace("valid", "dev"),
        code=2,
    ),
]
