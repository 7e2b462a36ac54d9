"""Names of values: files, faults, and how ticks lean."""

import pytest

from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.instruments.worldwise.material.value_names import read_value_names, ticked_leans
from valuesassets.records.errors import QuestionError
from valuesassets_tests.instruments.worldwise.made_dilemmas import write

HEAD = "value,axis,pole\n"
BAD = {
    "another header": (
        "value,dimension\na,IDV\n",
        "{file}: line 1: value, dimension found, a header value,axis,pole was expected",
    ),
    "no rows": (HEAD, "{file}: no value below its header; add a line for each"),
    "unknown axis": (
        HEAD + "Fun,FUN,high\n",
        "{file}: line 2: axis 'FUN' found, one of IDV, PDI, MAS, UAI, LTO, IVR was expected",
    ),
    "unknown pole": (HEAD + "Fun,IVR,up\n", "{file}: line 2: pole 'up' found, one of high, low was expected"),
    "no value": (HEAD + ",IVR,high\n", "{file}: line 2: value '' found, a name without ; was expected; mend it"),
    "a semicolon": (
        HEAD + "Fun; play,IVR,high\n",
        "{file}: line 2: value 'Fun; play' found, a name without ; was expected; mend it",
    ),
    "twice": (
        HEAD + "Fun,IVR,high\nDuty,IVR,low\nfun,IVR,low\n",
        "{file}: line 4: value fun stands in line 2 already; keep one",
    ),
    "one pole": (
        HEAD + "Fun,IVR,high\nPlay,IVR,high\n",
        "{file}: all values of IVR are high; add some of the other pole",
    ),
    "too few fields": (HEAD + "Fun,IVR\n", "{file}: line 2: 2 fields found, 3 were expected"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_file_is_said_in_one_line(case, tmp_path):
    content, line = BAD[case]
    file = write(tmp_path / "values.csv", content)
    with pytest.raises(QuestionError) as caught:
        read_value_names(file)
    assert str(caught.value) == line.replace("{file}", str(file))


def test_the_bundled_values_are_two_for_each_pole_and_lean_nowhere():
    values = read_value_names()
    assert values.groupby(["axis", "pole"]).size().to_dict() == {(a, p): 2 for a in AXES for p in ("high", "low")}


LISTED = HEAD + "Freedom,IDV,high\nFamily,IDV,low\nRank,PDI,high\n"


def test_ticks_count_one_for_the_high_pole_and_minus_one_for_the_low(tmp_path):
    values = read_value_names(write(tmp_path / "v.csv", LISTED), has_both_poles=False)
    leans = ticked_leans([["Freedom", "Rank"], ["Family", "Family", "Unlisted"], []], values)
    assert leans.tolist() == [[1, 1, 0, 0, 0, 0], [-2, 0, 0, 0, 0, 0], [0] * 6]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Fun,IND,high", "axis 'IND' found, one of IDV, PDI, MAS, UAI, LTO, IVR was expected"),
        ("Fun,IVR,middle", "pole 'middle' found, one of high, low was expected"),
        (",IVR,high", "value '' found, a name without ; was expected; mend it"),
        ("Family,IVR,high", "value Family stands in line 3 already; keep one"),
    ],
)
def test_a_fault_of_a_list_with_axes_of_one_pole_is_one_line(tmp_path, line, message):
    path = write(tmp_path / "v.csv", f"{LISTED}{line}\n")
    with pytest.raises(QuestionError) as error:
        read_value_names(path, has_both_poles=False)
    assert str(error.value) == f"{path}: line 5: {message}"
