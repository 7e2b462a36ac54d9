"""`list_tables` and `read_table`: all that is stored of a study, each table whole and checked."""

import shutil

import pandas as pd
import pyarrow.parquet as pq
import pytest

import valuesassets as va
from valuesassets.records.seals import parquet_bytes
from valuesassets_tests.cli.commands import run
from valuesassets_tests.reporting.made_storage import add_the_rest, small_study, write_storage


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = write_storage(tmp_path_factory.mktemp("stored"))
    add_the_rest(folder)
    return folder


@pytest.fixture
def folder(written, tmp_path):
    """What a study has stored, for a test that may change it."""
    return shutil.copytree(written, tmp_path / written.name)


def test_every_stored_table_is_listed_and_can_be_read(folder):
    listed = va.list_tables(storage=folder.parent)
    assert {*listed["study"]} == {folder.name}
    assert {"survey/trials", "survey/probe_distributions", "survey/distances/pairs"} <= {*listed["table"]}
    for name in listed["table"]:
        assert isinstance(va.read_table(folder.name, name, folder.parent), pd.DataFrame)


def test_a_table_has_the_rows_of_all_its_parts(folder):
    whole = va.read_table(small_study(), "survey/probe_distributions", folder.parent)
    parts = [pd.read_parquet(path) for path in (folder / "survey" / "probe_distributions").rglob("*.parquet")]
    assert len(parts) == 4
    assert len(whole) == sum(map(len, parts))
    assert {*whole["model"]} == {model for part in parts for model in part["model"]}


def test_a_table_that_is_none_gets_the_one_that_was_meant(folder):
    with pytest.raises(va.ValuesAssetsError, match=r"did you mean survey/trials\?"):
        va.read_table(folder.name, "survey/trial", folder.parent)
    with pytest.raises(va.ValuesAssetsError, match="nothing of this study is stored"):
        va.read_table("another", "survey/trials", folder.parent)
    assert va.list_tables(storage=folder.parent / "none").empty


def test_a_value_out_of_its_range_is_no_number(folder):
    path = next((folder / "survey" / "probe_distributions").rglob("*.parquet"))
    rows = pq.read_table(path)
    place = rows.column_names.index("p_valid")
    path.write_bytes(parquet_bytes(rows.set_column(place, "p_valid", [[7.0] * len(rows)])))
    with pytest.raises(va.ValuesAssetsError, match="column p_valid"):
        va.read_table(folder.name, "survey/probe_distributions", folder.parent)


def test_the_command_lists_the_same_tables(folder):
    listed = va.list_tables(storage=folder.parent)
    lines = run("ls", "tables", VALUESASSETS_STORAGE=folder.parent).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [f"{folder.name}/{name}" for name in listed["table"]]
