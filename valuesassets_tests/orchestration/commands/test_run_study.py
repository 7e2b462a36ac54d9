import dagster as dg
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.commands.run_study import Wanted, parts_of, run_study, waves
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS, study_io_managers
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage
from valuesassets.records.study import load_study

LANGUAGES = dg.StaticPartitionsDefinition(["eng", "deu"])


def toy(tmp_path, version="1", failing=()):
    """Two languages, a table per language, a summary over both."""
    runs = []

    @dg.asset(key_prefix="survey", partitions_def=LANGUAGES, io_manager_key="json", code_version=version)
    def table(context: dg.AssetExecutionContext):
        if context.partition_key in failing:
            raise dg.Failure(description=f"{context.partition_key} is broken", allow_retries=False)
        runs.append(("table", context.partition_key))
        return [context.partition_key, version]

    @dg.asset(
        key_prefix="survey",
        io_manager_key="json",
        code_version="1",
        ins={"table": dg.AssetIn(["survey", "table"], metadata=DICT_OF_PARTITIONS)},
    )
    def summary(table: dict):
        runs.append(("summary", sorted(table)))
        return sorted(table)

    storage = Storage(root=str(tmp_path), study="toy")
    return dg.Definitions(assets=[table, summary], resources=study_io_managers(storage)), runs


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def run(definitions, instance):
    return list(run_study(definitions, instance))


def test_assets_come_in_waves_after_their_inputs(tmp_path):
    definitions, _ = toy(tmp_path)
    plan = waves(definitions.get_repository_def().asset_graph)
    assert [[key.path[-1] for key in wave.keys] for wave in plan] == [["table"], ["summary"]]
    assert [wave.partitions for wave in plan] == [("eng", "deu"), (None,)]


def test_cells_are_read_without_waiting_for_what_else_is_made_of_them(tmp_path):
    study = load_study("demo_survey")
    before = parts_of(build_definitions(study, tmp_path).get_repository_def().asset_graph, study, Wanted())
    (grid,) = (part for part in before if part.grid)
    (written,) = (part for part in before if "sampled_answers" in (key.path[-1] for key in part.keys))
    assert "preflight" in {key.path[-1] for part in before[grid] for key in part.keys}
    assert written not in before[grid]
    assert {written, grid} <= next(
        earlier for part, earlier in before.items() if SURVEY.key("calibration") in part.keys
    )


def test_assets_of_a_single_partition_are_made_side_by_side(tmp_path):
    one, two = (dg.StaticPartitionsDefinition(list(keys)) for keys in ("a", "ab"))

    def graph(partitions):
        @dg.asset(partitions_def=partitions, io_manager_key="json")
        def first(): ...

        @dg.asset(partitions_def=partitions, io_manager_key="json")
        def second(): ...

        return dg.Definitions([first, second], resources=resources).get_repository_def().asset_graph

    resources = study_io_managers(Storage(root=str(tmp_path), study="toy"))
    assert [len(wave.keys) for wave in waves(graph(one))] == [1, 1]
    assert [len(wave.keys) for wave in waves(graph(two))] == [2]


@pytest.mark.slow
def test_what_is_unchanged_is_skipped_and_what_changed_is_made_again(tmp_path, instance):
    definitions, runs = toy(tmp_path)
    assert run(definitions, instance) == []
    everything = [("table", "eng"), ("table", "deu"), ("summary", ["deu", "eng"])]
    assert runs == everything
    assert run(definitions, instance) == []
    assert runs == everything
    (tmp_path / "toy" / "survey" / "table" / "deu.json").unlink()
    assert run(definitions, instance) == []
    assert runs == [*everything, ("table", "deu")]
    changed, again = toy(tmp_path, version="2")
    assert run(changed, instance) == []
    assert again == everything


def test_a_failed_partition_is_named_stops_nothing_else_and_is_tried_again(tmp_path, instance):
    definitions, runs = toy(tmp_path, failing=["eng"])
    assert run(definitions, instance) == ["table eng: eng is broken"]
    assert runs == [("table", "deu"), ("summary", ["deu"])]
    mended, again = toy(tmp_path)
    assert run(mended, instance) == []
    assert again == [("table", "eng"), ("summary", ["deu", "eng"])]


@pytest.mark.slow
def test_a_summary_of_nothing_is_made_again_once_there_is_something(tmp_path, instance):
    definitions, runs = toy(tmp_path, failing=["eng", "deu"])
    assert len(run(definitions, instance)) == 2
    assert runs == [("summary", [])]
    mended, again = toy(tmp_path)
    assert run(mended, instance) == []
    assert again[-1] == ("summary", ["deu", "eng"])


def test_a_run_leaves_out_cells_that_are_not_served_and_calibrations_of_models_not_trained_here(tmp_path):
    demo, evs = load_study("demo_survey"), load_study("evs2017")
    narrow = demo.families["reference-mono"].model_copy(update={"languages": ("eng",)})
    study = demo.model_copy(update={"families": {"reference-mono": narrow, "hplt2c": evs.families["hplt2c"]}})
    parts = parts_of(build_definitions(study, tmp_path).resolve_asset_graph(), study, Wanted())
    made = {(key.path[-1], str(part.partition)) for part in parts if part.partition for key in part.keys}
    assert ("readings", cell_key("reference-mono", "eng")) in made
    assert ("readings", cell_key("reference-mono", "deu")) not in made
    assert ("readings", cell_key("hplt2c", "deu")) in made
    assert {cell for name, cell in made if name == "calibration"} == {cell_key("reference-mono", "eng")}
