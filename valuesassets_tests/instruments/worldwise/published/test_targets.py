import pandas as pd
import pytest

from valuesassets.instruments.worldwise.published.targets import read_targets, require_targets
from valuesassets.records.errors import InputError
from valuesassets_tests.instruments.worldwise.made_answer_files import answer, write_lines

HEADER, *GOOD = "culture,axis,seed_target", "JPN,PDI,0", "JPN,IDV,-1.5", "MEX,IDV,2", "MEX,PDI,1"


def test_targets_are_a_table_of_cultures_by_axes_in_the_order_of_axes(tmp_path):
    targets = read_targets(write_lines(tmp_path / "t.csv", [HEADER, *GOOD]))
    assert targets.to_dict("index") == {"JPN": {"IDV": -1.5, "PDI": 0}, "MEX": {"IDV": 2, "PDI": 1}}
    assert list(targets.columns) == ["IDV", "PDI"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("JPN,XYZ,1", "row 6: axis 'XYZ' found, one of IDV, PDI, MAS, UAI, LTO, IVR was expected; mend it"),
        ("JPN,MAS,2.5", "row 6: seed_target '2.5' found, a number from -2 to 2 was expected; mend it"),
        ("JPN,MAS,nan", "row 6: seed_target 'nan' found, a number from -2 to 2 was expected; mend it"),
        ("JPN,MAS,", "row 6: seed_target '' found, a number from -2 to 2 was expected; mend it"),
        ("JPN,IDV,1", "row 6: JPN, IDV stands in row 3 too; keep one of them"),
        ("unprompted,IDV,1", "row 6: culture 'unprompted' found, the name of one was expected; mend or remove the row"),
        ("JPN,MAS,1", "MEX has no target on MAS, one on every axis was expected; add it"),
    ],
)
def test_a_fault_is_one_line(tmp_path, line, message):
    path = write_lines(tmp_path / "t.csv", [HEADER, *GOOD, line])
    with pytest.raises(InputError) as error:
        read_targets(path)
    assert str(error.value) == f"{path}: {message}"


def test_targets_that_fit_no_answer_are_refused(tmp_path):
    path = write_lines(tmp_path / "t.csv", [HEADER, *GOOD])
    targets = read_targets(path)
    require_targets(targets, pd.DataFrame([answer(), answer(culture="MEX")]), path)
    for given, texts in (
        ({"axis": "LTO"}, "no target on LTO, which answers are on; add its rows"),
        (
            {"culture": "Japan"},
            "targets of JPN, MEX found, the answers are of Japan; call the cultures by one name",
        ),
    ):
        with pytest.raises(InputError) as error:
            require_targets(targets, pd.DataFrame([answer(**given)]), path)
        assert str(error.value) == f"{path}: {texts}"
