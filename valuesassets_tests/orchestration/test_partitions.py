"""Grids of families that do not serve every language: what is no cell is offered by Dagster, and asked by nobody."""

import dagster as dg
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.desk.staleness import Staleness
from valuesassets.orchestration.commands.run_study import QUIET
from valuesassets.orchestration.following.automation import SENSOR
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.partitions import cell_key, cell_partitions, why_no_cell
from valuesassets.orchestration.resources import Storage
from valuesassets.records.study import load_study
from valuesassets_tests.desk.web_ui import ask_graphql, launch_backfill, serving, stop_sensor
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import copied, write_three_languages
from valuesassets_tests.waiting import wait_until

GRID = ("readings", "probe_distributions", "calibration")
NO_CELL = cell_key("reference-mono", "fra")


def narrowed(folder):
    """Have one of a small study's families serve one language of its three; everything of its grid is missing again."""
    file = folder / "small.toml"
    head, family, tail = file.read_text(encoding="utf-8").partition("[families.reference-mono]\n")
    file.write_text(f'{head}{family}languages = ["eng"]\n{tail}', encoding="utf-8")
    return load_study(str(file))


@pytest.fixture(scope="module")
def narrow(tmp_path_factory, small_study):
    """A folder, its environment and its study."""
    folder = tmp_path_factory.mktemp("narrow")
    environment = copied(small_study, folder)
    return folder, environment, narrowed(folder)


def test_partitions_are_listed_that_are_cells_and_the_others_say_why_they_are_none(tmp_path):
    write_three_languages(tmp_path)
    study = narrowed(tmp_path)
    partitions = cell_partitions(study, SURVEY)
    listed = {(family, language) for family, language in study.cells()}
    assert {tuple(key.split("|")[::-1]) for key in partitions.get_partition_keys()} == listed
    assert partitions.has_partition_key(NO_CELL)
    assert why_no_cell(partitions, NO_CELL) == "no cell of the study: reference-mono has no fra"
    assert why_no_cell(partitions, cell_key("reference-mono", "eng")) is None


@pytest.mark.slow
def test_a_run_of_what_is_no_cell_writes_nothing_and_leaves_it_missing_for_a_study_that_has_it(narrow, tmp_path):
    folder, _, study = narrow
    keys = [SURVEY.key(name) for name in GRID]
    written = {file: file.stat().st_mtime_ns for file in (folder / "storage" / study.name).rglob("*.parquet")}
    job = build_definitions(study, folder / "storage").resolve_implicit_global_asset_job_def()
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        result = job.execute_in_process(QUIET, instance, NO_CELL, asset_selection=keys)
        assert {event.asset_key for event in result.get_asset_materialization_events()} == {*keys}
        assert all(found.passed for found in result.get_asset_check_evaluations())
        served = {name: family.model_copy(update={"languages": None}) for name, family in study.families.items()}
        widened = build_definitions(study.model_copy(update={"families": served}), folder / "storage")
        assert Staleness(widened.resolve_asset_graph(), instance).of(keys, NO_CELL) == keys
    assert {file: file.stat().st_mtime_ns for file in written} == written


def missing(address):
    """How many partitions of the readings the UI shows as missing."""
    asked = """query ($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
        partitionStats { numPartitions numMaterialized } } } }"""
    stats = ask_graphql(address, asked, key={"path": SURVEY.key("readings").path})["assetNodeOrError"]["partitionStats"]
    return stats["numPartitions"] - stats["numMaterialized"]


def status_of(address, backfill):
    asked = "query ($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"
    return ask_graphql(address, asked, id=backfill)["partitionBackfillOrError"]["status"]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.group("browser")
def test_a_backfill_of_all_that_is_missing_succeeds_and_asks_nothing_of_what_is_no_cell(narrow, monkeypatch):
    folder, environment, study = narrow
    every = [str(cell_key(family, language)) for family in study.families for language in study.languages]
    cells = {str(cell_key(*cell)) for cell in study.cells()}
    monkeypatch.setenv("VALUESASSETS_DAGSTER", environment["VALUESASSETS_DAGSTER"])
    storage = Storage(root=str(folder / "storage"), study=study.name)
    with dg.DagsterInstance.from_config(str(REPOSITORY)) as instance:
        for name in GRID:
            instance.wipe_assets([SURVEY.key(name)])
            for file in storage.files(SURVEY.key(name), "*").values():
                file.unlink()
        with serving(environment, folder / "ui.log") as address:
            stop_sensor(address, SENSOR)
            assert missing(address) == len(every)
            backfill = launch_backfill(address, SURVEY.key(GRID[0]), every, *map(SURVEY.key, GRID[1:]))
            wait_until(lambda: status_of(address, backfill).startswith(("COMPLETED", "FAILED")), 600)
            assert status_of(address, backfill) == "COMPLETED_SUCCESS"
            assert missing(address) == 0
        for key in map(SURVEY.key, GRID):
            made = {record.partition_key: record for record in instance.fetch_materializations(key, limit=100).records}
            assert made.keys() == {*every}
            said = {name: each.asset_materialization.metadata for name, each in made.items()}
            assert {name for name in every if "path" not in said[name]} == {*every} - cells
            assert said[NO_CELL]["summary"].value == "no cell of the study: reference-mono has no fra"
            assert len(storage.files(key, "*")) == len(cells)
