import dagster as dg
import pandas as pd
import pyarrow as pa
import pytest

from valuesassets.desk.first_errors import first_error
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS, study_io_managers, table_of
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage
from valuesassets.records.columns import Column
from valuesassets.records.table import Table
from valuesassets.records.tables import TABLES

LANGUAGES = dg.StaticPartitionsDefinition(["eng", "deu"])
MODELS = dg.StaticPartitionsDefinition(["mono", "multi"])
CELLS = dg.MultiPartitionsDefinition({"model": MODELS, "language": LANGUAGES})


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    """The table of the one asset here that writes a frame."""
    cell = Column("cell", pa.string(), "name of the cell")
    monkeypatch.setitem(TABLES, "survey/numbers", Table("survey/numbers", "a cell", cell, "p"))


@dg.asset(key_prefix="survey", partitions_def=CELLS, io_manager_key="frame")
def numbers(context: dg.AssetExecutionContext):
    return pd.DataFrame({"cell": [str(context.partition_key)], "p": [0.5]})


@dg.asset(
    key_prefix="survey",
    io_manager_key="json",
    ins={"numbers": dg.AssetIn(["survey", "numbers"], metadata=DICT_OF_PARTITIONS)},
)
def summary(numbers: dict):
    return sorted(map(list, numbers))


@dg.asset(
    key_prefix="survey",
    partitions_def=LANGUAGES,
    io_manager_key="json",
    ins={"numbers": dg.AssetIn(["survey", "numbers"], metadata=DICT_OF_PARTITIONS)},
)
def per_language(numbers: dict):
    return sorted(map(list, numbers))


@dg.asset(key_prefix="survey", io_manager_key="json", ins={"summary": dg.AssetIn(["survey", "summary"])})
def of_one(summary: list):
    return summary


@pytest.fixture
def made(tmp_path):
    storage = Storage(root=str(tmp_path), study="toy")
    resources = study_io_managers(storage)

    def materialise(assets, partition=None, **more):
        return dg.materialize(
            assets,
            resources=resources,
            partition_key=partition,
            selection=[assets[-1]],
            **{"instance": dg.DagsterInstance.ephemeral()} | more,
        )

    return tmp_path / "toy" / "survey", materialise


def test_a_cell_lies_below_its_model_and_language(made):
    folder, materialise = made
    materialise([numbers], cell_key("mono", "deu"))
    assert [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()] == ["numbers/mono/deu.parquet"]


@pytest.mark.slow
def test_downstream_gets_a_dict_of_what_exists_even_where_that_is_one_or_none(made):
    folder, materialise = made
    assert materialise([numbers, summary]).output_for_node("survey__summary") == []
    materialise([numbers], cell_key("mono", "deu"))
    assert materialise([numbers, summary]).output_for_node("survey__summary") == [["mono", "deu"]]
    materialise([numbers], cell_key("multi", "eng"))
    assert materialise([numbers, per_language], "eng").output_for_node("survey__per_language") == [["multi", "eng"]]
    assert (folder / "per_language" / "eng.json").exists()


def test_an_input_that_was_not_made_is_named_without_the_class_of_the_error(made):
    _, materialise = made
    with dg.DagsterInstance.ephemeral() as instance:
        result = materialise([numbers, summary, of_one], instance=instance, raise_on_error=False)
        said = first_error(result.run_id, instance)
    assert said == "survey/summary is needed and was not made; materialise it first, or see why it failed"


def test_the_ui_is_told_path_rows_columns_and_a_short_preview(made):
    _, materialise = made
    result = materialise([numbers], cell_key("mono", "deu"))
    metadata = result.asset_materializations_for_node("survey__numbers")[0].metadata
    assert metadata["dagster/row_count"].value == 1
    assert [column.name for column in metadata["dagster/column_schema"].schema.columns] == ["cell", "p"]
    cell, p = metadata["dagster/column_schema"].schema.columns
    assert (cell.description, cell.constraints.nullable) == ("name of the cell", False)
    assert (p.type, p.description, p.constraints.other) == (
        "number",
        "p-value, uncorrected (probability)",
        ["0 to 1"],
    )
    assert metadata["preview"].records[0].data == {"cell": "deu|mono", "p": "0.5"}
    assert metadata["path"].path.endswith("numbers/mono/deu.parquet")


def test_a_table_of_rows_of_two_kinds_has_the_columns_of_both():
    table = table_of([{"model": "a", "reason": "low"}, {"question_id": "v1", "reason": None}])
    assert [column.name for column in table.schema.columns] == ["model", "reason", "question_id"]
    assert [record.data for record in table.records] == [
        {"model": "a", "reason": "low", "question_id": ""},
        {"model": "", "reason": "", "question_id": "v1"},
    ]


def test_numbers_of_a_preview_have_four_digits_and_none_that_is_missing():
    table = table_of([{"p": 0.123456, "n": 1000.0}, {"p": float("nan"), "n": 3}])
    assert [record.data for record in table.records] == [{"p": "0.1235", "n": "1000"}, {"p": "", "n": "3"}]


@pytest.mark.slow
def test_tables_of_several_partitions_have_a_folder_each_and_those_of_one_stand_beside_their_index(tmp_path):
    kept = {}
    for names in (("one",), ("one", "two")):

        @dg.asset(
            key_prefix="survey",
            partitions_def=dg.StaticPartitionsDefinition(list(names)),
            io_manager_key="frames",
        )
        def distances(context):
            return {"notes": pd.DataFrame({"note": [context.partition_key]})}

        storage = Storage(root=str(tmp_path / str(len(names))), study="small")
        with dg.instance_for_test() as instance:
            for name in names:
                dg.materialize([distances], partition_key=name, instance=instance, resources=study_io_managers(storage))
        manager = study_io_managers(storage)["frames"]
        key = dg.AssetKey(["survey", "distances"])
        kept[names] = {name: manager._read(key, name, {})["notes"]["note"].tolist() for name in names}
        folder = storage.folder / "survey" / "distances"
        assert (folder / "notes.parquet").exists() == (len(names) == 1)
    assert kept == {("one",): {"one": ["one"]}, ("one", "two"): {"one": ["one"], "two": ["two"]}}
