import pytest

from valuesassets.instruments.worldwise.ticked_values import read_values, ticked_leans
from valuesassets.records.errors import InputError
from valuesassets_tests.instruments.worldwise.made_responses import write_lines

LINES = ["value,axis,pole", "Freedom,IDV,high", "Family,IDV,low", "Rank,PDI,high"]


def test_ticks_count_one_for_the_high_pole_and_minus_one_for_the_low(tmp_path):
    values = read_values(write_lines(tmp_path / "v.csv", LINES))
    leans = ticked_leans([["Freedom", "Rank"], ["Family", "Family", "Unlisted"], []], values)
    assert leans.tolist() == [[1, 1, 0, 0, 0, 0], [-2, 0, 0, 0, 0, 0], [0] * 6]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Fun,IND,high", "axis 'IND' found, one of IDV, PDI, MAS, UAI, LTO, IVR was expected; mend it"),
        ("Fun,IVR,middle", "pole 'middle' found, one of high, low was expected; mend it"),
        (",IVR,high", "the value is empty, its name was expected; write it or remove the row"),
        ("Family,IVR,high", "value 'Family' stands in row 3 too; keep one of them"),
    ],
)
def test_a_fault_is_one_line(tmp_path, line, said):
    path = write_lines(tmp_path / "v.csv", [*LINES, line])
    with pytest.raises(InputError) as error:
        read_values(path)
    assert str(error.value) == f"{path}: row 5: {said}"
