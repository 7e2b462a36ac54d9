"""Each bad file of answers ends in one line that says what was found, what was expected and what to do."""

import numpy as np
import pytest

from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import DEMO, plant_people
from valuesassets.records.errors import HumanDataError
from valuesassets_tests.instruments.worldvaluesbench.made_files import planted_file, with_cell

CHANGED = {
    "with labels in place of codes": (
        lambda frame: frame.assign(Q1="Very important"),
        "column Q1: 'Very important' in 64 rows, numbers were expected; save the file with its codes, not with their",
    ),
    "with labels of an attribute": (
        lambda frame: frame.assign(Q275="Master or equivalent"),
        "column Q275: 'Master or equivalent' in 64 rows, numbers were expected; save the file with its codes",
    ),
    "with a country's name": (
        with_cell("B_COUNTRY", "Germany"),
        "column B_COUNTRY: 'Germany' in 1 rows, numbers were expected; save the file with its codes",
    ),
    "with a code off its scale": (
        with_cell("Q1", 5),
        "column Q1, country 566: 5 in 1 rows are none of its answers 1 to 4; is it another survey's variable",
    ),
    "with a zero on a scale from one": (
        with_cell("Q1", 0),
        "column Q1, country 566: 0 in 1 rows are none of its answers 1 to 4",
    ),
    "with a code above a scale from zero": (
        with_cell("Q94", 3),
        "column Q94, country 566: 3 in 1 rows are none of its answers 0 to 2",
    ),
    "with a fraction": (with_cell("Q106", 2.5), "column Q106, country 566: 2.5 in 1 rows are no codes"),
    "with a code of education that there is not": (
        with_cell("Q275", 9),
        "column Q275, country 566: 9 in 1 rows are none of its codes 0, 1, 2, 3, 4, 5, 6, 7, 8",
    ),
    "with a third kind of settlement": (
        with_cell("H_URBRURAL", 3),
        "column H_URBRURAL, country 566: 3 in 1 rows are none of its codes 1, 2",
    ),
    "with an unknown country": (
        with_cell("B_COUNTRY", 999),
        r"column B_COUNTRY: unknown country code 999 \(1 rows\); ISO 3166-1 codes were expected",
    ),
    "with no country in a row": (
        with_cell("B_COUNTRY", None),
        r"column B_COUNTRY: unknown country code no code \(1 rows\)",
    ),
    "with a negative weight": (
        with_cell("W_WEIGHT", -0.5),
        r"column W_WEIGHT, country 566: -0.5 in data row 4 \(1 such rows\), a number above 0 was expected of everyone;",
    ),
    "with a weight of zero": (with_cell("W_WEIGHT", 0), "W_WEIGHT, country 566: 0 in data row 4"),
    "with an infinite weight": (with_cell("W_WEIGHT", np.inf), "W_WEIGHT, country 566: inf in data row 4"),
    "with a missing weight": (
        with_cell("W_WEIGHT", None),
        r"column W_WEIGHT, country 566: no weight in data row 4 \(1 such rows\)",
    ),
    "of another wave": (
        lambda frame: frame.assign(A_WAVE=6),
        "column A_WAVE: 6 is of another wave or study, 7 was expected of WVS wave 7; name that file",
    ),
    "of another year": (
        lambda frame: frame.assign(A_YEAR=2012),
        "column A_YEAR: 2012 is of another wave or study, 2017 to 2024 was expected of WVS wave 7",
    ),
    **{
        f"without {name}": (
            lambda frame, name=name: frame.drop(columns=name),
            rf"no column {name} among its \d+ columns, as WVS wave 7 has them; name that survey's file",
        )
        for name in ("B_COUNTRY", "H_URBRURAL", "Q275", "W_WEIGHT")
    },
    "without weights and education": (
        lambda frame: frame.drop(columns=["W_WEIGHT", "Q275"]),
        r"no column Q275 or W_WEIGHT among its \d+ columns",
    ),
    "without any of the questions": (
        lambda frame: frame.drop(columns=list(DEMO.questions)),
        r"none of the 6 questions, such as Q1, among its \d+ columns",
    ),
    "with a header alone": (lambda frame: frame[:0], "no rows: nobody's answers are in it; is it cut off"),
    "with rows without an id": (
        with_cell("D_INTERVIEW", None),
        "column D_INTERVIEW: 1 rows have no id; fill or remove them",
    ),
    "with two columns of one name": (
        lambda frame: frame.rename(columns={"Q7": "Q1"}),
        "columns Q1, Q1 have one name; leave one of them",
    ),
    "of one group": (
        lambda frame: frame.assign(B_COUNTRY=156, H_URBRURAL=1, Q275=3),
        r"people of two groups \(continent, settlement, education\) were expected, found one, Asia, urban, "
        "upper_to_post_secondary; name a file of several",
    ),
    "of nobody in any group": (
        lambda frame: frame.assign(Q275=-2),
        r"people of two groups \(continent, settlement, education\) were expected, found none",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_file(tmp_path, name):
    change, message = CHANGED[name]
    path = planted_file(tmp_path, change(plant_people(64, 1, n_shared_ids=0)))
    with pytest.raises(HumanDataError, match=message) as raised:
        read_participants(path, chosen_questions(DEMO.questions))
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(HumanDataError, match=r"wvs.csv: no such file"):
        read_participants(tmp_path / "wvs.csv")


def test_a_file_of_another_kind_is_named(tmp_path):
    (tmp_path / "wvs.sav").write_bytes(b"PK\x03\x04zip")
    with pytest.raises(HumanDataError, match=r"is a ZIP archive or an Office document.*; unpack it and name the file"):
        read_participants(tmp_path / "wvs.sav")
