"""What breaks where a new Dagster has other private parts: a test for each module of `dagster_internals`."""

import importlib
import inspect
import json
import multiprocessing
import sys

import dagster as dg
import pytest

from slurm_runner import dagster_internals as of_slurm_runner
from valuesassets.dagster_internals import (
    backfills,
    code_server,
    daemon,
    database_versions,
    graph,
    launching,
    planned_events,
    run_starts,
    stale_status,
    tags,
)
from valuesassets_tests.needs import REPOSITORY


@dg.asset(code_version="1")
def questions(): ...


@dg.asset(deps=[questions], code_version="1", partitions_def=dg.StaticPartitionsDefinition(["deu", "fra"]))
def trials(): ...


ASSETS = [questions, trials]


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def test_graph_the_order_in_which_a_command_makes_assets():
    assert [*graph.graph_of(ASSETS).toposorted_asset_keys] == [questions.key, trials.key]
    assert isinstance(dg.Definitions(ASSETS).get_repository_def().asset_graph, graph.BaseAssetGraph)


def test_tags_the_versions_that_make_a_cell_stale(instance):
    dg.materialize(ASSETS, instance=instance, partition_key="deu")
    written = instance.get_latest_materialization_event(trials.key)
    version = tags.extract_data_version_from_entry(instance.get_latest_materialization_event(questions.key))
    stored = written.asset_materialization.tags
    assert stored[tags.CODE_VERSION_TAG] == "1"
    assert stored[tags.DATA_VERSION_TAG]
    assert stored[f"{tags.INPUT_DATA_VERSION_TAG_PREFIX}/questions"] == version.value
    assert stored[tags.get_input_event_pointer_tag(questions.key)].isdigit()


def test_stale_status_what_run_makes_and_what_it_skips(instance):
    dg.materialize(ASSETS, instance=instance, partition_key="deu")
    resolver = stale_status.new_resolver(graph.graph_of(ASSETS), instance)
    assert resolver.get_status(trials.key, "deu") is stale_status.StaleStatus.FRESH
    assert resolver.get_status(trials.key, "fra") is stale_status.StaleStatus.MISSING
    another = {tags.DATA_VERSION_TAG: "another", tags.DATA_VERSION_IS_USER_PROVIDED_TAG: "true"}
    instance.report_runless_asset_event(dg.AssetMaterialization(questions.key, tags=another))
    resolver = stale_status.new_resolver(graph.graph_of(ASSETS), instance)
    causes = resolver.get_stale_causes(trials.key, "deu")
    assert {cause.category for cause in causes} == {stale_status.StaleCauseCategory.DATA}
    assert stale_status.run_storage_id(instance)


def test_backfills_which_of_them_have_ended(instance):
    canceled = backfills.BulkActionStatus.CANCELED
    assert canceled in backfills.BULK_ACTION_TERMINAL_STATUSES
    assert instance.get_backfills(filters=backfills.BulkActionsFilter(statuses=[canceled])) == []
    assert issubclass(backfills.DagsterDefinitionChangedDeserializationError, dg.DagsterError)


def test_launching_that_a_killed_run_fails_and_runs_again():
    answer = launching.CheckRunHealthResult(launching.WorkerStatus.FAILED, "gone")
    assert (answer.status, answer.msg) == (launching.WorkerStatus.FAILED, "gone")
    assert "dagster_run" in launching.LaunchRunContext._fields
    assert issubclass(launching.DagsterUserCodeUnreachableError, dg.DagsterError)


def test_planned_events_that_a_cell_of_a_grid_run_is_shown_as_in_progress(instance):
    @dg.op(out=dg.Out(dg.Nothing))
    def read(context: dg.OpExecutionContext):
        planned_events.report_planned(context, trials.key, "deu")

    @dg.job
    def grid():
        read()

    run = grid.execute_in_process(instance=instance)
    planned = instance.event_log_storage.get_latest_planned_materialization_info(trials.key, "deu")
    assert planned.run_id == run.run_id


def test_run_starts_that_a_run_of_the_ui_costs_no_import_of_dagster_and_pandas(monkeypatch):
    from dagster._grpc.server import DagsterApiServer

    for name in run_starts.OF_A_RUN:
        assert importlib.import_module(name)
    assert "self._mp_ctx.Process" in inspect.getsource(DagsterApiServer)
    monkeypatch.setattr(DagsterApiServer, "_mp_ctx", None, raising=False)  # is put back after the test
    context = multiprocessing.get_context("fork")
    assert run_starts.start_runs_in(context)
    assert DagsterApiServer.__new__(DagsterApiServer)._mp_ctx is context
    monkeypatch.delitem(sys.modules, "dagster._grpc.server")
    assert not run_starts.start_runs_in(context)


def test_daemon_that_failed_runs_run_again_at_once(monkeypatch):
    consumer = daemon.EventLogConsumerDaemon
    assert "self.handle_updated_runs_fns" in inspect.getsource(consumer.run_iteration)
    monkeypatch.setattr(consumer, "handle_updated_runs_fns", consumer.handle_updated_runs_fns)  # is put back
    daemon.retry_failed_runs()
    assert consumer().handle_updated_runs_fns == [daemon._retry_stored]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (code_server.start_command, {"--startup-timeout", "--instance-ref", "--inject-env-vars-from-instance"}),
        (daemon.run_command, {"--log-level"}),
    ],
)
def test_code_server_and_daemon_that_the_ui_starts_its_servers(command, options):
    assert options <= {name for option in command.params for name in option.opts}


def test_database_versions_that_an_older_database_is_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("VALUESASSETS_DAGSTER", str(tmp_path))
    with dg.DagsterInstance.from_config(str(REPOSITORY)) as on_disk:
        today = database_versions.migrations_of(on_disk.event_log_storage).get_current_head()
        assert on_disk.event_log_storage.alembic_version() == (today, today)


def test_slurm_runner_what_a_job_is_told_by_pipes_and_which_runs_are_retries(instance):
    assert of_slurm_runner.RETRY_NUMBER_TAG == "dagster/retry_number"

    @dg.op(out=dg.Out(dg.Nothing))
    def send(context: dg.OpExecutionContext):
        data = of_slurm_runner.build_external_execution_context_data(context, {"cell": "a/deu"})
        assert json.loads(json.dumps(data))["extras"] == {"cell": "a/deu"}
        assert data["run_id"] == context.run_id

    @dg.job
    def job():
        send()

    assert job.execute_in_process(instance=instance).success


def test_no_other_file_names_a_private_module_of_dagster():
    """Also where a name is no import, which ruff's banned imports do not see."""
    homes = {"valuesassets/dagster_internals", "slurm_runner"}
    files = [path for top in ("valuesassets", "slurm_runner") for path in (REPOSITORY / top).rglob("*.py")]
    naming = [path.relative_to(REPOSITORY) for path in files if "dagster._" in path.read_text(encoding="utf-8")]
    assert {path.parent.as_posix() for path in naming} == homes
    assert {path.name for path in naming if path.parts[0] == "slurm_runner"} == {"dagster_internals.py"}
