import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from valuesassets.records.columns import COLUMNS, RULES, Column, column_named
from valuesassets.records.errors import StorageError
from valuesassets.records.parquet import read_frame, read_table, write_frame, write_table
from valuesassets.records.table import Table
from valuesassets.records.tables import TABLES, table_of_asset

CELLS = Table("cells", "a cell", "model language reason? n_items p jsd_distance is_flagged")
ROWS = pd.DataFrame(
    {
        "model": ["a", "b"],
        "language": ["eng", "deu"],
        "reason": [None, "few"],
        "n_items": [3, 4],
        "p": [0.5, np.nan],
        "jsd_distance": [0.0, 1.0 + 1e-9],
        "is_flagged": [False, True],
    }
)


def test_rows_that_fit_are_written_as_they_are(tmp_path):
    path = tmp_path / "cells.parquet"
    ROWS.attrs["notes"] = ["why"]
    write_frame(path, ROWS, CELLS)
    found = read_frame(path, CELLS)
    pd.testing.assert_frame_equal(found, ROWS)
    assert found.attrs["notes"] == ["why"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"other": 1}, "column other found, model, language, reason, n_items, p"),
        ({"p": [0.5, 1.1]}, r"column p, row 2 \(b, deu, few\): 1.1 found, a number \(0 to 1\) was expected"),
        ({"jsd_distance": [-0.1, 0.5]}, r"column jsd_distance, row 1 \(a, eng\): -0.1 found"),
        ({"p": np.inf}, "column p, row 1 .*: inf found"),
        ({"model": [None, "b"]}, r"column model, row 1 \(eng\): empty, a text was expected"),
        ({"n_items": [3.0, np.nan]}, r"column n_items, row 2 .*: empty, a whole number \(0 or more\) was expected"),
        ({"n_items": 3.5}, "column n_items: values are double, a whole number"),
        ({"language": 1}, "column language: values are int64, a text was expected"),
        ({"is_flagged": "no"}, "column is_flagged: values are string, a true or false was expected"),
        ({"p": [0.5, "half"]}, "column p, row 2: 'half' found, a number was expected"),
    ],
)
def test_what_does_not_fit_is_named_by_table_column_and_row_and_nothing_is_written(tmp_path, changed, said):
    path = tmp_path / "cells.parquet"
    with pytest.raises(StorageError, match=f"cells.parquet: table cells[,:] {said}"):
        write_frame(path, ROWS.assign(**changed), CELLS)
    assert not path.exists()


def test_numbers_in_lists_of_lists_stay_in_their_range_too(tmp_path):
    law = Table("law", "a law", Column("probs", pa.list_(pa.list_(pa.float64())), "of each", "probability", (0, 1)))
    assert law.columns[0].kind == "list of lists of numbers"
    write_table(tmp_path / "law.parquet", [{"probs": [[0.5, 0.5], []]}, {"probs": []}], law)
    assert read_table(tmp_path / "law.parquet", law).to_pylist() == [{"probs": [[0.5, 0.5], []]}, {"probs": []}]
    with pytest.raises(StorageError, match=r"probs, a list: 1.5 found, a list of lists of numbers \(0 to 1\)"):
        write_table(tmp_path / "other.parquet", [{"probs": [[0.5], [1.5, -0.5]]}], law)
    assert not (tmp_path / "other.parquet").exists()


def test_a_column_that_must_be_there_is_missed_and_one_that_may_be_empty_is_added_empty(tmp_path):
    path = tmp_path / "cells.parquet"
    with pytest.raises(StorageError, match="table cells: column n_items is missing"):
        write_frame(path, ROWS.drop(columns="n_items"), CELLS)
    write_frame(path, ROWS.drop(columns=["reason", "p"]), CELLS)
    found = read_frame(path, CELLS)
    assert list(found) == CELLS.names
    assert found[["reason", "p"]].isna().to_numpy().all()
    assert found["p"].dtype == float


@pytest.mark.parametrize("frame", [pd.DataFrame(), ROWS.head(0), pd.DataFrame({"p": pd.Series(dtype=object)})])
def test_a_table_without_rows_has_all_columns_in_their_types(tmp_path, frame):
    path = tmp_path / "cells.parquet"
    write_frame(path, frame, CELLS)
    assert pq.read_schema(path).remove_metadata().equals(CELLS.schema.remove_metadata(), check_metadata=False)
    assert len(read_frame(path, CELLS)) == 0


def test_a_table_of_lists_without_rows_is_written_whatever_its_frame_takes_them_for(tmp_path):
    table = Table("law", "an answer", Column("probs", pa.list_(pa.float64()), "a share of each law"))
    write_frame(tmp_path / "law.parquet", pd.DataFrame({"probs": pd.Series(dtype=float)}), table)
    assert pq.read_schema(tmp_path / "law.parquet").field("probs").type == pa.list_(pa.float64())


def test_whole_numbers_stand_for_numbers_and_numbers_for_whole_ones_that_are_missing(tmp_path):
    table = Table("t", "a row", "n? p")
    write_frame(tmp_path / "t.parquet", pd.DataFrame({"n": [1.0, np.nan], "p": [0, 1]}), table)
    assert read_frame(tmp_path / "t.parquet", table)["n"].tolist()[0] == 1


def test_columns_known_by_their_pattern_alone_are_checked_as_well(tmp_path):
    table = TABLES["respondents"]
    who = {"country": ["DE"], "respondent_id": ["1"], "survey": ["s"], "source": ["planted"], "weight": [1.0]}
    write_frame(tmp_path / "r.parquet", pd.DataFrame(who | {"v1": [2], "A008": [np.nan]}), table)
    with pytest.raises(StorageError, match="column v1: values are string, a whole number was expected"):
        write_frame(tmp_path / "r.parquet", pd.DataFrame(who | {"v1": ["two"]}), table)


def test_an_asset_without_a_record_may_not_write():
    with pytest.raises(StorageError, match="toy/numbers: no such table is declared"):
        table_of_asset("toy", "numbers")
    assert table_of_asset("toy", "signal", "notes") is TABLES["notes"]


def test_an_instruments_own_table_comes_before_the_shared_one(monkeypatch):
    own = Table("toy/signal/tests", "a test", "p")
    monkeypatch.setitem(TABLES, own.name, own)
    assert table_of_asset("toy", "signal", "tests") is own
    assert table_of_asset("survey", "signal", "tests") is TABLES["tests"]


def test_a_quantity_has_one_unit_and_range_in_all_tables():
    for table in TABLES.values():
        for column in table.columns:
            if isinstance(column, Column) and column.name in COLUMNS and column.unit:
                assert (column.unit, column.range) == (COLUMNS[column.name].unit, COLUMNS[column.name].range)
            assert column.words, (table.name, column.name)
            assert pa.types.is_primitive(column.type) or column.kind != "number"
        assert len(set(table.names)) == len(table.names), table.name


def test_a_name_made_of_another_takes_its_unit():
    assert column_named("planted_p_valid").bounds == "0 to 1"
    assert column_named("w1_unit_error_mean").unit == "scale units"
    assert column_named("entropy_bits_mono").unit == "bits"
    assert column_named("model_a").kind == "text"
    assert column_named("jsd_distance_low").bounds == ""
    with pytest.raises(KeyError, match="colour: no such column"):
        column_named("colour")
    assert all(pattern for pattern, *_ in RULES)
